//! What the engine's heap holds.

use crate::node::NodeId;

/// An event: small and `Copy`; whatever it carries lies with the part of the world that handles it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A timer is due, unless it was dropped or armed anew since.
    Timer { slot: u32, generation: u32 },
    /// A request to connect reaches the server.
    Connect { attempt: u32 },
    /// The answer to a request to connect reaches the client.
    Connected { attempt: u32 },
    /// What is next in flight to the endpoint arrives.
    Arrive { endpoint: u32 },
    /// A fault begins.
    Fault { index: u32 },
    /// A fault ends.
    FaultEnd { index: u32 },
    /// What a disk was asked to make durable is durable.
    Synced { node: NodeId, sync: u32 },
}

impl Event {
    /// All fields in one number, for the digest of a run.
    pub(crate) fn fingerprint(self) -> u64 {
        let (kind, high, low) = match self {
            Event::Timer { slot, generation } => (1, slot, generation),
            Event::Connect { attempt } => (2, attempt, 0),
            Event::Connected { attempt } => (3, attempt, 0),
            Event::Arrive { endpoint } => (4, endpoint, 0),
            Event::Fault { index } => (5, index, 0),
            Event::FaultEnd { index } => (6, index, 0),
            Event::Synced { node, sync } => (7, node.0, sync),
        };
        (u64::from(high) << 32 | u64::from(low)) ^ (kind << 60)
    }
}
