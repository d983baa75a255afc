//! Each count and each time.

use fencepost_checker::analysis::Window;
use fencepost_checker::finding::{Blame, Finding, FindingKind, ResourceFault};
use fencepost_checker::history::*;

use crate::story::*;

#[test]
fn nothing_happens_in_good_order() {
    let mut story = Story::fenced(FenceMode::ReadWrite);
    story.takes(0, A, 1);
    story.reads(10, A, 1, &[]);
    story.writes(20, A, 1, (0, 1), &[1]);
    story.releases(30, A, 1);
    story.takes(100, B, 2);
    story.reads(110, B, 2, &[1]);
    story.writes(120, B, 2, (1, 2), &[1, 2]);
    story.releases(130, B, 2);
    let analysis = story.analyse();
    assert!(analysis.findings.is_empty() && analysis.blame.is_empty() && analysis.assumptions.is_empty());
    let counts = analysis.counts;
    assert_eq!((counts.operations, counts.grants, counts.writes_applied), (8, 2, 2));
    assert_eq!((counts.lost_debits, counts.phantom_debits, counts.double_debits), (0, 0, 0));
    assert_eq!(analysis.acquire_ns, [2 * MS, 2 * MS]);
    assert_eq!(analysis.times.round_trip_ns, 2 * MS);
    assert_eq!(analysis.times.max_holders, 1);
    assert_eq!(analysis.times.ghost_owner_ns, 4 * MS, "grant to reply, release to end, twice");
    assert_eq!(analysis.times.ghost_owner_over_ns, 0);
}

#[test]
fn the_usual_disaster() {
    let mut story = Story::new();
    story.late_write();
    let analysis = story.analyse();
    let counts = analysis.counts;
    assert_eq!((counts.double_holders, counts.double_holders_dormant), (1, 0));
    assert_eq!((counts.stale_accepted, counts.stale_rejected, counts.stale_undetectable), (1, 0, 0));
    assert_eq!((counts.destroyed_updates, counts.lost_debits), (1, 1));
    let window = Window { lock: LOCK, from_ns: 11_002 * MS, to_ns: 12_300 * MS, holders: 2 };
    assert_eq!(analysis.windows, [window]);
    assert_eq!(analysis.pairs, [(Hold(1), Hold(2))]);
    let times = analysis.times;
    assert_eq!((times.double_holder_ns, times.max_holders), (1_298 * MS, 2));
    assert_eq!(times.stale_belief_ns, (13_100 - 10_001) * MS);
}

#[test]
fn a_newcomer_that_meets_an_acting_holder_is_not_dormant() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.expires(10_001, 1);
    story.takes(11_000, B, 2);
    story.reads(11_500, A, 1, &[]);
    story.releases(12_000, A, 1);
    let counts = story.analyse().counts;
    assert_eq!((counts.double_holders, counts.double_holders_dormant), (1, 0));
}

/// *A* sleeps through an overlap with *B* from 11.002 s to 12.3 s, and wakes up at 12.5 s.
fn sleeper() -> Story {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.reads(10, A, 1, &[]);
    story.checks(400, A, 1, true);
    story.is_stopped(500, 12_500, A);
    story.expires(10_001, 1);
    story.takes(11_000, B, 2);
    story.releases(12_300, B, 2);
    story
}

/// Newcomers, dormant newcomers, and for each overlap whether it is dormant.
fn dormancy(story: &Story) -> (u64, u64, Vec<bool>) {
    let analysis = story.analyse();
    let overlaps = analysis.findings.iter().filter(|finding| finding.kind == FindingKind::Overlap);
    let dormant = overlaps.map(|finding| finding.dormant).collect();
    (analysis.counts.double_holders, analysis.counts.double_holders_dormant, dormant)
}

#[test]
fn a_sleeper_that_wakes_up_and_writes_after_an_old_check_is_acting() {
    let mut story = sleeper();
    story.writes(12_600, A, 1, (0, 1), &[1]);
    story.checks(12_700, A, 1, false);
    story.ceases(12_701, A, 1);
    assert_eq!(dormancy(&story), (1, 0, vec![false]));
}

#[test]
fn a_sleeper_that_never_checks_is_acting_once_it_reads() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.expires(10_001, 1);
    story.takes(11_000, B, 2);
    story.releases(12_300, B, 2);
    story.reads(13_000, A, 1, &[]);
    assert_eq!(dormancy(&story), (1, 0, vec![false]));
}

