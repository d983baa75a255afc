//! How long a message is on its way.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::node::nanos;
use crate::rng::Stream;

/// A distribution of latencies, one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Latency {
    /// Always the same.
    Constant(Duration),
    /// Each value of the range with the same probability.
    Uniform(RangeInclusive<Duration>),
}

impl Default for Latency {
    /// 100–300 µs: one data centre.
    fn default() -> Self {
        Latency::Uniform(Duration::from_micros(100)..=Duration::from_micros(300))
    }
}

impl Latency {
    /// Nanoseconds for one message.
    pub(super) fn draw(&self, stream: &mut Stream) -> u64 {
        match self {
            Latency::Constant(latency) => nanos(*latency),
            Latency::Uniform(range) => stream.between(nanos(*range.start()), nanos(*range.end())),
        }
    }
}
