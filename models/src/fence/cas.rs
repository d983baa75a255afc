use fencepost_checker::history::RefuseReason;

use super::{Fence, Memory, Proof};

/// Compare and set: refuses a write that was computed from another version than the current one. Versions
/// never repeat.
pub(super) struct Cas;

impl Fence for Cas {
    fn admit_read(&self, _: &mut Memory, _: Option<u64>) -> Result<(), RefuseReason> {
        Ok(())
    }

    fn admit_write(&self, _: &mut Memory, proof: Proof, version: u64) -> Result<(), RefuseReason> {
        if proof.base_version == Some(version) { Ok(()) } else { Err(RefuseReason::VersionMismatch) }
    }
}
