//! Numbers and lines as people read them.

use fencepost_scenarios::Interval;

/// `9,600`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `281 (90–96 %)`, `0 (< 1.3 %)`, `300 (> 98.7 %)`: how many, and the 95 % interval of the rate.
pub fn rate(hits: u64, trials: u64) -> String {
    format!("{} ({})", grouped(hits), interval(hits, trials))
}

/// `90–96 %`, `< 1.3 %`, `> 98.7 %`.
pub fn interval(hits: u64, trials: u64) -> String {
    let Interval { low, high } = Interval::wilson(hits, trials);
    let percent = |rate: f64| rate * 100.0;
    if trials == 0 {
        "no data".to_owned()
    } else if hits == 0 {
        // Rounded away from the safe side: the rate is below the number that is shown.
        format!("< {} %", ceiling(percent(high)))
    } else if hits == trials {
        format!("> {} %", floor(percent(low)))
    } else {
        let (low, high) = (percent(low), percent(high));
        // Small rates need a decimal, large ones do not.
        if high < 10.0 { format!("{low:.1}–{high:.1} %") } else { format!("{low:.0}–{high:.0} %") }
    }
}

fn ceiling(percent: f64) -> String {
    decimals((percent * 10.0).ceil() / 10.0)
}

fn floor(percent: f64) -> String {
    decimals((percent * 10.0).floor() / 10.0)
}

fn decimals(percent: f64) -> String {
    if percent.fract() == 0.0 { format!("{percent:.0}") } else { format!("{percent:.1}") }
}

/// `2.3 days`, `4.1 h`, `12 min`, `3.2 s`: a long time, roughly.
pub fn long_time(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    let (number, unit) = match seconds {
        s if s >= 2.0 * 86_400.0 => (s / 86_400.0, "days"),
        s if s >= 2.0 * 3_600.0 => (s / 3_600.0, "h"),
        s if s >= 120.0 => (s / 60.0, "min"),
        s => (s, "s"),
    };
    if number >= 100.0 { format!("{} {unit}", grouped(number as u64)) } else { format!("{number:.1} {unit}") }
}

/// Text broken into lines of at most `width` columns.
pub fn wrapped(text: &str, width: usize, first: &str, rest: &str) -> String {
    let options = textwrap::Options::new(width.max(20)).initial_indent(first).subsequent_indent(rest);
    let options = options.break_words(false).word_splitter(textwrap::WordSplitter::NoHyphenation);
    // No-break spaces have done their work.
    textwrap::fill(text, options).replace('\u{a0}', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(rate(0, 300), "0 (< 1.3 %)");
        assert_eq!(rate(300, 300), "300 (> 98.7 %)");
        assert_eq!(rate(281, 300), "281 (90–96 %)");
        assert_eq!(rate(2, 300), "2 (0.2–2.4 %)");
        assert_eq!(rate(0, 0), "0 (no data)");
        assert_eq!(long_time(1_500_000_000), "1.5 s");
        assert_eq!(long_time(86_400_000_000_000 * 250), "250 days");
    }
}
