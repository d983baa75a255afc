//! What a resource may accept, and what it did accept.

use rustc_hash::FxHashSet;

use crate::acting::base_version;
use crate::history::{Apply, F, FenceMode, Recover};

/// The promise of one resource, kept by us as it should be kept.
#[derive(Debug)]
pub(crate) struct Fence {
    pub(crate) mode: FenceMode,
    pub(crate) is_broken: bool,
    /// The highest token that it accepted: what its own bar must never fall below.
    bar: Option<u64>,
    keys: FxHashSet<u64>,
}

impl Fence {
    pub(crate) fn new(mode: FenceMode) -> Self {
        Fence { mode, is_broken: false, bar: None, keys: FxHashSet::default() }
    }

    /// The resource accepted a request. True if it had promised not to.
    pub(crate) fn accept(&mut self, apply: &Apply, version_before: u64) -> bool {
        let is_read = apply.f == F::Read;
        let is_forbidden = match self.mode {
            FenceMode::Off => false,
            FenceMode::Write if is_read => false,
            FenceMode::Write | FenceMode::ReadWrite => {
                let is_forbidden = apply.token < self.bar;
                self.bar = self.bar.max(apply.token);
                is_forbidden
            }
            FenceMode::Cas if is_read => false,
            FenceMode::Cas => {
                let read = apply.version_read.or(apply.value.as_ref().and_then(base_version));
                match read {
                    Some(read) => read != version_before,
                    // A charge may be made without having looked; a write may not.
                    None => apply.f == F::Write,
                }
            }
            FenceMode::Idempotency => {
                !is_read && apply.idempotency_key.is_some_and(|key| !self.keys.insert(key))
            }
        };
        self.is_broken |= is_forbidden;
        is_forbidden
    }

    /// The resource is back after a crash, with the bar that it remembers.
    pub(crate) fn recover(&mut self, recover: &Recover) {
        let needs_its_bar = matches!(self.mode, FenceMode::Write | FenceMode::ReadWrite);
        self.is_broken |= needs_its_bar && recover.bar < self.bar;
    }
}
