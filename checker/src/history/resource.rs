//! What a resource accepted and refused, in its own order.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{F, Hold, OpId, Record, ResourceId, Value, WorkerId};

/// An accepted request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Apply {
    /// Which resource.
    pub resource: ResourceId,
    /// Its own sequence, over accepted and refused requests.
    pub seq: u64,
    /// The operation that it carries out.
    pub op: OpId,
    /// Whose it is.
    pub worker: WorkerId,
    /// Read, write or charge.
    pub f: F,
    /// The grant under which it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// The token that it showed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u64>,
    /// The highest token seen before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bar_before: Option<u64>,
    /// The highest token seen after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bar_after: Option<u64>,
    /// The version that the request was computed from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_read: Option<u64>,
    /// The version after it.
    pub version: u64,
    /// Whether it is on the disk before it is acknowledged.
    pub durable: bool,
    /// What it wrote; absent for a read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The idempotency key stored with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<u64>,
}

/// A refused request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refuse {
    /// Which resource.
    pub resource: ResourceId,
    /// Its own sequence, over accepted and refused requests.
    pub seq: u64,
    /// The operation that it refuses.
    pub op: OpId,
    /// Whose it is.
    pub worker: WorkerId,
    /// Read, write or charge.
    pub f: F,
    /// The grant under which it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// The token that it showed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u64>,
    /// The highest token seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bar: Option<u64>,
    /// The version that the request was computed from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_read: Option<u64>,
    /// The current version.
    pub version: u64,
    /// Why.
    pub reason: RefuseReason,
}

/// Why a resource refused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefuseReason {
    /// Its token is below the highest token seen.
    StaleToken,
    /// It shows no token, and the resource wants one.
    NoToken,
    /// It was computed from another version than the current one.
    VersionMismatch,
    /// Its idempotency key was seen: the charge is already booked.
    DuplicateKey,
}

/// A resource is back after a crash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recover {
    /// Which resource.
    pub resource: ResourceId,
    /// The highest token that it remembers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bar: Option<u64>,
    /// The record that it remembers.
    pub record: Arc<Record>,
}
