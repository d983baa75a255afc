//! For each rule of blame a history that shows it.

use fencepost_checker::Analysis;
use fencepost_checker::analysis::Line;
use fencepost_checker::finding::{
    Assumption, Blame, ClientBug, Finding, FindingKind, ResourceFault, ServiceFault, TokenFault,
};
use fencepost_checker::history::*;

use crate::story::*;

fn only(analysis: &Analysis, kind: FindingKind) -> Finding {
    let mut found = analysis.findings.iter().filter(|finding| finding.kind == kind);
    let first = found.next().unwrap_or_else(|| panic!("no {kind:?} in {:#?}", analysis.findings));
    assert_eq!(found.next(), None, "more than one {kind:?}");
    first.clone()
}

fn judged(analysis: &Analysis, kind: FindingKind) -> (u8, Blame, Option<Assumption>) {
    let finding = only(analysis, kind);
    (finding.rule, finding.blame, finding.assumption)
}

fn bug(of: WorkerId, bug: ClientBug) -> Blame {
    Blame::ClientBug { of, bug }
}

#[test]
fn rule_1_a_plain_delete_ends_somebody_elses_tenure() {
    let mut story = Story::new();
    // A overstays, B takes over, A deletes B's lock, C enters while B is still at it.
    story.takes(0, A, 1);
    story.expires(10_001, 1);
    story.takes(11_000, B, 2);
    let delete = story.op(A, F::Release, 1);
    story.tell(12_000, Event::Invoke(delete.clone()));
    story.ends(12_001, 2, EndCause::Deleted, By { op: Some(delete.op), hold: Some(Hold(1)) });
    story.tell(12_002, Event::Ok(delete));
    story.takes(12_500, C, 3);
    story.releases(13_000, C, 3);
    story.releases(14_000, B, 2);

    let analysis = story.analyse();
    assert_eq!(analysis.pairs, [(Hold(1), Hold(2)), (Hold(2), Hold(3))]);
    let second = &analysis.findings[1];
    assert_eq!((second.rule, second.blame), (1, bug(A, ClientBug::EndedAnothersTenure)));
    let early_end = Blame::Service(ServiceFault::EarlyEnd(EndCause::Deleted));
    assert!(second.also.contains(&(3, early_end)), "it was early, too: {:?}", second.also);
}

#[test]
fn rule_1_an_extension_without_owner_check_takes_anothers_lock_for_its_own() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.expires(10_001, 1);
    story.takes(11_000, B, 2);
    let renewal = story.op(A, F::Renew, 1);
    story.tell(11_500, Event::Invoke(renewal.clone()));
    let by = By { op: Some(renewal.op), hold: Some(Hold(1)) };
    let (server, lock, hold) = (SERVER, LOCK, Hold(2));
    story.tell(11_501, Event::Renew(Tenure { server, lock, hold, token: None, ttl_ns: Some(MS), by }));
    story.is_told(11_502, &renewal, 21_500, None);
    story.releases(12_000, A, 1);

    let analysis = story.analyse();
    let finding = only(&analysis, FindingKind::Overlap);
    assert_eq!((finding.rule, finding.blame), (1, bug(A, ClientBug::ExtendedAnothersTenure)));
    assert!(finding.also.contains(&(4, Blame::Service(ServiceFault::FalseOk))));
}

#[test]
fn a_takeover_when_the_tenure_is_over_is_nobodys_bug() {
    let mut story = Story::new();
    // A candidate judges the lease, and waits long enough: the holder overstayed.
    story.takes(0, A, 1);
    let takeover = story.asks(11_000, B, 2);
    story.ends(11_001, 1, EndCause::Deleted, By { op: Some(takeover.op), hold: takeover.hold });
    story.granted(11_001, &takeover);
    story.is_told(11_002, &takeover, 21_000, Some(2));
    story.releases(12_000, A, 1);
    let judged = judged(&story.analyse(), FindingKind::Overlap);
    assert_eq!(judged, (7, bug(A, ClientBug::Overstayed), None));
}