#[test]
fn a_sleeper_that_looks_first_and_ceases_is_dormant() {
    let mut story = sleeper();
    story.checks(12_600, A, 1, false);
    story.ceases(12_600, A, 1);
    assert_eq!(dormancy(&story), (1, 1, vec![true]));
}

#[test]
fn a_sleeper_that_looks_first_and_is_let_through_is_dormant() {
    let mut story = sleeper();
    story.checks(12_600, A, 1, true);
    story.writes(12_601, A, 1, (0, 1), &[1]);
    story.reads(12_700, A, 1, &[1]);
    assert_eq!(dormancy(&story), (1, 1, vec![true]));
}

#[test]
fn a_sleeper_that_never_wakes_up_is_dormant() {
    let mut story = sleeper();
    story.nemesis(12_400, Fault::Kill { node: node_of(A) });
    assert_eq!(dormancy(&story), (1, 1, vec![true]));
    assert_eq!(dormancy(&sleeper()), (1, 1, vec![true]), "the history ends first");
}

#[test]
fn each_overlap_of_a_sleeper_is_judged_by_its_own_window() {
    // It looks between two windows, and acts after both: too late for the second one only.
    let mut story = sleeper();
    story.checks(12_600, A, 1, true);
    story.takes(12_700, C, 3);
    story.releases(12_900, C, 3);
    story.reads(13_000, A, 1, &[]);
    assert_eq!(dormancy(&story), (2, 1, vec![true, false]));
}

#[test]
fn a_newcomer_is_dormant_only_if_it_is_towards_everybody() {
    // C meets A and B, both asleep; B looks before it goes on, A does not.
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.expires(10_001, 1);
    story.takes(11_000, B, 2);
    story.expires(21_001, 2);
    story.takes(22_000, C, 3);
    story.releases(22_500, C, 3);
    story.checks(23_000, B, 2, false);
    story.ceases(23_000, B, 2);
    story.reads(24_000, A, 1, &[]);
    story.releases(25_000, A, 1);
    let analysis = story.analyse();
    let dormant = |older, newer| {
        let is_it =
            |finding: &&Finding| (finding.older, finding.newer) == (Some(Hold(older)), Some(Hold(newer)));
        analysis.findings.iter().find(is_it).map(|finding| finding.dormant)
    };
    assert_eq!((dormant(1, 2), dormant(1, 3), dormant(2, 3)), (Some(false), Some(false), Some(true)));
    assert_eq!((analysis.counts.double_holders, analysis.counts.double_holders_dormant), (2, 0));
}

#[test]
fn an_overlap_shorter_than_a_round_trip_is_shown() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.reads(100, A, 1, &[]);
    story.expires(10_001, 1);
    story.takes(11_000, B, 2);
    story.ceases(11_003, A, 1);
    let counts = story.analyse().counts;
    assert_eq!((counts.double_holders, counts.double_holders_short), (1, 1));
}

#[test]
fn an_overlap_of_no_time_counts_but_has_no_window() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.expires(10_001, 1);
    story.takes(11_000, B, 2);
    story.ceases(11_002, A, 1);
    let analysis = story.analyse();
    assert_eq!(analysis.counts.double_holders, 1);
    assert!(analysis.windows.is_empty() && analysis.pairs.is_empty() && analysis.findings.is_empty());
}

#[test]
fn belief_ends_when_the_release_is_invoked() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    let release = story.op(A, F::Release, 1);
    story.tell(100, Event::Invoke(release.clone()));
    story.ends(101, 1, EndCause::Released, By { op: Some(release.op), hold: Some(Hold(1)) });
    story.takes(102, B, 2);
    story.tell(500, Event::Ok(release));
    assert_eq!(story.analyse().counts.double_holders, 0);
}

#[test]
fn belief_ends_with_its_machine_and_may_come_back() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.reads(100, A, 1, &[]);
    story.nemesis(1_000, Fault::Kill { node: node_of(A) });
    story.takes(11_000, B, 2);
    story.expires(10_001, 1);
    story.believes(12_000, A, 1);
    story.nemesis(13_000, Fault::PowerOff { node: node_of(A) });
    let analysis = story.analyse();
    let window = Window { lock: LOCK, from_ns: 12_000 * MS, to_ns: 13_000 * MS, holders: 2 };
    assert_eq!(analysis.windows, [window]);
    assert_eq!(analysis.times.ghost_owner_over_ns, 9_001 * MS);
    assert_eq!(analysis.times.stale_belief_ns, 1_000 * MS);
}

