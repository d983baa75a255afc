//! Each line of the contract, kept and broken.

use fencepost_checker::analysis::{Contract, Line};
use fencepost_checker::history::*;

use crate::story::*;

fn contract(story: &Story) -> Contract {
    story.analyse().contract
}

/// Two holders in good order.
fn in_order() -> Story {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.renews(5_000, A, 1);
    story.releases(6_000, A, 1);
    story.takes(7_000, B, 2);
    story.expires(17_001, 2);
    story
}

#[test]
fn everything_is_kept() {
    let kept = contract(&in_order());
    let expected = Contract {
        exclusion: Line::Kept,
        tenure: Line::Kept,
        truth: Line::Kept,
        delay: Line::NotApplicable,
        tokens: Line::Kept,
        resource: Line::NotApplicable,
    };
    assert_eq!(kept, expected);
}

#[test]
fn exclusion_breaks_with_a_second_owner() {
    let mut story = in_order();
    story.takes(8_000, A, 3);
    assert_eq!(contract(&story).exclusion, Line::Broken);
}

#[test]
fn tenure_breaks_with_an_early_end() {
    let mut story = in_order();
    story.takes(20_000, A, 3);
    story.expires(30_000, 3);
    assert_eq!(contract(&story).tenure, Line::Broken, "a millisecond early");
    story.lock().granularity_ns = MS;
    assert_eq!(contract(&story).tenure, Line::Kept, "within the grain of the service's time");
    story.lock().granularity_ns = 0;
    story.lock().clock_rate_bound_ppm = 100;
    assert_eq!(contract(&story).tenure, Line::Kept, "within the rate of the service's clock");
}

#[test]
fn tenure_counts_from_the_last_acknowledged_renewal() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.renews(5_000, A, 1);
    story.expires(12_000, 1);
    assert_eq!(contract(&story).tenure, Line::Broken);

    let mut story = Story::new();
    story.takes(0, A, 1);
    let renewal = story.is_renewing(5_000, A, 1);
    story.expires(12_000, 1);
    assert_eq!(contract(&story).tenure, Line::Kept, "nobody was told");
    story.is_told(12_500, &renewal, 15_000, None);
    assert_eq!(contract(&story).tenure, Line::Broken, "the reply arrives when the tenure is over");
}

#[test]
fn a_tenure_that_does_not_expire_must_not_be_ended() {
    let mut story = Story::new();
    let op = story.asks(0, A, 1);
    let by = By { op: Some(op.op), hold: op.hold };
    let tenure = Tenure { server: SERVER, lock: LOCK, hold: Hold(1), token: None, ttl_ns: None, by };
    story.tell(1, Event::Grant(tenure));
    story.tell(2, Event::Ok(op));
    story.ends(90_000_000, 1, EndCause::Evicted, By::default());
    assert_eq!(contract(&story).tenure, Line::Broken);
}

#[test]
fn truth_breaks_with_an_acknowledgement_of_nothing() {
    let mut story = in_order();
    let op = story.asks(20_000, A, 3);
    story.tell(20_002, Event::Ok(op));
    assert_eq!(contract(&story).truth, Line::Broken);
}

#[test]
fn truth_is_kept_by_an_acknowledgement_of_what_was_true() {
    let mut story = in_order();
    let op = story.asks(20_000, A, 3);
    story.granted(20_001, &op);
    story.expires(30_001, 3);
    story.is_told(40_000, &op, 30_000, Some(3));
    assert_eq!(contract(&story).truth, Line::Kept, "it was owner in between");
}

#[test]
fn delay_is_kept_and_broken() {
    let mut story = in_order();
    story.lock().lock_delay_ns = 15_000 * MS;
    story.takes(32_001, A, 3);
    assert_eq!(contract(&story).delay, Line::Kept, "after a release there is no delay");
    story.expires(42_002, 3);
    story.takes(57_000, B, 4);
    assert_eq!(contract(&story).delay, Line::Broken);
}

