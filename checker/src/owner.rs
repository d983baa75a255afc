//! The owner view: what the service thinks.
//!
//! An authority is a server that would now acknowledge a renewal. A grant is owner while it has at least one
//! authority; two owners at once are a double grant.

use crate::contract::Promises;
use crate::finding::ClientBug;
use crate::grants::{Grants, Slot, Tampering};
use crate::history::{EndCause, Hold, Lock, NodeId, WorkerId};
use crate::meter::{Meter, Sum};
use crate::moment::Moment;

/// What the service thinks of one lock.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    /// Grants so far.
    pub(crate) grants: u64,
    /// Grants that began while another one was owner.
    pub(crate) double_grants: u64,
    pub(crate) double_grant: Sum,
    /// Whether the service recorded anything.
    pub(crate) is_recorded: bool,
    pub(crate) promises: Promises,

    authorities: Vec<(NodeId, Slot)>,
    owners: Vec<Slot>,
    double_grant_meter: Meter,
    latest: Option<Latest>,
    /// When the service last lost a grant; the lock-delay counts from here.
    lost_ns: Option<u64>,
}

/// The latest grant in true grant order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latest {
    pub(crate) hold: Hold,
    pub(crate) token: Option<u64>,
}

/// Whose operation caused an event of the service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cause {
    /// The worker, if the history tells.
    pub(crate) worker: Option<WorkerId>,
    /// Whether it acted under the very grant that the event is about.
    pub(crate) is_own: bool,
}

impl Owners {
    /// The grants that are owner.
    pub(crate) fn current(&self) -> &[Slot] {
        &self.owners
    }

    /// The latest grant in true grant order.
    pub(crate) fn latest(&self) -> Option<Latest> {
        self.latest
    }

    /// The latest grant's token came with the reply.
    pub(crate) fn learn_token(&mut self, hold: Hold, token: Option<u64>) {
        if let Some(latest) = &mut self.latest
            && latest.hold == hold
        {
            latest.token = latest.token.or(token);
        }
    }

    /// A server grants the lock.
    pub(crate) fn grant(&mut self, grants: &mut Grants, slot: Slot, server: NodeId, lock: &Lock, at: Moment) {
        self.grants += 1;
        let grant = &mut grants[slot];
        if grant.granted.is_none() {
            grant.granted = Some(at);
            self.latest = Some(Latest { hold: grant.hold, token: grant.token });
            let since_loss_ns = self.lost_ns.map(|lost_ns| at.time_ns.saturating_sub(lost_ns));
            self.promises.delay_broken |= since_loss_ns.is_some_and(|ns| ns < lock.lock_delay_ns);
        }
        self.add_authority(grants, slot, server, at);
    }

    /// A server would acknowledge a renewal from now on.
    pub(crate) fn add_authority(&mut self, grants: &mut Grants, slot: Slot, server: NodeId, at: Moment) {
        self.is_recorded = true;
        if self.authorities.contains(&(server, slot)) {
            return;
        }
        self.authorities.push((server, slot));
        grants[slot].authorities += 1;
        if grants[slot].authorities > 1 {
            return;
        }
        if !self.owners.is_empty() {
            self.double_grants += 1;
            self.promises.exclusion_broken = true;
        }
        for &other in &self.owners {
            let (hold, other_hold) = (grants[slot].hold, grants[other].hold);
            grants[slot].co_owners.push(other_hold);
            grants[other].co_owners.push(hold);
        }
        self.owners.push(slot);
        self.double_grant_meter.set(self.owners.len() > 1, at.time_ns, &mut self.double_grant);
    }

    /// A server would no longer acknowledge a renewal. True if the grant was owner and no longer is.
    pub(crate) fn remove_authority(
        &mut self,
        grants: &mut Grants,
        slot: Slot,
        server: NodeId,
        at: Moment,
    ) -> bool {
        self.is_recorded = true;
        let Some(position) = self.authorities.iter().position(|&authority| authority == (server, slot))
        else {
            return false;
        };
        self.authorities.remove(position);
        grants[slot].authorities -= 1;
        if grants[slot].owns() {
            return false;
        }
        self.owners.retain(|&owner| owner != slot);
        self.double_grant_meter.set(self.owners.len() > 1, at.time_ns, &mut self.double_grant);
        true
    }

    /// A tenure ended at a server: at the last one, it is judged whether it ended in its time.
    pub(crate) fn end(
        &mut self,
        grants: &mut Grants,
        slot: Slot,
        server: NodeId,
        why: (EndCause, Cause),
        at: Moment,
    ) {
        let (cause, by) = why;
        if !self.remove_authority(grants, slot, server, at) {
            return;
        }
        let grant = &mut grants[slot];
        grant.ended = Some((at, cause));
        // A compared release is its holder's, if the history does not say otherwise.
        grant.given_back = match cause {
            EndCause::Released => by.is_own || by.worker.is_none(),
            EndCause::Deleted => by.is_own,
            _ => false,
        };
        if !grant.given_back {
            self.promises.judge_end(grant, at.time_ns, cause);
        }
        // A release gives the lock back, and a deletion is one too as far as the service can tell.
        if matches!(cause, EndCause::Expired | EndCause::Evicted | EndCause::Forgotten | EndCause::Clock) {
            grant.lost_ns = Some(at.time_ns);
            self.lost_ns = Some(at.time_ns);
        }
        let is_early = grant.executed.is_none_or(|lease| at.time_ns < lease.until_ns);
        let bug = match cause {
            EndCause::Released | EndCause::Deleted => ClientBug::EndedAnothersTenure,
            EndCause::Extended => ClientBug::ExtendedAnothersTenure,
            EndCause::Expired | EndCause::Evicted | EndCause::Forgotten | EndCause::Clock => return,
        };
        if let Some(by) = by.worker.filter(|_| !by.is_own && is_early) {
            grant.tampering = Some(Tampering { by, bug });
        }
    }

    /// A server extended a tenure; an extension by somebody else alters it.
    pub(crate) fn renew(&mut self, grants: &mut Grants, slot: Slot, server: NodeId, by: Cause, at: Moment) {
        self.add_authority(grants, slot, server, at);
        if let Some(by) = by.worker.filter(|_| !by.is_own) {
            grants[slot].tampering = Some(Tampering { by, bug: ClientBug::ExtendedAnothersTenure });
        }
    }

    /// The history is over.
    pub(crate) fn finish(&mut self, end_ns: u64) {
        self.double_grant_meter.finish(end_ns, &mut self.double_grant);
    }
}
