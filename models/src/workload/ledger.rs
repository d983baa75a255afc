//! `ledger`: lock → read → work → write the new record → release. An overlap *loses* debits: the record is
//! replaced whole, so a write from an older read destroys what came between.

use fencepost_checker::history::{Begin, Debit, Event, JobId, Write};

use super::{Desk, Outcome, Workload, after_refusal};
use crate::lock::Lock;
use crate::session::Held;

pub(super) struct Ledger;

impl Workload for Ledger {
    async fn perform<L: Lock>(&self, held: &Held<L>, desk: &Desk, job: JobId) -> Outcome {
        let begin = Begin { worker: desk.scribe.worker(), job, hold: Some(held.hold()) };
        desk.scribe.record(Event::Begin(begin));
        let record = match desk.ledger.read(held, job).await {
            Ok(record) => record,
            Err(refusal) => return after_refusal(held, refusal, false),
        };
        let work = desk.node.draw_duration(desk.work.clone());
        if held.guard(desk.node.work("work", work)).await.is_none() || desk.pass_check(held).await.is_none() {
            return Outcome::Again;
        }
        let debit = Debit { id: desk.scribe.recorder().next_debit(), invoice: job, amount: desk.amount };
        let mut debits = record.debits.clone();
        debits.push(debit.id);
        let write = Write {
            base_version: Some(record.version),
            debit,
            balance: record.balance - debit.amount,
            debits,
        };
        match desk.ledger.write(held, job, write).await {
            Ok(()) => Outcome::Done,
            Err(refusal) => after_refusal(held, refusal, true),
        }
    }
}
