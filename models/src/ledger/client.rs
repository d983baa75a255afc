//! What a worker does with the ledger, recorded.

use std::sync::Arc;

use fencepost_checker::history::{
    Charge, Charged, Event, F, FenceMode, JobId, Op, Record, RefuseReason, ResourceId, Value, Write,
};
use fencepost_sim::Node;

use super::{Request, Response, SERVICE};
use crate::config::RunConfig;
use crate::lock::Lock;
use crate::recorder::Scribe;
use crate::rpc::{NoReply, Rpc, Traced};
use crate::session::Held;

/// A worker's connection to the ledger.
#[derive(Debug)]
pub struct LedgerClient {
    rpc: Rpc<Traced<Request>, Response>,
    scribe: Scribe,
    fence: FenceMode,
}

/// Why a request to the ledger did not do what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The ledger refused it: certainly not done.
    Refused(RefuseReason),
    /// Nobody knows whether it was done, or will be.
    Unknown(NoReply),
}

impl LedgerClient {
    /// A connection of a worker that runs on `node`.
    pub fn new(node: &Node, scribe: &Scribe, config: &RunConfig) -> Self {
        LedgerClient {
            rpc: Rpc::new(node, node.lookup("ledger"), SERVICE, Some(config.timeout)),
            scribe: scribe.clone(),
            fence: config.fence,
        }
    }

    /// Reads the record.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn read<L: Lock>(&self, held: &Held<L>, job: JobId) -> Result<Arc<Record>, Refusal> {
        let token = self.token_of_reads(held);
        let op = Op { token, ..self.operation(F::Read, held, job) };
        match self.call(held, &op, Request::Read { token }).await? {
            Response::Record(record) => {
                self.complete(&op, Some(Value::Record(record.clone())));
                Ok(record)
            }
            other => unreachable!("the ledger answered a read with {other:?}"),
        }
    }

    /// Asks whether an invoice was charged.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn charged<L: Lock>(&self, held: &Held<L>, invoice: JobId) -> Result<Charged, Refusal> {
        let token = self.token_of_reads(held);
        let op = Op { token, ..self.operation(F::Read, held, invoice) };
        match self.call(held, &op, Request::Charged { token, invoice }).await? {
            Response::Charged(charged) => {
                self.complete(&op, Some(Value::Charged(charged.clone())));
                Ok(charged)
            }
            other => unreachable!("the ledger answered a question with {other:?}"),
        }
    }

    /// Replaces the record.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn write<L: Lock>(&self, held: &Held<L>, job: JobId, write: Write) -> Result<(), Refusal> {
        let token = held.token();
        let value = Some(Value::Write(write.clone()));
        let op = Op { token, value, ..self.operation(F::Write, held, job) };
        self.call(held, &op, Request::Write { token, write, only_if_unchanged: false }).await?;
        self.complete(&op, None);
        Ok(())
    }

    /// Charges an invoice.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn charge<L: Lock>(&self, held: &Held<L>, charge: Charge) -> Result<(), Refusal> {
        let token = held.token();
        let invoice = charge.debit.invoice;
        let idempotency_key = (self.fence == FenceMode::Idempotency).then_some(invoice.0);
        let value = Some(Value::Charge(charge.clone()));
        let op = Op { token, value, idempotency_key, ..self.operation(F::Charge, held, invoice) };
        self.call(held, &op, Request::Charge { token, charge, key: idempotency_key }).await?;
        self.complete(&op, None);
        Ok(())
    }

    /// Reads show the token only to a fence that looks at it there.
    fn token_of_reads<L: Lock>(&self, held: &Held<L>) -> Option<u64> {
        held.token().filter(|_| self.fence == FenceMode::ReadWrite)
    }

    fn operation<L: Lock>(&self, f: F, held: &Held<L>, job: JobId) -> Op {
        Op {
            resource: Some(ResourceId(0)),
            hold: Some(held.hold()),
            job: Some(job),
            ..self.scribe.operation(f)
        }
    }

    /// Sends a request; records its invocation, and its completion unless it succeeded.
    async fn call<L: Lock>(&self, held: &Held<L>, op: &Op, request: Request) -> Result<Response, Refusal> {
        self.scribe.record(Event::Invoke(op.clone()));
        let traced = Traced { op: op.op, worker: self.scribe.worker(), hold: Some(held.hold()), request };
        let refusal = match self.rpc.call(traced).await {
            Ok(Response::Refused(reason)) => Refusal::Refused(reason),
            Ok(response) => return Ok(response),
            Err(no_reply) => Refusal::Unknown(no_reply),
        };
        let error = Some(refusal.message().to_owned());
        let completion = Op { error, ..self.scribe.completion(op) };
        self.scribe.record(match refusal {
            Refusal::Refused(_) | Refusal::Unknown(NoReply::NotSent) => Event::Fail(completion),
            Refusal::Unknown(_) => Event::Info(completion),
        });
        Err(refusal)
    }

    fn complete(&self, op: &Op, value: Option<Value>) {
        self.scribe.record(Event::Ok(Op { value, ..self.scribe.completion(op) }));
    }
}

impl Refusal {
    fn message(self) -> &'static str {
        match self {
            Refusal::Refused(RefuseReason::StaleToken) => "stale token",
            Refusal::Refused(RefuseReason::NoToken) => "no token",
            Refusal::Refused(RefuseReason::VersionMismatch) => "the version has changed",
            Refusal::Refused(RefuseReason::DuplicateKey) => "already charged",
            Refusal::Unknown(no_reply) => no_reply.message(),
        }
    }
}
