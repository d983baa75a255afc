use fencepost_checker::history::RefuseReason;

use super::{Fence, Memory, Proof};

/// Checks nothing.
pub(super) struct Off;

impl Fence for Off {
    fn admit_read(&self, _: &mut Memory, _: Option<u64>) -> Result<(), RefuseReason> {
        Ok(())
    }

    fn admit_write(&self, _: &mut Memory, _: Proof, _: u64) -> Result<(), RefuseReason> {
        Ok(())
    }
}
