//! What a worker knew when it invoked a read, write or charge: was it still entitled to it, and if not,
//! could it have known?

use crate::faults::Faults;
use crate::finding::{Assumption, ClientBug};
use crate::grants::{Grant, Slot};
use crate::history::{CheckDepth, F, NodeId, Op, Value, WorkerId};
use crate::moment::Moment;

/// A request to a resource, with what its worker knew.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Act {
    pub(crate) worker: WorkerId,
    pub(crate) slot: Option<Slot>,
    pub(crate) token: Option<u64>,
    pub(crate) invoked: Moment,
    pub(crate) applied: Option<Moment>,
    /// The deadline when it was invoked.
    pub(crate) deadline_ns: Option<u64>,
    /// What its worker did wrong by invoking it.
    pub(crate) bug: Option<ClientBug>,
    /// Why it was invoked after the deadline although its worker did everything right.
    pub(crate) excuse: Option<Assumption>,
    pub(crate) read_before_lock: bool,
    pub(crate) is_retry: bool,
    /// Whether its message was held.
    pub(crate) was_held: bool,
    /// Whether the resource accepted it against its fence.
    pub(crate) broke_fence: bool,
}

impl Act {
    /// An act of which only its worker is known.
    fn of(worker: WorkerId, at: Moment) -> Self {
        Act {
            worker,
            slot: None,
            token: None,
            invoked: at,
            applied: None,
            deadline_ns: None,
            bug: None,
            excuse: None,
            read_before_lock: false,
            is_retry: false,
            was_held: false,
            broke_fence: false,
        }
    }

    /// An act at its invocation.
    pub(crate) fn invoked(
        op: &Op,
        at: Moment,
        under: Option<(Slot, &Grant)>,
        holder: Holder<'_>,
        last_read: Option<Moment>,
    ) -> Self {
        let mut act = Act::begun((op.worker, op.f), at, under, holder);
        act.token = op.token;
        act.is_retry = op.retry_of.is_some();
        let was_computed_from_a_read = op.value.as_ref().is_some_and(|value| base_version(value).is_some());
        let believed = under.and_then(|(_, grant)| grant.believed_from);
        act.read_before_lock = was_computed_from_a_read
            && last_read.zip(believed).is_some_and(|(read, believed)| read < believed);
        act
    }

    /// An act that begins at a moment: at its invocation, or, if that was not recorded, when the resource
    /// carries it out.
    pub(crate) fn begun(
        (worker, f): (WorkerId, F),
        at: Moment,
        under: Option<(Slot, &Grant)>,
        holder: Holder<'_>,
    ) -> Self {
        let mut act = Act::of(worker, at);
        if let Some((slot, grant)) = under {
            act.slot = Some(slot);
            act.deadline_ns = grant.effective_deadline_ns();
            (act.bug, act.excuse) = judge(f, at, grant, holder);
        }
        act
    }
}

/// The machine and the habits of a worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holder<'a> {
    pub(crate) node: NodeId,
    pub(crate) check: CheckDepth,
    pub(crate) renews: bool,
    pub(crate) faults: &'a Faults,
}

/// The version that a write or charge was computed from.
pub(crate) fn base_version(value: &Value) -> Option<u64> {
    match value {
        Value::Write(write) => write.base_version,
        Value::Charge(charge) => charge.base_version,
        Value::Record(_) | Value::Charged(_) => None,
    }
}

/// Whether the invocation is a bug; if not, what excuses one after the deadline.
fn judge(f: F, at: Moment, grant: &Grant, holder: Holder<'_>) -> (Option<ClientBug>, Option<Assumption>) {
    if grant.released.is_some() {
        return (Some(ClientBug::ActedAfterRelease), None);
    }
    if grant.gave_up.is_some() {
        return (Some(ClientBug::ActedAfterLoss), None);
    }
    // A check is due immediately before each write, whatever the worker's habit.
    if f == F::Read {
        return (None, None);
    }
    if let Some((_, false)) = grant.last_check {
        return (Some(ClientBug::IgnoredCheck), None);
    }
    let Some(deadline_ns) = grant.effective_deadline_ns().filter(|&deadline_ns| deadline_ns <= at.time_ns)
    else {
        return (None, None);
    };
    let Holder { node, check, faults, .. } = holder;
    let since_ns = grant.first_seen.time_ns;
    let clock_moved = faults.was_clock_moved_within(node, since_ns, at.time_ns);
    let checked = grant.last_check.filter(|(checked, _)| grant.last_read.is_none_or(|read| *checked > read));
    match checked {
        Some((checked, _)) if checked.time_ns < deadline_ns => {
            if faults.was_stopped_within(node, checked.time_ns, at.time_ns) {
                (None, Some(Assumption::BoundedPause))
            } else if clock_moved {
                (None, Some(Assumption::ClockDoesNotJump))
            } else {
                (Some(ClientBug::CheckedTooEarly), None)
            }
        }
        // It looked after the deadline and was let through: its clock was wrong, or its sums are.
        Some(_) if clock_moved => (None, Some(Assumption::ClockDoesNotJump)),
        // The timer cannot fire while its process is stopped; afterwards it races with the rest.
        None if check == CheckDepth::Timer && faults.was_stopped_at(node, deadline_ns) => {
            (None, Some(Assumption::BoundedPause))
        }
        None if check == CheckDepth::Timer && clock_moved => (None, Some(Assumption::ClockDoesNotJump)),
        _ => (Some(ClientBug::NoCheck), None),
    }
}
