//! Rules 7 and 8: a client that should have known better, and a holder that could not.

use super::{Case, Harm, Party, Ruling};
use crate::acting::{Act, Holder};
use crate::finding::{Assumption, Blame, ClientBug, FindingKind};
use crate::grants::Grant;
use crate::history::CheckDepth;
use crate::moment::Moment;

/// Rule 7: *A* acted after it had released, learnt of the loss, or passed its deadline with running code and
/// no check; released with an unknown write open; retried without idempotence; read the data before it had
/// the lock: client bug of *A*. A lock without a service is no lock: client bug, whatever was done.
///
/// A newer grant that read too early or retried caused the finding itself.
pub(super) fn client_acted_against_the_rules(case: &Case<'_>) -> Option<Ruling> {
    let bug = |party: &Party<'_>, bug: ClientBug| {
        party.worker().map(|of| Ruling::blames(Blame::ClientBug { of, bug }))
    };
    match case.harm {
        Harm::Overlap { since, until } => {
            let grant = case.older.grant?;
            if !case.has_service(grant) {
                return bug(&case.older, ClientBug::NoLock);
            }
            bug(&case.older, bug_in_overlap(case, grant, since, until)?)
        }
        Harm::Data { kind: FindingKind::SumMismatch, .. } => bug(&case.older, ClientBug::WrongRecord),
        // Nobody but the resource had a hand in these.
        Harm::Data { kind: FindingKind::PhantomDebit, .. } => None,
        Harm::Data { kind: FindingKind::LostDebit, .. } if case.newer.act.is_none() => None,
        Harm::Data { kind, .. } => {
            let act = case.older.act?;
            let other = case.newer.act;
            // Of two requests of one worker, the repeated one is at fault, not the lack of a lock.
            if kind == FindingKind::DoubleDebit
                && other.is_some_and(|other| other.worker == act.worker && (other.is_retry || act.is_retry))
            {
                return bug(&case.older, ClientBug::RetriedWithoutIdempotence);
            }
            for party in [&case.older, &case.newer].into_iter().filter(|party| party.act.is_some()) {
                if !party.grant.is_some_and(|grant| case.has_service(grant)) {
                    return bug(party, ClientBug::NoLock);
                }
            }
            let parties = [case.older, case.newer];
            let found =
                parties.iter().find_map(|party| Some((party, bug_in_act(kind, party.act?, party.grant?)?)));
            found.and_then(|(party, found)| bug(party, found))
        }
    }
}

/// Rule 8: *A* passed its last due check in time and was then stopped, or its clock moved, or its message was
/// held: the holder, who could not know; names the assumption: pause, clock, delay.
pub(super) fn holder_was_delayed(case: &Case<'_>) -> Option<Ruling> {
    let grant = case.older.grant.filter(|grant| case.has_service(grant))?;
    let holder = case.holder(case.older.worker()?)?;
    let assumption = match case.harm {
        Harm::Overlap { since, until } => excuse_in_overlap(holder, grant, since, until)?,
        Harm::Data { .. } => excuse_of_act(holder, grant, case.older.act?)?,
    };
    Some(Ruling { blame: Blame::Holder, assumption: Some(assumption) })
}

/// What the older holder did wrong: while both believed, or when it woke up afterwards.
fn bug_in_overlap(case: &Case<'_>, grant: &Grant, since: Moment, until: Moment) -> Option<ClientBug> {
    if let Some((_, bug)) = grant.first_bug.filter(|(acted, _)| *acted < case.at) {
        return Some(bug);
    }
    let deadline_ns = grant.effective_deadline_ns().filter(|&deadline_ns| deadline_ns < until.time_ns)?;
    let holder = case.holder(grant.worker?)?;
    if holder.faults.was_stopped_at(holder.node, deadline_ns) {
        return None;
    }
    let is_excused = match holder.check {
        CheckDepth::None => false,
        // Its timer was due at the deadline, unless the clock by which it runs was moved.
        CheckDepth::Timer => has_moved_clock(holder, grant, until),
        // Its check is due before its next write. Until then it may only be late through a fault.
        CheckDepth::BeforeWrite => excuse_in_overlap(holder, grant, since, until).is_some(),
    };
    (!is_excused).then_some(ClientBug::Overstayed)
}

