//! Stories of real runs. Each snapshot is to be read as a newcomer reads it.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use fencepost_checker::analyse;
use fencepost_models::catalogue;
use fencepost_models::run::{RunOutput, run};
use fencepost_reports::narration::{Emphasis, Narration};
use fencepost_scenarios::{Row, Scenario, builtin, fence_name};

/// The run of, for instance, `gc-pause redis off ledger 0 pause=6.3s`.
fn output(case: &str) -> RunOutput {
    let words: Vec<&str> = case.split_whitespace().collect();
    let [name, lock, fence, workload, seed, ref overrides @ ..] = words[..] else { panic!("{case}") };
    let mut scenario = builtin::find(name).unwrap().scenario().unwrap();
    for flag in overrides {
        scenario.set(flag).unwrap();
    }
    let row = Row {
        lock: catalogue::lock(lock).unwrap(),
        workload: catalogue::workload(workload).unwrap(),
        fence: catalogue::FENCES.iter().map(|it| it.1).find(|&it| fence_name(it) == fence).unwrap(),
    };
    run(&scenario.run_config(row, seed.parse().unwrap()))
}

/// The run with seed 0 of a lock of Redis, without a fence, that meets a fault.
fn output_with_fault(fault: &str) -> RunOutput {
    output_with_lease("10s", fault)
}

fn output_with_lease(lease: &str, fault: &str) -> RunOutput {
    let text = format!(
        "format = 1\ntitle = \"A fault\"\nstory = \"It comes.\"\nlocks = [\"redis\"]\nworkloads = [\"ledger\"]\n\
         fences = [\"off\"]\n[parameters]\nclients = 3\nlease = \"{lease}\"\n[[faults]]\n{fault}\n"
    );
    let scenario = Scenario::parse("fault", "fault.toml", &text).unwrap();
    run(&scenario.run_config(scenario.rows()[0], 0))
}

fn told(output: &RunOutput) -> Narration {
    Narration::new(&output.header, &output.entries, &analyse(&output.header, &output.entries))
}

fn narration(case: &str) -> Narration {
    told(&output(case))
}

macro_rules! stories {
    ($($test:ident: $case:literal),+ $(,)?) => {
        $(
            #[test]
            fn $test() {
                insta::assert_snapshot!(narration($case).text(80, false));
            }
        )+
    };
}

stories! {
    without_a_fence_debits_are_lost: "gc-pause redis off ledger 0",
    a_fence_on_writes_accepts_what_comes_before_the_first_write: "gc-pause redis write ledger 2",
    a_fence_on_writes_refuses_what_comes_later: "gc-pause redis write ledger 0 pause=15s",
    a_fence_on_reads_and_writes_refuses: "gc-pause redis read-write ledger 0",
    a_fence_on_reads_and_writes_refuses_in_the_gap: "gc-pause redis read-write ledger 2",
    a_condition_on_the_version_refuses: "gc-pause redis cas ledger 0",
    an_invoice_is_charged_twice: "gc-pause redis off invoice 0",
    a_key_refuses_the_second_charge: "gc-pause redis idempotency invoice 0",
    a_client_never_looks: "gc-pause redis-unchecked off ledger 0",
    a_pause_shorter_than_the_lease: "gc-pause redis off ledger 0 pause=6.3s",
    the_pause_comes_before_the_check: "pause-before-check redis off ledger 0",
    a_packet_is_late: "delayed-packet redis off ledger 0",
    a_packet_is_late_and_refused: "delayed-packet redis read-write ledger 0",
    a_debit_is_read_but_never_confirmed: "delayed-packet redis off ledger 3",
    a_timer_stops_the_work: "gc-pause redis-timer off ledger 0",
    the_slow_call: "slow-downstream redis-naive off invoice 0",
    nothing_happens: "calm redis off ledger 0",
    no_lock_at_all: "calm none off ledger 0",
}

#[test]
fn notes_stand_right_on_a_wide_terminal() {
    insta::assert_snapshot!(narration("gc-pause redis off ledger 0").text(120, false));
}

#[test]
fn a_holder_is_killed() {
    let fault = "what = \"kill\"\ntarget = \"holder\"\nat = { point = \"before-write\", passing = 2 }\nlasts = \"3s\"";
    insta::assert_snapshot!(told(&output_with_fault(fault)).text(80, false));
}

#[test]
fn the_server_forgets() {
    let fault = "what = \"kill\"\ntarget = \"redis\"\nat = \"5.5s\"\nlasts = \"1s\"";
    insta::assert_snapshot!(told(&output_with_fault(fault)).text(80, false));
}

#[test]
fn the_servers_clock_jumps() {
    let fault = "what = \"clock-step\"\ntarget = \"redis\"\nat = \"5.5s\"\nby = \"12s\"\nlasts = \"1s\"";
    insta::assert_snapshot!(told(&output_with_fault(fault)).text(80, false));
}

