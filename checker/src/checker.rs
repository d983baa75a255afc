//! One pass over a history: each entry goes to the views that it concerns.

mod client;
mod outcome;
mod service;

use crate::acting::Holder;
use crate::analysis::{Analysis, Counts};
use crate::blame::{self, Court};
use crate::data::Data;
use crate::faults::Faults;
use crate::findings::Findings;
use crate::grants::{Grants, Slot};
use crate::history::{Entry, Event, Fault, Header, Hold, JobId, Lock, LockId, NodeId, WorkerId};
use crate::moment::Moment;
use crate::operations::Operations;
use crate::views::Views;

/// Reads a history entry by entry, and says in the end what it was worth.
///
/// It keeps only what is open, and the debits: a history may be longer than memory.
///
/// ```
/// # use fencepost_checker::history::{Header, SCHEMA};
/// use fencepost_checker::Checker;
/// # let header = Header {
/// #     schema: SCHEMA.into(), nodes: vec![], workers: vec![], locks: vec![], resources: vec![],
/// # };
/// # let entries = vec![];
///
/// let mut checker = Checker::new(&header);
/// for entry in &entries {
///     checker.push(entry);
/// }
/// let analysis = checker.finish();
/// assert_eq!(analysis.counts.double_holders, 0);
/// ```
#[derive(Debug)]
#[must_use = "call `finish` to learn what the history was worth"]
pub struct Checker {
    header: Header,
    locks: Vec<Views>,
    grants: Grants,
    operations: Operations,
    data: Data,
    faults: Faults,
    findings: Findings,
    counts: Counts,
    jobs: rustc_hash::FxHashSet<JobId>,
    acquire_ns: Vec<u64>,
    round_trip_ns: u64,
    last_ns: u64,
    /// For each worker, when it last invoked a read that returned.
    last_reads: Vec<Option<Moment>>,
}

impl Checker {
    /// Begins with the header of a history.
    pub fn new(header: &Header) -> Self {
        let views = |(lock, granularity_ns)| Views::new(LockId(lock), granularity_ns);
        Checker {
            locks: (0..).zip(header.locks.iter().map(|lock| lock.granularity_ns)).map(views).collect(),
            grants: Grants::default(),
            operations: Operations::default(),
            data: Data::new(header),
            faults: Faults::new(header.nodes.len()),
            findings: Findings::default(),
            counts: Counts::default(),
            jobs: rustc_hash::FxHashSet::default(),
            acquire_ns: Vec::new(),
            round_trip_ns: 0,
            last_ns: 0,
            last_reads: vec![None; header.workers.len()],
            header: header.clone(),
        }
    }

    /// Takes the next entry. Entries come in the order of their time and index, and name only what the header
    /// lists; what it does not list is passed over.
    pub fn push(&mut self, entry: &Entry) {
        let at = Moment::of(entry);
        self.last_ns = self.last_ns.max(entry.time_ns);
        match &entry.event {
            Event::Invoke(op) => self.invoke(op, at),
            Event::Ok(op) => self.acknowledge(op, at),
            Event::Fail(op) => self.fail(op, at),
            Event::Info(op) => self.lose_track(op, at),

            Event::Grant(tenure) => self.grant(tenure, at),
            Event::Renew(tenure) => self.renew(tenure, at),
            Event::End(end) => self.end(end, at),
            Event::Revive(tenure) => self.set_authority(tenure.lock, tenure.hold, tenure.server, true, at),
            Event::Authority(authority) => {
                let is_one = authority.acknowledges;
                self.set_authority(authority.lock, authority.hold, authority.server, is_one, at);
            }
            Event::Block(block) => self.block(block, at),

            Event::Believe(belief) => self.believe(belief.lock, belief.hold, belief.worker, at),
            Event::Check(check) => self.check(check, at),
            Event::Lost(lost) => self.learn_of_loss(lost.hold, at),
            Event::Cease(cease) => self.cease(cease.hold, at),
            Event::Begin(begin) => {
                let is_new = self.jobs.insert(begin.job);
                self.counts.jobs += u64::from(is_new);
                self.counts.duplicate_runs += u64::from(!is_new);
            }

            Event::Apply(apply) => self.apply(apply, at),
            Event::Refuse(refuse) => self.refuse(refuse),
            Event::Recover(recover) => {
                let court = Court { header: &self.header, grants: &self.grants, faults: &self.faults };
                self.data.recover(recover, at, court);
            }

            Event::Nemesis(fault) => self.suffer(fault, at),
        }
    }

    /// The history ends with its last entry.
    pub fn finish(self) -> Analysis {
        let end_ns = self.last_ns;
        self.finish_at(end_ns)
    }

