//! Randomness: one seed, one independent ChaCha8 stream per concern.
//!
//! Streams of one seed share the key and differ in ChaCha's stream number, so adding one fault, one draw of
//! latency or one client does not reshuffle anything else.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// What a stream of random numbers is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Concern {
    /// Order of what is due at once when a process resumes.
    Schedule,
    /// Latencies.
    Network,
    /// What nodes do: one stream per node.
    Workload,
    /// The fault schedule.
    Faults,
    /// Latencies of disks and what survives a power loss.
    Disks,
    /// Offsets and drift of clocks.
    Clocks,
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of a seed for a concern. `part` tells streams of one concern apart (a node's number).
    pub fn new(seed: u64, concern: Concern, part: u32) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..17].copy_from_slice(b"fencepost");
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream((concern as u64) << 32 | u64::from(part));
        Stream(rng)
    }

    /// A number below `bound`, each with the same probability (Lemire's method).
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below 0");
        let mut product = u128::from(self.0.next_u64()) * u128::from(bound);
        // The division is only needed where a draw may have to be thrown away, which is almost never.
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.0.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// A number from `low` to `high`, both included. Equal ends cost no draw.
    ///
    /// # Panics
    /// If `low` is above `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        assert!(low <= high, "an empty range: {low}..{high}");
        match high - low {
            0 => low,
            u64::MAX => self.0.next_u64(),
            width => low + self.below(width + 1),
        }
    }

    /// A signed number from `low` to `high`, both included.
    ///
    /// # Panics
    /// If `low` is above `high`.
    pub fn between_signed(&mut self, low: i64, high: i64) -> i64 {
        assert!(low <= high, "an empty range: {low}..{high}");
        low.wrapping_add(self.between(0, high.wrapping_sub(low) as u64) as i64)
    }

    /// Puts items into an order drawn at random.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_independent_and_repeatable() {
        let draw = |seed, concern, part| {
            let mut stream = Stream::new(seed, concern, part);
            [stream.below(1 << 40), stream.below(1 << 40)]
        };
        assert_eq!(draw(7, Concern::Faults, 0), draw(7, Concern::Faults, 0));
        assert_ne!(draw(7, Concern::Faults, 0), draw(8, Concern::Faults, 0));
        assert_ne!(draw(7, Concern::Faults, 0), draw(7, Concern::Clocks, 0));
        assert_ne!(draw(7, Concern::Workload, 0), draw(7, Concern::Workload, 1));
    }

    #[test]
    fn ranges_include_both_ends() {
        let mut stream = Stream::new(1, Concern::Workload, 0);
        let draws: Vec<i64> = (0..200).map(|_| stream.between_signed(-1, 1)).collect();
        assert!((-1..=1).all(|value| draws.contains(&value)));
        assert!(draws.iter().all(|value| (-1..=1).contains(value)));
        assert_eq!(stream.between(5, 5), 5);
        stream.between_signed(i64::MIN, i64::MAX);
    }
}
