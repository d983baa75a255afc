//! Who waits in vain for one lock.
//!
//! *Stuck*: somebody waits though no owner believes (it is dead, or gave up, or does not know yet), or though
//! nobody owns the lock and the service grants it to nobody. *Blocked*: somebody waits, the owner believes,
//! but it is stopped.

use crate::grants::{Grants, Slot};
use crate::history::{NodeId, OpId, WorkerId};
use crate::meter::{Meter, Sum};

/// Who waits for one lock, and for how long in vain.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) stuck: Sum,
    pub(crate) blocked: Sum,
    waiters: Vec<(OpId, WorkerId)>,
    /// Servers that grant the lock to nobody.
    refusing: Vec<NodeId>,
    stuck_meter: Meter,
    blocked_meter: Meter,
}

impl Waiting {
    /// A worker begins to wait.
    pub(crate) fn begin(&mut self, op: OpId, worker: WorkerId) {
        self.waiters.push((op, worker));
    }

    /// Its acquire is over.
    pub(crate) fn end(&mut self, op: OpId) {
        self.waiters.retain(|&(other, _)| other != op);
    }

    /// Workers died. Returns the acquires that nobody waits for any more.
    pub(crate) fn abandon(&mut self, is_dead: impl Fn(WorkerId) -> bool) -> Vec<OpId> {
        self.waiters.extract_if(.., |&mut (_, worker)| is_dead(worker)).map(|(op, _)| op).collect()
    }

    /// Those who wait.
    pub(crate) fn workers(&self) -> impl Iterator<Item = WorkerId> {
        self.waiters.iter().map(|&(_, worker)| worker)
    }

    /// A server grants the lock to nobody, or again to somebody.
    pub(crate) fn block(&mut self, server: NodeId, is_blocked: bool) {
        self.refusing.retain(|&other| other != server);
        if is_blocked {
            self.refusing.push(server);
        }
    }

    /// Something changed: is anybody waiting in vain from now on?
    pub(crate) fn update(
        &mut self,
        grants: &Grants,
        owners: &[Slot],
        is_stopped: impl Fn(WorkerId) -> bool,
        now_ns: u64,
    ) {
        let somebody_waits = !self.waiters.is_empty();
        let mut believing =
            owners.iter().map(|&owner| &grants[owner]).filter(|owner| owner.believes).peekable();
        let nobody_can =
            if owners.is_empty() { !self.refusing.is_empty() } else { believing.peek().is_none() };
        let all_are_stopped =
            believing.peek().is_some() && believing.all(|owner| owner.worker.is_some_and(&is_stopped));
        self.stuck_meter.set(somebody_waits && nobody_can, now_ns, &mut self.stuck);
        self.blocked_meter.set(somebody_waits && all_are_stopped, now_ns, &mut self.blocked);
    }

    /// The history is over.
    pub(crate) fn finish(&mut self, end_ns: u64) {
        self.stuck_meter.finish(end_ns, &mut self.stuck);
        self.blocked_meter.finish(end_ns, &mut self.blocked);
    }
}