    /// The history ends at a time after its last entry, though nothing more happened.
    pub fn finish_at(self, end_ns: u64) -> Analysis {
        let end_ns = end_ns.max(self.last_ns);
        self.conclude(Moment::end(end_ns))
    }

    /// For tests of the memory bound: the largest number of grants that were remembered at once.
    #[doc(hidden)]
    pub fn most_grants_at_once(&self) -> usize {
        self.grants.most_at_once()
    }

    fn suffer(&mut self, fault: &Fault, at: Moment) {
        self.faults.push(fault, at);
        match *fault {
            Fault::Kill { node } | Fault::PowerOff { node } => self.bury_workers(node, at),
            Fault::HoldMessage { op: Some(op), .. } => {
                let Some(operation) = self.operations.get_mut(op) else { return };
                if let Some(act) = &mut operation.act {
                    act.was_held = true;
                }
                if let Some(slot) = operation.slot {
                    self.grants[slot].had_held_message = true;
                }
            }
            Fault::Stop { .. } | Fault::Resume { .. } | Fault::Restart { .. } => self.update_all_waiting(at),
            _ => {}
        }
    }

    /// The workers of a machine died: they neither believe nor wait any more.
    fn bury_workers(&mut self, node: NodeId, at: Moment) {
        for lock in 0..self.locks.len() {
            let dead: Vec<Slot> = self.locks[lock]
                .believers
                .current()
                .iter()
                .filter(|believer| self.lives_on(believer.worker, node))
                .map(|believer| believer.slot)
                .collect();
            for slot in dead {
                self.end_belief(slot, at);
            }
            let workers = &self.header.workers;
            let is_dead =
                |worker: WorkerId| workers.get(worker.0 as usize).is_some_and(|worker| worker.node == node);
            let Views { waiting, tokens, .. } = &mut self.locks[lock];
            for op in waiting.abandon(is_dead) {
                tokens.answered(op, None, None);
            }
        }
        self.update_all_waiting(at);
    }

    fn lives_on(&self, worker: WorkerId, node: NodeId) -> bool {
        self.header.workers.get(worker.0 as usize).is_some_and(|worker| worker.node == node)
    }

    fn update_all_waiting(&mut self, at: Moment) {
        for lock in (0..).take(self.locks.len()).map(LockId) {
            self.update_waiting(lock, at);
        }
    }

    fn update_waiting(&mut self, lock: LockId, at: Moment) {
        let Checker { locks, grants, header, faults, .. } = self;
        if !header.locks.get(lock.0 as usize).is_some_and(|lock| lock.service) {
            return;
        }
        let is_stopped = |worker: WorkerId| {
            header.workers.get(worker.0 as usize).is_some_and(|worker| faults.is_stopped(worker.node))
        };
        let Views { owners, waiting, .. } = &mut locks[lock.0 as usize];
        waiting.update(grants, owners.current(), is_stopped, at.time_ns);
    }

    /// The grant of that name, of that lock; none if the header does not list the lock.
    fn grant_of(&mut self, lock: LockId, hold: Hold, at: Moment) -> Option<Slot> {
        self.locks.get(lock.0 as usize)?;
        let slot = self.grants.named(hold, at);
        // A name belongs to the lock for which it was first used.
        let known = *self.grants[slot].lock.get_or_insert(lock);
        (known == lock).then_some(slot)
    }

    /// Something about a grant changed: compare its views, see who waits, and remember it only for a while if
    /// it is closed.
    fn settle(&mut self, slot: Slot, at: Moment) {
        if let Some(lock) = self.grants[slot].lock {
            let views = &mut self.locks[lock.0 as usize];
            if self.header.locks[lock.0 as usize].service {
                views.compare(&mut self.grants, slot, at.time_ns);
            }
            self.update_waiting(lock, at);
        }
        if let Some(old) = self.grants.close_if_unused(slot) {
            if let Some(lock) = self.grants[old].lock {
                self.locks[lock.0 as usize].close(&mut self.grants, old, at.time_ns);
            }
            self.grants.forget(old);
        }
    }

    fn holder(&self, worker: WorkerId) -> Holder<'_> {
        blame::holder(&self.header, &self.faults, worker).unwrap_or_else(|| blame::stranger(&self.faults))
    }

    fn lock(&self, lock: LockId) -> Option<&Lock> {
        self.header.locks.get(lock.0 as usize)
    }
}

/// Analyses a whole history that ends with its last entry.
pub fn analyse<'a>(header: &Header, entries: impl IntoIterator<Item = &'a Entry>) -> Analysis {
    let mut checker = Checker::new(header);
    for entry in entries {
        checker.push(entry);
    }
    checker.finish()
}