#[test]
fn rule_2_the_service_grants_twice() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.takes(1_000, B, 2);
    story.releases(2_000, A, 1);
    let analysis = story.analyse();
    let judged = judged(&analysis, FindingKind::Overlap);
    assert_eq!(judged, (2, Blame::Service(ServiceFault::DoubleGrant), None));
    assert_eq!(analysis.counts.double_grants, 1);
}

#[test]
fn rule_3_a_clock_step_ends_a_tenure_early() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.ends(1_000, 1, EndCause::Clock, By::default());
    story.takes(1_100, B, 2);
    story.releases(2_000, A, 1);
    let judged = judged(&story.analyse(), FindingKind::Overlap);
    let early_end = Blame::Service(ServiceFault::EarlyEnd(EndCause::Clock));
    assert_eq!(judged, (3, early_end, Some(Assumption::ClockDoesNotJump)));
}

#[test]
fn rule_3_a_failover_forgets_a_grant() {
    let mut story = Story::fenced(FenceMode::Write);
    story.takes(0, A, 1);
    story.reads(10, A, 1, &[]);
    story.ends(1_000, 1, EndCause::Forgotten, By::default());
    // The counter was forgotten as well: the token repeats.
    story.takes_with_token(1_100, B, 2, 1);
    story.reads(1_200, B, 2, &[]);
    let mut write = story.sends(1_300, B, 2, 0, &[2]);
    write.op.token = Some(1);
    story.applied(1_301, &write, 1);
    story.acknowledged(1_302, &write);
    story.writes(1_400, A, 1, (0, 2), &[1]);
    story.releases(2_000, A, 1);

    let analysis = story.analyse();
    let forgot = Blame::Service(ServiceFault::EarlyEnd(EndCause::Forgotten));
    let overlap = judged(&analysis, FindingKind::Overlap);
    assert_eq!(overlap, (3, forgot, Some(Assumption::DurableGrant)));
    let destroyed = only(&analysis, FindingKind::DestroyedUpdate);
    assert_eq!((destroyed.rule, destroyed.blame), (3, forgot));
    assert_eq!(destroyed.also, [(5, Blame::Token(TokenFault::Repeated))]);
    assert_eq!(only(&analysis, FindingKind::Overlap).also, []);
    assert_eq!(analysis.counts.token_faults, 1);
    assert_eq!(analysis.counts.stale_undetectable, 1);
}

/// *A*'s tenure ends at 1 s by a step of the service's clock, *B* books a debit, and *A* writes over it well
/// within its own deadline.
fn clock_step_at_the_service() -> Story {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.reads(10, A, 1, &[]);
    story.ends(1_000, 1, EndCause::Clock, By::default());
    story.takes(1_100, B, 2);
    story.reads(1_200, B, 2, &[]);
    story.writes(1_300, B, 2, (0, 1), &[2]);
    story.writes(2_000, A, 1, (0, 2), &[1]);
    story.releases(2_100, A, 1);
    story
}

const HARM: [FindingKind; 3] = [FindingKind::Overlap, FindingKind::DestroyedUpdate, FindingKind::LostDebit];

#[test]
fn rule_3_alone_for_a_holder_that_is_in_time_by_its_own_clock() {
    let analysis = clock_step_at_the_service().analyse();
    let early_end = Blame::Service(ServiceFault::EarlyEnd(EndCause::Clock));
    for kind in HARM {
        let finding = only(&analysis, kind);
        assert_eq!((finding.rule, finding.blame, &finding.also[..]), (3, early_end, &[][..]), "{kind:?}");
    }
    assert!(!analysis.blame.holder);
}

#[test]
fn rule_3_and_rule_8_for_a_holder_with_troubles_of_its_own() {
    let node = node_of(A);
    let stop = |story: &mut Story| story.is_stopped(900, 1_900, A);
    let step = |story: &mut Story| story.nemesis(500, Fault::ClockStep { node, by_ns: -1 });
    for trouble in [&stop as &dyn Fn(&mut Story), &step] {
        let mut story = clock_step_at_the_service();
        trouble(&mut story);
        let analysis = story.analyse();
        for kind in HARM {
            let finding = only(&analysis, kind);
            assert_eq!((finding.rule, &finding.also[..]), (3, &[(8, Blame::Holder)][..]), "{kind:?}");
        }
    }
    // A stop that was over before the tenure ended made nothing late.
    let mut story = clock_step_at_the_service();
    story.is_stopped(500, 900, A);
    let analysis = story.analyse();
    assert!(analysis.findings.iter().all(|finding| finding.also.is_empty()), "{:?}", analysis.findings);
}

