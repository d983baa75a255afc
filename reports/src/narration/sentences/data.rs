//! Reads, writes and charges, as far as they go as they should.

use fencepost_checker::history::{Apply, Entry, F, FenceMode, Op, OpId, Record, Recover, ResourceId, Value};

use crate::narration::Emphasis;
use crate::narration::plot::noun;
use crate::narration::tale::{Bar, Tale};
use crate::narration::telling::{Deed, Telling};
use crate::narration::wording::{debits, instant, money, span, token};

impl Telling<'_> {
    pub(in crate::narration) fn has_read(&mut self, entry: &Entry, op: &Op) {
        if let Some(hold) = op.hold {
            self.scene.tale(hold).read_ns = Some(entry.time_ns);
        }
        let fence = self.plot.cast.fence(op.resource);
        let shows = match (fence, op.token) {
            (FenceMode::ReadWrite, Some(number)) => format!(" and shows {}", token(number)),
            _ => String::new(),
        };
        let ledger = self.plot.cast.resource(op.resource);
        let mut deed = None;
        let text = match &op.value {
            Some(Value::Record(record)) if fence == FenceMode::Cas => {
                format!("reads the {ledger}: version\u{a0}{}, {}", record.version, contents(record))
            }
            Some(Value::Record(record)) => format!("reads the {ledger}{shows}: {}", contents(record)),
            Some(Value::Charged(charged)) if charged.debits.is_empty() => {
                format!("asks whether invoice\u{a0}{} is charged{shows}: no", charged.invoice)
            }
            Some(Value::Charged(charged)) => {
                deed = Some(Deed::FoundCharged { worker: op.worker });
                let paid = debits(&charged.debits);
                format!(
                    "asks whether invoice\u{a0}{} is charged{shows}: yes ({paid}), nothing to do",
                    charged.invoice
                )
            }
            _ => format!("reads the {ledger}{shows}"),
        };
        let raised = self.news_of_bar(op.resource.unwrap_or_default(), op.op);
        let late = self.loss_at_read(op);
        let line = self.say(entry, self.plot.cast.worker(op.worker), text).about(op.hold);
        if let Some(deed) = deed {
            line.deed(deed);
        }
        if let Some(late) = late {
            line.note(Emphasis::Turn, late);
        }
        if let Some(number) = raised {
            line.note(
                Emphasis::Turn,
                format!("from here on the {ledger} refuses every token below {number}"),
            );
        }
    }

    /// Somebody who reads has lost the lock.
    fn loss_at_read(&self, op: &Op) -> Option<String> {
        let (tale, newer) = (self.scene.of(op.hold), self.scene.successor(op.hold)?);
        let newer = self.scene.of(Some(newer)).worker.map(|worker| self.plot.cast.worker(worker))?;
        let is_held = tale.lock.and_then(|lock| self.scene.owner(lock)).is_some();
        let when = if is_held { "has it now" } else { "has had it since" };
        let is_unaware = !tale.knows && !tale.noticed;
        let what = if is_unaware {
            "it reads without having the lock, and does not know it"
        } else {
            "it has lost the lock"
        };
        self.plot.cast.has_service(tale.lock).then(|| format!("{what}: {newer} {when}"))
    }

    pub(in crate::narration) fn calls(&mut self, entry: &Entry, op: &Op) {
        let text = "calls the slow service that it needs for it, and waits".to_owned();
        self.say(entry, self.plot.cast.worker(op.worker), text).about(op.hold);
    }

    pub(in crate::narration) fn has_called(&mut self, entry: &Entry, op: &Op) {
        let took = self
            .plot
            .course(op.op)
            .invoked_ns
            .map(|invoked_ns| format!(" after {}", span(entry.time_ns.saturating_sub(invoked_ns))));
        let text = format!("has the slow service's answer{}", took.unwrap_or_default());
        self.say(entry, self.plot.cast.worker(op.worker), text).about(op.hold);
    }

    /// The line is left out again if the request is accepted at once and does no harm.
    pub(in crate::narration) fn sends(&mut self, entry: &Entry, op: &Op) {
        let tale = self.scene.of(op.hold);
        if let Some(hold) = op.hold {
            self.scene.tale(hold).sent_ns = Some(entry.time_ns);
        }
        let text = match &op.value {
            Some(Value::Write(write)) => {
                let base = tale.read_ns.map(|read_ns| {
                    format!(", on top of what it read {} ago", span(entry.time_ns.saturating_sub(read_ns)))
                });
                format!("sends its write: {}{}", debits(&[write.debit.id]), base.unwrap_or_default())
            }
            Some(Value::Charge(charge)) => {
                let (invoice, amount) = (charge.debit.invoice, i128::from(charge.debit.amount));
                format!("sends its charge for invoice\u{a0}{invoice}: {}", money(amount))
            }
            _ => format!("sends a {}", noun(op.f)),
        };
        let again = op.retry_of.map(|_| ", a second time");
        let late = self.lateness(op);
        let at = self.told.len();
        self.sent.insert(op.op, at);
        let text = text + again.unwrap_or_default();
        let line = self.say(entry, self.plot.cast.worker(op.worker), text).about(op.hold);
        if let Some(late) = late {
            line.note(Emphasis::Turn, late);
        }
    }

    /// Why a request that is being sent is stale.
    fn lateness(&self, op: &Op) -> Option<String> {
        let tale = self.scene.of(op.hold);
        let kind = noun(op.f);
        if !self.plot.cast.has_service(tale.lock) {
            return None;
        }
        let newer = self.scene.successor(op.hold);
        let owner = tale.lock.and_then(|lock| self.scene.owner(lock)).filter(|&owner| Some(owner) != op.hold);
        let name = |hold| self.scene.of(hold).worker.map(|worker| self.plot.cast.worker(worker));
        match (newer, owner) {
            (None, None) => tale.ended.map(|_| format!("this {kind} is late: its lease is over")),
            (_, Some(owner)) => {
                let owner = name(Some(owner)).unwrap_or_else(|| "somebody else".to_owned());
                Some(format!("this {kind} is stale: {owner} has the lock now"))
            }
            (newer, None) => {
                let newer = name(newer).unwrap_or_else(|| "somebody else".to_owned());
                Some(format!("this {kind} is stale: {newer} has had the lock since"))
            }
        }
    }

    pub(in crate::narration) fn accepts(&mut self, position: usize, entry: &Entry, apply: &Apply) {
        self.note_bar(entry, apply);
        if !matches!(apply.f, F::Write | F::Charge) {
            return;
        }
        if let Some(hold) = apply.hold {
            self.scene.tale(hold).wrote_ns = Some(entry.time_ns);
        }
        let booking = self.plot.books.booking(position).cloned().unwrap_or_default();
        let is_stale = self.scene.successor(apply.hold).is_some();
        let does_no_harm = booking.gone.is_empty() && booking.first_of_invoice.is_none();
        let is_quiet = self.plot.course(apply.op).was_prompt() && !is_stale && does_no_harm;
        if !is_quiet {
            self.accepts_against_expectation(position, entry, apply, &booking);
            return;
        }
        if let Some(&sent) = self.sent.get(&apply.op) {
            self.told[sent].is_merged = true;
        }
        let (text, debit) = match &apply.value {
            Some(Value::Write(write)) => {
                let record = format!("balance {}, {}", money(booking.balance), debits(&write.debits));
                (format!("writes {}: {record}", debits(&[write.debit.id])), Some(write.debit.id))
            }
            Some(Value::Charge(charge)) => {
                let (invoice, amount) = (charge.debit.invoice, i128::from(charge.debit.amount));
                let debit = debits(&[charge.debit.id]);
                (
                    format!("charges invoice\u{a0}{invoice}: {} ({debit})", money(amount)),
                    Some(charge.debit.id),
                )
            }
            _ => ("writes".to_owned(), None),
        };
        let raised = self.news_of_bar(apply.resource, apply.op);
        let ledger = self.plot.cast.resource(Some(apply.resource));
        let worker = apply.worker;
        let line = self.say(entry, self.plot.cast.worker(worker), text).about(apply.hold);
        if let Some(debit) = debit {
            line.deed(Deed::Booked { worker, debit });
        }
        if let Some(number) = raised {
            line.note(
                Emphasis::Turn,
                format!("from here on the {ledger} refuses every token below {number}"),
            );
        }
    }

    /// Remembers who raised the bar.
    fn note_bar(&mut self, entry: &Entry, apply: &Apply) {
        let Some(number) = apply.bar_after.filter(|_| apply.bar_after > apply.bar_before) else { return };
        let bar =
            Bar { token: number, op: apply.op, worker: apply.worker, f: apply.f, time_ns: entry.time_ns };
        self.scene.bars.insert(apply.resource, bar);
    }

    /// An operation raised the bar to this token, and somebody with a smaller one may still come.
    fn news_of_bar(&self, resource: ResourceId, op: OpId) -> Option<u64> {
        let number = self.scene.bars.get(&resource).filter(|bar| bar.op == op)?.token;
        let may_come = |tale: &Tale| {
            tale.token.is_some_and(|older| older < number)
                && (tale.believes || (tale.sent_ns.is_some() && tale.wrote_ns.is_none() && !tale.knows))
        };
        self.scene.tales.values().any(may_come).then_some(number)
    }

    /// A worker is told that its write or charge was carried out: news only if the story has doubted it.
    pub(in crate::narration) fn is_told_of_success(&mut self, entry: &Entry, op: &Op) {
        let was_merged = self.sent.get(&op.op).is_some_and(|&sent| self.told[sent].is_merged);
        let course = self.plot.course(op.op);
        let was_recorded = course.handled_ns.is_some();
        if was_merged && course.was_answered_promptly() {
            return;
        }
        if let Some(hold) = op.hold {
            self.scene.tale(hold).wrote_ns.get_or_insert(entry.time_ns);
        }
        let debit = self.plot.debit(op.op);
        let what = match (debit, op.job) {
            (Some(debit), Some(invoice)) if op.f == F::Charge => {
                format!("invoice\u{a0}{invoice} is charged ({})", debits(&[debit]))
            }
            (Some(debit), _) => format!("{} is booked", debits(&[debit])),
            (None, _) => "it is done".to_owned(),
        };
        let line =
            self.say(entry, self.plot.cast.worker(op.worker), format!("is told that {what}")).about(op.hold);
        // Otherwise the line of the resource is counted.
        if let Some(debit) = debit.filter(|_| !was_recorded) {
            line.deed(Deed::Booked { worker: op.worker, debit });
        }
    }

    pub(in crate::narration) fn recovers(&mut self, entry: &Entry, recover: &Recover) {
        let bar = recover.bar.map(|bar| format!(" and remembers {}", token(bar))).unwrap_or_default();
        let text = format!("is back after a crash{bar}: {}", contents(&recover.record));
        let forgot =
            self.scene.bars.get(&recover.resource).filter(|bar| recover.bar < Some(bar.token)).copied();
        let actor = self.plot.cast.resource(Some(recover.resource));
        let line = self.say(entry, actor, text).emphasis(Emphasis::Turn);
        if let Some(bar) = forgot {
            let when = instant(bar.time_ns);
            line.note(
                Emphasis::Turn,
                format!("it has forgotten {}, which it saw at {when}", token(bar.token)),
            );
        }
    }
}

/// What stands in a record.
fn contents(record: &Record) -> String {
    let balance = money(i128::from(record.balance));
    match record.debits.as_slice() {
        [] => format!("balance {balance}, no debits"),
        ids => format!("balance {balance}, {}", debits(ids)),
    }
}
