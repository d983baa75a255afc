//! Faults as data: what × target × when × how long.
//!
//! A schedule is generated from a scenario and a seed, then executed as it stands. So it can be printed,
//! saved, edited, replayed and shrunk.

use serde::{Deserialize, Serialize};

/// One fault of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What happens.
    pub what: What,
    /// To whom.
    pub target: Target,
    /// When it begins.
    pub when: When,
    /// How long it lasts, in nanoseconds; for ever if absent. A killed node restarts after it, a clock step
    /// is taken back, a held message arrives this much later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts_ns: Option<u64>,
}

/// What a fault does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum What {
    /// Stops all code of the node; its clocks go on, its kernel still receives.
    Pause {
        /// What people call it.
        cause: PauseCause,
    },
    /// Ends the process without running any more of its code: peers get a reset, the page cache survives.
    Kill,
    /// Ends the host: peers get silence, what was not synced is gone.
    PowerOff,
    /// Steps the wall clock.
    ClockStep {
        /// By how much, in nanoseconds; negative is back.
        by_ns: i64,
    },
    /// Lets the clocks run at another rate.
    ClockRate {
        /// How much the wall clock gains, in parts per million.
        wall_ppm: i64,
        /// How much the monotonic clock gains, in parts per million.
        monotonic_ppm: i64,
    },
    /// Delays the next message that the target sends there, and with it what follows on that connection.
    HoldMessage {
        /// To whom the message goes.
        to: Target,
    },
    /// Lets nothing get from the target to another node: what is sent arrives after the end.
    Cut {
        /// The other node.
        to: Target,
        /// Whether the way back is cut too.
        both_ways: bool,
    },
    /// Cuts the target off from all other nodes, both ways.
    Isolate,
}

impl What {
    /// The other node that it concerns, beside its target.
    pub(crate) fn other(&self) -> Option<&Target> {
        match self {
            What::HoldMessage { to } | What::Cut { to, .. } => Some(to),
            _ => None,
        }
    }
}

/// Why code stops running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PauseCause {
    /// A stop-the-world garbage collection.
    Gc,
    /// SIGSTOP.
    Sigstop,
    /// A page fault on memory that was swapped out.
    PageFault,
    /// The hypervisor gave the processor to somebody else.
    VmSteal,
}

/// Whom a fault hits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// The node of this name.
    Node(String),
    /// Whoever plays this role when the fault fires; a fault that finds nobody waits for the first.
    Role(String),
}

/// When a fault begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "at", rename_all = "kebab-case")]
pub enum When {
    /// At this true time.
    Time {
        /// Nanoseconds since the start of the run.
        ns: u64,
    },
    /// At the entry of the target's n-th passing of a work point, counted over all nodes that the target
    /// names.
    Point {
        /// Name of the point.
        name: String,
        /// Which passing, from 1.
        passing: u64,
    },
    /// Some time after the n-th occurrence of an event.
    Event {
        /// Name of the event.
        name: String,
        /// Which occurrence, from 1.
        occurrence: u64,
        /// How long after it, in nanoseconds.
        after_ns: u64,
    },
}