#[test]
fn rule_3_alone_for_a_write_on_its_way_when_the_tenure_was_cut_short() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    let write = story.sends(999, A, 1, 0, &[1]);
    story.ends(1_000, 1, EndCause::Forgotten, By::default());
    story.takes(1_001, B, 2);
    story.writes(1_003, B, 2, (0, 1), &[2]);
    story.applied(1_010, &write, 2);
    story.acknowledged(1_011, &write);
    story.releases(1_100, A, 1);
    let analysis = story.analyse();
    let finding = only(&analysis, FindingKind::DestroyedUpdate);
    let forgot = Blame::Service(ServiceFault::EarlyEnd(EndCause::Forgotten));
    assert_eq!((finding.rule, finding.blame, &finding.also[..]), (3, forgot, &[][..]));
}

#[test]
fn rule_3_a_promised_delay_is_not_kept() {
    let mut story = Story::new();
    story.lock().lock_delay_ns = 15_000 * MS;
    story.takes(0, A, 1);
    story.expires(10_001, 1);
    story.takes(20_000, B, 2);
    story.releases(21_000, A, 1);
    let judged = judged(&story.analyse(), FindingKind::Overlap);
    assert_eq!(judged, (3, Blame::Service(ServiceFault::BrokenDelay), None));
}

#[test]
fn rule_4_a_library_concludes_what_is_not_true() {
    for (decider, blame) in [
        (Decider::Client, bug(A, ClientBug::WrongConclusion)),
        (Decider::Server, Blame::Service(ServiceFault::FalseOk)),
    ] {
        let mut story = Story::new();
        story.takes(0, B, 2);
        let op = story.asks(1_000, A, 1);
        story.tell(1_002, Event::Ok(Op { decided_by: Some(decider), ..op }));
        story.releases(2_000, A, 1);
        let analysis = story.analyse();
        let finding = only(&analysis, FindingKind::Overlap);
        assert_eq!((finding.older, finding.newer), (Some(Hold(2)), Some(Hold(1))));
        assert_eq!((finding.rule, finding.blame), (4, blame));
    }
}

#[test]
fn rule_5_tokens_that_do_not_order_the_grants() {
    for (origin, blame) in [
        (TokenOrigin::WithGrant, Blame::Token(TokenFault::Falling)),
        (TokenOrigin::Clock, bug(A, ClientBug::Token(TokenOrigin::Clock))),
    ] {
        // A's token is the larger one, though its grant is the older one.
        let mut story = Story::fenced(FenceMode::ReadWrite);
        story.lock().tokens = origin;
        story.tokens_come_with_grants = origin == TokenOrigin::WithGrant;
        story.takes(0, A, 7);
        story.is_stopped(500, 12_500, A);
        story.expires(10_001, 7);
        story.takes(11_000, B, 2);
        story.writes(12_200, B, 2, (0, 1), &[2]);
        story.releases(12_300, B, 2);
        story.checks(400, A, 7, true);
        story.writes(13_000, A, 7, (0, 2), &[1]);
        story.releases(13_100, A, 7);
        let analysis = story.analyse();
        let finding = only(&analysis, FindingKind::DestroyedUpdate);
        assert_eq!((finding.rule, finding.blame), (5, blame));
        assert_eq!(finding.also, [(8, Blame::Holder)]);
        assert_eq!(analysis.counts.token_faults, 1, "{origin:?}");
    }
}

