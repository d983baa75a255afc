//! What workers do: their operations, beliefs and checks.

use super::Checker;
use crate::acting::Act;
use crate::belief::Believer;
use crate::blame::Court;
use crate::grants::Slot;
use crate::history::{Check, Decider, F, Hold, LockId, Op, WorkerId};
use crate::moment::Moment;
use crate::operations::Operation;
use crate::round_trip;

impl Checker {
    pub(super) fn invoke(&mut self, op: &Op, at: Moment) {
        let slot = op.hold.and_then(|hold| match op.lock {
            Some(lock) => self.grant_of(lock, hold, at),
            None => Some(self.grants.named(hold, at)),
        });
        if let Some(slot) = slot {
            let grant = &mut self.grants[slot];
            grant.open_operations += 1;
            if op.f == F::Acquire {
                grant.worker = Some(op.worker);
            } else {
                grant.worker.get_or_insert(op.worker);
            }
        }
        let act = self.act(op, slot, at);
        if let (Some(slot), Some(act)) = (slot, &act) {
            let grant = &mut self.grants[slot];
            if let Some(lock) = grant.lock {
                let last_check = grant.last_check.map(|(checked, _)| checked);
                self.locks[lock.0 as usize].overlaps.acts(slot, last_check);
            }
            if op.f == F::Read {
                grant.last_read = Some(at);
            }
            if let Some(bug) = act.bug {
                grant.first_bug.get_or_insert((at, bug));
            }
        }
        let debit = self.data.invoke(op);
        let operation =
            Operation { worker: op.worker, invoked: at, lock: op.lock, slot, debit, lease: None, act };
        if let Some(replaced) = self.operations.insert(op.op, operation) {
            self.close(&replaced, at);
        }
        match (op.f, slot) {
            (F::Acquire, _) => self.begin_to_wait(op, at),
            (F::Release, Some(slot)) => self.begin_to_release(slot, at),
            _ => {}
        }
    }

    /// What a read, write or charge knows at its invocation.
    fn act(&self, op: &Op, slot: Option<Slot>, at: Moment) -> Option<Act> {
        if !matches!(op.f, F::Read | F::Write | F::Charge) {
            return None;
        }
        let under = slot.map(|slot| (slot, &self.grants[slot]));
        let last_read = self.last_reads.get(op.worker.0 as usize).copied().flatten();
        Some(Act::invoked(op, at, under, self.holder(op.worker), last_read))
    }

    fn begin_to_wait(&mut self, op: &Op, at: Moment) {
        let Some(lock) = op.lock.filter(|&lock| self.lock(lock).is_some()) else { return };
        let views = &mut self.locks[lock.0 as usize];
        views.waiting.begin(op.op, op.worker);
        views.tokens.asked(op.op);
        self.update_waiting(lock, at);
    }

    fn begin_to_release(&mut self, slot: Slot, at: Moment) {
        self.grants[slot].released.get_or_insert(at);
        self.end_belief(slot, at);
    }

    pub(super) fn acknowledge(&mut self, op: &Op, at: Moment) {
        self.counts.operations += 1;
        let Some(operation) = self.operations.remove(op.op) else { return };
        if let Some(round_trip_ns) = round_trip::of(op, operation.invoked, at, &self.faults)
            && self.round_trip_ns < round_trip_ns
        {
            self.round_trip_ns = round_trip_ns;
            for (views, lock) in self.locks.iter_mut().zip(&self.header.locks) {
                views.raise_tolerance(round_trip_ns.saturating_add(lock.granularity_ns));
            }
        }
        match op.f {
            F::Acquire | F::Renew => self.acknowledge_lease(op, &operation, at),
            F::Read => {
                if let Some(last) = self.last_reads.get_mut(op.worker.0 as usize) {
                    *last = (*last).max(Some(operation.invoked));
                }
                if let (Some(resource), Some(value)) = (op.resource, &op.value) {
                    self.data.see(resource, value, at);
                }
            }
            F::Write | F::Charge => {
                if let Some(debit) = operation.debit {
                    self.data.acknowledge(debit, at);
                }
            }
            F::Release | F::Call => {}
        }
        self.close(&operation, at);
    }

