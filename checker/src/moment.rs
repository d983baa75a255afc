//! When something happened, with ties broken.

use crate::history::Entry;

/// An entry's place in the total order of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    pub(crate) time_ns: u64,
    pub(crate) index: u64,
}

impl Moment {
    pub(crate) fn of(entry: &Entry) -> Self {
        Moment { time_ns: entry.time_ns, index: entry.index }
    }

    /// After every entry of the history.
    pub(crate) fn end(time_ns: u64) -> Self {
        Moment { time_ns, index: u64::MAX }
    }
}