#[test]
fn a_dead_holder_keeps_a_waiter_stuck() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.nemesis(1_000, Fault::Kill { node: node_of(A) });
    let wait = story.asks(2_000, B, 2);
    story.expires(10_001, 1);
    story.granted(10_500, &wait);
    story.is_told(10_502, &wait, 20_500, Some(2));
    story.asks(11_000, C, 3);
    let analysis = story.analyse();
    let times = analysis.times;
    // Until the lease is over; and while each reply is on its way: its receiver waits for what it has.
    assert_eq!(times.stuck_ns, (8_001 + 1 + 2) * MS);
    assert_eq!((times.longest_stuck_ns, times.longest_stuck_from_ns), (8_001 * MS, Some(2_000 * MS)));
    assert_eq!((times.stuck_from_ns, times.stuck_to_ns), (Some(MS), Some(10_502 * MS)));
    assert_eq!(analysis.waiting_at_end, 1);
    assert_eq!(analysis.acquire_ns, [2 * MS, 8_502 * MS]);
}

#[test]
fn a_stopped_holder_blocks_a_waiter() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.is_stopped(1_000, 4_000, A);
    let wait = story.asks(2_000, B, 2);
    story.tell(9_000, Event::Fail(wait));
    let times = story.analyse().times;
    assert_eq!((times.stuck_ns, times.blocked_ns), (MS, 2_000 * MS));
}

#[test]
fn a_dead_waiter_waits_no_more() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.ceases(1_000, A, 1);
    story.asks(2_000, B, 2);
    story.nemesis(3_000, Fault::Kill { node: node_of(B) });
    story.expires(10_001, 1);
    let analysis = story.analyse();
    assert_eq!((analysis.times.stuck_ns, analysis.waiting_at_end), ((1 + 1_000) * MS, 0));
}

#[test]
fn a_refused_write_is_stale_or_a_conflict() {
    let mut story = Story::fenced(FenceMode::Write);
    story.takes(0, A, 1);
    story.takes(11_000, B, 2);
    story.expires(10_001, 1);
    for (t, worker, hold) in [(12_000, A, 1), (12_100, B, 2)] {
        let write = story.sends(t, worker, hold, 0, &[hold]);
        story.refused(t + 1, &write, RefuseReason::StaleToken);
    }
    let read = Op { token: Some(1), ..story.op(A, F::Read, 1) };
    story.tell(12_200, Event::Invoke(read.clone()));
    story.refused(12_201, &Sent::new(read), RefuseReason::StaleToken);
    let counts = story.analyse().counts;
    assert_eq!((counts.stale_rejected, counts.conflicts), (1, 1));
    assert_eq!((counts.writes_refused, counts.reads_refused), (2, 1));
}

#[test]
fn a_stale_write_without_a_token_cannot_be_seen() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.expires(10_001, 1);
    story.takes(11_000, B, 2);
    let mut write = story.sends(12_000, A, 1, 0, &[1]);
    write.op.token = None;
    story.applied(12_001, &write, 1);
    let counts = story.analyse().counts;
    assert_eq!((counts.stale_accepted, counts.stale_undetectable), (1, 1));
}

#[test]
fn a_job_that_is_begun_twice() {
    let mut story = Story::new();
    for (t, worker, job) in [(0, A, 1), (10, B, 1), (20, A, 2), (30, C, 1)] {
        story.tell(t, Event::Begin(Begin { worker, job: JobId(job), hold: None }));
    }
    assert_eq!(story.analyse().counts.duplicate_runs, 2);
}

#[test]
fn a_destroyed_version_counts_each_time() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    for n in 1..=3 {
        story.writes(100 * n, A, 1, (n - 1, n), &(1..=n).collect::<Vec<_>>());
    }
    story.writes(1_000, B, 2, (0, 4), &[9]);
    let analysis = story.analyse();
    assert_eq!((analysis.counts.destroyed_updates, analysis.counts.lost_debits), (3, 3));
    assert_eq!(analysis.findings_total, 6);
}

#[test]
fn a_debit_of_unknown_outcome_may_be_gone_unless_it_was_read() {
    for was_read in [false, true] {
        let mut story = Story::new();
        story.takes(0, A, 1);
        let write = story.sends(100, A, 1, 0, &[1]);
        story.applied(101, &write, 1);
        story.tell(500, Event::Info(write.op.clone()));
        if was_read {
            story.reads(600, A, 1, &[1]);
        }
        story.writes(700, A, 1, (0, 2), &[2]);
        let counts = story.analyse().counts;
        assert_eq!(counts.lost_debits, u64::from(was_read));
        assert_eq!(counts.destroyed_updates, 1);
    }
}