#[test]
fn rule_6_a_fence_lets_a_smaller_token_through() {
    let mut story = Story::fenced(FenceMode::Write);
    story.is_stopped(500, 12_500, A);
    story.checks(400, A, 1, true);
    story.late_write();
    let analysis = story.analyse();
    let broken = Blame::Resource(ResourceFault::BrokenFence);
    let finding = only(&analysis, FindingKind::DestroyedUpdate);
    assert_eq!((finding.rule, finding.blame), (6, broken));
    assert_eq!(finding.also, [(8, Blame::Holder)]);
    let lost = only(&analysis, FindingKind::LostDebit);
    assert_eq!((lost.rule, lost.blame, lost.debit), (6, broken, Some(DebitId(2))));
    assert!(analysis.blame.resource);
}

#[test]
fn rule_6_an_acknowledged_write_is_gone_after_a_crash() {
    let mut story = Story::fenced(FenceMode::Write);
    story.takes(0, A, 1);
    story.writes(100, A, 1, (0, 1), &[1]);
    story.recovers(1_000, Some(1), &[]);
    let judged = judged(&story.analyse(), FindingKind::LostDebit);
    assert_eq!(judged, (6, Blame::Resource(ResourceFault::LostWrite), None));
}

#[test]
fn rule_7_no_check() {
    let mut story = Story::new();
    story.late_write();
    let analysis = story.analyse();
    for kind in [FindingKind::DestroyedUpdate, FindingKind::LostDebit] {
        assert_eq!(judged(&analysis, kind), (7, bug(A, ClientBug::NoCheck), None));
    }
}

#[test]
fn rule_7_no_check_since_the_read_though_it_was_stopped() {
    let mut story = Story::new();
    story.checks(5, A, 1, true);
    story.is_stopped(500, 12_500, A);
    story.late_write();
    let judged = judged(&story.analyse(), FindingKind::LostDebit);
    assert_eq!(judged, (7, bug(A, ClientBug::NoCheck), None), "the check was before the read");
}

#[test]
fn rule_7_a_failed_check_is_ignored() {
    let mut story = Story::new();
    story.is_stopped(500, 12_500, A);
    story.checks(12_900, A, 1, false);
    story.late_write();
    let judged = judged(&story.analyse(), FindingKind::LostDebit);
    assert_eq!(judged, (7, bug(A, ClientBug::IgnoredCheck), None));
}

#[test]
fn rule_7_a_check_with_work_after_it() {
    let mut story = Story::new();
    story.checks(9_000, A, 1, true);
    story.late_write();
    let judged = judged(&story.analyse(), FindingKind::LostDebit);
    assert_eq!(judged, (7, bug(A, ClientBug::CheckedTooEarly), None));
}

#[test]
fn rule_7_acts_after_it_learnt_of_the_loss() {
    let mut story = Story::new();
    story.is_stopped(500, 12_500, A);
    story.checks(400, A, 1, true);
    story.learns(12_900, A, 1);
    story.late_write();
    let judged = judged(&story.analyse(), FindingKind::LostDebit);
    assert_eq!(judged, (7, bug(A, ClientBug::ActedAfterLoss), None));
}

#[test]
fn rule_7_acts_after_its_release() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.reads(10, A, 1, &[]);
    story.releases(20, A, 1);
    story.takes(100, B, 2);
    story.writes(200, B, 2, (0, 1), &[2]);
    story.writes(300, A, 1, (0, 2), &[1]);
    let analysis = story.analyse();
    let judged = judged(&analysis, FindingKind::DestroyedUpdate);
    assert_eq!(judged, (7, bug(A, ClientBug::ActedAfterRelease), None));
    assert_eq!(analysis.counts.double_holders, 0);
}

#[test]
fn rule_7_releases_with_a_write_on_its_way() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    let write = story.sends(10, A, 1, 0, &[1]);
    story.tell(500, Event::Info(write.op.clone()));
    story.releases(600, A, 1);
    story.takes(700, B, 2);
    story.writes(800, B, 2, (0, 1), &[2]);
    story.applied(900, &write, 2);
    let judged = judged(&story.analyse(), FindingKind::DestroyedUpdate);
    assert_eq!(judged, (7, bug(A, ClientBug::ReleasedWithOpenWrite), None));
}

