//! The data view: what the resources accepted, in their own order.
//!
//! The checker keeps each ledger as its `apply` entries say it must be: a write replaces the record whole, a
//! charge adds to it. Debits are followed from their invocation to the final ledger.

mod fence;
mod ledger;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::acting::Act;
use crate::analysis::Line;
use crate::blame::Court;
use crate::contract;
use crate::finding::{Finding, FindingKind};
use crate::findings::Findings;
use crate::history::{
    Apply, Debit, DebitId, FenceMode, Header, JobId, Op, Record, Recover, ResourceId, Value,
};
use crate::moment::Moment;
use fence::Fence;
use ledger::{Ledger, Version};

/// How often the data was harmed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Harms {
    pub(crate) lost: u64,
    pub(crate) destroyed: u64,
    pub(crate) doubled: u64,
    pub(crate) phantom: u64,
}

/// The ledgers, and the fate of every debit.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) harms: Harms,
    ledgers: Vec<Ledger>,
    fates: Vec<Fate>,
    by_id: FxHashMap<DebitId, usize>,
    last_of_invoice: FxHashMap<(ResourceId, JobId), usize>,
}

/// What became of one debit.
#[derive(Debug)]
struct Fate {
    debit: Debit,
    resource: ResourceId,
    /// The debit seen before it for the same invoice.
    previous: Option<usize>,
    invoked: u32,
    failed: u32,
    /// When somebody first knew for certain that it was applied.
    certain: Option<Moment>,
    is_present: bool,
    is_charge: bool,
    /// The request that last applied it.
    act: Option<Act>,
    /// What took it out of the ledger last.
    wiped: Option<Box<Finding>>,
    /// What put it there though its invoice was charged already.
    doubled: Option<Box<Finding>>,
}

impl Data {
    pub(crate) fn new(header: &Header) -> Self {
        Data {
            harms: Harms::default(),
            ledgers: header
                .resources
                .iter()
                .map(|resource| Ledger::new(resource, Fence::new(resource.fence)))
                .collect(),
            fates: Vec::new(),
            by_id: FxHashMap::default(),
            last_of_invoice: FxHashMap::default(),
        }
    }

    /// The fence of a resource.
    pub(crate) fn fence(&self, resource: ResourceId) -> Option<FenceMode> {
        self.ledgers.get(resource.0 as usize).map(|ledger| ledger.fence.mode)
    }

    /// Line 3 of the contract, over all resources.
    pub(crate) fn line(&self) -> Line {
        let line = |ledger: &Ledger| {
            contract::resource_line(ledger.fence.mode, ledger.is_recorded, ledger.fence.is_broken)
        };
        self.ledgers.iter().map(line).fold(Line::NotApplicable, Line::and)
    }

    /// A write or charge was invoked.
    pub(crate) fn invoke(&mut self, op: &Op) -> Option<DebitId> {
        let debit = debit_of(op.value.as_ref()?)?;
        let fate = self.follow(debit, op.resource?);
        self.fates[fate].invoked += 1;
        Some(debit.id)
    }

    /// A write or charge was acknowledged.
    pub(crate) fn acknowledge(&mut self, debit: DebitId, at: Moment) {
        if let Some(&fate) = self.by_id.get(&debit) {
            self.fates[fate].certain.get_or_insert(at);
        }
    }

    /// A write or charge certainly did not happen.
    pub(crate) fn fail(&mut self, debit: DebitId) {
        if let Some(&fate) = self.by_id.get(&debit) {
            self.fates[fate].failed += 1;
        }
    }

    /// A read returned.
    pub(crate) fn see(&mut self, resource: ResourceId, value: &Value, at: Moment) {
        match value {
            Value::Record(record) => {
                let Some(ledger) = self.ledgers.get_mut(resource.0 as usize) else { return };
                let new = ledger.newly_seen(record);
                record.debits[new..].iter().for_each(|&debit| self.acknowledge(debit, at));
            }
            Value::Charged(charged) => charged.debits.iter().for_each(|&debit| self.acknowledge(debit, at)),
            Value::Write(_) | Value::Charge(_) => {}
        }
    }

    /// A resource accepted a request.
    pub(crate) fn apply(
        &mut self,
        apply: &Apply,
        mut act: Act,
        at: Moment,
        court: Court<'_>,
        findings: &mut Findings,
    ) {
        let Some(ledger) = self.ledgers.get_mut(apply.resource.0 as usize) else { return };
        ledger.is_recorded = true;
        act.broke_fence = ledger.fence.accept(apply, ledger.version);
        match &apply.value {
            Some(Value::Write(write)) => {
                let fate = self.follow(write.debit, apply.resource);
                let base = apply.version_read.or(write.base_version);
                self.find_destroyed(apply, base, &act, at, court, findings);
                self.fates[fate].act = Some(act);
                self.replace(apply.resource, (write.balance, &write.debits), Some(&act), at, court);
                self.find_doubled_by_write(fate, &act, at, court);
                self.commit(apply, write.debit.id, act);
            }
            Some(Value::Charge(charge)) => {
                let fate = self.follow(charge.debit, apply.resource);
                self.find_doubled_by_charge(fate, &act, at, court, findings);
                let ledger = &mut self.ledgers[apply.resource.0 as usize];
                ledger.charge(charge.debit);
                let fate = &mut self.fates[fate];
                fate.is_present = true;
                fate.is_charge = true;
                fate.act = Some(act);
                self.commit(apply, charge.debit.id, act);
            }
            // A read changes nothing, whatever version it was served from.
            Some(Value::Record(_) | Value::Charged(_)) | None => {}
        }
    }

