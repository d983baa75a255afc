use fencepost_checker::history::RefuseReason;

use super::{Fence, Memory, Proof};

/// Refuses a write whose token is below the highest that it has *seen*. It still loses updates: the next
/// holder may have read before the late write of the last one arrives.
pub(super) struct WriteFence;

impl Fence for WriteFence {
    fn admit_read(&self, _: &mut Memory, _: Option<u64>) -> Result<(), RefuseReason> {
        Ok(())
    }

    fn admit_write(&self, memory: &mut Memory, proof: Proof, _: u64) -> Result<(), RefuseReason> {
        memory.pass_bar(proof.token)
    }
}
