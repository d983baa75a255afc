//! What a lock service and a resource promise, line by line.

use crate::analysis::Line;
use crate::grants::Grant;
use crate::history::{Decider, EndCause, FenceMode, Lock, TokenOrigin};
use crate::moment::Moment;

/// Which promises about one lock were broken.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Promises {
    pub(crate) exclusion_broken: bool,
    pub(crate) tenure_broken: bool,
    pub(crate) truth_broken: bool,
    pub(crate) delay_broken: bool,
}

impl Promises {
    /// 1b at the end of a tenure that its own holder did not give back.
    pub(crate) fn judge_end(&mut self, grant: &mut Grant, ended_ns: u64, cause: EndCause) {
        let is_early = grant.promised.is_some_and(|lease| ended_ns < lease.until_ns);
        self.tenure_broken |= is_early;
        if is_early || cause == EndCause::Forgotten {
            grant.early_end = Some(cause);
        }
    }

    /// 1b at an acknowledgement that arrives after the tenure ended.
    pub(crate) fn judge_late_ok(&mut self, grant: &mut Grant) {
        if let Some((ended, cause)) = grant.ended
            && !grant.owns()
            && !grant.given_back
        {
            self.judge_end(grant, ended.time_ns, cause);
        }
    }

    /// 1c at an acknowledgement: the grant must have been owner since the operation was invoked.
    pub(crate) fn judge_ok(&mut self, grant: &mut Grant, invoked: Moment, decider: Decider) {
        let was_owner = grant.owns() || grant.ended.is_some_and(|(ended, _)| ended > invoked);
        if !was_owner {
            self.truth_broken = true;
            grant.false_ok = Some(decider);
        }
    }
}

/// How long a grant or renewal lasts at least: its TTL, less what the service's clock may run fast, less the
/// grain of its time.
pub(crate) fn promised_until(lock: &Lock, executed_ns: u64, ttl_ns: Option<u64>) -> u64 {
    let Some(ttl_ns) = ttl_ns else { return u64::MAX };
    let gained_ns = u128::from(ttl_ns) * u128::from(lock.clock_rate_bound_ppm) / 1_000_000;
    let gained_ns = u64::try_from(gained_ns).unwrap_or(u64::MAX);
    executed_ns.saturating_add(ttl_ns.saturating_sub(gained_ns).saturating_sub(lock.granularity_ns))
}

/// 1a to 1d: a lock without a service promises nothing, and a service that recorded nothing cannot be judged.
pub(crate) fn service_line(lock: &Lock, is_recorded: bool, is_broken: bool) -> Line {
    match (lock.service, is_recorded, is_broken) {
        (false, _, _) => Line::NotApplicable,
        (true, false, _) => Line::Unknown,
        (true, true, true) => Line::Broken,
        (true, true, false) => Line::Kept,
    }
}

/// 1d: only for a lock with a promised delay.
pub(crate) fn delay_line(lock: &Lock, is_recorded: bool, is_broken: bool) -> Line {
    if lock.lock_delay_ns == 0 { Line::NotApplicable } else { service_line(lock, is_recorded, is_broken) }
}

/// 2: only for a lock with tokens.
pub(crate) fn token_line(lock: &Lock, returned: u64, is_broken: bool) -> Line {
    if lock.tokens == TokenOrigin::None {
        Line::NotApplicable
    } else {
        service_line(lock, returned > 0, is_broken)
    }
}

/// 3: only for a resource with a fence.
pub(crate) fn resource_line(fence: FenceMode, is_recorded: bool, is_broken: bool) -> Line {
    match (fence, is_recorded, is_broken) {
        (FenceMode::Off, _, _) => Line::NotApplicable,
        (_, false, _) => Line::Unknown,
        (_, true, true) => Line::Broken,
        (_, true, false) => Line::Kept,
    }
}
