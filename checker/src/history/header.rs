//! What a checker must know before the first entry.

use serde::{Deserialize, Serialize};

use super::NodeId;

/// Name and version of the format. Fields are added, never renamed or reused.
pub const SCHEMA: &str = "fencepost.history/1";

/// The first line of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: String,
    /// Names of the machines; an entry's node is a position in this list.
    pub nodes: Vec<String>,
    /// The workers; an entry's worker is a position in this list.
    pub workers: Vec<Worker>,
    /// The locks; an entry's lock is a position in this list.
    pub locks: Vec<Lock>,
    /// The resources; an entry's resource is a position in this list.
    pub resources: Vec<Resource>,
}

/// A task of code that asks for locks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// What people call it.
    pub name: String,
    /// The machine that it runs on; it dies with it.
    pub node: NodeId,
    /// How it looks whether it still holds its lock before it writes.
    pub check: CheckDepth,
    /// How often it renews its lease, in nanoseconds; never if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_every_ns: Option<u64>,
    /// What it does after a request of unknown outcome.
    pub retry: RetryPolicy,
}

/// How a client looks whether it still holds its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckDepth {
    /// Never.
    None,
    /// A timer stops the work at the deadline.
    Timer,
    /// It compares its clock with the deadline immediately before each write.
    BeforeWrite,
}

/// What a client does after a request of unknown outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetryPolicy {
    /// It gives up.
    Never,
    /// It sends the same request again.
    Identical,
    /// It reads again and sends a new request (a bug, unless the resource deduplicates).
    Recompute,
}

/// A lock and what its service promises.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// Its name at the service.
    pub name: String,
    /// Whether a service grants it. Without one there is no owner view, and contract lines 1 and 2 do not
    /// apply.
    pub service: bool,
    /// How long a grant or renewal lasts at the service, in nanoseconds.
    pub ttl_ns: u64,
    /// By how much the service's clock may run fast within the promise, in parts per million.
    #[serde(default)]
    pub clock_rate_bound_ppm: u64,
    /// Grain of the service's time, in nanoseconds: a tenure may end this much early.
    #[serde(default)]
    pub granularity_ns: u64,
    /// How long the service promises not to grant a lock again after it was lost, in nanoseconds.
    #[serde(default)]
    pub lock_delay_ns: u64,
    /// Where its fencing tokens come from.
    pub tokens: TokenOrigin,
}

/// Where fencing tokens come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenOrigin {
    /// There are none.
    None,
    /// Minted by the service in the same atomic step as the grant.
    WithGrant,
    /// Taken from a counter after the grant (a bug).
    Apart,
    /// Taken from a clock (a bug).
    Clock,
    /// One for several grants (a bug).
    Shared,
}

/// A protected resource and what it promises.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// Its name.
    pub name: String,
    /// What it checks before it accepts a request.
    pub fence: FenceMode,
    /// The balance that it starts with.
    pub balance: i64,
}

/// What a resource checks before it accepts a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FenceMode {
    /// Nothing.
    Off,
    /// A write whose token is below the highest token seen is refused; reads show no token.
    Write,
    /// Reads show their token too, and raise the bar.
    ReadWrite,
    /// A write is refused unless it names the current version.
    Cas,
    /// A charge whose idempotency key was seen is refused; the key is stored in the same atomic step.
    Idempotency,
}
