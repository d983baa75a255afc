//! The random value by which a lock's key tells its owner.

use fencepost_checker::history::Hold;

use super::Text;

/// The 20 random bytes of the documentation: all that matters is that no other client uses them.
pub(super) fn random_value(hold: Hold) -> Text {
    format!("{:x}", hold.0).into()
}

/// The grant that a random value names.
pub(super) fn hold_of(value: &str) -> Option<Hold> {
    u64::from_str_radix(value, 16).ok().map(Hold)
}
