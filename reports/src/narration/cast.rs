//! The names of everybody in the story.

use std::collections::BTreeMap;

use fencepost_checker::history::{
    Entry, Event, FenceMode, Header, Lock, LockId, NodeId, Resource, ResourceId, Worker, WorkerId,
};

use super::wording::enumeration;

/// Names longer than this are cut: they stand in a column.
const NAME_LENGTH_MAX: usize = 24;

/// Who is who. Everybody has a name, also those whom the header does not list.
pub(super) struct Cast<'a> {
    header: &'a Header,
    /// The machine that grants each lock, as far as it was seen to do something.
    servers: BTreeMap<LockId, NodeId>,
}

impl<'a> Cast<'a> {
    pub(super) fn new(header: &'a Header, entries: &[Entry]) -> Self {
        let mut servers = BTreeMap::new();
        for entry in entries {
            if let Event::Grant(tenure) | Event::Renew(tenure) = &entry.event {
                servers.entry(tenure.lock).or_insert(tenure.server);
            }
        }
        Cast { header, servers }
    }

    pub(super) fn worker(&self, worker: WorkerId) -> String {
        let known = self.header.workers.get(worker.0 as usize);
        known.map_or_else(|| format!("worker\u{a0}{worker}"), |worker| clean(&worker.name))
    }

    pub(super) fn workers(&self, workers: &[WorkerId]) -> String {
        let names: Vec<String> = workers.iter().map(|&worker| self.worker(worker)).collect();
        enumeration(&names)
    }

    pub(super) fn habits(&self, worker: WorkerId) -> Option<&'a Worker> {
        self.header.workers.get(worker.0 as usize)
    }

    pub(super) fn machine_of(&self, worker: WorkerId) -> Option<NodeId> {
        self.habits(worker).map(|worker| worker.node)
    }

    /// The workers that run on a machine.
    pub(super) fn crew(&self, node: NodeId) -> Vec<WorkerId> {
        let workers = (0..).zip(&self.header.workers);
        workers.filter(|(_, worker)| worker.node == node).map(|(id, _)| WorkerId(id)).collect()
    }

    /// A machine is called like its only worker.
    pub(super) fn machine(&self, node: NodeId) -> String {
        match (self.crew(node).as_slice(), self.header.nodes.get(node.0 as usize)) {
            (&[worker], _) => self.worker(worker),
            (_, Some(name)) => clean(name),
            (_, None) => format!("machine\u{a0}{node}"),
        }
    }

    pub(super) fn lock(&self, lock: Option<LockId>) -> Option<&'a Lock> {
        self.header.locks.get(lock.unwrap_or_default().0 as usize)
    }

    /// Whether a service grants the lock: not if there is none, and workers only pretend.
    pub(super) fn has_service(&self, lock: Option<LockId>) -> bool {
        self.lock(lock).is_none_or(|lock| lock.service)
    }

    /// Who grants a lock.
    pub(super) fn service(&self, lock: Option<LockId>) -> String {
        let server = self.servers.get(&lock.unwrap_or_default());
        server.map_or_else(|| "the lock service".to_owned(), |&server| self.machine(server))
    }

    /// `the lock`, or its name if there are several.
    pub(super) fn lock_name(&self, lock: Option<LockId>) -> String {
        match (self.header.locks.as_slice(), self.lock(lock)) {
            ([_, _, ..], Some(lock)) => format!("lock {}", clean(&lock.name)),
            _ => "the lock".to_owned(),
        }
    }

    pub(super) fn resource(&self, resource: Option<ResourceId>) -> String {
        let id = resource.unwrap_or_default();
        let known = self.header.resources.get(id.0 as usize);
        match known {
            Some(resource) => clean(&resource.name),
            None if id == ResourceId(0) => "ledger".to_owned(),
            None => format!("resource\u{a0}{id}"),
        }
    }

    pub(super) fn promises(&self, resource: Option<ResourceId>) -> Option<&'a Resource> {
        self.header.resources.get(resource.unwrap_or_default().0 as usize)
    }

    pub(super) fn fence(&self, resource: Option<ResourceId>) -> FenceMode {
        self.promises(resource).map_or(FenceMode::Off, |resource| resource.fence)
    }

    pub(super) fn header(&self) -> &'a Header {
        self.header
    }
}

/// A name from a file, fit for a terminal.
fn clean(name: &str) -> String {
    let name: String = name.chars().filter(|letter| !letter.is_control()).take(NAME_LENGTH_MAX).collect();
    if name.trim().is_empty() { "somebody".to_owned() } else { name }
}
