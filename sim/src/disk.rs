//! Disks: what a process writes lies in the page cache of its host until it is made durable.
//!
//! Fault model: a kill loses nothing that was written; a power-off loses what no completed `fsync` covers.
//! Not modelled yet: torn writes, partial survival of unsynced data, an fsync that lies or fails, a full or
//! slow disk.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{pending, poll_fn};
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::core::Core;
use crate::event::Event;
use crate::node::{Node, NodeId, nanos};
use crate::rng::{Concern, Stream};

pub(crate) struct Disks {
    hosts: BTreeMap<NodeId, HostDisk>,
    stream: Stream,
}

struct HostDisk {
    files: BTreeMap<String, File>,
    /// What is being made durable, by a number that is never used again.
    syncs: BTreeMap<u32, Sync>,
    next_sync: u32,
    fsync_ns: RangeInclusive<u64>,
}

impl Default for HostDisk {
    fn default() -> Self {
        HostDisk {
            files: BTreeMap::new(),
            syncs: BTreeMap::new(),
            next_sync: 0,
            fsync_ns: 200_000..=1_000_000,
        }
    }
}

#[derive(Default)]
struct File {
    cached: Vec<u8>,
    durable: Vec<u8>,
    /// The latest `fsync` that `durable` comes from: an earlier one that ends later changes nothing.
    durable_since: u32,
}

/// One `fsync`: what it makes durable is what the file held when it began.
struct Sync {
    file: String,
    content: Vec<u8>,
    outcome: Rc<Outcome>,
}

#[derive(Default)]
struct Outcome {
    done: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

/// The disk of a node's host.
#[derive(Clone, Debug)]
pub struct Disk {
    node: Node,
}

impl Disk {
    pub(crate) fn new(node: Node) -> Self {
        Disk { node }
    }

    /// Replaces the content of a file. It is in the page cache then: it survives a kill, not a power-off.
    pub fn write(&self, file: &str, content: Vec<u8>) {
        self.change(file, |cached| *cached = content);
    }

    /// Adds to the end of a file, like [`write`](Disk::write).
    pub fn append(&self, file: &str, content: &[u8]) {
        self.change(file, |cached| cached.extend_from_slice(content));
    }

    fn change(&self, file: &str, change: impl FnOnce(&mut Vec<u8>)) {
        if self.node.is_alive() {
            let mut disks = self.node.core.disks.borrow_mut();
            let disk = disks.hosts.entry(self.node.id).or_default();
            if let Some(file) = disk.files.get_mut(file) {
                change(&mut file.cached);
            } else {
                change(&mut disk.files.entry(file.to_owned()).or_default().cached);
            }
        }
    }

    /// What a file holds; nothing if it was never written.
    pub fn read(&self, file: &str) -> Vec<u8> {
        let disks = self.node.core.disks.borrow();
        let found = disks.hosts.get(&self.node.id).and_then(|disk| disk.files.get(file));
        found.map(|file| file.cached.clone()).unwrap_or_default()
    }

    /// Makes durable what the file holds now; ends when that is done.
    pub async fn fsync(&self, file: &str) {
        let Some(outcome) = self.node.core.begin_sync(&self.node, file) else { return pending().await };
        poll_fn(|cx| {
            if outcome.done.get() {
                return Poll::Ready(());
            }
            *outcome.waker.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

impl Disks {
    pub(crate) fn new(seed: u64) -> Self {
        Disks { hosts: BTreeMap::new(), stream: Stream::new(seed, Concern::Disks, 0) }
    }

    pub(crate) fn set_fsync(&mut self, node: NodeId, latency: RangeInclusive<Duration>) {
        let range = nanos(*latency.start())..=nanos(*latency.end());
        self.hosts.entry(node).or_default().fsync_ns = range;
    }

    /// The host lost power: only what is durable is left.
    pub(crate) fn lose_cache(&mut self, node: NodeId) {
        if let Some(disk) = self.hosts.get_mut(&node) {
            disk.syncs.clear();
            for file in disk.files.values_mut() {
                file.cached.clone_from(&file.durable);
            }
        }
    }
}

impl Core {
    /// Begins an `fsync`; a dead process begins none.
    fn begin_sync(&self, node: &Node, file: &str) -> Option<Rc<Outcome>> {
        if !node.is_alive() {
            return None;
        }
        let mut disks = self.disks.borrow_mut();
        let Disks { hosts, stream } = &mut *disks;
        let disk = hosts.entry(node.id).or_default();
        let latency = stream.between(*disk.fsync_ns.start(), *disk.fsync_ns.end());
        let content = disk.files.get(file).map(|file| file.cached.clone()).unwrap_or_default();
        let outcome = Rc::<Outcome>::default();
        disk.next_sync += 1;
        let sync = disk.next_sync;
        disk.syncs.insert(sync, Sync { file: file.to_owned(), content, outcome: outcome.clone() });
        self.engine
            .schedule(self.engine.now().saturating_add(latency), Event::Synced { node: node.id, sync });
        Some(outcome)
    }

    pub(crate) fn synced(&self, node: NodeId, sync: u32) {
        let outcome = {
            let mut disks = self.disks.borrow_mut();
            let Some(disk) = disks.hosts.get_mut(&node) else { return };
            // After a power-off the request is gone.
            let Some(done) = disk.syncs.remove(&sync) else { return };
            if let Some(file) = disk.files.get_mut(&done.file)
                && sync > file.durable_since
            {
                (file.durable, file.durable_since) = (done.content, sync);
            }
            done.outcome
        };
        outcome.done.set(true);
        if let Some(waker) = outcome.waker.take() {
            waker.wake();
        }
    }
}
