//! Numbers that stand for things: positions in the [`Header`](super::Header), or counters of one history.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// A simulated machine: its position in [`Header::nodes`](super::Header::nodes).
    NodeId(u32)
}
id! {
    /// A task of code that asks for locks, not an OS process: its position in
    /// [`Header::workers`](super::Header::workers).
    WorkerId(u32)
}
id! {
    /// A lock: its position in [`Header::locks`](super::Header::locks).
    LockId(u32)
}
id! {
    /// A protected resource: its position in [`Header::resources`](super::Header::resources).
    ResourceId(u32)
}
id! {
    /// One grant of a lock, as its client names it (the random value of a Redis lock). Unique in a history;
    /// chosen before the acquire is sent, so that an unknown acquire has a name too.
    Hold(u64)
}
id! {
    /// An operation: the same number on its invocation and on its completion.
    OpId(u64)
}
id! {
    /// A piece of work that should be done once: a debit to book, an invoice to charge.
    JobId(u64)
}
id! {
    /// One attempt to debit the ledger. Unique in a history.
    DebitId(u64)
}
