//! One record a grant: who asked for it, what its service did with it, what its holder knew and did.
//!
//! The three views write here, each its own fields, so that blame can look at one grant from all sides.
//! A record is closed when nobody believes, nobody owns, no operation is open under it, no debit was booked
//! under it and no overlap with it waits for judgement. Closed records are remembered for a while, because a worker with a bug may still act
//! under one, and then dropped: memory follows what is open, not the length of the history.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::finding::ClientBug;
use crate::history::{Decider, EndCause, Hold, LockId, WorkerId};
use crate::meter::Meter;
use crate::moment::Moment;

/// A grant's place in the table; valid while the grant is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot(u32);

/// How many closed grants are remembered.
const REMEMBERED: usize = 512;

/// A grant or renewal at the service, and how long it lasts at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lease {
    pub(crate) executed: Moment,
    pub(crate) until_ns: u64,
}

/// What is known of one grant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grant {
    pub(crate) hold: Hold,
    pub(crate) lock: Option<LockId>,
    pub(crate) worker: Option<WorkerId>,
    /// The first entry that names it: its rank if no service granted it.
    pub(crate) first_seen: Moment,
    pub(crate) token: Option<u64>,

    /// When the service granted it.
    pub(crate) granted: Option<Moment>,
    /// How many servers would acknowledge a renewal.
    pub(crate) authorities: u32,
    /// When its tenure ended last, and why.
    pub(crate) ended: Option<(Moment, EndCause)>,
    /// The last executed grant or renewal, acknowledged or not.
    pub(crate) executed: Option<Lease>,
    /// The last executed one that was acknowledged: a promise.
    pub(crate) promised: Option<Lease>,
    /// Why its tenure ended before the promise, or was forgotten.
    pub(crate) early_end: Option<EndCause>,
    /// Whether its tenure ended by its own holder's release.
    pub(crate) given_back: bool,
    /// When the service lost it; the lock-delay counts from here.
    pub(crate) lost_ns: Option<u64>,
    /// An operation of somebody else that ended or altered its tenure.
    pub(crate) tampering: Option<Tampering>,
    /// Grants that were owner together with it.
    pub(crate) co_owners: Vec<Hold>,
    /// Who decided an acknowledgement that was not true.
    pub(crate) false_ok: Option<Decider>,

    /// Whether its worker believes.
    pub(crate) believes: bool,
    /// When its worker first believed.
    pub(crate) believed_from: Option<Moment>,
    /// Whether it was counted as a double holder.
    pub(crate) is_double_holder: bool,
    /// Grants of other workers that it overlapped.
    pub(crate) overlapped: Vec<Hold>,

    /// When the last acquire or renewal was acknowledged.
    pub(crate) acknowledged_ns: Option<u64>,
    /// Sending of that request + lease on the worker's clock, in true time.
    pub(crate) deadline_ns: Option<u64>,
    pub(crate) released: Option<Moment>,
    /// When its worker learnt of the loss, or stopped acting on the lock.
    pub(crate) gave_up: Option<Moment>,
    pub(crate) last_check: Option<(Moment, bool)>,
    pub(crate) last_read: Option<Moment>,
    /// The first act that shows a bug of its worker.
    pub(crate) first_bug: Option<(Moment, ClientBug)>,
    /// Whether a message of one of its operations was held.
    pub(crate) had_held_message: bool,

    pub(crate) stale_belief: Meter,
    pub(crate) ghost_owner: Meter,
    pub(crate) open_operations: u32,
    pub(crate) debits: u32,
    /// In how many overlaps that are over but not judged it is the newer one.
    pub(crate) awaits_judgement: u32,
    /// Whether it is in the queue of closed grants.
    is_queued: bool,
}

/// An operation of somebody else that ended or altered a tenure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tampering {
    pub(crate) by: WorkerId,
    pub(crate) bug: ClientBug,
}

impl Grant {
    /// Its place in true grant order.
    pub(crate) fn rank(&self) -> u64 {
        self.granted.unwrap_or(self.first_seen).index
    }

    /// Whether it is owner.
    pub(crate) fn owns(&self) -> bool {
        self.authorities > 0
    }