#[test]
fn rule_7_retries_without_idempotence() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    let charge = story.charges(10, A, 1, 1, 77);
    story.applied(11, &charge, 1);
    story.tell(500, Event::Info(charge.op.clone()));
    let again = story.charges_again(600, (A, 1), 2, 77, Some(charge.op.op));
    story.applied(601, &again, 2);
    story.acknowledged(602, &again);
    let analysis = story.analyse();
    let judged = judged(&analysis, FindingKind::DoubleDebit);
    assert_eq!(judged, (7, bug(A, ClientBug::RetriedWithoutIdempotence), None));
    assert_eq!(analysis.counts.double_debits, 1);
}

#[test]
fn rule_7_reads_before_it_has_the_lock() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    let read = story.reads(10, B, 2, &[]);
    assert_eq!(read.hold, Some(Hold(2)));
    story.writes(20, A, 1, (0, 1), &[1]);
    story.releases(30, A, 1);
    story.takes(100, B, 2);
    story.writes(200, B, 2, (0, 2), &[2]);
    let judged = judged(&story.analyse(), FindingKind::DestroyedUpdate);
    assert_eq!(judged, (7, bug(B, ClientBug::ReadBeforeLock), None));
}

#[test]
fn rule_7_runs_on_past_its_deadline() {
    for depth in [CheckDepth::None, CheckDepth::Timer, CheckDepth::BeforeWrite] {
        let mut story = Story::new();
        story.habits(A).check = depth;
        story.takes(0, A, 1);
        story.expires(10_001, 1);
        story.takes(11_000, B, 2);
        story.checks(12_000, A, 1, false);
        story.ceases(12_000, A, 1);
        let judged = judged(&story.analyse(), FindingKind::Overlap);
        assert_eq!(judged, (7, bug(A, ClientBug::Overstayed), None), "{depth:?}");
    }
}

#[test]
fn rule_7_no_lock_at_all() {
    let mut story = Story::new();
    story.lock().service = false;
    for (t, worker, hold) in [(0, A, 1), (1, B, 2)] {
        let op = story.asks(t, worker, hold);
        story.tell(t + 2, Event::Ok(op));
    }
    story.writes(10, B, 2, (0, 1), &[2]);
    story.writes(20, A, 1, (0, 2), &[1]);
    story.releases(100, A, 1);
    let analysis = story.analyse();
    for kind in [FindingKind::Overlap, FindingKind::DestroyedUpdate, FindingKind::LostDebit] {
        assert_eq!(judged(&analysis, kind), (7, bug(A, ClientBug::NoLock), None));
    }
    assert_eq!(analysis.counts.grants, 2);
    assert_eq!((analysis.counts.stale_accepted, analysis.times.stale_belief_ns), (0, 0));
}

#[test]
fn rule_8_a_pause_between_check_and_write() {
    let mut story = Story::new();
    story.checks(400, A, 1, true);
    story.is_stopped(500, 12_500, A);
    story.late_write();
    let analysis = story.analyse();
    for kind in [FindingKind::Overlap, FindingKind::DestroyedUpdate, FindingKind::LostDebit] {
        assert_eq!(judged(&analysis, kind), (8, Blame::Holder, Some(Assumption::BoundedPause)));
    }
    assert!(analysis.assumptions.contains(Assumption::ResourceCooperates), "the fence is off");
}

#[test]
fn rule_8_a_timer_cannot_fire_while_its_process_is_stopped() {
    let mut story = Story::new();
    story.habits(A).check = CheckDepth::Timer;
    story.is_stopped(500, 12_999, A);
    story.late_write();
    let judged = judged(&story.analyse(), FindingKind::LostDebit);
    assert_eq!(judged, (8, Blame::Holder, Some(Assumption::BoundedPause)));
}

#[test]
fn rule_8_a_clock_that_was_moved() {
    let mut story = Story::new();
    let node = node_of(A);
    story.nemesis(200, Fault::ClockStep { node, by_ns: -60_000_000_000 });
    story.checks(12_900, A, 1, true);
    story.late_write();
    let analysis = story.analyse();
    for kind in [FindingKind::Overlap, FindingKind::LostDebit] {
        assert_eq!(judged(&analysis, kind), (8, Blame::Holder, Some(Assumption::ClockDoesNotJump)));
    }
}

