//! Numbers as people write them: `10s`, `8s..20s`, `3`, `1..3`.
//!
//! Every number is a whole one, durations are in nanoseconds: a run must not depend on how a processor
//! rounds. A single value is the range that holds nothing else.

use std::fmt;
use std::ops::Range;

use crate::nearest::did_you_mean;

/// Everything from `low` to `high`, both included. Durations are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The smallest value.
    pub low: i64,
    /// The largest value, never below `low`.
    pub high: i64,
}

impl Span {
    /// The span that holds one value.
    pub const fn exactly(value: i64) -> Span {
        Span { low: value, high: value }
    }

    /// Whether there is nothing to draw.
    pub const fn is_single(self) -> bool {
        self.low == self.high
    }

    /// Whether the value lies within.
    pub const fn contains(self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The span as one writes it in a scenario file.
    pub fn written(self, kind: Kind) -> String {
        if self.is_single() {
            kind.written(self.low)
        } else {
            format!("{}..{}", kind.written(self.low), kind.written(self.high))
        }
    }
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// How many; never negative.
    Count,
    /// A whole number, negative or not.
    Integer,
    /// A length of time in nanoseconds.
    Duration,
}

impl Kind {
    /// One value as one writes it in a scenario file.
    pub fn written(self, value: i64) -> String {
        match self {
            Kind::Count | Kind::Integer => value.to_string(),
            Kind::Duration => written_duration(value),
        }
    }

    /// What is expected where such a number stands, with an example.
    pub const fn expected(self) -> &'static str {
        match self {
            Kind::Count => "a count such as 3, or a range such as \"1..3\"",
            Kind::Integer => "a whole number such as -20, or a range such as \"-20..20\"",
            Kind::Duration => "a duration such as \"10s\", or a range such as \"8s..20s\"",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Count => "count",
            Kind::Integer => "integer",
            Kind::Duration => "duration",
        })
    }
}

/// The units of time and their nanoseconds, from small to large.
pub const UNITS: [(&str, i64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// The longest duration, ten years: it leaves room to add a few of them up in 64 bits.
pub const DURATION_MAX: i64 = 10 * 365 * 24 * 3_600_000_000_000;

/// The largest whole number, the last one that JSON readers keep exactly.
pub const INTEGER_MAX: i64 = 1 << 53;

/// Units that people write and what they mean by them.
const FOREIGN_UNITS: [(&str, &str); 22] = [
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("S", "s"),
    ("m", "min"),
    ("mins", "min"),
    ("minute", "min"),
    ("minutes", "min"),
    ("hr", "h"),
    ("hrs", "h"),
    ("hour", "h"),
    ("hours", "h"),
    ("msec", "ms"),
    ("millis", "ms"),
    ("milliseconds", "ms"),
    ("µs", "us"),
    ("μs", "us"),
    ("usec", "us"),
    ("micros", "us"),
    ("nsec", "ns"),
    ("nanos", "ns"),
];

/// Why a text is no number of the kind that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityError {
    /// Which bytes of the text are wrong.
    pub at: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to write instead, if that is known.
    pub help: Option<String>,
}

impl QuantityError {
    fn new(at: Range<usize>, message: impl Into<String>) -> QuantityError {
        QuantityError { at, message: message.into(), help: None }
    }

    fn help(mut self, help: impl Into<String>) -> QuantityError {
        self.help = Some(help.into());
        self
    }

    fn moved(mut self, by: usize) -> QuantityError {
        self.at = self.at.start + by..self.at.end + by;
        self
    }
}

/// Reads a value or a range `a..b`. Spaces around an end are allowed.
pub fn parse(kind: Kind, text: &str) -> Result<Span, QuantityError> {
    let Some(dots) = text.find("..") else {
        return value(kind, text, 0..text.len()).map(Span::exactly);
    };
    let high_start = dots + 2;
    if text[high_start..].starts_with(['=', '.']) {
        let plain = format!("{}..{}", text[..dots].trim(), text[high_start + 1..].trim());
        return Err(QuantityError::new(dots..high_start + 1, "a range is written with two dots")
            .help(format!("both ends are included: write `{plain}`")));
    }
    let low = value(kind, text, 0..dots).map_err(|error| unit_of_the_other_end(error, kind, text, dots))?;
    let high = value(kind, text, high_start..text.len())?;
    if low > high {
        let turned = Span { low: high, high: low }.written(kind);
        return Err(QuantityError::new(0..text.len(), "the range ends before it begins")
            .help(format!("the smaller end comes first: `{turned}`")));
    }
    Ok(Span { low, high })
}

/// `8..20s` lacks a unit at its first end: offers that of the second, if a range comes of it.
fn unit_of_the_other_end(error: QuantityError, kind: Kind, text: &str, dots: usize) -> QuantityError {
    let (low, high) = (text[..dots].trim(), text[dots + 2..].trim());
    let unit = high.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let plain = |number: &str| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if kind != Kind::Duration || !plain(low) || unit.is_empty() {
        return error;
    }
    let meant = format!("{low}{unit}..{high}");
    match parse(kind, &meant) {
        Ok(_) => error.help(format!("each end takes its unit: `{meant}`")),
        Err(_) => error.help(format!("each end takes its unit; the units are {}", all_units())),
    }
}

fn value(kind: Kind, text: &str, part: Range<usize>) -> Result<i64, QuantityError> {
    let raw = &text[part.clone()];
    let start = part.start + (raw.len() - raw.trim_start_matches(' ').len());
    let word = raw.trim_matches(' ');
    if word.is_empty() {
        // Points at the whole text: an empty place has no letters to point at.
        return Err(QuantityError::new(0..text.len(), format!("expected {}", kind.expected())));
    }
    let number = match kind {
        Kind::Count | Kind::Integer => integer(kind, word),
        Kind::Duration => duration(word),
    };
    number.map_err(|error| error.moved(start))
}

fn integer(kind: Kind, word: &str) -> Result<i64, QuantityError> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        let error = QuantityError::new(0..word.len(), format!("expected {}", kind.expected()));
        let is_duration = duration(word).is_ok();
        return Err(if is_duration { error.help("it takes no unit") } else { error });
    }
    let number = word.parse::<i64>().ok().filter(|number| (-INTEGER_MAX..=INTEGER_MAX).contains(number));
    number.ok_or_else(|| {
        QuantityError::new(0..word.len(), format!("`{word}` is too large: at most {INTEGER_MAX}"))
    })
}

