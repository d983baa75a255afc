//! What services and resources do.

use super::Checker;
use crate::acting::Act;
use crate::blame::Court;
use crate::contract::promised_until;
use crate::finding::Assumption;
use crate::grants::Lease;
use crate::history::{
    Apply, Block, By, End, F, FenceMode, Hold, LockId, NodeId, Refuse, Tenure, TokenOrigin,
};
use crate::moment::Moment;
use crate::owner::{Cause, Latest};

impl Checker {
    pub(super) fn grant(&mut self, tenure: &Tenure, at: Moment) {
        let Some(slot) = self.grant_of(tenure.lock, tenure.hold, at) else { return };
        self.execute(tenure, at);
        let Checker { locks, grants, header, .. } = self;
        let views = &mut locks[tenure.lock.0 as usize];
        let terms = &header.locks[tenure.lock.0 as usize];
        let grant = &mut grants[slot];
        grant.token = grant.token.or(tenure.token);
        if grant.granted.is_none() && terms.tokens != TokenOrigin::None {
            views.tokens.granted(tenure.hold, at.index, tenure.token);
        }
        views.owners.grant(grants, slot, tenure.server, terms, at);
        self.settle(slot, at);
    }

    pub(super) fn renew(&mut self, tenure: &Tenure, at: Moment) {
        let Some(slot) = self.grant_of(tenure.lock, tenure.hold, at) else { return };
        self.execute(tenure, at);
        let cause = self.cause(tenure.hold, tenure.by);
        let views = &mut self.locks[tenure.lock.0 as usize];
        views.owners.renew(&mut self.grants, slot, tenure.server, cause, at);
        self.settle(slot, at);
    }

    /// A grant or renewal took effect: from here on its lease runs.
    fn execute(&mut self, tenure: &Tenure, at: Moment) {
        let terms = &self.header.locks[tenure.lock.0 as usize];
        let until_ns = promised_until(terms, at.time_ns, tenure.ttl_ns);
        let slot = self.grants.named(tenure.hold, at);
        let lease = Some(Lease { executed: at, until_ns });
        self.grants[slot].executed = lease;
        let by = tenure.by.op.and_then(|op| self.operations.get_mut(op));
        if let Some(operation) = by
            && operation.slot == Some(slot)
        {
            operation.lease = lease;
        }
    }

    pub(super) fn end(&mut self, end: &End, at: Moment) {
        let Some(slot) = self.grant_of(end.lock, end.hold, at) else { return };
        let cause = self.cause(end.hold, end.by);
        let views = &mut self.locks[end.lock.0 as usize];
        views.owners.end(&mut self.grants, slot, end.server, (end.cause, cause), at);
        self.settle(slot, at);
    }

    /// Whose operation it was.
    fn cause(&self, hold: Hold, by: By) -> Cause {
        let operation = by.op.and_then(|op| self.operations.get(op));
        let under =
            by.hold.or(operation.and_then(|operation| operation.slot).map(|slot| self.grants[slot].hold));
        let worker_of = |hold: Hold| self.grants.find(hold).and_then(|grant| grant.worker);
        let worker = operation.map(|operation| operation.worker).or(under.and_then(worker_of));
        let is_own = match under {
            Some(under) => under == hold,
            // A request without a grant of its own: its worker may still be the holder.
            None => worker.is_some() && worker == worker_of(hold),
        };
        Cause { worker, is_own }
    }

    pub(super) fn set_authority(
        &mut self,
        lock: LockId,
        hold: Hold,
        server: NodeId,
        acknowledges: bool,
        at: Moment,
    ) {
        let Some(slot) = self.grant_of(lock, hold, at) else { return };
        let owners = &mut self.locks[lock.0 as usize].owners;
        if acknowledges {
            owners.add_authority(&mut self.grants, slot, server, at);
        } else {
            owners.remove_authority(&mut self.grants, slot, server, at);
        }
        self.settle(slot, at);
    }

    pub(super) fn block(&mut self, block: &Block, at: Moment) {
        if let Some(views) = self.locks.get_mut(block.lock.0 as usize) {
            views.waiting.block(block.server, block.blocked);
            self.update_waiting(block.lock, at);
        }
    }

    pub(super) fn apply(&mut self, apply: &Apply, at: Moment) {
        if apply.f != F::Read {
            self.counts.writes_applied += 1;
            if let Some(latest) = self.later_grant(apply.hold) {
                self.counts.stale_accepted += 1;
                self.counts.stale_undetectable += u64::from(is_undetectable(apply.token, latest));
                if self.data.fence(apply.resource) == Some(FenceMode::Off) {
                    self.findings.assume(Assumption::ResourceCooperates);
                }
            }
        }
        let act = self.carried_out(apply, at);
        if let Some(slot) = act.slot.filter(|_| apply.f != F::Read) {
            self.grants[slot].debits += 1;
        }
        let Checker { data, findings, header, grants, faults, .. } = self;
        data.apply(apply, act, at, Court { header, grants, faults }, findings);
        if let Some(slot) = act.slot {
            self.settle(slot, at);
        }
    }

    /// The request that a resource carries out.
    fn carried_out(&mut self, apply: &Apply, at: Moment) -> Act {
        let known = self.operations.get(apply.op).and_then(|operation| operation.act);
        let slot = apply.hold.map(|hold| self.grants.named(hold, at));
        let begun = || {
            let under = slot.map(|slot| (slot, &self.grants[slot]));
            Act::begun((apply.worker, apply.f), at, under, self.holder(apply.worker))
        };
        let mut act = known.unwrap_or_else(begun);
        act.slot = act.slot.or(slot);
        act.token = apply.token;
        act.applied = Some(at);
        act
    }

    pub(super) fn refuse(&mut self, refuse: &Refuse) {
        let later = self.later_grant(refuse.hold);
        self.counts.conflicts += u64::from(later.is_none());
        if refuse.f == F::Read {
            self.counts.reads_refused += 1;
            return;
        }
        self.counts.writes_refused += 1;
        if let Some(latest) = later {
            self.counts.stale_rejected += 1;
            self.counts.stale_undetectable += u64::from(is_undetectable(refuse.token, latest));
        }
    }

    /// The latest grant of the lock under which a request is made, if that is another one.
    fn later_grant(&self, hold: Option<Hold>) -> Option<Latest> {
        let grant = self.grants.find(hold?)?;
        let lock = grant.lock?;
        self.lock(lock).filter(|lock| lock.service)?;
        let latest = self.locks[lock.0 as usize].owners.latest()?;
        (latest.hold != grant.hold).then_some(latest)
    }
}

/// Whether a token does not tell that its grant is not the latest.
fn is_undetectable(token: Option<u64>, latest: Latest) -> bool {
    match (token, latest.token) {
        (Some(token), Some(latest)) => token >= latest,
        (None, _) | (_, None) => true,
    }
}