#[test]
fn the_holder_is_cut_off() {
    let fault = "what = \"isolate\"\ntarget = \"holder\"\nat = \"5.5s\"\nlasts = \"15s\"";
    insta::assert_snapshot!(told(&output_with_fault(fault)).text(80, false));
}

/// Whoever waits in vain is told of: that no data is harmed is not the last word.
#[test]
fn the_server_is_gone_for_good() {
    let fault = "what = \"kill\"\ntarget = \"redis\"\nat = \"5.5s\"";
    let text = told(&output_with_fault(fault)).text(80, false);
    assert!(text.contains("NOT EVERYBODY FINISHED"), "{text}");
    insta::assert_snapshot!(text);
}

/// The service ends the lease in time, though the holder thinks otherwise.
#[test]
fn the_holders_clock_is_slow() {
    let fault = "what = \"clock-rate\"\ntarget = \"holder\"\nat = \"5.5s\"\nwall_ppm = -900000\n\
                 monotonic_ppm = -900000";
    let text = told(&output_with_lease("2s", fault)).text(80, false);
    assert!(text.contains("has run out: the lock is free") && !text.contains("too early"), "{text}");
    insta::assert_snapshot!(text);
}

/// Colour adds nothing that is not in the words.
#[test]
fn colour_changes_no_word() {
    let narration = narration("gc-pause redis off ledger 0");
    let (plain, coloured) = (narration.text(80, false), narration.text(80, true));
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some(at) = rest.find('\u{1b}') {
        stripped.push_str(&rest[..at]);
        rest = &rest[at + rest[at..].find('m').unwrap() + 1..];
    }
    assert_eq!(stripped + rest, plain);
    assert_ne!(coloured, plain);
}

#[test]
fn lines_fit() {
    for case in
        ["gc-pause redis off ledger 0", "delayed-packet redis write invoice 1", "calm none off ledger 0"]
    {
        let narration = narration(case);
        for width in [60, 80, 100, 120, 200] {
            let text = narration.text(width, false);
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= width, "{case}: {longest} of {width} columns\n{text}");
        }
        // A terminal that is too narrow gets long lines, not a panic.
        assert!(!narration.text(0, false).is_empty());
    }
}

/// Whoever walks through the steps needs them in order, with their entries.
#[test]
fn steps_are_in_order_and_name_their_entries() {
    for case in
        ["gc-pause redis off ledger 0", "delayed-packet redis off invoice 3", "calm none off ledger 0"]
    {
        let output = output(case);
        let narration = told(&output);
        let steps = narration.steps();
        assert!(steps.is_sorted_by_key(|step| (step.time_ns, step.index)), "{case}");
        for step in steps {
            assert_eq!(output.entries[step.index as usize].time_ns, step.time_ns, "{case}: {step:?}");
            assert_eq!(step.actor.is_empty(), step.emphasis == Emphasis::Summary, "{step:?}");
        }
    }
}

/// The story counts debits by itself, to name them; the checker has the last word.
#[test]
fn the_outcome_agrees_with_the_checker() {
    let cases = ["gc-pause redis off ledger", "gc-pause redis write ledger", "gc-pause none off ledger"];
    for case in cases.into_iter().chain(["gc-pause redis off invoice", "delayed-packet redis off ledger"]) {
        for seed in 0..40 {
            let output = output(&format!("{case} {seed}"));
            let counts = analyse(&output.header, &output.entries).counts;
            let text = told(&output).ending()[0].paragraphs.join(" ").replace('\u{a0}', " ");
            assert_eq!(text.contains("LOST"), counts.lost_debits > 0, "{case} {seed}: {text}");
            assert_eq!(text.contains("TWICE"), counts.double_debits > 0, "{case} {seed}: {text}");
            assert_eq!(text.contains("overwritten"), counts.destroyed_updates > 0, "{case} {seed}: {text}");
            let is_right = counts.lost_debits + counts.double_debits == 0;
            assert_eq!(text.contains("The balance is right"), is_right, "{case} {seed}: {text}");
        }
    }
}

/// Over many seeds, the story comes to its point: the harm that the checker found is among its lines.
#[test]
fn the_harm_is_told() {
    for case in ["gc-pause redis off ledger", "gc-pause redis write ledger", "gc-pause redis off invoice"] {
        for seed in 0..40 {
            let output = output(&format!("{case} {seed}"));
            let analysis = analyse(&output.header, &output.entries);
            let narration = told(&output);
            let emphases: BTreeSet<_> = narration.steps().iter().map(|step| step.emphasis as u8).collect();
            let harm = analysis.counts.lost_debits + analysis.counts.double_debits > 0;
            assert!(!harm || emphases.contains(&(Emphasis::Harm as u8)), "{case} {seed}");
            let wrong = analysis.counts.stale_rejected > 0 && analysis.counts.stale_accepted == 0;
            assert!(!wrong || emphases.contains(&(Emphasis::Averted as u8)), "{case} {seed}");
        }
    }
}
