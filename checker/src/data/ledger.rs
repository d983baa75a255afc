//! One ledger, kept as its resource's own entries say it must be.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fence::Fence;
use super::{Data, Fate};
use crate::acting::Act;
use crate::blame::Court;
use crate::finding::FindingKind;
use crate::findings::Findings;
use crate::history::{Debit, DebitId, FenceMode, Record, Resource, ResourceId};
use crate::moment::Moment;

/// A ledger.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) fence: Fence,
    /// Whether the resource recorded anything.
    pub(super) is_recorded: bool,
    pub(super) version: u64,
    /// Who committed each version.
    pub(super) versions: BTreeMap<u64, Version>,
    initial: i128,
    balance: i128,
    /// What the debits in it come to.
    booked: i128,
    debits: Vec<DebitId>,
    /// The last record that a read returned: what follows it was not seen yet.
    seen: Option<Arc<Record>>,
    /// The request that made balance and debits differ; absent if the resource itself did.
    culprit: Option<Act>,
    is_wrong: bool,
    changed: Option<Moment>,
}

/// A committed version.
#[derive(Debug)]
pub(super) struct Version {
    pub(super) debit: DebitId,
    pub(super) act: Act,
}

impl Ledger {
    pub(super) fn new(resource: &Resource, fence: Fence) -> Self {
        Ledger {
            fence,
            is_recorded: false,
            version: 0,
            versions: BTreeMap::new(),
            initial: resource.balance.into(),
            balance: resource.balance.into(),
            booked: 0,
            debits: Vec::new(),
            seen: None,
            culprit: None,
            is_wrong: false,
            changed: None,
        }
    }

    /// The resource itself books a debit.
    pub(super) fn charge(&mut self, debit: Debit) {
        self.debits.push(debit.id);
        self.balance -= i128::from(debit.amount);
        self.booked += i128::from(debit.amount);
    }

    /// The resource came back at an earlier version.
    pub(super) fn roll_back(&mut self, version: u64) {
        self.version = version;
        if let Some(later) = version.checked_add(1) {
            self.versions.split_off(&later);
        }
    }

    /// From where on a record holds debits that no read before it returned.
    pub(super) fn newly_seen(&mut self, record: &Arc<Record>) -> usize {
        let known = match &self.seen {
            Some(seen) if record.debits.starts_with(&seen.debits) => seen.debits.len(),
            _ => 0,
        };
        self.seen = Some(Arc::clone(record));
        known
    }
}

impl Data {
    /// A write, or a recovery, replaces the record whole: what is missing in it was wiped.
    pub(super) fn replace(
        &mut self,
        resource: ResourceId,
        (balance, debits): (i64, &[DebitId]),
        by: Option<&Act>,
        at: Moment,
        court: Court<'_>,
    ) {
        let ledger = &mut self.ledgers[resource.0 as usize];
        let before = std::mem::replace(&mut ledger.debits, debits.to_vec());
        ledger.balance = balance.into();
        ledger.changed = Some(at);
        let fence = ledger.fence.mode;
        let added = if debits.starts_with(&before) {
            &debits[before.len()..]
        } else {
            self.wipe(&before, (resource, fence), by, at, court, debits);
            debits
        };
        for id in added {
            let fate = match self.by_id.get(id) {
                Some(&fate) => fate,
                // Nobody invoked it: its amount is not known.
                None => self.follow(Debit { id: *id, invoice: Default::default(), amount: 0 }, resource),
            };
            self.fates[fate].is_present = true;
            if self.fates[fate].act.is_none() {
                self.fates[fate].act = by.copied();
            }
        }
        let added_sum = self.sum(added);
        let ledger = &mut self.ledgers[resource.0 as usize];
        ledger.booked = if added.len() == debits.len() { added_sum } else { ledger.booked + added_sum };
        let is_wrong = ledger.initial - ledger.booked != ledger.balance;
        if is_wrong && !ledger.is_wrong {
            ledger.culprit = by.copied();
        }
        ledger.is_wrong = is_wrong;
    }

    fn wipe(
        &mut self,
        before: &[DebitId],
        resource: (ResourceId, FenceMode),
        by: Option<&Act>,
        at: Moment,
        court: Court<'_>,
        after: &[DebitId],
    ) {
        for id in before {
            if let Some(&fate) = self.by_id.get(id) {
                self.fates[fate].is_present = false;
            }
        }
        let stays: rustc_hash::FxHashSet<DebitId> = after.iter().copied().collect();
        for id in before.iter().filter(|id| !stays.contains(id)) {
            let Some(&position) = self.by_id.get(id) else { continue };
            let fate = &mut self.fates[position];
            let finding =
                court.data(FindingKind::LostDebit, at, resource, Some(*id), (fate.act.as_ref(), by));
            fate.wiped = Some(Box::new(finding));
        }
    }

