//! What a lock service did, recorded at the instant at which it took effect there.

use serde::{Deserialize, Serialize};

use super::{Hold, LockId, NodeId, OpId};

/// A grant, a renewal or a revival.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tenure {
    /// The server.
    pub server: NodeId,
    /// The lock.
    pub lock: LockId,
    /// The grant.
    pub hold: Hold,
    /// The fencing token minted with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u64>,
    /// The TTL applied, in nanoseconds; absent if the tenure does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ns: Option<u64>,
    /// The operation that caused it.
    #[serde(flatten)]
    pub by: By,
}

/// The end of a tenure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The server.
    pub server: NodeId,
    /// The lock.
    pub lock: LockId,
    /// The grant that ended.
    pub hold: Hold,
    /// Why.
    pub cause: EndCause,
    /// The operation that caused it.
    #[serde(flatten)]
    pub by: By,
}

/// The operation that caused an event of a service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct By {
    /// The operation; absent if none caused it (expiry).
    #[serde(default, rename = "by_op", skip_serializing_if = "Option::is_none")]
    pub op: Option<OpId>,
    /// The grant under which that operation acted: another one than the event's if somebody ended or
    /// altered a tenure that was not its own.
    #[serde(default, rename = "by_hold", skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
}

/// Why a tenure ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndCause {
    /// The server's clock passed the deadline, touched or not.
    Expired,
    /// Its holder gave it back, and the server compared the owner.
    Released,
    /// Somebody deleted it without being compared with the owner (plain `DEL`, a reaper, unlock by name).
    Deleted,
    /// Somebody's extension took its place.
    Extended,
    /// The server needed the memory, or killed the session.
    Evicted,
    /// The server lost it: failover, restart, a write that was not durable.
    Forgotten,
    /// The server's clock was stepped over the deadline.
    Clock,
}

/// Whether a server would acknowledge a renewal. A grant starts this for its server, an end stops it; only
/// what differs from that is recorded (a demoted primary that still answers).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authority {
    /// The server.
    pub server: NodeId,
    /// The lock.
    pub lock: LockId,
    /// The grant.
    pub hold: Hold,
    /// Whether it would from here on.
    pub acknowledges: bool,
}

/// Whether a free lock can be acquired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// The server.
    pub server: NodeId,
    /// The lock.
    pub lock: LockId,
    /// Whether acquires are refused from here on though nobody owns the lock.
    pub blocked: bool,
}
