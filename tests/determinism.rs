//! Same binary, scenario and seed: the same history, whatever the thread count and the order of the work.
//! Debug and release are compared in `.ci/run`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::cell::Cell;

use fencepost::checker::history::{FenceMode, RefuseReason};
use fencepost::models::fence::{self, Fence, Memory, Proof};
use fencepost::models::run;
use fencepost::scenarios::runner::{Options, run_scenario};
use fencepost::scenarios::selection::Selection;
use fencepost::scenarios::{Results, Scenario, builtin};

const SEEDS: u64 = 50;

fn results(scenario: &Scenario, options: &Options) -> Results {
    let selection = Selection::all(scenario).at_most(SEEDS);
    run_scenario(scenario, &selection, options, &|| {}).expect("threads can be started")
}

#[test]
fn every_scenario_is_the_same_on_one_thread_and_on_two_in_any_order() {
    for builtin in builtin::all() {
        let scenario = builtin.scenario().unwrap();
        let first = results(&scenario, &Options { threads: 1, ..Options::default() });
        for (threads, shuffle) in [(1, Some(1)), (2, None), (2, Some(2))] {
            let again = results(&scenario, &Options { threads, shuffle, ..Options::default() });
            assert_eq!(first.digest(), again.digest(), "{}: {threads} threads, {shuffle:?}", builtin.name);
        }
    }
}

#[test]
fn a_run_repeats_event_by_event() {
    for builtin in builtin::all() {
        let scenario = builtin.scenario().unwrap();
        for row in scenario.rows() {
            let config = scenario.run_config(row, 7);
            let (first, again) = (run::run(&config), run::run(&config));
            assert_eq!(first.engine_digest, again.engine_digest, "{}", builtin.name);
            assert_eq!(first.entries, again.entries, "{}", builtin.name);
        }
    }
}

#[test]
fn different_seeds_are_different_runs() {
    let scenario = builtin::find("calm").unwrap().scenario().unwrap();
    let row = scenario.rows()[0];
    let digest = |seed| run::run(&scenario.run_config(row, seed)).engine_digest;
    assert_ne!(digest(0), digest(1));
}

/// A fence that refuses every hundredth write of its thread: a choice that depends on where a run runs.
struct ThreadFence(Box<dyn Fence>);

thread_local! {
    static WRITES: Cell<u64> = const { Cell::new(0) };
}

impl Fence for ThreadFence {
    fn admit_read(&self, memory: &mut Memory, token: Option<u64>) -> Result<(), RefuseReason> {
        self.0.admit_read(memory, token)
    }

    fn admit_write(&self, memory: &mut Memory, proof: Proof, version: u64) -> Result<(), RefuseReason> {
        WRITES.set(WRITES.get() + 1);
        if WRITES.get().is_multiple_of(100) {
            return Err(RefuseReason::VersionMismatch);
        }
        self.0.admit_write(memory, proof, version)
    }
}

#[test]
fn the_comparison_finds_a_choice_that_depends_on_the_thread() {
    fn thread_fence(mode: FenceMode) -> Box<dyn Fence> {
        Box::new(ThreadFence(fence::fence(mode)))
    }
    let scenario = builtin::find("calm").unwrap().scenario().unwrap();
    let planted = Options { threads: 1, make_fence: thread_fence, ..Options::default() };
    let in_order = results(&scenario, &planted);
    let shuffled = results(&scenario, &Options { threads: 2, shuffle: Some(3), ..planted });
    assert_ne!(in_order.digest(), shuffled.digest(), "the planted choice must show");
}
