//! Numbers, times and enumerations as a story says them.

use fencepost_checker::history::DebitId;

use crate::numbers::grouped;

/// `25.856 s`: a moment, to the millisecond.
pub(super) fn instant(ns: u64) -> String {
    let ms = rounded_ms(ns);
    format!("{}.{:03}\u{a0}s", grouped(ms / 1000), ms % 1000)
}

/// `18.117 s`, `700 ms`, `0.3 ms`: how long something takes.
pub(super) fn span(ns: u64) -> String {
    if ns >= 999_500_000 {
        let ms = rounded_ms(ns);
        match ms % 1000 {
            0 => format!("{}\u{a0}s", grouped(ms / 1000)),
            rest => format!("{}.{rest:03}\u{a0}s", grouped(ms / 1000)),
        }
    } else if ns >= 9_950_000 {
        format!("{}\u{a0}ms", rounded_ms(ns))
    } else {
        let tenths = (ns + 50_000) / 100_000;
        format!("{}.{}\u{a0}ms", tenths / 10, tenths % 10)
    }
}

fn rounded_ms(ns: u64) -> u64 {
    ns.saturating_add(500_000) / 1_000_000
}

/// `99,760`, `-120`: an amount of money.
pub(super) fn money(amount: i128) -> String {
    let sign = if amount < 0 { "-" } else { "" };
    let units = u64::try_from(amount.unsigned_abs()).unwrap_or(u64::MAX);
    format!("{sign}{}", grouped(units))
}

/// `1 job`, `4 jobs`.
pub(super) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{}\u{a0}{noun}{plural}", grouped(number as u64))
}

/// `client-1`, `client-1 and client-3`, `client-1, client-2 and client-3`.
pub(super) fn enumeration(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [parts @ .., last] => format!("{} and {last}", parts.join(", ")),
    }
}

/// `token 3`.
pub(super) fn token(number: u64) -> String {
    format!("token\u{a0}{number}")
}

/// `debit 8`, `debits 3 to 7`, `debits 1, 2 and 9`.
pub(super) fn debits(ids: &[DebitId]) -> String {
    let numbers: Vec<u64> = ids.iter().map(|id| id.0).collect();
    numbered("debit", &numbers)
}

/// `token 3`, `tokens 3 to 7`, `invoices 1, 2 and 9`: runs of three and more are drawn together.
pub(super) fn numbered(noun: &str, numbers: &[u64]) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut parts: Vec<String> = Vec::new();
    let mut rest = sorted.as_slice();
    while let Some(&first) = rest.first() {
        let mut run = 1;
        while rest.get(run).is_some_and(|next| next.checked_sub(run as u64) == Some(first)) {
            run += 1;
        }
        if run >= 3 {
            parts.push(format!("{first}\u{a0}to\u{a0}{}", rest[run - 1]));
        } else {
            parts.extend(rest[..run].iter().map(u64::to_string));
        }
        rest = &rest[run..];
    }
    let plural = if sorted.len() == 1 { "" } else { "s" };
    let list = enumeration(&parts);
    // A short list stays on one line.
    let list = if parts.len() <= 2 { list.replace(' ', "\u{a0}") } else { list };
    format!("{noun}{plural}\u{a0}{list}")
}

/// `is` or `are`.
pub(super) fn is_or_are(number: usize) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// `was` or `were`.
pub(super) fn was_or_were(number: usize) -> &'static str {
    if number == 1 { "was" } else { "were" }
}

/// `two`, `three`; digits from thirteen.
pub(super) fn in_words(number: usize) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    WORDS.get(number).map_or_else(|| grouped(number as u64), |word| (*word).to_owned())
}

/// The same with a capital: a sentence begins with it.
pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A message from a history, fit for a line.
pub(super) fn plain(message: &str) -> String {
    message.chars().filter(|letter| !letter.is_control()).take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spaced(text: &str) -> String {
        text.replace('\u{a0}', " ")
    }

    #[test]
    fn times_read_well() {
        assert_eq!(spaced(&instant(25_856_900_000)), "25.857 s");
        assert_eq!(spaced(&instant(7_200_000_000_000)), "7,200.000 s");
        assert_eq!(spaced(&span(18_117_000_000)), "18.117 s");
        assert_eq!(spaced(&span(10_000_000_000)), "10 s");
        assert_eq!(spaced(&span(700_400_000)), "700 ms");
        assert_eq!(spaced(&span(312_000)), "0.3 ms");
        assert_eq!(spaced(&span(9_960_000)), "10 ms");
        assert_eq!(spaced(&span(999_900_000)), "1 s");
    }

    #[test]
    fn lists_read_well() {
        let ids = |ids: &[u64]| ids.iter().map(|&id| DebitId(id)).collect::<Vec<_>>();
        assert_eq!(spaced(&debits(&ids(&[8]))), "debit 8");
        assert_eq!(spaced(&debits(&ids(&[1, 2]))), "debits 1 and 2");
        assert_eq!(spaced(&debits(&ids(&[5, 3, 4, 9, 9]))), "debits 3 to 5 and 9");
        assert_eq!(
            spaced(&debits(&ids(&[u64::MAX, u64::MAX - 1]))),
            format!("debits {} and {}", u64::MAX - 1, u64::MAX)
        );
        assert_eq!(spaced(&count(1, "job")), "1 job");
        assert_eq!(spaced(&count(4000, "job")), "4,000 jobs");
        assert_eq!(money(-99_760), "-99,760");
    }
}
