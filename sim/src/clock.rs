//! Clocks of a node: piecewise linear functions of true time.
//!
//! The wall clock has an offset, drifts and can be stepped both ways. The monotonic clock drifts and is
//! never stepped. All arithmetic is in integers.

/// 2026-01-01T00:00:00Z in nanoseconds since 1970: what a right wall clock shows at true time 0.
pub const EPOCH_NS: i64 = 1_767_225_600_000_000_000;

const BILLION: i128 = 1_000_000_000;

/// One clock: its present straight piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    /// Where the piece begins, in true time.
    true_ns: u64,
    /// What the clock shows there.
    local_ns: i64,
    /// How much it gains, in parts per billion.
    gain_ppb: i64,
}

impl Clock {
    pub(crate) fn starting_at(local_ns: i64) -> Self {
        Clock { true_ns: 0, local_ns, gain_ppb: 0 }
    }

    /// What the clock shows at true time `true_ns`, which is not before the present piece.
    pub(crate) fn read(&self, true_ns: u64) -> i64 {
        assert!(true_ns >= self.true_ns, "a clock is asked about a piece that is over");
        let elapsed = i128::from(true_ns - self.true_ns);
        let gained =
            if self.gain_ppb == 0 { 0 } else { (elapsed * i128::from(self.gain_ppb)).div_euclid(BILLION) };
        let local = i128::from(self.local_ns) + elapsed + gained;
        i64::try_from(local).unwrap_or(if local < 0 { i64::MIN } else { i64::MAX })
    }

    /// The first true time at which the clock shows `local_ns` or more, if its present piece reached that
    /// far both ways.
    pub(crate) fn time_of(&self, local_ns: i64) -> u64 {
        let missing = i128::from(local_ns) - i128::from(self.local_ns);
        let elapsed = if self.gain_ppb == 0 {
            missing
        } else {
            let rate = BILLION + i128::from(self.gain_ppb);
            (missing * BILLION + rate - 1).div_euclid(rate)
        };
        (i128::from(self.true_ns) + elapsed).clamp(0, i128::from(u64::MAX)) as u64
    }

    /// The same, but not before `now_ns`.
    pub(crate) fn when(&self, local_ns: i64, now_ns: u64) -> u64 {
        self.time_of(local_ns).max(now_ns)
    }

    /// Moves what the clock shows at `now_ns` by `by_ns`.
    pub(crate) fn step(&mut self, now_ns: u64, by_ns: i64) {
        *self = Clock {
            true_ns: now_ns,
            local_ns: self.read(now_ns).saturating_add(by_ns),
            gain_ppb: self.gain_ppb,
        };
    }

    /// Lets the clock gain `gain_ppm` from `now_ns` on.
    pub(crate) fn set_rate(&mut self, now_ns: u64, gain_ppm: i64) {
        assert!(gain_ppm > -1_000_000, "a clock that stands still or runs backwards: {gain_ppm} ppm");
        assert!(gain_ppm <= 1_000_000_000, "a clock more than a thousand times too fast: {gain_ppm} ppm");
        *self = Clock { true_ns: now_ns, local_ns: self.read(now_ns), gain_ppb: gain_ppm * 1000 };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_step_moves_the_reading_and_keeps_the_rate() {
        let mut clock = Clock::starting_at(1_000);
        clock.set_rate(0, 500_000);
        assert_eq!(clock.read(100), 1_150);
        clock.step(100, -1_000);
        assert_eq!(clock.read(100), 150);
        assert_eq!(clock.read(200), 300);
    }

    proptest! {
        #[test]
        fn when_is_the_first_instant_that_shows_the_reading(
            rate in -900_000i64..900_000, start in 0u64..1_000_000_000, wait in 0i64..1_000_000_000_000,
        ) {
            let mut clock = Clock::starting_at(EPOCH_NS);
            clock.set_rate(start, rate);
            let target = clock.read(start) + wait;
            let at = clock.when(target, start);
            prop_assert!(clock.read(at) >= target);
            prop_assert!(at == start || clock.read(at - 1) < target);
        }

        #[test]
        fn without_steps_a_clock_never_goes_back(rates in proptest::collection::vec(-900_000i64..900_000, 1..20)) {
            let mut clock = Clock::starting_at(0);
            let mut shown = 0;
            for (index, rate) in rates.iter().enumerate() {
                let now = index as u64 * 1_000;
                clock.set_rate(now, *rate);
                for elapsed in [0, 1, 500, 999] {
                    let reading = clock.read(now + elapsed);
                    prop_assert!(reading >= shown);
                    shown = reading;
                }
            }
        }
    }
}
