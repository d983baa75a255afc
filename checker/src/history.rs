//! What is recorded of a run: a [`Header`] and [`Entry`]s in true time.
//!
//! Entries are totally ordered by `(time_ns, index)`; every interval made from them is half-open and ties
//! are broken by the index. Only what somebody could have seen is recorded, each by who saw it:
//! operations by their worker, grants and ends by the lock service, applied and refused requests by the
//! resource, faults by the nemesis.

mod client;
mod header;
mod id;
mod nemesis;
mod op;
mod resource;
mod service;

use serde::{Deserialize, Serialize};

pub use client::{Begin, Belief, Cease, CeaseReason, Check, LossReason, Lost};
pub use header::{CheckDepth, FenceMode, Header, Lock, Resource, RetryPolicy, SCHEMA, TokenOrigin, Worker};
pub use id::{DebitId, Hold, JobId, LockId, NodeId, OpId, ResourceId, WorkerId};
pub use nemesis::{Fault, StopKind};
pub use op::{Charge, Charged, Debit, Decider, F, Op, Record, Value, Write};
pub use resource::{Apply, Recover, Refuse, RefuseReason};
pub use service::{Authority, Block, By, End, EndCause, Tenure};

/// One line of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Position in the history, counted from 0; breaks ties of `time_ns`.
    pub index: u64,
    /// True time since the start of the run, in nanoseconds.
    pub time_ns: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened, told by who saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Event {
    /// A worker invoked an operation.
    Invoke(Op),
    /// The operation took effect.
    Ok(Op),
    /// The operation certainly did not take effect.
    Fail(Op),
    /// The outcome is unknown: it may have taken effect, or still may.
    Info(Op),

    /// A server granted the lock.
    Grant(Tenure),
    /// A server extended a tenure.
    Renew(Tenure),
    /// A tenure ended at a server.
    End(End),
    /// A tenure that had ended is there again, the same hold (the clock was stepped back).
    Revive(Tenure),
    /// From here on a server would, or would not, acknowledge a renewal of the hold.
    Authority(Authority),
    /// From here on nobody can, or somebody can again, acquire the lock though nobody owns it (lock-delay).
    Block(Block),

    /// A worker concluded, without an acquire of its own being acknowledged just now, that it holds the lock.
    Believe(Belief),
    /// A worker looked whether it still holds the lock.
    Check(Check),
    /// A worker learnt that it lost the lock: its own task was polled with the news.
    Lost(Lost),
    /// A worker's code stops acting on the lock without releasing it.
    Cease(Cease),
    /// A worker begins a job: from here on its work costs something.
    Begin(Begin),

    /// A resource accepted a request.
    Apply(Apply),
    /// A resource refused a request.
    Refuse(Refuse),
    /// A resource is back after a crash, with what its disk kept.
    Recover(Recover),

    /// The nemesis did something.
    Nemesis(Fault),
}
