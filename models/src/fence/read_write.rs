use fencepost_checker::history::RefuseReason;

use super::{Fence, Memory, Proof};

/// Reads show their token too and raise the bar: once the next holder has read, nothing older is accepted.
pub(super) struct ReadWriteFence;

impl Fence for ReadWriteFence {
    fn admit_read(&self, memory: &mut Memory, token: Option<u64>) -> Result<(), RefuseReason> {
        memory.pass_bar(token)
    }

    fn admit_write(&self, memory: &mut Memory, proof: Proof, _: u64) -> Result<(), RefuseReason> {
        memory.pass_bar(proof.token)
    }
}
