//! `invoice`: lock → charged already? → slow call → charge → release. All workers go through the same
//! invoices. An overlap *doubles* debits: both holders see the invoice uncharged.

use fencepost_checker::history::{Begin, Charge, Debit, Event, JobId};

use super::{A_FEW_LINES, Desk, Outcome, Workload, after_refusal};
use crate::lock::Lock;
use crate::session::Held;

pub(super) struct Invoice;

impl Workload for Invoice {
    async fn perform<L: Lock>(&self, held: &Held<L>, desk: &Desk, invoice: JobId) -> Outcome {
        let found = match desk.ledger.charged(held, invoice).await {
            Ok(found) => found,
            Err(refusal) => return after_refusal(held, refusal, false),
        };
        if !found.debits.is_empty() {
            return Outcome::Done;
        }
        let begin = Begin { worker: desk.scribe.worker(), job: invoice, hold: Some(held.hold()) };
        desk.scribe.record(Event::Begin(begin));
        let takes = desk.node.draw_duration(desk.work.clone());
        let call = async {
            desk.node.work("work", A_FEW_LINES).await;
            desk.call_downstream(held, invoice, takes).await
        };
        match held.guard(call).await {
            None | Some(Err(_)) => return Outcome::Again,
            Some(Ok(_)) => {}
        }
        if desk.pass_check(held).await.is_none() {
            return Outcome::Again;
        }
        let debit = Debit { id: desk.scribe.recorder().next_debit(), invoice, amount: desk.amount };
        let charge = Charge { base_version: Some(found.version), debit };
        match desk.ledger.charge(held, charge).await {
            Ok(()) => Outcome::Done,
            Err(refusal) => after_refusal(held, refusal, true),
        }
    }
}
