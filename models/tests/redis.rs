//! The Redis model in a world: who owns the lock is a matter of the server's clock.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use fencepost_checker::analysis::Line;
use fencepost_checker::finding::{Blame, Party, ServiceFault};
use fencepost_checker::history::{EndCause, Entry, Event, F, FenceMode};
use fencepost_checker::{Analysis, analyse};
use fencepost_models::catalogue;
use fencepost_models::config::RunConfig;
use fencepost_models::run::{RunOutput, run};
use fencepost_sim::RunEnd;
use fencepost_sim::fault::{Fault, PauseCause, Target, What, When};
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;

fn config(lock: &str) -> RunConfig {
    let workload = catalogue::workload("ledger").unwrap();
    RunConfig::new(1, catalogue::lock(lock).unwrap(), workload, FenceMode::Off)
}

fn with(mut config: RunConfig, fault: Fault) -> (RunOutput, Analysis) {
    config.faults = vec![fault];
    let output = run(&config);
    let analysis = analyse(&output.header, &output.entries);
    (output, analysis)
}

/// A fault of a node at the moment of the second grant, when the holder has begun to work.
fn at_second_grant(what: What, node: &str, lasts_ns: Option<u64>) -> Fault {
    let when = When::Event { name: "grant".to_owned(), occurrence: 2, after_ns: SECOND / 4 };
    Fault { what, target: Target::Node(node.to_owned()), when, lasts_ns }
}

fn ends(entries: &[Entry]) -> Vec<(u64, EndCause)> {
    let end = |entry: &Entry| match &entry.event {
        Event::End(end) => Some((entry.time_ns, end.cause)),
        _ => None,
    };
    entries.iter().filter_map(end).collect()
}

#[test]
fn a_healthy_service_keeps_every_line_of_the_contract() {
    for lock in ["redis", "redis-unchecked", "redis-timer", "redis-no-renewal"] {
        let output = run(&config(lock));
        let analysis = analyse(&output.header, &output.entries);
        assert_eq!(output.end, RunEnd::Quiescent);
        let contract = analysis.contract;
        for line in [contract.exclusion, contract.tenure, contract.truth, contract.tokens] {
            assert_eq!(line, Line::Kept, "{lock}");
        }
        assert!(ends(&output.entries).iter().all(|(_, cause)| *cause == EndCause::Released));
    }
}

#[test]
fn a_tenure_ends_one_millisecond_after_its_deadline_though_nobody_touches_it() {
    let mut config = config("redis-no-renewal");
    (config.clients, config.jobs) = (1, 1);
    let stop = Fault {
        what: What::Pause { cause: PauseCause::Gc },
        target: Target::Role("holder".to_owned()),
        when: When::Point { name: "before-write".to_owned(), passing: 1 },
        lasts_ns: Some(30 * SECOND),
    };
    let (output, _) = with(config, stop);
    let granted = output.entries.iter().find(|entry| matches!(entry.event, Event::Grant(_))).unwrap().time_ns;
    let (ended, cause) = ends(&output.entries)[0];
    assert_eq!(cause, EndCause::Expired);
    // The deadline is a whole millisecond of the wall clock, at which the key still lives; the active cycle may
    // delete it at that very millisecond.
    let deadline = (granted / 1_000_000 + 10_000) * 1_000_000;
    assert!((deadline..=deadline + 1_000_000).contains(&ended), "{ended} against {deadline}");
}

#[test]
fn a_step_over_the_deadline_is_the_services_fault() {
    let step = at_second_grant(What::ClockStep { by_ns: 31 * SECOND as i64 }, "redis", None);
    let (output, analysis) = with(config("redis"), step);
    assert!(ends(&output.entries).iter().any(|(_, cause)| *cause == EndCause::Clock));
    assert_eq!(analysis.contract.tenure, Line::Broken);
    assert!(analysis.counts.double_holders > 0);
    let overlap = &analysis.findings[0];
    assert_eq!(overlap.rule, 3);
    assert_eq!(overlap.blame, Blame::Service(ServiceFault::EarlyEnd(EndCause::Clock)));
}

