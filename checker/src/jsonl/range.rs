//! Numbers that must be positions in the header's lists.

use super::Problem;
use crate::history::{Entry, Event, Fault, Header, LockId, NodeId, Op, ResourceId, WorkerId};

/// How long the header's lists are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    nodes: usize,
    workers: usize,
    locks: usize,
    resources: usize,
}

impl Limits {
    pub(super) fn of(header: &Header) -> Self {
        Limits {
            nodes: header.nodes.len(),
            workers: header.workers.len(),
            locks: header.locks.len(),
            resources: header.resources.len(),
        }
    }

    pub(super) fn check_header(self, header: &Header) -> Result<(), Problem> {
        header.workers.iter().try_for_each(|worker| self.node(worker.node))
    }

    pub(super) fn check_entry(self, entry: &Entry) -> Result<(), Problem> {
        match &entry.event {
            Event::Invoke(op) | Event::Ok(op) | Event::Fail(op) | Event::Info(op) => self.op(op),
            Event::Grant(tenure) | Event::Renew(tenure) | Event::Revive(tenure) => {
                self.at_server(tenure.server, tenure.lock)
            }
            Event::End(end) => self.at_server(end.server, end.lock),
            Event::Authority(authority) => self.at_server(authority.server, authority.lock),
            Event::Block(block) => self.at_server(block.server, block.lock),
            Event::Believe(belief) => self.of_worker(belief.worker, belief.lock),
            Event::Check(check) => self.of_worker(check.worker, check.lock),
            Event::Lost(lost) => self.of_worker(lost.worker, lost.lock),
            Event::Cease(cease) => self.of_worker(cease.worker, cease.lock),
            Event::Begin(begin) => self.worker(begin.worker),
            Event::Apply(apply) => self.at_resource(apply.resource, apply.worker),
            Event::Refuse(refuse) => self.at_resource(refuse.resource, refuse.worker),
            Event::Recover(recover) => self.resource(recover.resource),
            Event::Nemesis(fault) => self.fault(fault),
        }
    }

    fn op(self, op: &Op) -> Result<(), Problem> {
        self.worker(op.worker)?;
        op.lock.map_or(Ok(()), |lock| self.lock(lock))?;
        op.resource.map_or(Ok(()), |resource| self.resource(resource))
    }

    fn fault(self, fault: &Fault) -> Result<(), Problem> {
        match *fault {
            Fault::Stop { node, .. }
            | Fault::Resume { node }
            | Fault::Kill { node }
            | Fault::PowerOff { node }
            | Fault::Restart { node }
            | Fault::ClockStep { node, .. }
            | Fault::ClockRate { node, .. } => self.node(node),
            Fault::HoldMessage { from, to, .. }
            | Fault::DeliverMessage { from, to, .. }
            | Fault::Cut { from, to }
            | Fault::Heal { from, to } => self.node(from).and_then(|()| self.node(to)),
        }
    }

    fn at_server(self, server: NodeId, lock: LockId) -> Result<(), Problem> {
        self.node(server)?;
        self.lock(lock)
    }

    fn of_worker(self, worker: WorkerId, lock: LockId) -> Result<(), Problem> {
        self.worker(worker)?;
        self.lock(lock)
    }

    fn at_resource(self, resource: ResourceId, worker: WorkerId) -> Result<(), Problem> {
        self.resource(resource)?;
        self.worker(worker)
    }

    fn node(self, node: NodeId) -> Result<(), Problem> {
        within("a node", node.0, self.nodes)
    }

    fn worker(self, worker: WorkerId) -> Result<(), Problem> {
        within("a worker", worker.0, self.workers)
    }

    fn lock(self, lock: LockId) -> Result<(), Problem> {
        within("a lock", lock.0, self.locks)
    }

    fn resource(self, resource: ResourceId) -> Result<(), Problem> {
        within("a resource", resource.0, self.resources)
    }
}

fn within(field: &'static str, found: u32, listed: usize) -> Result<(), Problem> {
    if (found as usize) < listed { Ok(()) } else { Err(Problem::OutOfRange { field, found, listed }) }
}
