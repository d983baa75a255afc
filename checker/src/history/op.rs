//! Operations of workers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{DebitId, Hold, JobId, LockId, OpId, ResourceId, WorkerId};

/// An operation, on its invocation and on its completion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Op {
    /// The same number on invocation and completion. One worker may have several operations open (its
    /// renewal runs beside its work).
    pub op: OpId,
    /// Who invoked it.
    pub worker: WorkerId,
    /// What was asked.
    pub f: F,
    /// The lock, for acquire, renew and release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<LockId>,
    /// The resource, for read, write and charge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceId>,
    /// The grant that it asks for, extends, ends, or acts under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// What was read or is to be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The fencing token: returned by an acquire, shown by a read, write or charge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u64>,
    /// The lease asked for, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ns: Option<u64>,
    /// The worker's own wall clock, in nanoseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ns: Option<i64>,
    /// Why it failed or is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The job that it serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// On the completion of an acquire: how many requests were sent; a refused one certainly did nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The operation of unknown outcome that this one repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<OpId>,
    /// The idempotency key that it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<u64>,
    /// On an acknowledged acquire or renewal: true time at which the acknowledged request was sent; absent
    /// if that was the invocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_ns: Option<u64>,
    /// On an acknowledged acquire or renewal: sending + lease on the worker's monotonic clock, in true time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<u64>,
    /// On an acknowledged acquire or renewal: who decided that it succeeded; the server if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Decider>,
}

impl Op {
    /// An operation of which only the necessary is known.
    pub fn new(op: OpId, worker: WorkerId, f: F) -> Self {
        Op {
            op,
            worker,
            f,
            lock: None,
            resource: None,
            hold: None,
            value: None,
            token: None,
            ttl_ns: None,
            wall_ns: None,
            error: None,
            job: None,
            attempt: None,
            retry_of: None,
            idempotency_key: None,
            sent_ns: None,
            deadline_ns: None,
            decided_by: None,
        }
    }
}

/// What an operation asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum F {
    /// Take the lock; with waiting, one operation from the first request to the grant.
    Acquire,
    /// Extend the lease.
    Renew,
    /// Give the lock back.
    Release,
    /// Read the ledger record, or ask whether an invoice was charged.
    Read,
    /// Replace the ledger record.
    Write,
    /// Charge an invoice.
    Charge,
    /// Call another service while the lock is held.
    Call,
}

/// Who decided that an operation succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decider {
    /// A server said so.
    Server,
    /// A client library concluded it (a majority of replies, a node that it found in a listing).
    Client,
}

/// What was read or is to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// The ledger record that a read returned.
    Record(Arc<Record>),
    /// A new ledger record, replaced whole.
    Write(Write),
    /// Whether an invoice was charged, as a read returned it.
    Charged(Charged),
    /// A charge to book.
    Charge(Charge),
}

/// The ledger record: replaced whole by a write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// How many writes and charges led to it.
    pub version: u64,
    /// What is left.
    pub balance: i64,
    /// The debits that are in it, in the order in which they were booked.
    pub debits: Vec<DebitId>,
}

/// A write: the record that was read plus one debit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    /// The version that the new record was computed from; absent if nothing was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_version: Option<u64>,
    /// The debit that it adds.
    pub debit: Debit,
    /// The balance that it sets.
    pub balance: i64,
    /// The debits that it sets, the new one included.
    pub debits: Vec<DebitId>,
}

/// Whether an invoice was charged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charged {
    /// The version of the ledger that was read.
    pub version: u64,
    /// The invoice.
    pub invoice: JobId,
    /// The debits found for it.
    pub debits: Vec<DebitId>,
}

/// A charge: the resource itself adds it to what is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// The version at which the invoice was seen uncharged; absent if nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_version: Option<u64>,
    /// The debit that it books.
    pub debit: Debit,
}

/// A debit: an invoice charged once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Debit {
    /// This attempt.
    pub id: DebitId,
    /// The invoice or job that it settles: more than one applied debit for it is a double debit.
    pub invoice: JobId,
    /// How much.
    pub amount: i64,
}
