//! How long a condition lasted: in all, and counting only intervals longer than a tolerance.
//!
//! The tolerance is known when the history is over (it is the largest round trip in it), but it only grows
//! on the way, so an interval that is already too short can be forgotten at once.

/// One condition that comes and goes, and the interval in which it last held.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    since_ns: Option<u64>,
    /// The last interval; if the condition is back at the instant at which it ended, they are one.
    last: Option<(u64, u64)>,
}

impl Meter {
    /// The condition holds from now on, or not.
    pub(crate) fn set(&mut self, holds: bool, now_ns: u64, sum: &mut Sum) {
        match (self.since_ns, holds) {
            (None, true) => {
                let joined = self.last.take_if(|(_, to_ns)| *to_ns == now_ns);
                self.flush(sum);
                self.since_ns = Some(joined.map_or(now_ns, |(from_ns, _)| from_ns));
            }
            (Some(from_ns), false) => {
                self.since_ns = None;
                if from_ns < now_ns {
                    self.last = Some((from_ns, now_ns));
                }
            }
            (None, false) | (Some(_), true) => {}
        }
    }

    /// The condition will not come back.
    pub(crate) fn finish(&mut self, now_ns: u64, sum: &mut Sum) {
        self.set(false, now_ns, sum);
        self.flush(sum);
    }

    fn flush(&mut self, sum: &mut Sum) {
        if let Some((from_ns, to_ns)) = self.last.take() {
            sum.add(from_ns, to_ns);
        }
    }
}

/// The intervals of all meters of one kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sum {
    pub(crate) total_ns: u64,
    pub(crate) longest_ns: u64,
    pub(crate) longest_from_ns: Option<u64>,
    pub(crate) from_ns: Option<u64>,
    pub(crate) to_ns: Option<u64>,
    floor_ns: u64,
    long_ns: Vec<u64>,
}

impl Sum {
    /// The tolerance will be at least this.
    pub(crate) fn raise_floor(&mut self, floor_ns: u64) {
        self.floor_ns = self.floor_ns.max(floor_ns);
    }

    /// The intervals longer than the tolerance, at full length.
    pub(crate) fn over_ns(&self, tolerance_ns: u64) -> u64 {
        self.long_ns.iter().filter(|&&long_ns| long_ns > tolerance_ns).sum()
    }

    fn add(&mut self, from_ns: u64, to_ns: u64) {
        let length_ns = to_ns - from_ns;
        self.total_ns = self.total_ns.saturating_add(length_ns);
        if self.longest_ns < length_ns {
            self.longest_ns = length_ns;
            self.longest_from_ns = Some(from_ns);
        }
        self.from_ns = Some(self.from_ns.map_or(from_ns, |first_ns| first_ns.min(from_ns)));
        self.to_ns = self.to_ns.max(Some(to_ns));
        if length_ns > self.floor_ns {
            if self.long_ns.len() == self.long_ns.capacity() {
                self.long_ns.retain(|&long_ns| long_ns > self.floor_ns);
            }
            self.long_ns.push(length_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_intervals_are_one() {
        let (mut meter, mut sum) = (Meter::default(), Sum::default());
        for (holds, now_ns) in [(true, 10), (false, 20), (true, 20), (false, 35), (true, 40), (false, 40)] {
            meter.set(holds, now_ns, &mut sum);
        }
        meter.finish(50, &mut sum);
        assert_eq!((sum.total_ns, sum.longest_ns), (25, 25));
        assert_eq!((sum.from_ns, sum.to_ns), (Some(10), Some(35)));
        assert_eq!((sum.over_ns(24), sum.over_ns(25)), (25, 0));
    }

    #[test]
    fn an_open_interval_ends_with_the_history() {
        let (mut meter, mut sum) = (Meter::default(), Sum::default());
        meter.set(true, 10, &mut sum);
        meter.finish(17, &mut sum);
        assert_eq!(sum.total_ns, 7);
    }
}