#[test]
fn rule_8_a_clock_that_runs_slow() {
    let mut story = Story::new();
    let op = story.asks(0, A, 1);
    story.granted(1, &op);
    // Ten seconds of its clock are twenty of true time.
    story.is_told(2, &op, 20_000, Some(1));
    story.expires(10_001, 1);
    story.takes(11_000, B, 2);
    story.writes(12_000, B, 2, (0, 1), &[2]);
    story.writes(13_000, A, 1, (0, 2), &[1]);
    story.releases(14_000, A, 1);
    let analysis = story.analyse();
    for kind in [FindingKind::Overlap, FindingKind::LostDebit] {
        assert_eq!(judged(&analysis, kind), (8, Blame::Holder, Some(Assumption::ClockDoesNotJump)));
    }
}

#[test]
fn rule_8_clocks_that_drift_within_the_declared_bound() {
    // The service's clock may run fast by a fifth: it keeps its promise, and no fault was injected.
    let mut story = Story::new();
    story.lock().clock_rate_bound_ppm = 200_000;
    story.takes(0, A, 1);
    story.expires(8_001, 1);
    story.takes(8_100, B, 2);
    story.writes(8_500, B, 2, (0, 1), &[2]);
    story.writes(9_000, A, 1, (0, 2), &[1]);
    story.releases(9_500, A, 1);
    let analysis = story.analyse();
    for kind in HARM {
        assert_eq!(judged(&analysis, kind), (8, Blame::Holder, Some(Assumption::ClockDoesNotJump)));
    }
    assert_eq!(analysis.contract.tenure, Line::Kept);
}

#[test]
fn rule_8_a_message_that_was_held() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    let write = story.sends(100, A, 1, 0, &[1]);
    let (from, to, op) = (node_of(A), SERVER, Some(write.op.op));
    story.nemesis(100, Fault::HoldMessage { from, to, op });
    story.nemesis(12_900, Fault::DeliverMessage { from, to, op });
    story.expires(10_001, 1);
    story.takes(11_000, B, 2);
    story.writes(12_000, B, 2, (0, 1), &[2]);
    story.applied(13_000, &write, 2);
    story.acknowledged(13_001, &write);
    story.checks(13_002, A, 1, false);
    story.ceases(13_002, A, 1);
    let analysis = story.analyse();
    for kind in [FindingKind::Overlap, FindingKind::LostDebit] {
        assert_eq!(judged(&analysis, kind), (8, Blame::Holder, Some(Assumption::BoundedDelay)));
    }
}

#[test]
fn rule_8_renewals_that_cannot_get_through() {
    let mut story = Story::new();
    story.habits(A).renew_every_ns = Some(3_000 * MS);
    story.takes(0, A, 1);
    let (from, to) = (node_of(A), SERVER);
    story.nemesis(1_000, Fault::Cut { from, to });
    story.expires(10_001, 1);
    story.takes(11_000, B, 2);
    story.checks(12_000, A, 1, false);
    story.ceases(12_000, A, 1);
    let judged = judged(&story.analyse(), FindingKind::Overlap);
    assert_eq!(judged, (8, Blame::Holder, Some(Assumption::BoundedDelay)));
}

#[test]
fn rule_9_nothing_explains_it() {
    let mut story = Story::new();
    // B reads a version that A has replaced long before: nobody's rule covers a read of the past.
    story.takes(0, A, 1);
    story.writes(10, A, 1, (0, 1), &[1]);
    story.releases(20, A, 1);
    story.takes(100, B, 2);
    story.reads(110, B, 2, &[]);
    story.writes(120, B, 2, (0, 2), &[2]);
    let analysis = story.analyse();
    assert_eq!(judged(&analysis, FindingKind::DestroyedUpdate), (9, Blame::Unexplained, None));
    assert!(analysis.blame.unexplained);
}
