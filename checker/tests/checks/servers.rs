//! Locks of several servers, and lock-delay.

use fencepost_checker::finding::{Blame, ServiceFault};
use fencepost_checker::history::*;

use crate::story::*;

#[test]
fn a_demoted_primary_that_still_acknowledges_is_a_second_authority() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    let op = story.asks(3_000, B, 2);
    story.granted_by(3_001, &op, OTHER_SERVER);
    story.is_told(3_002, &op, 13_000, Some(2));
    story.renews(4_000, A, 1);
    // The old primary learns of its demotion.
    story.authority(7_000, 1, SERVER, false);
    story.ceases(8_000, A, 1);
    let analysis = story.analyse();
    assert_eq!(analysis.counts.double_grants, 1);
    assert_eq!(analysis.times.double_grant_ns, (7_000 - 3_001) * MS);
    assert_eq!(analysis.times.stale_belief_ns, 1_000 * MS);
    assert_eq!(analysis.findings[0].blame, Blame::Service(ServiceFault::DoubleGrant));
}

#[test]
fn two_servers_with_one_owner_are_no_double_grant() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.authority(2_000, 1, OTHER_SERVER, true);
    story.ends(3_000, 1, EndCause::Forgotten, By::default());
    let analysis = story.analyse();
    assert_eq!((analysis.counts.double_grants, analysis.times.double_grant_ns), (0, 0));
    assert_eq!(analysis.times.stale_belief_ns, 0, "the other server still knows it");
    assert_eq!(analysis.contract.tenure, fencepost_checker::analysis::Line::Kept);
}

#[test]
fn a_key_that_a_backward_step_brings_back_owns_again() {
    let mut story = Story::new();
    story.takes(0, A, 1);
    story.expires(10_001, 1);
    story.takes(10_500, B, 2);
    let (server, lock, hold) = (SERVER, LOCK, Hold(1));
    let revived =
        Tenure { server, lock, hold, token: Some(1), ttl_ns: Some(LEASE_MS * MS), by: By::default() };
    story.tell(11_000, Event::Revive(revived));
    story.expires(12_000, 1);
    story.releases(13_000, A, 1);
    let analysis = story.analyse();
    assert_eq!(analysis.times.double_grant_ns, 1_000 * MS);
    assert_eq!(analysis.counts.grants, 2);
    assert_eq!(analysis.findings[0].rule, 2);
}

#[test]
fn lock_delay_keeps_a_waiter_stuck_though_nobody_owns() {
    let mut story = Story::new();
    story.lock().lock_delay_ns = 15_000 * MS;
    story.takes(0, A, 1);
    let wait = story.asks(5_000, B, 2);
    story.expires(10_001, 1);
    let block = |blocked| Event::Block(Block { server: SERVER, lock: LOCK, blocked });
    story.tell(10_001, block(true));
    story.tell(25_001, block(false));
    story.granted(25_001, &wait);
    story.is_told(25_001, &wait, 35_000, Some(2));
    let analysis = story.analyse();
    let times = analysis.times;
    assert_eq!((times.longest_stuck_ns, times.longest_stuck_from_ns), (15_000 * MS, Some(10_001 * MS)));
    assert_eq!(times.stuck_to_ns, Some(25_001 * MS));
    assert_eq!(analysis.contract.delay, fencepost_checker::analysis::Line::Kept);
}
