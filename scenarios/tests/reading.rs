//! What a file says, and that no text breaks the reader.

use fencepost_checker::history::FenceMode;
use fencepost_models::catalogue;
use fencepost_scenarios::expectation::{Comparison, Contract, Count, Party, Property, Relation, blame_holds};
use fencepost_scenarios::fault_template::{WhatTemplate, WhenTemplate};
use fencepost_scenarios::parameters::KNOWN;
use fencepost_scenarios::{Check, Number, Scenario, Span, applies, builtin, fence_name};
use fencepost_sim::fault::{Fault, PauseCause, Target, What, When};
use proptest::prelude::*;

const S: i64 = 1_000_000_000;

const HEAD: &str = "format = 1\ntitle = \" A title \"\nstory = \"A story.\"\nlocks = [\"redis\", \"none\"]\n";

fn parsed(rest: &str) -> Scenario {
    Scenario::parse("t", "t.toml", &format!("{HEAD}{rest}")).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn what_a_file_leaves_out_has_a_default() {
    let scenario = parsed("");
    assert_eq!((scenario.title.as_str(), scenario.story.as_str()), ("A title", "A story."));
    assert_eq!(scenario.workloads.iter().map(|it| it.name).collect::<Vec<_>>(), ["ledger", "invoice"]);
    assert_eq!((scenario.fences.clone(), scenario.seeds.default), (None, 300));
    assert!(scenario.faults.is_empty() && scenario.expectations.is_empty());

    let parameters = &scenario.parameters;
    assert_eq!(parameters.names().collect::<Vec<_>>(), KNOWN.iter().map(|it| it.name).collect::<Vec<_>>());
    assert_eq!(parameters.clients(), Span::exactly(3));
    assert_eq!(parameters.jobs(), Span::exactly(4));
    assert_eq!(parameters.lease(), Span::exactly(10 * S));
    assert_eq!(parameters.renewals(), Span::exactly(3));
    assert_eq!(parameters.work(), Span { low: S / 2, high: 4 * S });
    assert_eq!(parameters.retry(), Span { low: S / 20, high: 3 * S / 20 });
    assert_eq!(parameters.latency(), Span { low: 100_000, high: 300_000 });
    assert_eq!(parameters.timeout(), Span::exactly(S));
    assert_eq!(parameters.fsync(), Span { low: 200_000, high: 1_000_000 });
    assert_eq!(parameters.drift_ppm(), Span::exactly(0));
    assert_eq!(parameters.amount(), Span::exactly(120));
    assert_eq!(parameters.balance(), Span::exactly(100_000));
    assert_eq!(parameters.limit(), Span::exactly(600 * S));
}

#[test]
fn parameters_are_listed_and_serialised_in_the_order_of_the_file() {
    let scenario = parsed(
        "[parameters]\nwork = \"1s\"\npause = \"8s..20s\"\nclients = 5\n\
         [[faults]]\nwhat = \"pause\"\ntarget = \"holder\"\nat = \"1s\"\nlasts = \"$pause\"\n",
    );
    let names: Vec<&str> = scenario.parameters.names().take(4).collect();
    assert_eq!(names, ["work", "pause", "clients", "jobs"]);
    let json = serde_json::to_string(&scenario.parameters).unwrap();
    assert!(
        json.starts_with(r#"{"work":"1s","pause":"8s..20s","clients":"5","jobs":"4","lease":"10s","#),
        "{json}"
    );
}

#[test]
fn rows_are_in_the_order_of_the_table() {
    let rows: Vec<String> = parsed("")
        .rows()
        .iter()
        .map(|row| format!("{} {} {}", row.lock.name, row.workload.name, fence_name(row.fence)))
        .collect();
    insta::assert_snapshot!(rows.join("\n"));

    let some = parsed("workloads = [\"invoice\"]\nfences = [\"idempotency\", \"off\"]\n").rows();
    let fences: Vec<FenceMode> = some.iter().map(|row| row.fence).collect();
    assert_eq!(fences, [FenceMode::Off, FenceMode::Idempotency, FenceMode::Off, FenceMode::Idempotency]);
    assert!(!applies(catalogue::lock("none").unwrap(), FenceMode::Write));
}

#[test]
fn faults_of_every_kind() {
    let scenario = parsed(
        r#"
        [parameters]
        step = "-31s..31s"
        rate = 20000
        late = "2s"
        nth = "1..3"

        [[faults]]
        what = "pause"
        cause = "vm-steal"
        target = "client-2"
        at = { point = "before-write", passing = "$nth" }
        lasts = "$lease"

        [[faults]]
        what = "kill"
        target = "waiter"
        at = "1s..5s"

        [[faults]]
        what = "power-off"
        target = "redis"
        at = { event = "release", occurrence = 2, after = "50ms" }

        [[faults]]
        what = "clock-step"
        by = "$step"
        target = "redis"
        at = "first-grant + 50ms"

        [[faults]]
        what = "clock-rate"
        wall_ppm = "$rate"
        target = "redis"
        at = "first-grant"

        [[faults]]
        what = "hold-message"
        to = "downstream"
        target = "holder"
        at = { point = "work" }

        [[faults]]
        what = "cut"
        to = "redis"
        both_ways = false
        target = "holder"
        at = "0s"

        [[faults]]
        what = "isolate"
        target = "ledger"
        at = "$late"
        "#,
    );
    let role = |name: &str| Target::Role(name.to_owned());
    let node = |name: &str| Target::Node(name.to_owned());
    let mut asked = Vec::new();
    let faults: Vec<Fault> = scenario
        .faults
        .iter()
        .map(|fault| {
            fault.drawn(&mut |number: &Number| {
                asked.push(number.parameter.clone().unwrap_or_default());
                number.span.high
            })
        })
        .collect();
    let expected = [
        (
            What::Pause { cause: PauseCause::VmSteal },
            node("client-2"),
            When::Point { name: "before-write".to_owned(), passing: 3 },
            Some(10_000_000_000),
        ),
        (What::Kill, role("waiter"), When::Time { ns: 5_000_000_000 }, None),
        (
            What::PowerOff,
            node("redis"),
            When::Event { name: "release".to_owned(), occurrence: 2, after_ns: 50_000_000 },
            None,
        ),
        (
            What::ClockStep { by_ns: 31 * S },
            node("redis"),
            When::Event { name: "grant".to_owned(), occurrence: 1, after_ns: 50_000_000 },
            None,
        ),
        (
            What::ClockRate { wall_ppm: 20_000, monotonic_ppm: 0 },
            node("redis"),
            When::Event { name: "grant".to_owned(), occurrence: 1, after_ns: 0 },
            None,
        ),
        (
            What::HoldMessage { to: node("downstream") },
            role("holder"),
            When::Point { name: "work".to_owned(), passing: 1 },
            None,
        ),
        (What::Cut { to: node("redis"), both_ways: false }, role("holder"), When::Time { ns: 0 }, None),
        (What::Isolate, node("ledger"), When::Time { ns: 2_000_000_000 }, None),
    ];
    let expected: Vec<Fault> = expected
        .into_iter()
        .map(|(what, target, when, lasts_ns)| Fault { what, target, when, lasts_ns })
        .collect();
    assert_eq!(faults, expected);
    let asked: Vec<&str> = asked.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    assert_eq!(asked, ["nth", "lease", "step", "rate", "late"], "what, when, how long");
    assert_eq!(scenario.faults[0].line, 12);
}

/// Two numbers that name the same parameter must be given the same value, so the name is kept.
#[test]
fn a_number_keeps_the_name_of_its_parameter() {
    let scenario = builtin::load("gc-pause").unwrap();
    let fault = &scenario.faults[0];
    assert_eq!(fault.what, WhatTemplate::Pause { cause: PauseCause::Gc });
    let WhenTemplate::Point { passing, .. } = &fault.when else { panic!("{:?}", fault.when) };
    assert_eq!(passing, &Number { span: Span { low: 1, high: 3 }, parameter: None });
    let lasts = Number { span: Span { low: 8 * S, high: 20 * S }, parameter: Some("pause".to_owned()) };
    assert_eq!(fault.lasts, Some(lasts));
}

#[test]
fn expectations_keep_the_order_of_the_file() {
    let scenario = parsed(
        "[[expect]]\nfence = [\"off\", \"cas\"]\nlost_debits = \">=3\"\nblame = [\"holder\", \"client\"]\n\
         contract = \"broken\"\ndouble_holders = \" < 10 \"\nconflicts = \"=0\"\nstuck_ms = \"<=5\"\n",
    );
    let [expectation] = scenario.expectations.as_slice() else { panic!("one is there") };
    let count = |count, relation, number| Check::Count(count, Comparison { relation, number });
    assert_eq!(
        expectation.checks,
        [
            count(Count::LostDebits, Relation::AtLeast, 3),
            Check::Blame(vec![Party::Holder, Party::Client]),
            Check::Contract(Contract::Broken),
            count(Count::DoubleHolders, Relation::Below, 10),
            count(Count::Conflicts, Relation::Equal, 0),
            count(Count::StuckMs, Relation::AtMost, 5),
        ]
    );
    let said: Vec<String> = expectation.checks.iter().map(Check::expected).collect();
    assert_eq!(said, [">=3", "holder, client", "broken", "<10", "0", "<=5"]);
    assert_eq!(expectation.checks[5].property(), Property::Liveness);
    assert_eq!(expectation.line, 5);
    let selected =
        scenario.rows().iter().filter(|row| expectation.matches(row.lock, row.fence, row.workload)).count();
    assert_eq!(selected, 8, "two fences for each of two locks and two workloads");
}

#[test]
fn a_lock_is_selected_by_its_name_or_with_its_family() {
    let selected = |lock: &str| -> Vec<&str> {
        let expectation = format!("[[expect]]\nlock = {lock}\ncontract = \"kept\"\n");
        let head = HEAD.replace("[\"redis\", \"none\"]", "[\"redis\", \"redis-timer\", \"none\"]");
        let scenario = Scenario::parse("t", "t.toml", &(head + &expectation)).expect(lock);
        scenario.expectations[0].selector.locks.iter().map(|lock| lock.name).collect()
    };
    assert_eq!(selected("\"redis\""), ["redis"]);
    assert_eq!(selected("\"redis*\""), ["redis", "redis-timer"]);
    assert_eq!(selected("[\"redis-timer\", \"redis*\", \"none\"]"), ["redis-timer", "redis", "none"]);
}

#[test]
fn each_known_parameter_can_have_its_default() {
    for known in KNOWN {
        let setting = format!("[parameters]\n{} = \"{}\"\n", known.name, known.default);
        let scenario = parsed(&setting);
        let parameter = scenario.parameters.get(known.name).unwrap();
        assert_eq!(parameter.written, known.default);
        assert_eq!(Some(parameter.span), parsed("").parameters.get(known.name).map(|it| it.span));
        assert_eq!(parameter.known(), Some(known));
    }
}

#[test]
fn comparisons_and_blame() {
    let holds =
        |relation, counts: [u64; 3]| counts.map(|count| Comparison { relation, number: 3 }.holds(count));
    assert_eq!(holds(Relation::Equal, [2, 3, 4]), [false, true, false]);
    assert_eq!(holds(Relation::Above, [2, 3, 4]), [false, false, true]);
    assert_eq!(holds(Relation::AtLeast, [2, 3, 4]), [false, true, true]);
    assert_eq!(holds(Relation::Below, [2, 3, 4]), [true, false, false]);
    assert_eq!(holds(Relation::AtMost, [2, 3, 4]), [true, true, false]);

    use Party::{Client, Holder};
    assert!(blame_holds(&[Holder], &[Holder], 3));
    assert!(blame_holds(&[Holder, Client], &[Holder], 3), "a set is what is allowed");
    assert!(blame_holds(&[Holder], &[], 0), "nothing was found, so nobody is to blame");
    assert!(!blame_holds(&[Holder], &[], 3), "something was found and nobody is blamed");
    assert!(!blame_holds(&[Holder], &[Holder, Client], 3));
    assert!(blame_holds(&[], &[], 0));
    assert!(!blame_holds(&[], &[Client], 1));
}

/// Cuts, doubles, exchanges and inserts pieces of a file.
fn mutated(text: &str, changes: &[(u16, u16, u16, String)]) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for (from, length, to, inserted) in changes {
        let at = |position: u16| usize::from(position) * letters.len() / (usize::from(u16::MAX) + 1);
        let (from, to) = (at(*from), at(*to));
        let end = (from + usize::from(*length % 40)).min(letters.len());
        let piece: Vec<char> = letters[from..end].to_vec();
        match length % 3 {
            0 => drop(letters.drain(from..end)),
            1 => drop(letters.splice(to..to, piece)),
            _ => drop(letters.splice(from..end, inserted.chars())),
        }
    }
    letters.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_file_breaks_the_reader(
        which in 0..5_usize,
        changes in prop::collection::vec(
            (any::<u16>(), any::<u16>(), any::<u16>(), "[\\PC\n\"'=\\[\\]{}.$0-9-]{0,8}"),
            1..4,
        ),
    ) {
        let text = mutated(builtin::all()[which].source, &changes);
        match Scenario::parse("mutant", "mutant.toml", &text) {
            Ok(scenario) => {
                for row in scenario.rows() {
                    prop_assert!(applies(row.lock, row.fence));
                }
                for expectation in &scenario.expectations {
                    prop_assert!(!expectation.checks.is_empty());
                }
            }
            Err(error) => {
                prop_assert!(error.to_string().contains("mutant.toml:"), "{}", error);
                prop_assert!(error.line() <= text.lines().count().max(1) + 1);
                let _ = error.render(true);
            }
        }
    }

    /// Misspelt keys and values at every place of a file that is otherwise right.
    #[test]
    fn no_wrong_word_breaks_the_reader(
        which in 0..5_usize,
        place in any::<prop::sample::Index>(),
        word in prop::sample::select(vec![
            "x", "lock", "to", "by", "at", "wat", "targt", "\"\"", "\"$\"", "\"$pause\"", "\"1..\"", "-1", "0", "1.5",
            "true", "[]", "{}", "[[]]", "1979-05-27", "99999999999999999999", "\"first-\"", "\"+\"", "\"client-0\"",
            "{ point = 1 }", "{ event = \"grant\", after = \"$pause\" }", "\"\\u00e9\"", "'''redis'''",
        ]),
    ) {
        let source = builtin::all()[which].source;
        let is_word = |c: char| c.is_alphanumeric() || "_-\".$".contains(c);
        let mut words: Vec<(usize, usize)> = Vec::new();
        for (at, letter) in source.char_indices().filter(|(_, letter)| is_word(*letter)) {
            match words.last_mut() {
                Some((_, end)) if *end == at => *end = at + letter.len_utf8(),
                _ => words.push((at, at + letter.len_utf8())),
            }
        }
        let (start, end) = *place.get(&words);
        let text = format!("{}{word}{}", &source[..start], &source[end..]);
        if let Err(error) = Scenario::parse("mutant", "mutant.toml", &text) {
            prop_assert!(error.to_string().contains("mutant.toml:"), "{}", error);
        }
    }
}
