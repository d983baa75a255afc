//! What can be named in a scenario or on the command line.

use fencepost_checker::history::{CheckDepth, FenceMode};

/// A lock as users name it: `family[-variant]`. A client variant is a lock of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockInfo {
    /// Its name.
    pub name: &'static str,
    /// Its family: what `--lock` accepts for all variants at once.
    pub family: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Whether a grant comes with a fencing token.
    pub tokens: bool,
    /// How its client looks whether it still holds the lock before it writes.
    pub check: CheckDepth,
    /// Whether its client renews the lease.
    pub renews: bool,
}

/// All locks, in the order in which tables show them.
pub const LOCKS: &[LockInfo] = &[
    LockInfo {
        name: "redis",
        family: "redis",
        summary: "SET NX PX with renewal; checks its deadline before each write",
        tokens: true,
        check: CheckDepth::BeforeWrite,
        renews: true,
    },
    LockInfo {
        name: "redis-unchecked",
        family: "redis",
        summary: "SET NX PX with renewal; never checks its deadline",
        tokens: true,
        check: CheckDepth::None,
        renews: true,
    },
    LockInfo {
        name: "redis-timer",
        family: "redis",
        summary: "SET NX PX with renewal; a timer stops the work at the deadline",
        tokens: true,
        check: CheckDepth::Timer,
        renews: true,
    },
    LockInfo {
        name: "redis-no-renewal",
        family: "redis",
        summary: "SET NX PX once; checks its deadline before each write",
        tokens: true,
        check: CheckDepth::BeforeWrite,
        renews: false,
    },
    LockInfo {
        name: "redis-naive",
        family: "redis",
        summary: "SET NX PX once; neither renews nor checks",
        tokens: true,
        check: CheckDepth::None,
        renews: false,
    },
    LockInfo {
        name: "none",
        family: "none",
        summary: "no lock at all: the baseline",
        tokens: false,
        check: CheckDepth::None,
        renews: false,
    },
];

/// The lock of this name.
pub fn lock(name: &str) -> Option<&'static LockInfo> {
    LOCKS.iter().find(|lock| lock.name == name)
}

/// A workload as users name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkloadInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The fence modes of its resource, in the order in which tables show them.
    pub fences: &'static [FenceMode],
}

/// All workloads.
pub const WORKLOADS: &[WorkloadInfo] = &[
    WorkloadInfo {
        name: "ledger",
        summary: "lock, read, work, write the new record, release: an overlap loses debits",
        fences: &[FenceMode::Off, FenceMode::Write, FenceMode::ReadWrite, FenceMode::Cas],
    },
    WorkloadInfo {
        name: "invoice",
        summary: "lock, charged already?, slow call, charge, release: an overlap charges twice",
        fences: &[
            FenceMode::Off,
            FenceMode::Write,
            FenceMode::ReadWrite,
            FenceMode::Cas,
            FenceMode::Idempotency,
        ],
    },
];

/// The workload of this name.
pub fn workload(name: &str) -> Option<&'static WorkloadInfo> {
    WORKLOADS.iter().find(|workload| workload.name == name)
}

/// Name and meaning.
pub type Named = (&'static str, &'static str);

/// Fence modes by name.
pub const FENCES: &[(&str, FenceMode, &str)] = &[
    ("off", FenceMode::Off, "checks nothing"),
    ("write", FenceMode::Write, "refuses a write whose token is below the highest it has seen"),
    ("read-write", FenceMode::ReadWrite, "reads show the token too and raise the bar"),
    ("cas", FenceMode::Cas, "refuses a write that names another version than the current one"),
    ("idempotency", FenceMode::Idempotency, "refuses a second charge with the same key"),
];

/// Nodes of every simulated world; clients are `client-1`, `client-2`, …
pub const NODES: &[Named] = &[
    ("redis", "the lock server"),
    ("ledger", "the resource that the lock protects"),
    ("downstream", "the slow service that the invoice workload calls while it holds the lock"),
];

/// Roles that a fault can aim at; they are resolved when it fires.
pub const ROLES: &[Named] = &[
    ("holder", "a client that believes it holds the lock"),
    ("waiter", "a client that tries to acquire the lock"),
];

/// Work points: wherever real code could be stopped. A fault can aim at the n-th passing of one.
pub const POINTS: &[Named] = &[
    ("work", "in the critical section, after the read"),
    ("before-check", "after the work, before the client looks whether it still holds the lock"),
    ("before-write", "between that check and the sending of the write"),
    ("command", "in the lock server, before it executes a command"),
];

/// Events after which a fault can begin.
pub const EVENTS: &[Named] =
    &[("grant", "a client is told that it holds the lock"), ("release", "a client gives the lock back")];
