use fencepost_checker::history::RefuseReason;

use super::{Fence, Memory, Proof};

/// One key per invoice, stored in the same atomic step as the charge and never expired: the second charge
/// with it is refused, whoever sends it.
pub(super) struct Idempotency;

impl Fence for Idempotency {
    fn admit_read(&self, _: &mut Memory, _: Option<u64>) -> Result<(), RefuseReason> {
        Ok(())
    }

    fn admit_write(&self, memory: &mut Memory, proof: Proof, _: u64) -> Result<(), RefuseReason> {
        match proof.key {
            Some(key) if memory.keys.insert(key) => Ok(()),
            Some(_) => Err(RefuseReason::DuplicateKey),
            None => Err(RefuseReason::NoToken),
        }
    }
}