#[test]
fn a_debit_that_somebody_writes_back_is_destroyed_but_not_lost() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.writes(100, A, 1, (0, 1), &[1]);
    story.writes(200, B, 2, (0, 2), &[2]);
    story.writes(300, A, 1, (1, 3), &[1, 3]);
    let counts = story.analyse().counts;
    assert_eq!(counts.destroyed_updates, 2);
    assert_eq!(counts.lost_debits, 1, "only debit 2");
}

#[test]
fn the_same_write_sent_again_destroys_nothing() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    let write = story.sends(100, A, 1, 0, &[1]);
    story.applied(101, &write, 1);
    story.applied(201, &write, 2);
    story.acknowledged(202, &write);
    let counts = story.analyse().counts;
    assert_eq!((counts.destroyed_updates, counts.double_debits, counts.phantom_debits), (0, 0, 0));
}

#[test]
fn an_invoice_that_is_in_the_ledger_twice() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    for (t, id, base) in [(100, 1, 0), (200, 2, 1)] {
        let debits: Vec<u64> = (1..=id).collect();
        let debit = Debit { invoice: JobId(77), ..debit(id) };
        let write =
            Write { base_version: Some(base), debit, balance: balance(&debits), debits: ids(&debits) };
        let write = story.sends_record(t, A, 1, write);
        story.applied(t + 1, &write, id);
    }
    let analysis = story.analyse();
    assert_eq!(analysis.counts.double_debits, 1);
}

#[test]
fn a_debit_that_certainly_failed_is_in_the_ledger() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    let write = story.sends(100, A, 1, 0, &[1]);
    story.applied(101, &write, 1);
    story.tell(102, Event::Fail(write.op));
    let analysis = story.analyse();
    assert_eq!(analysis.counts.phantom_debits, 1);
    let finding = &analysis.findings[0];
    assert_eq!((finding.kind, finding.rule), (FindingKind::PhantomDebit, 6));
    assert_eq!(finding.blame, Blame::Resource(ResourceFault::MadeUp));
}

#[test]
fn a_debit_that_nobody_invoked_is_in_the_ledger() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.writes(100, A, 1, (0, 1), &[1]);
    story.recovers(1_000, None, &[1, 5]);
    let analysis = story.analyse();
    assert_eq!((analysis.counts.phantom_debits, analysis.counts.lost_debits), (1, 0));
}

#[test]
fn a_balance_that_is_not_what_the_debits_leave() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    let write = Write { base_version: Some(0), debit: debit(1), balance: 991, debits: ids(&[1]) };
    let write = story.sends_record(100, A, 1, write);
    story.applied(101, &write, 1);
    story.acknowledged(102, &write);
    let analysis = story.analyse();
    assert_eq!(analysis.counts.phantom_debits, 1);
    assert_eq!(analysis.findings[0].kind, FindingKind::SumMismatch);
    assert_eq!(analysis.findings[0].rule, 7);
}

#[test]
fn a_round_trip_under_a_fault_is_no_measure() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.reads(100, A, 1, &[]);
    let read = story.op(A, F::Read, 1);
    story.tell(1_000, Event::Invoke(read.clone()));
    story.is_stopped(1_500, 1_600, B);
    story.tell(3_000, Event::Ok(read));
    let mut held = story.op(A, F::Read, 1);
    held.op = OpId(999);
    story.nemesis(4_000, Fault::HoldMessage { from: SERVER, to: node_of(A), op: Some(OpId(999)) });
    story.tell(4_001, Event::Invoke(held.clone()));
    story.tell(8_000, Event::Ok(held));
    assert_eq!(story.analyse().times.round_trip_ns, 2 * MS);
}

#[test]
fn the_end_may_be_later_than_the_last_entry() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    let mut checker = fencepost_checker::Checker::new(&story.header);
    story.entries().iter().for_each(|entry| checker.push(entry));
    let analysis = checker.finish_at(5_000 * MS);
    assert_eq!(analysis.end_ns, 5_000 * MS);
    assert_eq!(analysis.times.max_holders, 1);
}

#[test]
fn only_the_first_findings_are_kept_in_detail() {
    let mut story = Story::new();
    for n in 0..1_200 {
        story.takes(10 * n, A, 2 * n + 1);
        story.takes(10 * n + 2, B, 2 * n + 2);
        story.releases(10 * n + 7, A, 2 * n + 1);
        story.releases(10 * n + 7, B, 2 * n + 2);
    }
    let analysis = story.analyse();
    assert_eq!((analysis.findings.len(), analysis.findings_total), (1_000, 1_200));
    assert_eq!(analysis.pairs.len(), 1_200);
}
