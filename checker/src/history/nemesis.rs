//! What the nemesis did.

use serde::{Deserialize, Serialize};

use super::{NodeId, OpId};

/// A fault, at the instant at which it began or ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "f", rename_all = "kebab-case")]
pub enum Fault {
    /// All code of a node stopped running; its clocks go on, its kernel still receives.
    Stop {
        /// Which node.
        node: NodeId,
        /// What kind of pause.
        kind: StopKind,
    },
    /// The code of a node runs again.
    Resume {
        /// Which node.
        node: NodeId,
    },
    /// A process ended without running any more of its code; the page cache of its host survives.
    Kill {
        /// Which node.
        node: NodeId,
    },
    /// A host lost power: what was not synced is gone.
    PowerOff {
        /// Which node.
        node: NodeId,
    },
    /// A process started again with what its disk has.
    Restart {
        /// Which node.
        node: NodeId,
    },
    /// A wall clock was stepped.
    ClockStep {
        /// Which node.
        node: NodeId,
        /// By how much, in nanoseconds; negative is back.
        by_ns: i64,
    },
    /// The clocks of a node run at another rate.
    ClockRate {
        /// Which node.
        node: NodeId,
        /// How much the wall clock gains, in parts per million.
        wall_ppm: i64,
        /// How much the monotonic clock gains, in parts per million.
        monotonic_ppm: i64,
    },
    /// A message is on its way and will not arrive for a long time.
    HoldMessage {
        /// From which node.
        from: NodeId,
        /// To which node.
        to: NodeId,
        /// The operation that it carries.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        op: Option<OpId>,
    },
    /// A held message arrives.
    DeliverMessage {
        /// From which node.
        from: NodeId,
        /// To which node.
        to: NodeId,
        /// The operation that it carries.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        op: Option<OpId>,
    },
    /// Nothing gets from one node to another.
    Cut {
        /// From which node.
        from: NodeId,
        /// To which node.
        to: NodeId,
    },
    /// Messages get from one node to another again.
    Heal {
        /// From which node.
        from: NodeId,
        /// To which node.
        to: NodeId,
    },
}

/// What kind of pause: they differ in what stops, and in what people call them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopKind {
    /// A stop-the-world garbage collection.
    Gc,
    /// SIGSTOP.
    Sigstop,
    /// A page fault on memory that was swapped out.
    PageFault,
    /// The hypervisor gave the processor to somebody else.
    VmSteal,
}
