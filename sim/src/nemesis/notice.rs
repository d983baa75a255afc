//! What an observer is told of faults.

use crate::fault::PauseCause;
use crate::node::NodeId;

/// A fault began or ended, told at that instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A process was stopped.
    Stop {
        /// Whose.
        node: NodeId,
        /// Why.
        cause: PauseCause,
    },
    /// A process runs again.
    Resume {
        /// Whose.
        node: NodeId,
    },
    /// A process was ended.
    Kill {
        /// Whose.
        node: NodeId,
    },
    /// A host lost power.
    PowerOff {
        /// Which.
        node: NodeId,
    },
    /// A process was started again.
    Restart {
        /// Whose.
        node: NodeId,
    },
    /// A wall clock was stepped.
    ClockStep {
        /// Whose.
        node: NodeId,
        /// By how much.
        by_ns: i64,
    },
    /// Clocks run at another rate.
    ClockRate {
        /// Whose.
        node: NodeId,
        /// How much the wall clock gains.
        wall_ppm: i64,
        /// How much the monotonic clock gains.
        monotonic_ppm: i64,
    },
    /// A message will not arrive for a long time.
    HoldMessage {
        /// Who sent it.
        from: NodeId,
        /// To whom.
        to: NodeId,
        /// The operation that it carries.
        operation: Option<u64>,
    },
    /// A held message arrives.
    DeliverMessage {
        /// Who sent it.
        from: NodeId,
        /// To whom.
        to: NodeId,
        /// The operation that it carries.
        operation: Option<u64>,
    },
    /// A link was cut.
    Cut {
        /// From whom nothing gets through.
        from: NodeId,
        /// To whom.
        to: NodeId,
    },
    /// A link is whole again.
    Heal {
        /// From whom messages get through again.
        from: NodeId,
        /// To whom.
        to: NodeId,
    },
}
