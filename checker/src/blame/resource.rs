//! Rules 5 and 6: tokens that could not help, and a resource that did not.

use super::{Case, Harm, Ruling};
use crate::finding::{Blame, ClientBug, FindingKind, ResourceFault, TokenFault};
use crate::history::{FenceMode, TokenOrigin};

/// Rule 5: the finding depends on equal or falling tokens. Minted with the grant: the service's tokens are at
/// fault; minted apart, from a clock, shared, read late: client bug.
pub(super) fn tokens_do_not_order_the_grants(case: &Case<'_>) -> Option<Ruling> {
    let Harm::Data { fence: FenceMode::Write | FenceMode::ReadWrite, .. } = case.harm else { return None };
    let (older, _) = case.two_grants()?;
    if !case.has_service(older) {
        return None;
    }
    let fault = match (case.older.token(), case.newer.token()) {
        (Some(earlier), Some(later)) if earlier < later => return None,
        (Some(earlier), Some(later)) if earlier == later => TokenFault::Repeated,
        (Some(_), Some(_)) => TokenFault::Falling,
        (None, _) | (_, None) => TokenFault::Absent,
    };
    let blame = match case.lock(older)?.tokens {
        TokenOrigin::WithGrant => Blame::Token(fault),
        origin @ (TokenOrigin::None | TokenOrigin::Apart | TokenOrigin::Clock | TokenOrigin::Shared) => {
            Blame::ClientBug { of: case.older.worker()?, bug: ClientBug::Token(origin) }
        }
    };
    Some(Ruling::blames(blame))
}

/// Rule 6: the resource accepted what its mode forbids, lost its bar, or lost an acknowledged write with no
/// stale operation in play.
pub(super) fn resource_broke_its_promise(case: &Case<'_>) -> Option<Ruling> {
    let Harm::Data { kind, .. } = case.harm else { return None };
    let mut acts = [case.older.act, case.newer.act].into_iter().flatten();
    let fault = if acts.any(|act| act.broke_fence) {
        ResourceFault::BrokenFence
    } else if kind == FindingKind::LostDebit && case.newer.act.is_none() {
        // Nobody wrote over it: the resource itself came back without it, or never stored it.
        ResourceFault::LostWrite
    } else if kind == FindingKind::PhantomDebit
        || (kind == FindingKind::SumMismatch && case.older.act.is_none())
    {
        ResourceFault::MadeUp
    } else {
        return None;
    };
    Some(Ruling::blames(Blame::Resource(fault)))
}
