//! What a resource checks before it accepts a request: one file a mode.
//!
//! A fence decides; the [`Ledger`](crate::ledger::Ledger) acts. What it must remember lies with the data, in
//! [`Memory`], and is as durable as the data.

mod cas;
mod idempotency;
mod off;
mod read_write;
mod write;

use std::collections::BTreeSet;

use fencepost_checker::history::{FenceMode, RefuseReason};
use serde::{Deserialize, Serialize};

/// What a fence remembers, kept with the data that it protects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The highest token seen.
    pub bar: Option<u64>,
    /// The idempotency keys of what was accepted.
    pub keys: BTreeSet<u64>,
}

/// What a fence sees of a write or charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The fencing token.
    pub token: Option<u64>,
    /// The version that the request was computed from.
    pub base_version: Option<u64>,
    /// The idempotency key.
    pub key: Option<u64>,
}

/// A rule by which requests are accepted.
pub trait Fence {
    /// Looks at a read before it is answered.
    ///
    /// # Errors
    /// Why it is refused.
    fn admit_read(&self, memory: &mut Memory, token: Option<u64>) -> Result<(), RefuseReason>;

    /// Looks at a write or charge before it is carried out; `version` is the current one.
    ///
    /// # Errors
    /// Why it is refused.
    fn admit_write(&self, memory: &mut Memory, proof: Proof, version: u64) -> Result<(), RefuseReason>;
}

/// The fence of a mode.
pub fn fence(mode: FenceMode) -> Box<dyn Fence> {
    match mode {
        FenceMode::Off => Box::new(off::Off),
        FenceMode::Write => Box::new(write::WriteFence),
        FenceMode::ReadWrite => Box::new(read_write::ReadWriteFence),
        FenceMode::Cas => Box::new(cas::Cas),
        FenceMode::Idempotency => Box::new(idempotency::Idempotency),
    }
}

impl Memory {
    /// Refuses a token below the highest seen, and raises the bar to it otherwise.
    fn pass_bar(&mut self, token: Option<u64>) -> Result<(), RefuseReason> {
        let token = token.ok_or(RefuseReason::NoToken)?;
        if self.bar.is_some_and(|bar| token < bar) {
            return Err(RefuseReason::StaleToken);
        }
        self.bar = Some(token);
        Ok(())
    }
}
