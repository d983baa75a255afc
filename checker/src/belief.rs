//! The belief view: what workers think they may do.
//!
//! Belief begins when a worker's code is told, or concludes, that it holds the lock. It ends when its first
//! release is *invoked*, when its code ceases to act on the lock, or when its machine dies. A sleeper that
//! outlived its lease still believes.

use crate::grants::{Grants, Slot};
use crate::history::WorkerId;
use crate::moment::Moment;

/// A worker that believes under a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Believer {
    pub(crate) slot: Slot,
    pub(crate) worker: WorkerId,
}

/// Who believes that it holds one lock.
#[derive(Debug, Default)]
pub(crate) struct Believers {
    now: Vec<Believer>,
}

impl Believers {
    /// Those who believe, in the order in which they began.
    pub(crate) fn current(&self) -> &[Believer] {
        &self.now
    }

    /// How many workers believe; one that believes twice is one.
    pub(crate) fn workers(&self) -> u32 {
        let is_first = |(position, believer): &(usize, &Believer)| {
            self.now[..*position].iter().all(|earlier| earlier.worker != believer.worker)
        };
        u32::try_from(self.now.iter().enumerate().filter(is_first).count()).unwrap_or(u32::MAX)
    }

    /// A worker begins to believe. False if it did already.
    pub(crate) fn begin(&mut self, grants: &mut Grants, believer: Believer, at: Moment) -> bool {
        let grant = &mut grants[believer.slot];
        if grant.believes {
            return false;
        }
        grant.believes = true;
        grant.believed_from.get_or_insert(at);
        // Who believes again may act again.
        grant.released = None;
        grant.gave_up = None;
        grant.last_check = None;
        self.now.push(believer);
        true
    }

    /// A worker no longer believes. False if it did not.
    pub(crate) fn end(&mut self, grants: &mut Grants, slot: Slot) -> bool {
        if !grants[slot].believes {
            return false;
        }
        grants[slot].believes = false;
        self.now.retain(|believer| believer.slot != slot);
        true
    }
}