    /// A resource is back after a crash.
    pub(crate) fn recover(&mut self, recover: &Recover, at: Moment, court: Court<'_>) {
        let Some(ledger) = self.ledgers.get_mut(recover.resource.0 as usize) else { return };
        let record: &Arc<Record> = &recover.record;
        ledger.is_recorded = true;
        ledger.fence.recover(recover);
        ledger.roll_back(record.version);
        self.replace(recover.resource, (record.balance, &record.debits), None, at, court);
    }

    /// The history is over: what is not in the ledger now is lost.
    pub(crate) fn finish(&mut self, end: Moment, court: Court<'_>, findings: &mut Findings) {
        for position in 0..self.fates.len() {
            let fate = &self.fates[position];
            let Some(ledger) = self.ledgers.get(fate.resource.0 as usize) else { continue };
            if !ledger.is_recorded {
                continue;
            }
            let resource = (fate.resource, ledger.fence.mode);
            if !fate.is_present
                && fate.invoked > 0
                && fate.failed < fate.invoked
                && let Some(certain) = fate.certain
            {
                self.harms.lost += 1;
                let never_stored = || {
                    let acts = (fate.act.as_ref(), None);
                    court.data(FindingKind::LostDebit, certain, resource, Some(fate.debit.id), acts)
                };
                findings.add(fate.wiped.as_deref().cloned().unwrap_or_else(never_stored));
            }
            if fate.is_present && fate.invoked == fate.failed {
                self.harms.phantom += 1;
                let made = fate.act.and_then(|act| act.applied).unwrap_or(end);
                let acts = (fate.act.as_ref(), None);
                findings.add(court.data(
                    FindingKind::PhantomDebit,
                    made,
                    resource,
                    Some(fate.debit.id),
                    acts,
                ));
            }
            let invoice = (fate.resource, fate.debit.invoice);
            if self.last_of_invoice.get(&invoice) == Some(&position) {
                self.count_doubled(position, end, court, findings);
            }
        }
        self.find_wrong_sums(end, court, findings);
    }

    /// The fate of a debit, which is new if nobody has named it yet.
    fn follow(&mut self, debit: Debit, resource: ResourceId) -> usize {
        if let Some(&fate) = self.by_id.get(&debit.id) {
            return fate;
        }
        let fate = self.fates.len();
        let previous = self.last_of_invoice.insert((resource, debit.invoice), fate);
        self.by_id.insert(debit.id, fate);
        self.fates.push(Fate {
            debit,
            resource,
            previous,
            invoked: 0,
            failed: 0,
            certain: None,
            is_present: false,
            is_charge: false,
            act: None,
            wiped: None,
            doubled: None,
        });
        fate
    }

    fn commit(&mut self, apply: &Apply, debit: DebitId, act: Act) {
        let ledger = &mut self.ledgers[apply.resource.0 as usize];
        ledger.version = apply.version;
        ledger.versions.insert(apply.version, Version { debit, act });
    }

    /// The versions between the one that a write was computed from and the current one are gone. A write that
    /// is only sent again destroys nothing of its own.
    fn find_destroyed(
        &mut self,
        apply: &Apply,
        base: Option<u64>,
        act: &Act,
        at: Moment,
        court: Court<'_>,
        findings: &mut Findings,
    ) {
        let ledger = &self.ledgers[apply.resource.0 as usize];
        let Some(base) = base.filter(|&base| base < ledger.version) else { return };
        let own = apply.value.as_ref().and_then(debit_of).map(|debit| debit.id);
        let resource = (apply.resource, ledger.fence.mode);
        for (_, version) in ledger.versions.range(base + 1..=ledger.version) {
            if Some(version.debit) != own {
                self.harms.destroyed += 1;
                let acts = (Some(act), Some(&version.act));
                findings.add(court.data(
                    FindingKind::DestroyedUpdate,
                    at,
                    resource,
                    Some(version.debit),
                    acts,
                ));
            }
        }
    }
}

/// The debit that a write or charge books.
fn debit_of(value: &Value) -> Option<Debit> {
    match value {
        Value::Write(write) => Some(write.debit),
        Value::Charge(charge) => Some(charge.debit),
        Value::Record(_) | Value::Charged(_) => None,
    }
}
