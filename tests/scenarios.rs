//! What the built-in scenarios must show, over their own seeds.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;

use fencepost::checker::history::FenceMode;
use fencepost::scenarios::expectation::{Count, Party};
use fencepost::scenarios::runner::{Options, run_scenario};
use fencepost::scenarios::selection::Selection;
use fencepost::scenarios::{Exit, Results, RowResult, builtin, fence_name, judge};

struct Ran {
    results: Results,
    exit: Exit,
    failures: Vec<String>,
}

fn ran(name: &str, set: &[&str]) -> Ran {
    let mut scenario = builtin::find(name).unwrap().scenario().unwrap();
    for flag in set {
        scenario.set(flag).unwrap();
    }
    let selection = Selection::all(&scenario);
    let results = run_scenario(&scenario, &selection, &Options::default(), &|| {}).unwrap();
    let failures =
        if selection.is_judged(&scenario) { judge::expectations(&scenario, &results) } else { Vec::new() };
    let exit = judge::exit(&results, &failures);
    let failures = failures.iter().map(|it| format!("{}: {} {}", it.row_name(), it.key, it.found)).collect();
    Ran { results, exit, failures }
}

impl Ran {
    fn row(&self, lock: &str, fence: FenceMode, workload: &str) -> &RowResult {
        let wanted = |it: &&RowResult| {
            (it.row.lock.name, it.row.fence, it.row.workload.name) == (lock, fence, workload)
        };
        self.results.rows.iter().find(wanted).expect("the scenario has this row")
    }

    fn total(&self, lock: &str, fence: FenceMode, workload: &str, count: Count) -> u64 {
        self.row(lock, fence, workload).tally(count).total
    }

    /// A count of each row, by lock, workload and fence.
    fn totals(&self, count: Count) -> BTreeMap<String, u64> {
        let name = |it: &RowResult| {
            format!("{} {} {}", it.row.lock.name, it.row.workload.name, fence_name(it.row.fence))
        };
        self.results.rows.iter().map(|it| (name(it), it.tally(count).total)).collect()
    }
}

#[test]
fn every_scenario_is_as_it_expects() {
    for builtin in builtin::all() {
        let ran = ran(builtin.name, &[]);
        assert_eq!(ran.failures, [""; 0], "{}", builtin.name);
        assert_eq!(ran.exit, Exit::AsExpected, "{}", builtin.name);
    }
}

#[test]
fn gc_pause_shows_what_each_fence_is_worth() {
    let ran = ran("gc-pause", &[]);
    let redis = |fence, count| ran.total("redis", fence, "ledger", count);
    assert_eq!(ran.row("redis", FenceMode::Off, "ledger").seeds, 300);
    for fence in [FenceMode::Off, FenceMode::Write, FenceMode::ReadWrite, FenceMode::Cas] {
        assert!(redis(fence, Count::DoubleHolders) > 0, "no fence keeps two holders apart");
    }
    assert!(redis(FenceMode::Off, Count::LostDebits) > 0);
    let by_write = redis(FenceMode::Write, Count::LostDebits);
    assert!(by_write > 0 && by_write < redis(FenceMode::Off, Count::LostDebits));
    assert_eq!(redis(FenceMode::ReadWrite, Count::LostDebits), 0);
    assert!(redis(FenceMode::ReadWrite, Count::StaleRejected) > 0);
    assert_eq!(redis(FenceMode::Cas, Count::LostDebits), 0);
    assert!(ran.total("redis", FenceMode::Off, "invoice", Count::DoubleDebits) > 0);
    assert_eq!(ran.total("redis", FenceMode::Idempotency, "invoice", Count::DoubleDebits), 0);
    for (lock, party) in
        [("redis", Party::Holder), ("redis-unchecked", Party::Client), ("redis-no-renewal", Party::Holder)]
    {
        assert_eq!(ran.row(lock, FenceMode::Off, "ledger").blamed(), [party], "{lock}");
    }
}

#[test]
fn a_pause_below_two_thirds_of_the_lease_does_no_harm_to_a_client_that_renews() {
    let ran = ran("gc-pause", &["pause=6.3s"]);
    for (row, count) in ran.totals(Count::DoubleHolders) {
        if row.starts_with("redis-no-renewal") {
            assert!(count > 0, "{row}: without renewal the lease may be nearly over");
        } else if row.starts_with("redis") {
            assert_eq!(count, 0, "{row}");
        }
    }
}

#[test]
fn after_a_pause_of_15_s_the_new_holder_has_always_written_so_a_write_fence_loses_nothing() {
    let ran = ran("gc-pause", &["pause=15s"]);
    assert_eq!(ran.total("redis", FenceMode::Write, "ledger", Count::LostDebits), 0);
    assert!(ran.total("redis", FenceMode::Write, "ledger", Count::StaleRejected) > 0);
}

#[test]
fn the_same_pause_before_the_check_overlaps_and_harms_nobody() {
    let ran = ran("pause-before-check", &[]);
    assert!(ran.totals(Count::DoubleHolders).values().all(|count| *count > 0));
    assert!(ran.totals(Count::DoubleHoldersActing).values().all(|count| *count == 0));
    assert!(ran.totals(Count::LostDebits).values().all(|count| *count == 0));
    assert!(ran.totals(Count::DoubleDebits).values().all(|count| *count == 0));
}

#[test]
fn nothing_happens_when_nothing_goes_wrong_unless_there_is_no_lock() {
    let ran = ran("calm", &[]);
    let harm = [
        Count::DoubleHolders,
        Count::LostDebits,
        Count::DoubleDebits,
        Count::PhantomDebits,
        Count::Unfinished,
    ];
    for count in harm {
        for (row, total) in ran.totals(count) {
            assert!(row.starts_with("none") || total == 0, "{row}: {count} {total}");
        }
    }
    assert!(ran.total("none", FenceMode::Off, "ledger", Count::LostDebits) > 0);
}

#[test]
fn a_held_write_does_harm_without_two_holders() {
    let ran = ran("delayed-packet", &[]);
    assert_eq!(ran.total("redis", FenceMode::Off, "ledger", Count::DoubleHolders), 0);
    assert!(ran.total("redis", FenceMode::Off, "ledger", Count::LostDebits) > 0);
    assert_eq!(ran.total("redis", FenceMode::ReadWrite, "ledger", Count::LostDebits), 0);
    assert_eq!(ran.row("redis", FenceMode::Off, "ledger").blamed(), [Party::Holder]);
}