#[test]
fn a_step_back_revives_a_key_that_is_still_in_memory() {
    let mut config = config("redis-no-renewal");
    (config.clients, config.jobs) = (1, 1);
    // Forward for 20 ms, before the active cycle can run, and back again.
    let step = Fault {
        what: What::ClockStep { by_ns: 31 * SECOND as i64 },
        target: Target::Node("redis".to_owned()),
        when: When::Event { name: "grant".to_owned(), occurrence: 1, after_ns: SECOND / 4 },
        lasts_ns: Some(20_000_000),
    };
    let (output, _) = with(config, step);
    let kinds: Vec<&str> = output
        .entries
        .iter()
        .filter_map(|entry| match &entry.event {
            Event::Grant(_) => Some("grant"),
            Event::End(end) if end.cause == EndCause::Clock => Some("clock"),
            Event::End(end) if end.cause == EndCause::Released => Some("released"),
            Event::End(_) => Some("end"),
            Event::Revive(_) => Some("revive"),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, ["grant", "clock", "revive", "released"]);
}

#[test]
fn a_killed_server_has_forgotten_its_grants() {
    let kill = at_second_grant(What::Kill, "redis", Some(SECOND));
    let (output, analysis) = with(config("redis"), kill);
    assert_eq!(output.end, RunEnd::Quiescent, "clients find the server again");
    assert!(ends(&output.entries).iter().any(|(_, cause)| *cause == EndCause::Forgotten));
    assert_eq!(analysis.contract.tenure, Line::Broken);
    assert!(
        analysis.blame.iter().all(|party| matches!(party, Party::Service | Party::Token | Party::Client))
    );
    assert!(analysis.counts.token_faults > 0, "the counter is forgotten, too");
}

#[test]
fn a_server_that_is_killed_for_good_stops_everybody() {
    let mut config = config("redis");
    config.limit = std::time::Duration::from_secs(60);
    let kill = at_second_grant(What::Kill, "redis", None);
    let (output, analysis) = with(config, kill);
    assert_eq!(output.end, RunEnd::TimeLimit);
    assert!(analysis.waiting_at_end > 0);
}

#[test]
fn a_paused_server_executes_what_arrived_when_it_runs_again() {
    let pause = at_second_grant(What::Pause { cause: PauseCause::Sigstop }, "redis", Some(4 * SECOND));
    let (output, analysis) = with(config("redis"), pause);
    assert_eq!(output.end, RunEnd::Quiescent);
    assert_eq!(analysis.contract.exclusion, Line::Kept);
    assert_eq!(analysis.counts.lost_debits, 0);
    assert_eq!(analysis.waiting_at_end, 0);
}

#[test]
fn the_ledger_keeps_its_record_and_its_bar_over_a_kill_and_a_power_off() {
    for what in [What::Kill, What::PowerOff] {
        let mut config = config("redis");
        config.fence = FenceMode::ReadWrite;
        let fault = at_second_grant(what, "ledger", Some(SECOND / 2));
        let (output, analysis) = with(config, fault);
        assert_eq!(output.end, RunEnd::Quiescent);
        assert!(output.entries.iter().any(|entry| matches!(entry.event, Event::Recover(_))));
        assert_eq!(analysis.counts.lost_debits, 0);
        assert_eq!(analysis.counts.phantom_debits, 0);
        assert_eq!(analysis.contract.resource, Line::Kept);
    }
}

#[test]
fn a_deadline_timer_stops_the_work_when_renewals_fail() {
    let cut = Fault {
        what: What::Cut { to: Target::Node("redis".to_owned()), both_ways: true },
        target: Target::Node("client-1".to_owned()),
        when: When::Time { ns: 0 },
        lasts_ns: Some(60 * SECOND),
    };
    let mut config = config("redis-timer");
    config.work = std::time::Duration::from_secs(20)..=std::time::Duration::from_secs(20);
    // Cut off once it holds the lock.
    let mut cut = cut;
    cut.target = Target::Role("holder".to_owned());
    cut.when = When::Event { name: "grant".to_owned(), occurrence: 1, after_ns: SECOND };
    let (output, analysis) = with(config, cut);
    let ceased = output.entries.iter().find(|entry| matches!(entry.event, Event::Cease(_))).unwrap();
    let granted =
        output.entries.iter().find(|entry| matches!(&entry.event, Event::Ok(op) if op.f == F::Acquire));
    let held_ns = ceased.time_ns - granted.unwrap().time_ns;
    assert!((9 * SECOND..=10 * SECOND).contains(&held_ns), "the timer goes off at the deadline: {held_ns}");
    assert_eq!(analysis.counts.double_holders, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_the_clients_suffer_the_service_keeps_its_contract(
        seed in 0u64..1_000_000,
        lock in prop::sample::select(vec!["redis", "redis-unchecked", "redis-timer", "redis-no-renewal"]),
        passing in 1u64..6,
        point in prop::sample::select(vec!["work", "before-check", "before-write"]),
        pause_s in 1u64..30,
        drift in 0i64..400,
    ) {
        let mut config = config(lock);
        config.seed = seed;
        config.fence = FenceMode::ReadWrite;
        config.drift_ppm = -drift..=drift;
        let pause = Fault {
            what: What::Pause { cause: PauseCause::Gc },
            target: Target::Role("holder".to_owned()),
            when: When::Point { name: point.to_owned(), passing },
            lasts_ns: Some(pause_s * SECOND),
        };
        let (output, analysis) = with(config, pause);
        prop_assert_eq!(output.end, RunEnd::Quiescent);
        let contract = analysis.contract;
        for line in [contract.exclusion, contract.tenure, contract.truth, contract.tokens, contract.resource] {
            prop_assert_eq!(line, Line::Kept);
        }
        prop_assert_eq!(analysis.counts.lost_debits, 0);
        prop_assert!(!analysis.blame.unexplained && !analysis.blame.service && !analysis.blame.resource);
    }
}