    /// When its holder should have stopped at the latest: by its own clock, or, if the history does not
    /// tell, when the tenure ran out.
    pub(crate) fn effective_deadline_ns(&self) -> Option<u64> {
        self.deadline_ns.or(match self.ended {
            Some((ended, EndCause::Expired)) if !self.owns() => Some(ended.time_ns),
            _ => None,
        })
    }

    fn is_in_use(&self) -> bool {
        self.believes
            || self.owns()
            || self.open_operations > 0
            || self.debits > 0
            || self.awaits_judgement > 0
    }
}

/// All grants that are in use.
#[derive(Debug, Default)]
pub(crate) struct Grants {
    slots: Vec<Grant>,
    free: Vec<Slot>,
    by_hold: FxHashMap<Hold, Slot>,
    /// Grants that were closed, the first closed first; some may be in use again.
    closed: VecDeque<Slot>,
}

impl Grants {
    /// The grant of that name, which is new if nobody has named it yet.
    pub(crate) fn named(&mut self, hold: Hold, at: Moment) -> Slot {
        if let Some(&slot) = self.by_hold.get(&hold) {
            return slot;
        }
        let grant = Grant { hold, first_seen: at, ..Grant::default() };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot.0 as usize] = grant;
                slot
            }
            None => {
                let slot = Slot(u32::try_from(self.slots.len()).unwrap_or(u32::MAX));
                self.slots.push(grant);
                slot
            }
        };
        self.by_hold.insert(hold, slot);
        slot
    }

    /// The grant of that name if it is in use.
    pub(crate) fn find(&self, hold: Hold) -> Option<&Grant> {
        self.by_hold.get(&hold).map(|&slot| &self[slot])
    }

    /// Remembers the grant only for a while if nothing needs it any more. Returns one whose time is over.
    pub(crate) fn close_if_unused(&mut self, slot: Slot) -> Option<Slot> {
        let grant = &mut self[slot];
        if grant.is_in_use() || grant.is_queued {
            return None;
        }
        grant.is_queued = true;
        self.closed.push_back(slot);
        if self.closed.len() <= REMEMBERED {
            return None;
        }
        let oldest = self.closed.pop_front()?;
        self[oldest].is_queued = false;
        (!self[oldest].is_in_use()).then_some(oldest)
    }

    /// Drops a grant.
    pub(crate) fn forget(&mut self, slot: Slot) {
        let hold = self[slot].hold;
        self.by_hold.remove(&hold);
        self.free.push(slot);
    }

    /// All grants, those that were dropped since included.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Grant> {
        self.slots.iter_mut()
    }

    /// The largest number of grants that were in use at once.
    pub(crate) fn most_at_once(&self) -> usize {
        self.slots.len()
    }
}

impl std::ops::Index<Slot> for Grants {
    type Output = Grant;

    fn index(&self, slot: Slot) -> &Grant {
        &self.slots[slot.0 as usize]
    }
}

impl std::ops::IndexMut<Slot> for Grants {
    fn index_mut(&mut self, slot: Slot) -> &mut Grant {
        &mut self.slots[slot.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_used_again_once_its_grant_is_forgotten() {
        let mut grants = Grants::default();
        let first = grants.named(Hold(0), Moment::default());
        grants[first].believes = true;
        assert_eq!(grants.close_if_unused(first), None);
        grants[first].believes = false;
        assert_eq!(grants.close_if_unused(first), None, "it is remembered for a while");
        for hold in 1..=REMEMBERED as u64 {
            let slot = grants.named(Hold(hold), Moment::default());
            let over = grants.close_if_unused(slot);
            assert_eq!(over, (hold == REMEMBERED as u64).then_some(first));
        }
        grants.forget(first);
        assert!(grants.find(Hold(0)).is_none());
        assert_eq!(grants.named(Hold(9999), Moment::default()), first);
        assert_eq!(grants[first].hold, Hold(9999));
    }

    #[test]
    fn a_grant_in_use_again_is_not_forgotten() {
        let mut grants = Grants::default();
        let first = grants.named(Hold(0), Moment::default());
        assert_eq!(grants.close_if_unused(first), None);
        grants[first].open_operations = 1;
        for hold in 1..=2 * REMEMBERED as u64 {
            let slot = grants.named(Hold(hold), Moment::default());
            if let Some(over) = grants.close_if_unused(slot) {
                assert_ne!(over, first);
                grants.forget(over);
            }
        }
        assert!(grants.find(Hold(0)).is_some());
    }
}