#[test]
fn tokens_break_when_they_repeat() {
    let mut story = in_order();
    story.takes_with_token(20_000, A, 3, 2);
    assert_eq!(contract(&story).tokens, Line::Broken);
}

#[test]
fn a_history_without_the_service_cannot_tell() {
    let mut story = Story::new();
    let op = story.asks(0, A, 1);
    story.tell(2, Event::Ok(Op { token: Some(1), ..op }));
    let analysis = story.analyse();
    let Contract { exclusion, tenure, truth, tokens, .. } = analysis.contract;
    assert_eq!([exclusion, tenure, truth], [Line::Unknown; 3]);
    assert_eq!(tokens, Line::Kept);
    assert_eq!(analysis.times.stale_belief_ns, 0);
}

#[test]
fn without_a_service_nothing_is_promised() {
    let mut story = Story::new();
    story.lock().service = false;
    let op = story.asks(0, A, 1);
    story.tell(2, Event::Ok(op));
    let Contract { exclusion, tenure, truth, delay, tokens, resource } = contract(&story);
    assert_eq!([exclusion, tenure, truth, delay, tokens, resource], [Line::NotApplicable; 6]);
}

#[test]
fn a_resource_that_recorded_nothing_cannot_be_judged() {
    let mut story = in_order();
    story.header.resources[0].fence = FenceMode::Write;
    assert_eq!(contract(&story).resource, Line::Unknown);
}

/// Two writes with these tokens, after a read with that token.
fn fenced(fence: FenceMode, read: Option<u64>, tokens: [Option<u64>; 2], bases: [u64; 2]) -> Line {
    let mut story = Story::fenced(fence);
    let read = Op { token: read, ..story.op(A, F::Read, 1) };
    story.tell(0, Event::Invoke(read.clone()));
    let read = Sent::new(read);
    story.applied(1, &read, 0);
    for (n, (token, base)) in (1..).zip(tokens.into_iter().zip(bases)) {
        let mut write = story.sends(10 * n, A, 1, base, &[n]);
        write.op.token = token;
        story.applied(10 * n + 1, &write, n);
    }
    contract(&story).resource
}

#[test]
fn a_fence_on_writes() {
    let line = |read, tokens| fenced(FenceMode::Write, read, tokens, [0, 1]);
    assert_eq!(line(Some(9), [Some(1), Some(1)]), Line::Kept, "reads do not count");
    assert_eq!(line(None, [Some(2), Some(1)]), Line::Broken);
    assert_eq!(line(None, [Some(2), None]), Line::Broken);
}

#[test]
fn a_fence_on_reads_and_writes() {
    let line = |read, tokens| fenced(FenceMode::ReadWrite, read, tokens, [0, 1]);
    assert_eq!(line(Some(1), [Some(1), Some(2)]), Line::Kept);
    assert_eq!(line(Some(2), [Some(1), Some(2)]), Line::Broken);
}

#[test]
fn conditional_writes() {
    let line = |bases| fenced(FenceMode::Cas, None, [None, None], bases);
    assert_eq!(line([0, 1]), Line::Kept);
    assert_eq!(line([0, 0]), Line::Broken);
}

#[test]
fn a_bar_that_falls_in_a_crash() {
    for (bar, line) in [(Some(2), Line::Kept), (Some(1), Line::Broken), (None, Line::Broken)] {
        let mut story = Story::fenced(FenceMode::Write);
        story.takes(0, A, 2);
        story.writes(100, A, 2, (0, 1), &[1]);
        story.recovers(1_000, bar, &[1]);
        assert_eq!(contract(&story).resource, line, "{bar:?}");
    }
}

#[test]
fn a_key_that_is_applied_twice() {
    for (keys, line) in [([7, 8], Line::Kept), ([7, 7], Line::Broken)] {
        let mut story = Story::fenced(FenceMode::Idempotency);
        for (n, key) in (1..).zip(keys) {
            let mut charge = story.charges(10 * n, A, 1, n, n);
            charge.op.idempotency_key = Some(key);
            story.applied(10 * n + 1, &charge, n);
        }
        assert_eq!(contract(&story).resource, line);
    }
}
