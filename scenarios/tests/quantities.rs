//! Numbers as people write them.

use fencepost_scenarios::Span;
use fencepost_scenarios::quantity::{DURATION_MAX, INTEGER_MAX, Kind, parse, written_duration};
use proptest::prelude::*;

const MS: i64 = 1_000_000;
const S: i64 = 1_000 * MS;

#[test]
fn durations_are_whole_nanoseconds() {
    for (text, low, high) in [
        ("10s", 10 * S, 10 * S),
        ("8s..20s", 8 * S, 20 * S),
        (" 8s .. 20s ", 8 * S, 20 * S),
        ("6.3s", 6_300 * MS, 6_300 * MS),
        ("6.3s..7s", 6_300 * MS, 7 * S),
        ("0.000000001s", 1, 1),
        ("1.000000000000000h", 3_600 * S, 3_600 * S),
        ("0.5min", 30 * S, 30 * S),
        ("500us..1ms", 500_000, MS),
        ("-31s..-29.5s", -31 * S, -29_500 * MS),
        ("0s", 0, 0),
        ("87600h", DURATION_MAX, DURATION_MAX),
    ] {
        assert_eq!(parse(Kind::Duration, text), Ok(Span { low, high }), "{text}");
    }
}

#[test]
fn counts_and_integers_have_no_unit() {
    assert_eq!(parse(Kind::Count, "1..3"), Ok(Span { low: 1, high: 3 }));
    assert_eq!(parse(Kind::Integer, "-20..20"), Ok(Span { low: -20, high: 20 }));
    assert_eq!(parse(Kind::Count, "9007199254740992"), Ok(Span::exactly(INTEGER_MAX)));
}

#[test]
fn anything_else_is_refused() {
    let durations = [
        "",
        " ",
        "s",
        "10",
        "10 s",
        "1e3s",
        "+1s",
        "1.s",
        ".5s",
        "1.2.3s",
        "--1s",
        "1s..",
        "..1s",
        "..",
        "1s..2s..3s",
        "3s..1s",
        "1s...2s",
        "1s..=2s",
        "0.5ns",
        "87600.1h",
        "99999999999999999999999s",
        "0.0000000000000000001h",
        "1d",
        "1S",
        "1µs",
        "0x10s",
        "∞",
    ];
    for text in durations {
        assert!(parse(Kind::Duration, text).is_err(), "{text}");
    }
    for text in ["", "-", "1.0", "1_000", "0x10", "10s", "9007199254740993", "99999999999999999999", "2..1"] {
        assert!(parse(Kind::Count, text).is_err(), "{text}");
    }
}

#[test]
fn durations_are_written_in_the_unit_that_people_would_choose() {
    for (ns, text) in [
        (0, "0s"),
        (1, "1ns"),
        (300_000, "300us"),
        (1_500_000, "1.5ms"),
        (6_300 * MS, "6.3s"),
        (-31 * S, "-31s"),
        (60 * S, "1min"),
        (61 * S, "61s"),
        (90 * 60 * S, "90min"),
        (7_200 * S, "2h"),
    ] {
        assert_eq!(written_duration(ns), text);
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_the_same(a in -DURATION_MAX..=DURATION_MAX, b in -DURATION_MAX..=DURATION_MAX) {
        let span = Span { low: a.min(b), high: a.max(b) };
        prop_assert_eq!(parse(Kind::Duration, &span.written(Kind::Duration)), Ok(span));
    }

    #[test]
    fn no_text_panics(text in "[-0-9.+smhnu=$ µ]{0,24}") {
        for kind in [Kind::Count, Kind::Integer, Kind::Duration] {
            if let Err(error) = parse(kind, &text) {
                prop_assert!(text.get(error.at).is_some(), "an error points into the text");
            }
        }
    }
}