fn duration(word: &str) -> Result<i64, QuantityError> {
    let unsigned = word.strip_prefix('-').unwrap_or(word);
    let sign_len = word.len() - unsigned.len();
    let number_len = unsigned.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let (number, unit) = unsigned.split_at(number_len);
    let number_at = sign_len..sign_len + number_len;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !all_digits(whole) || !all_digits(fraction) {
        let error = QuantityError::new(0..word.len(), format!("expected {}", Kind::Duration.expected()));
        return Err(if word.starts_with('+') { error.help("leave out the `+`") } else { error });
    }
    let unit_ns = unit_ns(number, unit, word.len(), number_at.clone())?;

    let too_large =
        || QuantityError::new(0..word.len(), format!("`{word}` is too long: a duration is at most 10 years"));
    let whole_ns = whole.parse::<i64>().ok().and_then(|n| n.checked_mul(unit_ns)).ok_or_else(too_large)?;
    let fraction = fraction.trim_end_matches('0');
    let too_fine = || {
        QuantityError::new(number_at.clone(), format!("`{word}` is finer than a nanosecond"))
            .help("time is counted in whole nanoseconds")
    };
    // An hour has 12 zeros and two fives in nanoseconds; more places than that never come out even.
    if fraction.len() > 15 {
        return Err(too_fine());
    }
    let scale = 10_i128.pow(fraction.len() as u32);
    let scaled = fraction.parse::<i128>().unwrap_or(0) * i128::from(unit_ns);
    if scaled % scale != 0 {
        return Err(too_fine());
    }
    let ns = i64::try_from(scaled / scale).ok().and_then(|ns| ns.checked_add(whole_ns));
    let ns = ns.filter(|ns| *ns <= DURATION_MAX).ok_or_else(too_large)?;
    Ok(if sign_len > 0 { -ns } else { ns })
}

fn all_units() -> String {
    UNITS.map(|(name, _)| name).join(", ")
}

fn unit_ns(number: &str, unit: &str, end: usize, number_at: Range<usize>) -> Result<i64, QuantityError> {
    if let Some((_, ns)) = UNITS.iter().find(|(name, _)| *name == unit) {
        return Ok(*ns);
    }
    let all = all_units();
    if unit.is_empty() {
        return Err(QuantityError::new(number_at, format!("`{number}` has no unit"))
            .help(format!("write `{number}s` for seconds; the units are {all}")));
    }
    let meant = FOREIGN_UNITS.iter().find(|(foreign, _)| *foreign == unit).map(|(_, own)| *own);
    let help = match meant {
        Some(own) => format!("write `{number}{own}`; the units are {all}"),
        None => match did_you_mean(unit, UNITS.map(|(name, _)| name)) {
            Some(question) => format!("{question} the units are {all}"),
            None => format!("the units are {all}"),
        },
    };
    Err(QuantityError::new(number_at.end..end, format!("`{unit}` is no unit of time")).help(help))
}

/// A duration in the largest unit that leaves at least one before the point: `6.3s`, `500ms`, `30min`.
/// Reading it gives the same number of nanoseconds.
pub fn written_duration(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let magnitude = ns.unsigned_abs();
    if magnitude == 0 {
        return "0s".to_owned();
    }
    // Minutes and hours only where they come out even: nobody reads `0.1083h`.
    for (unit, unit_ns) in UNITS.iter().rev() {
        let unit_ns = unit_ns.unsigned_abs();
        let even = magnitude.is_multiple_of(unit_ns);
        let decimal = !matches!(*unit, "min" | "h");
        if magnitude < unit_ns || !(even || decimal) {
            continue;
        }
        let (whole, rest) = (magnitude / unit_ns, magnitude % unit_ns);
        if rest == 0 {
            return format!("{sign}{whole}{unit}");
        }
        let places = unit_ns.ilog10() as usize;
        let fraction = format!("{rest:0places$}");
        return format!("{sign}{whole}.{}{unit}", fraction.trim_end_matches('0'));
    }
    format!("{sign}{magnitude}ns")
}