    /// An acquire or a renewal was acknowledged: a promise is made, and a deadline set.
    fn acknowledge_lease(&mut self, op: &Op, operation: &Operation, at: Moment) {
        if op.f == F::Acquire {
            self.acquire_ns.push(at.time_ns.saturating_sub(operation.invoked.time_ns));
            self.stop_waiting(op, operation, op.token);
        }
        let lock = op.lock.or(operation.lock);
        let (Some(lock), Some(hold)) = (lock, op.hold.or(operation.slot.map(|slot| self.grants[slot].hold)))
        else {
            return;
        };
        let Some(slot) = self.grant_of(lock, hold, at) else { return };
        let terms = &self.header.locks[lock.0 as usize];
        let views = &mut self.locks[lock.0 as usize];
        let grant = &mut self.grants[slot];
        let lease_ns = op.ttl_ns.unwrap_or(terms.ttl_ns);
        let sent_ns = op.sent_ns.unwrap_or(operation.invoked.time_ns);
        let fallback_ns = (lease_ns > 0).then(|| sent_ns.saturating_add(lease_ns));
        grant.acknowledged_ns = Some(at.time_ns);
        grant.deadline_ns = op.deadline_ns.or(fallback_ns).or(grant.deadline_ns);
        grant.token = grant.token.or(op.token);
        views.owners.learn_token(hold, op.token);
        // Without a service nobody promised anything.
        if terms.service {
            // A grant that does not say which operation caused it was caused by the acquire.
            let lease = operation.lease.or(grant.executed.filter(|_| op.f == F::Acquire));
            if lease > grant.promised {
                grant.promised = lease;
                views.owners.promises.judge_late_ok(grant);
            }
            if views.owners.is_recorded {
                let decider = op.decided_by.unwrap_or(Decider::Server);
                views.owners.promises.judge_ok(grant, operation.invoked, decider);
            }
        } else if op.f == F::Acquire {
            self.counts.grants += 1;
        }
        if op.f == F::Acquire {
            self.believe(lock, hold, op.worker, at);
        }
    }

    pub(super) fn fail(&mut self, op: &Op, at: Moment) {
        let Some(operation) = self.operations.remove(op.op) else { return };
        if op.f == F::Acquire {
            self.stop_waiting(op, &operation, None);
        }
        if let Some(debit) = operation.debit {
            self.data.fail(debit);
        }
        self.close(&operation, at);
    }

    /// The outcome of an operation is unknown: it may still take effect, but its worker no longer waits for
    /// it.
    pub(super) fn lose_track(&mut self, op: &Op, at: Moment) {
        if op.f == F::Read {
            if let Some(operation) = self.operations.remove(op.op) {
                self.close(&operation, at);
            }
            return;
        }
        let Some(operation) = self.operations.get(op.op).cloned() else { return };
        if op.f == F::Acquire {
            self.stop_waiting(op, &operation, None);
            if let Some(lock) = operation.lock.filter(|&lock| self.lock(lock).is_some()) {
                self.update_waiting(lock, at);
            }
        }
    }

    fn stop_waiting(&mut self, op: &Op, operation: &Operation, token: Option<u64>) {
        let Some(lock) = operation.lock else { return };
        if let Some(views) = self.locks.get_mut(lock.0 as usize) {
            views.waiting.end(op.op);
            views.tokens.answered(op.op, op.hold, token);
        }
    }

    /// An operation is over.
    fn close(&mut self, operation: &Operation, at: Moment) {
        if let Some(slot) = operation.slot {
            self.grants[slot].open_operations -= 1;
            self.settle(slot, at);
        } else if let Some(lock) = operation.lock.filter(|&lock| self.lock(lock).is_some()) {
            self.update_waiting(lock, at);
        }
    }

    pub(super) fn believe(&mut self, lock: LockId, hold: Hold, worker: WorkerId, at: Moment) {
        let Some(slot) = self.grant_of(lock, hold, at) else { return };
        self.grants[slot].worker.get_or_insert(worker);
        let believer = Believer { slot, worker };
        let views = &mut self.locks[lock.0 as usize];
        if views.believers.begin(&mut self.grants, believer, at) {
            views.overlaps.begin(&mut self.grants, &views.believers, believer, at);
            self.settle(slot, at);
        }
    }

    /// A worker no longer believes: overlaps in which it was the older holder are judged.
    pub(super) fn end_belief(&mut self, slot: Slot, at: Moment) {
        let Some(lock) = self.grants[slot].lock else { return };
        let Checker { locks, grants, .. } = self;
        let views = &mut locks[lock.0 as usize];
        if !views.believers.end(grants, slot) {
            return;
        }
        let judged = views.overlaps.end(grants, &views.believers, slot, at);
        for overlap in judged {
            let court = Court { header: &self.header, grants: &self.grants, faults: &self.faults };
            self.findings.add(court.overlap(overlap, at));
            self.grants[overlap.newer].awaits_judgement -= 1;
            self.settle(overlap.newer, at);
        }
        self.settle(slot, at);
    }

    pub(super) fn check(&mut self, check: &Check, at: Moment) {
        if let Some(slot) = self.grant_of(check.lock, check.hold, at) {
            self.grants[slot].last_check = Some((at, check.passed));
            self.settle(slot, at);
        }
    }

    pub(super) fn learn_of_loss(&mut self, hold: Hold, at: Moment) {
        let slot = self.grants.named(hold, at);
        self.grants[slot].gave_up.get_or_insert(at);
        self.settle(slot, at);
    }

    pub(super) fn cease(&mut self, hold: Hold, at: Moment) {
        let slot = self.grants.named(hold, at);
        self.grants[slot].gave_up.get_or_insert(at);
        self.end_belief(slot, at);
        self.settle(slot, at);
    }
}
