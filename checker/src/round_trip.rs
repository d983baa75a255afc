//! The largest round trip that no fault touched: what a healthy system shows of every interval.

use crate::faults::Faults;
use crate::history::{F, Op};
use crate::moment::Moment;

/// How long an acknowledged operation was on its way, if it tells anything about the network.
///
/// An acquire may have waited for the lock, so only its last request counts, and only if the history says
/// when that was sent.
pub(crate) fn of(op: &Op, invoked: Moment, at: Moment, faults: &Faults) -> Option<u64> {
    let from_ns = match op.f {
        F::Acquire => op.sent_ns?,
        // How long another service works is no matter of the network.
        F::Call => return None,
        F::Renew | F::Release | F::Read | F::Write | F::Charge => invoked.time_ns,
    };
    faults.were_none_since(from_ns).then(|| at.time_ns.saturating_sub(from_ns))
}
