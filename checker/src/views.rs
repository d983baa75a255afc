//! The owner view and the belief view of one lock, side by side: what each of them lacks of the other.

use crate::analysis::{Contract, Line};
use crate::belief::Believers;
use crate::contract;
use crate::grants::{Grants, Slot};
use crate::history::{Lock, LockId};
use crate::meter::Sum;
use crate::overlap::Overlaps;
use crate::owner::Owners;
use crate::tokens::Tokens;
use crate::waiting::Waiting;

/// Everything about one lock.
#[derive(Debug)]
pub(crate) struct Views {
    pub(crate) owners: Owners,
    pub(crate) believers: Believers,
    pub(crate) overlaps: Overlaps,
    pub(crate) waiting: Waiting,
    pub(crate) tokens: Tokens,
    pub(crate) stale_belief: Sum,
    pub(crate) ghost_owner: Sum,
}

impl Views {
    pub(crate) fn new(lock: LockId, tolerance_ns: u64) -> Self {
        let mut views = Views {
            owners: Owners::default(),
            believers: Believers::default(),
            overlaps: Overlaps::new(lock),
            waiting: Waiting::default(),
            tokens: Tokens::default(),
            stale_belief: Sum::default(),
            ghost_owner: Sum::default(),
        };
        views.raise_tolerance(tolerance_ns);
        views
    }

    /// A longer round trip was seen: shorter intervals will not matter.
    pub(crate) fn raise_tolerance(&mut self, tolerance_ns: u64) {
        let Views { stale_belief, ghost_owner, waiting, .. } = self;
        for sum in [stale_belief, ghost_owner, &mut waiting.stuck, &mut waiting.blocked] {
            sum.raise_floor(tolerance_ns);
        }
    }

    /// Compares the views of a grant after one of them changed.
    pub(crate) fn compare(&mut self, grants: &mut Grants, slot: Slot, now_ns: u64) {
        let grant = &mut grants[slot];
        let (believes, owns) = (grant.believes, grant.owns());
        grant.stale_belief.set(believes && !owns, now_ns, &mut self.stale_belief);
        grant.ghost_owner.set(owns && !believes, now_ns, &mut self.ghost_owner);
    }

    /// Nobody will change the views of a grant any more.
    pub(crate) fn close(&mut self, grants: &mut Grants, slot: Slot, now_ns: u64) {
        let grant = &mut grants[slot];
        grant.stale_belief.finish(now_ns, &mut self.stale_belief);
        grant.ghost_owner.finish(now_ns, &mut self.ghost_owner);
        self.tokens.forget(grant.hold);
    }

    /// Whether the service's view can be told: there is a service, and it recorded something.
    pub(crate) fn has_owner_view(&self, lock: &Lock) -> bool {
        lock.service && self.owners.is_recorded
    }

    /// The lines of the contract that are about this lock.
    pub(crate) fn contract(&self, lock: &Lock) -> Contract {
        let promises = self.owners.promises;
        let is_recorded = self.owners.is_recorded;
        let line = |is_broken| contract::service_line(lock, is_recorded, is_broken);
        Contract {
            exclusion: line(promises.exclusion_broken),
            tenure: line(promises.tenure_broken),
            truth: line(promises.truth_broken),
            delay: contract::delay_line(lock, is_recorded, promises.delay_broken),
            tokens: contract::token_line(lock, self.tokens.returned, self.tokens.is_broken),
            resource: Line::NotApplicable,
        }
    }
}
