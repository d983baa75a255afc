//! Rules 1 to 4: what happened to the tenures at the service.

use super::{Case, Ruling};
use crate::finding::{Assumption, Blame, ClientBug, ServiceFault};
use crate::history::{Decider, EndCause};

/// Rule 1: *A*'s tenure was ended or altered by an operation of *X* ≠ *A* that did not own it (plain `DEL`,
/// owner-less extend, unlock by name, reaper, a candidate that judges by its own TTL): client bug of *X*.
///
/// The other way round counts too: an *A* that extends *B*'s tenure takes it for its own.
pub(super) fn tenure_was_tampered_with(case: &Case<'_>) -> Option<Ruling> {
    let (older, newer) = case.two_grants()?;
    let of_newer = newer.tampering.filter(|tampering| {
        Some(tampering.by) == older.worker && tampering.bug == ClientBug::ExtendedAnothersTenure
    });
    let tampering = older.tampering.or(of_newer)?;
    Some(Ruling::blames(Blame::ClientBug { of: tampering.by, bug: tampering.bug }))
}

/// Rule 2: 1a broken, *A* and *B* were owner at one instant: the service granted twice.
pub(super) fn lock_was_granted_twice(case: &Case<'_>) -> Option<Ruling> {
    let (older, newer) = case.two_grants()?;
    let assumption = older.ended.and_then(|(_, cause)| assumption_of(cause));
    older
        .co_owners
        .contains(&newer.hold)
        .then_some(Ruling { blame: Blame::Service(ServiceFault::DoubleGrant), assumption })
}

/// Rule 3: 1b or 1d broken, or the grant was forgotten: the service ended it early (clock, lost state,
/// session killed).
pub(super) fn tenure_ended_early(case: &Case<'_>) -> Option<Ruling> {
    let (older, newer) = case.two_grants()?;
    if let Some(cause) = older.early_end {
        let blame = Blame::Service(ServiceFault::EarlyEnd(cause));
        return Some(Ruling { blame, assumption: assumption_of(cause) });
    }
    let delay_ns = case.lock(older)?.lock_delay_ns;
    let (lost_ns, granted) = (older.lost_ns?, newer.granted?);
    let is_within_delay = lost_ns <= granted.time_ns && granted.time_ns - lost_ns < delay_ns;
    is_within_delay.then_some(Ruling::blames(Blame::Service(ServiceFault::BrokenDelay)))
}

/// Rule 4: 1c broken. Decided in a server: the service's fault; decided in a client library (missing
/// re-check, no second clock check, old session's node): client bug of the one who was told so.
pub(super) fn acknowledgement_was_not_true(case: &Case<'_>) -> Option<Ruling> {
    case.two_grants()?;
    let told = [case.older, case.newer].into_iter().find_map(|party| {
        let grant = party.grant?;
        Some((grant.false_ok?, party.worker()?))
    });
    let blame = match told? {
        (Decider::Server, _) => Blame::Service(ServiceFault::FalseOk),
        (Decider::Client, of) => Blame::ClientBug { of, bug: ClientBug::WrongConclusion },
    };
    Some(Ruling::blames(blame))
}

/// What must not happen for a service to keep its grants.
fn assumption_of(cause: EndCause) -> Option<Assumption> {
    match cause {
        EndCause::Forgotten => Some(Assumption::DurableGrant),
        EndCause::Clock => Some(Assumption::ClockDoesNotJump),
        EndCause::Expired
        | EndCause::Released
        | EndCause::Deleted
        | EndCause::Extended
        | EndCause::Evicted => None,
    }
}
