//! The ledger as it stands after each request, and what became of every debit.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_checker::history::{
    Apply, Debit, DebitId, Entry, Event, F, Header, JobId, Op, OpId, ResourceId, Value, WorkerId,
};

/// What a request did to a ledger.
#[derive(Clone, Debug, Default)]
pub(super) struct Booking {
    /// What is left afterwards.
    pub(super) balance: i128,
    /// Debits that stood in the record and do not any more.
    pub(super) gone: Vec<DebitId>,
    /// Debits that had gone and are there again.
    pub(super) back: Vec<DebitId>,
    /// The debit of the same invoice that was booked before.
    pub(super) first_of_invoice: Option<DebitId>,
}

/// What is known of a debit.
#[derive(Clone, Debug)]
pub(super) struct Fate {
    pub(super) debit: Debit,
    pub(super) worker: Option<WorkerId>,
    pub(super) resource: ResourceId,
    /// Its worker was told that it is booked.
    pub(super) acknowledged: bool,
    /// Somebody read it.
    pub(super) read: bool,
    pub(super) invoked: u32,
    pub(super) failed: u32,
    pub(super) present: bool,
}

impl Fate {
    /// It was booked for certain and is gone.
    pub(super) fn is_lost(&self) -> bool {
        (self.acknowledged || self.read) && !self.present && self.invoked > 0 && self.failed < self.invoked
    }

    /// Nobody was ever told what became of it.
    pub(super) fn is_open(&self) -> bool {
        !self.acknowledged && !self.read && self.failed < self.invoked
    }

    /// It is there, though nobody asked for it or it was refused.
    pub(super) fn is_phantom(&self) -> bool {
        self.present && self.invoked == self.failed
    }
}

/// One ledger.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    pub(super) start: i128,
    pub(super) balance: i128,
    pub(super) debits: Vec<DebitId>,
    /// Whether the history says what it accepted.
    pub(super) is_recorded: bool,
    seen: BTreeSet<DebitId>,
}

/// All ledgers, read to their end.
#[derive(Debug, Default)]
pub(super) struct Books {
    ledgers: BTreeMap<ResourceId, Ledger>,
    fates: BTreeMap<DebitId, Fate>,
    by_op: BTreeMap<OpId, DebitId>,
    /// At which entry a debit went for the last time.
    last_gone: BTreeMap<DebitId, usize>,
    /// By position of the entry.
    bookings: BTreeMap<usize, Booking>,
    /// Whether what is booked are invoices that everybody goes through, rather than own jobs.
    pub(super) has_invoices: bool,
}

impl Books {
    pub(super) fn read(header: &Header, entries: &[Entry]) -> Self {
        let mut books = Books::default();
        for (id, resource) in (0..).zip(&header.resources) {
            let start = i128::from(resource.balance);
            books.ledgers.insert(ResourceId(id), Ledger { start, balance: start, ..Ledger::default() });
        }
        for (position, entry) in entries.iter().enumerate() {
            books.take(position, entry);
        }
        for ledger in books.ledgers.values() {
            for id in &ledger.debits {
                if let Some(fate) = books.fates.get_mut(id) {
                    fate.present = true;
                }
            }
        }
        books
    }

    /// What the request that an entry accepts did.
    pub(super) fn booking(&self, position: usize) -> Option<&Booking> {
        self.bookings.get(&position)
    }

    /// Whether a debit that goes with this request never comes back.
    pub(super) fn goes_for_good(&self, position: usize, debit: DebitId) -> bool {
        let is_last = self.last_gone.get(&debit) == Some(&position);
        is_last && self.fates.get(&debit).is_none_or(|fate| !fate.present)
    }

    pub(super) fn fate(&self, debit: DebitId) -> Option<&Fate> {
        self.fates.get(&debit)
    }

    /// All debits, in order of their numbers.
    pub(super) fn fates(&self) -> impl Iterator<Item = &Fate> {
        self.fates.values()
    }

    pub(super) fn ledgers(&self) -> impl Iterator<Item = (ResourceId, &Ledger)> {
        self.ledgers.iter().map(|(&id, ledger)| (id, ledger))
    }

    /// Invoices with more than one debit in the end, with these debits.
    pub(super) fn charged_again(&self) -> BTreeMap<(ResourceId, JobId), Vec<DebitId>> {
        let mut charged: BTreeMap<(ResourceId, JobId), Vec<DebitId>> = BTreeMap::new();
        for fate in self.fates.values().filter(|fate| fate.present) {
            charged.entry((fate.resource, fate.debit.invoice)).or_default().push(fate.debit.id);
        }
        charged.retain(|_, debits| debits.len() > 1);
        charged
    }