/// Why the older holder still believed when the other one came, through no fault of its code.
fn excuse_in_overlap(holder: Holder<'_>, grant: &Grant, since: Moment, at: Moment) -> Option<Assumption> {
    let Holder { node, faults, renews, .. } = holder;
    let deadline_ns = grant.effective_deadline_ns()?;
    let acknowledged_ns = grant.acknowledged_ns.unwrap_or(grant.first_seen.time_ns);
    if since.time_ns < deadline_ns {
        let (ended, _) = grant.ended.filter(|(ended, _)| *ended <= since)?;
        if !was_cut_short(grant) {
            // Its time at the service was over before its own clock said so.
            return Some(Assumption::ClockDoesNotJump);
        }
        if at.time_ns <= deadline_ns {
            return trouble_since(ended, holder, grant, at);
        }
    }
    if faults.was_stopped_at(node, deadline_ns) {
        return Some(Assumption::BoundedPause);
    }
    if has_moved_clock(holder, grant, at) {
        return Some(Assumption::ClockDoesNotJump);
    }
    let is_cut_off = renews && faults.was_cut_off_within(node, acknowledged_ns, since.time_ns);
    let was_told_late = grant.believed_from.is_some_and(|believed| believed.time_ns >= deadline_ns);
    if grant.had_held_message || is_cut_off || was_told_late {
        return Some(Assumption::BoundedDelay);
    }
    faults.was_stopped_within(node, acknowledged_ns, at.time_ns).then_some(Assumption::BoundedPause)
}

/// Whether the service or somebody else ended a tenure before its time, or led its holder to think that it
/// goes on: then a holder that acts within its own deadline is not late.
fn was_cut_short(grant: &Grant) -> bool {
    grant.early_end.is_some() || grant.tampering.is_some() || grant.false_ok.is_some()
}

/// What befell a holder itself after its tenure was cut short, from a moment to another.
fn trouble_since(from: Moment, holder: Holder<'_>, grant: &Grant, at: Moment) -> Option<Assumption> {
    if holder.faults.was_stopped_within(holder.node, from.time_ns, at.time_ns) {
        Some(Assumption::BoundedPause)
    } else if has_moved_clock(holder, grant, at) {
        Some(Assumption::ClockDoesNotJump)
    } else {
        grant.had_held_message.then_some(Assumption::BoundedDelay)
    }
}

fn has_moved_clock(holder: Holder<'_>, grant: &Grant, at: Moment) -> bool {
    holder.faults.was_clock_moved_within(holder.node, grant.first_seen.time_ns, at.time_ns)
}

/// What a worker did wrong by a request to the resource.
fn bug_in_act(kind: FindingKind, act: &Act, grant: &Grant) -> Option<ClientBug> {
    let was_on_its_way_at_release = grant.released.is_some_and(|released| {
        act.invoked < released && act.applied.is_some_and(|applied| released < applied)
    });
    if act.bug.is_some() {
        act.bug
    } else if was_on_its_way_at_release {
        Some(ClientBug::ReleasedWithOpenWrite)
    } else if act.is_retry && kind == FindingKind::DoubleDebit {
        Some(ClientBug::RetriedWithoutIdempotence)
    } else if act.read_before_lock {
        Some(ClientBug::ReadBeforeLock)
    } else {
        None
    }
}

/// Why a request was carried out after its time, through no fault of the worker's code.
fn excuse_of_act(holder: Holder<'_>, grant: &Grant, act: &Act) -> Option<Assumption> {
    if act.was_held {
        return Some(Assumption::BoundedDelay);
    }
    if act.excuse.is_some() {
        return act.excuse;
    }
    if act.deadline_ns.is_some_and(|deadline_ns| deadline_ns <= act.invoked.time_ns) {
        return None;
    }
    let ended = grant.ended.filter(|_| !grant.owns()).map(|(ended, _)| ended);
    let was_cut_short = was_cut_short(grant);
    if let Some(ended) = ended.filter(|&ended| ended < act.invoked) {
        // In time by its own clock, too late by the service's.
        if !was_cut_short {
            return act.deadline_ns.map(|_| Assumption::ClockDoesNotJump);
        }
        if let Some(trouble) = trouble_since(ended, holder, grant, act.invoked) {
            return Some(trouble);
        }
    }
    let applied = act.applied?;
    let was_stopped = holder.faults.was_stopped_within(holder.node, act.invoked.time_ns, applied.time_ns);
    let is_past_deadline = act.deadline_ns.is_some_and(|deadline_ns| deadline_ns <= applied.time_ns);
    let is_past_end = ended.is_some_and(|ended| ended < applied);
    if was_stopped && (is_past_deadline || is_past_end) {
        Some(Assumption::BoundedPause)
    } else if is_past_deadline || (is_past_end && !was_cut_short) {
        Some(Assumption::BoundedDelay)
    } else {
        None
    }
}
