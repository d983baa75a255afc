//! What a worker concluded, and what it did about it.

use serde::{Deserialize, Serialize};

use super::{Hold, JobId, LockId, WorkerId};

/// A worker concluded that it holds the lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Belief {
    /// Who.
    pub worker: WorkerId,
    /// Which lock.
    pub lock: LockId,
    /// Under which grant.
    pub hold: Hold,
}

/// A worker looked whether it still holds the lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Who.
    pub worker: WorkerId,
    /// Which lock.
    pub lock: LockId,
    /// Which grant.
    pub hold: Hold,
    /// Whether it may go on.
    pub passed: bool,
    /// The deadline that it compared its clock with, in true time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ns: Option<u64>,
}

/// A worker learnt that it lost the lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Who.
    pub worker: WorkerId,
    /// Which lock.
    pub lock: LockId,
    /// Which grant.
    pub hold: Hold,
    /// How.
    pub reason: LossReason,
}

/// How a worker learnt that it lost the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossReason {
    /// A renewal was answered "not the owner".
    NotOwner,
    /// The resource refused its token.
    StaleToken,
    /// Its session is gone.
    SessionLost,
}

/// A worker's code stops acting on the lock without releasing it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cease {
    /// Who.
    pub worker: WorkerId,
    /// Which lock.
    pub lock: LockId,
    /// Which grant.
    pub hold: Hold,
    /// Why.
    pub reason: CeaseReason,
}

/// Why a worker's code stops acting on a lock without releasing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CeaseReason {
    /// Its check failed: the deadline has passed.
    DeadlinePassed,
    /// It learnt that the lock is lost.
    Lost,
    /// A request has no known outcome, so the lock must run out instead of being given back.
    UnknownOutcome,
}

/// A worker begins a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// Who.
    pub worker: WorkerId,
    /// The job: begun twice is a duplicate run.
    pub job: JobId,
    /// Under which grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
}
