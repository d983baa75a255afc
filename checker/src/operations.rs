//! Operations that are open, or whose outcome is unknown: they may still take effect.

use rustc_hash::FxHashMap;

use crate::acting::Act;
use crate::grants::{Lease, Slot};
use crate::history::{DebitId, LockId, OpId, WorkerId};
use crate::moment::Moment;

/// An operation that is not over.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) worker: WorkerId,
    pub(crate) invoked: Moment,
    pub(crate) lock: Option<LockId>,
    pub(crate) slot: Option<Slot>,
    pub(crate) debit: Option<DebitId>,
    /// The grant or renewal that it caused: promised once it is acknowledged.
    pub(crate) lease: Option<Lease>,
    /// What a read, write or charge knew when it was invoked.
    pub(crate) act: Option<Act>,
}

/// The operations that are not over, by number.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    open: FxHashMap<OpId, Operation>,
}

impl Operations {
    pub(crate) fn insert(&mut self, op: OpId, operation: Operation) -> Option<Operation> {
        self.open.insert(op, operation)
    }

    pub(crate) fn remove(&mut self, op: OpId) -> Option<Operation> {
        self.open.remove(&op)
    }

    pub(crate) fn get(&self, op: OpId) -> Option<&Operation> {
        self.open.get(&op)
    }

    pub(crate) fn get_mut(&mut self, op: OpId) -> Option<&mut Operation> {
        self.open.get_mut(&op)
    }
}
