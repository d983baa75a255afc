//! What is known, at a point of the story, of each grant and of each ledger's memory.

use std::collections::BTreeMap;

use fencepost_checker::history::{
    EndCause, F, Hold, LockId, NodeId, OpId, ResourceId, StopKind, Tenure, WorkerId,
};

/// The tale of one grant so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Tale {
    pub(super) worker: Option<WorkerId>,
    pub(super) lock: Option<LockId>,
    pub(super) token: Option<u64>,
    /// Its place in the order of the grants.
    pub(super) rank: Option<usize>,
    /// Its worker believes that it holds the lock.
    pub(super) believes: bool,
    /// Until when, as its worker reckons.
    pub(super) deadline_ns: Option<u64>,
    /// When and why it ended at the service.
    pub(super) ended: Option<(u64, EndCause)>,
    pub(super) read_ns: Option<u64>,
    /// When it last looked whether it holds the lock, and what came out.
    pub(super) checked: Option<(u64, bool)>,
    /// When it sent its last write or charge.
    pub(super) sent_ns: Option<u64>,
    /// When its last write or charge was accepted.
    pub(super) wrote_ns: Option<u64>,
    /// Its worker has learnt that the lock is lost.
    pub(super) knows: bool,
    /// Its worker has noticed by itself that it should stop, by a look at its clock or by its timer.
    pub(super) noticed: bool,
    /// Until when the service owes it the lock: the last grant or renewal, and the lease from then on.
    pub(super) owed_until_ns: Option<u64>,
}

impl Tale {
    /// How long ago it ended at the service.
    pub(super) fn over_for_ns(&self, now_ns: u64) -> Option<u64> {
        self.ended.map(|(ended_ns, _)| now_ns.saturating_sub(ended_ns))
    }

    /// When the lease ends: at the service, if that is known.
    pub(super) fn ends_ns(&self) -> Option<u64> {
        self.owed_until_ns.or(self.deadline_ns)
    }
}

/// Who showed a ledger its highest token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bar {
    pub(super) token: u64,
    pub(super) op: OpId,
    pub(super) worker: WorkerId,
    pub(super) f: F,
    pub(super) time_ns: u64,
}

/// Everything at a point of the story.
#[derive(Clone, Debug, Default)]
pub(super) struct Scene {
    pub(super) tales: BTreeMap<Hold, Tale>,
    /// The latest grant of each lock.
    pub(super) latest: BTreeMap<LockId, Hold>,
    /// Since when a worker has been waiting for a lock.
    pub(super) waiting: BTreeMap<WorkerId, u64>,
    /// Machines that are stopped: since when, and why.
    pub(super) stopped: BTreeMap<NodeId, (u64, StopKind)>,
    pub(super) bars: BTreeMap<ResourceId, Bar>,
    /// The largest number of workers that believed at once so far.
    pub(super) most_believers: usize,
    grants: usize,
}

impl Scene {
    pub(super) fn tale(&mut self, hold: Hold) -> &mut Tale {
        self.tales.entry(hold).or_default()
    }

    pub(super) fn of(&self, hold: Option<Hold>) -> Tale {
        hold.and_then(|hold| self.tales.get(&hold)).cloned().unwrap_or_default()
    }

    /// A grant takes its place in the order.
    pub(super) fn granted(&mut self, hold: Hold, lock: LockId, worker: Option<WorkerId>, token: Option<u64>) {
        let rank = self.grants;
        let tale = self.tale(hold);
        tale.lock = Some(lock);
        tale.worker = worker.or(tale.worker);
        tale.token = token.or(tale.token);
        if tale.rank.is_none() {
            tale.rank = Some(rank);
            self.grants += 1;
            self.latest.insert(lock, hold);
        }
    }

    /// The service grants or extends a lease.
    pub(super) fn owes(&mut self, now_ns: u64, tenure: &Tenure) {
        self.tale(tenure.hold).owed_until_ns = tenure.ttl_ns.map(|ttl_ns| now_ns.saturating_add(ttl_ns));
    }

    /// The latest grant of the lock, if it is another and later one.
    pub(super) fn successor(&self, hold: Option<Hold>) -> Option<Hold> {
        let tale = self.of(hold);
        let latest = *self.latest.get(&tale.lock?)?;
        (Some(latest) != hold && self.of(Some(latest)).rank > tale.rank).then_some(latest)
    }

    /// The grant that owns a lock at its service now.
    pub(super) fn owner(&self, lock: LockId) -> Option<Hold> {
        let latest = *self.latest.get(&lock)?;
        self.of(Some(latest)).ended.is_none().then_some(latest)
    }

    /// Workers other than this one that believe that they hold the lock.
    pub(super) fn other_believers(&self, worker: WorkerId, lock: LockId) -> Vec<WorkerId> {
        let mut others: Vec<(Option<usize>, WorkerId)> = self
            .tales
            .values()
            .filter(|tale| tale.believes && tale.lock == Some(lock))
            .filter_map(|tale| tale.worker.filter(|&other| other != worker).map(|other| (tale.rank, other)))
            .collect();
        others.sort_unstable();
        others.dedup_by_key(|(_, worker)| *worker);
        others.into_iter().map(|(_, worker)| worker).collect()
    }

    /// Grants under which a worker believes.
    pub(super) fn beliefs(&self, worker: WorkerId) -> Vec<Hold> {
        let believes = |(_, tale): &(&Hold, &Tale)| tale.believes && tale.worker == Some(worker);
        self.tales.iter().filter(believes).map(|(&hold, _)| hold).collect()
    }

    /// Workers that wait for a lock, those first that have waited longest.
    pub(super) fn queue(&self) -> Vec<WorkerId> {
        let mut queue: Vec<(u64, WorkerId)> =
            self.waiting.iter().map(|(&worker, &since)| (since, worker)).collect();
        queue.sort_unstable();
        queue.into_iter().map(|(_, worker)| worker).collect()
    }
}