    fn sum(&self, debits: &[DebitId]) -> i128 {
        let amount = |id| self.by_id.get(id).map_or(0, |&fate| i128::from(self.fates[fate].debit.amount));
        debits.iter().map(amount).sum()
    }

    /// A write booked a debit whose invoice has another one in the ledger.
    pub(super) fn find_doubled_by_write(&mut self, fate: usize, act: &Act, at: Moment, court: Court<'_>) {
        let other = self
            .same_invoice(fate)
            .find(|other| other.is_present && other.debit.id != self.fates[fate].debit.id);
        let Some(earlier) = other.and_then(|other| other.act) else { return };
        let resource = self.resource_of(fate);
        let debit = Some(self.fates[fate].debit.id);
        let finding = court.data(FindingKind::DoubleDebit, at, resource, debit, (Some(&earlier), Some(act)));
        self.fates[fate].doubled = Some(Box::new(finding));
    }

    /// The resource books a charge whose invoice was charged: that cannot be undone, whatever the ledger says
    /// in the end.
    pub(super) fn find_doubled_by_charge(
        &mut self,
        fate: usize,
        act: &Act,
        at: Moment,
        court: Court<'_>,
        findings: &mut Findings,
    ) {
        let earlier = self.same_invoice(fate).find(|other| other.is_present).and_then(|other| other.act);
        let Some(earlier) = earlier else { return };
        self.harms.doubled += 1;
        let debit = Some(self.fates[fate].debit.id);
        let resource = self.resource_of(fate);
        findings.add(court.data(FindingKind::DoubleDebit, at, resource, debit, (Some(&earlier), Some(act))));
    }

    /// Debits of one invoice that writes put into the final ledger, beyond the first.
    pub(super) fn count_doubled(
        &mut self,
        last: usize,
        end: Moment,
        court: Court<'_>,
        findings: &mut Findings,
    ) {
        let is_first_of = |fate: &Fate| fate.previous.is_none();
        if is_first_of(&self.fates[last]) {
            return;
        }
        let mut booked: Vec<&Fate> = self
            .same_invoice(last)
            .filter(|fate| fate.is_present && !fate.is_charge && fate.act.is_some())
            .collect();
        booked.sort_by_key(|fate| fate.act.and_then(|act| act.applied));
        let resource = self.resource_of(last);
        let mut doubled = 0;
        for pair in booked.windows(2) {
            let &[earlier, fate] = pair else { continue };
            doubled += 1;
            let judge_now = || {
                let acts = (earlier.act.as_ref(), fate.act.as_ref());
                court.data(FindingKind::DoubleDebit, end, resource, Some(fate.debit.id), acts)
            };
            findings.add(fate.doubled.as_deref().cloned().unwrap_or_else(judge_now));
        }
        self.harms.doubled += doubled;
    }

    /// Ledgers whose balance is not what their debits leave.
    pub(super) fn find_wrong_sums(&mut self, end: Moment, court: Court<'_>, findings: &mut Findings) {
        for (position, ledger) in (0..).zip(&self.ledgers) {
            let is_known = |id| self.by_id.get(id).is_some_and(|&fate| self.fates[fate].invoked > 0);
            if !ledger.is_recorded || !ledger.is_wrong || !ledger.debits.iter().all(is_known) {
                continue;
            }
            self.harms.phantom += 1;
            let made = ledger.changed.unwrap_or(end);
            let resource = (ResourceId(position), ledger.fence.mode);
            findings.add(court.data(
                FindingKind::SumMismatch,
                made,
                resource,
                None,
                (ledger.culprit.as_ref(), None),
            ));
        }
    }

    /// All debits of the same invoice, itself included, the last seen first.
    fn same_invoice(&self, fate: usize) -> impl Iterator<Item = &Fate> {
        let Fate { resource, debit, .. } = &self.fates[fate];
        let last = self.last_of_invoice.get(&(*resource, debit.invoice)).copied();
        std::iter::successors(last, |&fate| self.fates[fate].previous).map(|fate| &self.fates[fate])
    }

    fn resource_of(&self, fate: usize) -> (ResourceId, FenceMode) {
        let resource = self.fates[fate].resource;
        (resource, self.ledgers[resource.0 as usize].fence.mode)
    }
}
