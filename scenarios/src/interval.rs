//! Rates with their uncertainty.

use serde::Serialize;

/// 97.5 % quantile of the normal distribution: two-sided 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// A 95 % Wilson score interval of a rate.
///
/// Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference" (1927).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(into = "[f64; 2]")]
pub struct Interval {
    /// Lower end, 0 to 1.
    pub low: f64,
    /// Upper end, 0 to 1.
    pub high: f64,
}

impl Interval {
    /// The interval of `hits` among `trials`. Without trials nothing is known.
    pub fn wilson(hits: u64, trials: u64) -> Interval {
        assert!(hits <= trials, "{hits} hits in {trials} trials");
        if trials == 0 {
            return Interval { low: 0.0, high: 1.0 };
        }
        let n = trials as f64;
        let rate = hits as f64 / n;
        let denominator = 1.0 + Z * Z / n;
        let centre = (rate + Z * Z / (2.0 * n)) / denominator;
        let half = Z / denominator * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
        // At the ends the formula gives 0 and 1 but for rounding.
        let low = if hits == 0 { 0.0 } else { centre - half };
        let high = if hits == trials { 1.0 } else { centre + half };
        Interval { low, high }
    }
}

impl From<Interval> for [f64; 2] {
    /// Six decimals: what is printed must not depend on the last bit of a processor's arithmetic.
    fn from(interval: Interval) -> Self {
        let round = |value: f64| (value * 1e6).round() / 1e6;
        [round(interval.low), round(interval.high)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_published_values() {
        // Newcombe (1998), "Two-sided confidence intervals for the single proportion", method 3.
        for (hits, trials, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let interval = Interval::wilson(hits, trials);
            assert!((interval.low - low).abs() < 5e-5, "{hits} of {trials}: {interval:?}");
            assert!((interval.high - high).abs() < 5e-5, "{hits} of {trials}: {interval:?}");
        }
    }

    #[test]
    fn nothing_in_300_is_below_1_3_percent() {
        let interval = Interval::wilson(0, 300);
        assert_eq!(interval.low, 0.0);
        assert!((0.0126..0.0127).contains(&interval.high));
        assert_eq!(Interval::wilson(300, 300).high, 1.0);
        assert_eq!(Interval::wilson(0, 0), Interval { low: 0.0, high: 1.0 });
    }
}
