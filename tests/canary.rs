//! A deliberately broken fence must be found by the same path as real failures, and the resource be blamed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use fencepost::checker::analysis::Line;
use fencepost::checker::finding::{Blame, Party};
use fencepost::checker::history::{FenceMode, RefuseReason};
use fencepost::models::fence::{self, Fence, Memory, Proof};
use fencepost::scenarios::expectation::{Count, Party as Blamed};
use fencepost::scenarios::runner::{Options, run_scenario, run_seed};
use fencepost::scenarios::selection::{Selection, Wanted};
use fencepost::scenarios::{Results, Scenario, builtin};

/// Compares tokens, remembers the highest, and lets the smaller ones through all the same.
struct Broken(Box<dyn Fence>);

impl Fence for Broken {
    fn admit_read(&self, memory: &mut Memory, token: Option<u64>) -> Result<(), RefuseReason> {
        match self.0.admit_read(memory, token) {
            Err(RefuseReason::StaleToken) => Ok(()),
            sound => sound,
        }
    }

    fn admit_write(&self, memory: &mut Memory, proof: Proof, version: u64) -> Result<(), RefuseReason> {
        match self.0.admit_write(memory, proof, version) {
            Err(RefuseReason::StaleToken) => Ok(()),
            sound => sound,
        }
    }
}

fn broken(mode: FenceMode) -> Box<dyn Fence> {
    Box::new(Broken(fence::fence(mode)))
}

fn gc_pause() -> Scenario {
    builtin::find("gc-pause").unwrap().scenario().unwrap()
}

fn results(make_fence: fn(FenceMode) -> Box<dyn Fence>) -> Results {
    let scenario = gc_pause();
    let wanted = Wanted {
        locks: vec!["redis".to_owned()],
        fences: vec!["read-write".to_owned()],
        workloads: vec!["ledger".to_owned()],
        seeds: Some(50),
        seed: None,
    };
    let selection = Selection::of(&scenario, &wanted).unwrap();
    let options = Options { make_fence, ..Options::default() };
    run_scenario(&scenario, &selection, &options, &|| {}).unwrap()
}

#[test]
fn a_broken_fence_is_blamed_on_the_resource() {
    let results = results(broken);
    let row = &results.rows[0];
    assert!(row.tally(Count::LostDebits).total > 0, "a broken fence loses debits");
    assert_eq!(row.contract.resource, Line::Broken);
    assert!(row.blamed().contains(&Blamed::Resource));
    assert!(row.reasons.contains("accepted what its fence forbids"));
}

#[test]
fn the_same_fence_unbroken_is_not() {
    let results = results(fence::fence);
    let row = &results.rows[0];
    assert_eq!(row.tally(Count::LostDebits).total, 0);
    assert_eq!(row.contract.resource, Line::Kept);
    assert_eq!(row.blamed(), [Blamed::Holder]);
}

#[test]
fn each_lost_debit_names_the_broken_fence() {
    let scenario = gc_pause();
    let row = scenario.rows().into_iter().find(|row| row.fence == FenceMode::ReadWrite).unwrap();
    let lost = (0..50).flat_map(|seed| {
        let mut config = scenario.run_config(row, seed);
        config.make_fence = broken;
        run_seed(&config).analysis.findings
    });
    let lost: Vec<_> = lost.filter(|finding| finding.debit.is_some()).collect();
    assert!(!lost.is_empty());
    for finding in lost {
        assert_eq!(finding.blame.party(), Party::Resource, "{finding:?}");
        assert!(matches!(finding.blame, Blame::Resource(_)));
        assert_eq!(finding.rule, 6);
    }
}