    fn take(&mut self, position: usize, entry: &Entry) {
        match &entry.event {
            Event::Invoke(op) => {
                if let Some(debit) = op.value.as_ref().and_then(debit_of) {
                    self.has_invoices |= op.f == F::Charge;
                    self.by_op.insert(op.op, debit.id);
                    let fate = self.follow(debit, op.resource.unwrap_or_default());
                    fate.invoked += 1;
                    fate.worker = Some(op.worker);
                }
            }
            Event::Ok(op) => self.acknowledge(op),
            Event::Fail(op) if matches!(op.f, F::Write | F::Charge) => {
                if let Some(fate) = self.fate_of(op) {
                    fate.failed += 1;
                }
            }
            Event::Apply(apply) => self.apply(position, apply),
            Event::Recover(recover) => {
                let ledger = self.ledgers.entry(recover.resource).or_default();
                ledger.is_recorded = true;
                ledger.balance = i128::from(recover.record.balance);
                ledger.debits = recover.record.debits.clone();
            }
            _ => {}
        }
    }

    fn acknowledge(&mut self, op: &Op) {
        match (&op.value, op.f) {
            (_, F::Write | F::Charge) => {
                if let Some(fate) = self.fate_of(op) {
                    fate.acknowledged = true;
                }
            }
            (Some(Value::Record(record)), _) => self.saw(&record.debits),
            (Some(Value::Charged(charged)), _) => {
                self.has_invoices = true;
                self.saw(&charged.debits);
            }
            _ => {}
        }
    }

    fn saw(&mut self, debits: &[DebitId]) {
        for id in debits {
            if let Some(fate) = self.fates.get_mut(id) {
                fate.read = true;
            }
        }
    }

    fn apply(&mut self, position: usize, apply: &Apply) {
        let Some(debit) = apply.value.as_ref().and_then(debit_of) else {
            self.ledgers.entry(apply.resource).or_default().is_recorded = true;
            return;
        };
        self.follow(debit, apply.resource).worker.get_or_insert(apply.worker);
        let ledger = self.ledgers.entry(apply.resource).or_default();
        ledger.is_recorded = true;
        let same_invoice = |id: &&DebitId| {
            **id != debit.id && self.fates.get(id).is_some_and(|fate| fate.debit.invoice == debit.invoice)
        };
        let first_of_invoice = ledger.debits.iter().find(same_invoice).copied();
        let mut booking = Booking { first_of_invoice, ..Booking::default() };
        match &apply.value {
            Some(Value::Write(write)) => {
                let before: BTreeSet<DebitId> = ledger.debits.iter().copied().collect();
                let after: BTreeSet<DebitId> = write.debits.iter().copied().collect();
                booking.gone = before.difference(&after).copied().collect();
                let returned = after.difference(&before).filter(|id| ledger.seen.contains(id));
                booking.back = returned.copied().filter(|&id| id != debit.id).collect();
                ledger.debits.clone_from(&write.debits);
                ledger.balance = i128::from(write.balance);
            }
            _ => {
                ledger.debits.push(debit.id);
                ledger.balance -= i128::from(debit.amount);
            }
        }
        booking.balance = ledger.balance;
        self.last_gone.extend(booking.gone.iter().map(|&id| (id, position)));
        ledger.seen.insert(debit.id);
        self.bookings.insert(position, booking);
    }

    /// A completion does not repeat the debit: it is found by its operation.
    fn fate_of(&mut self, op: &Op) -> Option<&mut Fate> {
        let debit = self.by_op.get(&op.op)?;
        self.fates.get_mut(debit)
    }

    fn follow(&mut self, debit: Debit, resource: ResourceId) -> &mut Fate {
        self.fates.entry(debit.id).or_insert(Fate {
            debit,
            worker: None,
            resource,
            acknowledged: false,
            read: false,
            invoked: 0,
            failed: 0,
            present: false,
        })
    }
}

/// The debit that a write or charge books.
pub(super) fn debit_of(value: &Value) -> Option<Debit> {
    match value {
        Value::Write(write) => Some(write.debit),
        Value::Charge(charge) => Some(charge.debit),
        Value::Record(_) | Value::Charged(_) => None,
    }
}
