//! Wall clocks are piecewise linear and can be stepped; monotonic clocks drift and never go back.

mod support;

use fencepost_sim::fault::What;
use fencepost_sim::{EPOCH_NS, RunEnd};
use support::*;

const SECOND: i64 = 1_000_000_000;

fn step(by_ns: i64) -> What {
    What::ClockStep { by_ns }
}

fn rate(wall_ppm: i64, monotonic_ppm: i64) -> What {
    What::ClockRate { wall_ppm, monotonic_ppm }
}

/// A stage whose only node waits until its wall clock shows ten seconds after the epoch.
fn alarm() -> Stage {
    Stage::new(1).node("a", |node, log| async move {
        node.sleep_until_wall(EPOCH_NS + 10 * SECOND).await;
        log.add("alarm");
    })
}

#[test]
fn a_step_forward_brings_a_wall_timer_forward() {
    assert_eq!(alarm().fault(step(4 * SECOND), node("a"), at(secs(2)), None).run(), ["6s alarm"]);
}

#[test]
fn a_step_over_a_wall_timer_fires_it_at_once() {
    assert_eq!(alarm().fault(step(60 * SECOND), node("a"), at(secs(2)), None).run(), ["2s alarm"]);
}

#[test]
fn a_step_back_puts_a_wall_timer_off() {
    assert_eq!(alarm().fault(step(-60 * SECOND), node("a"), at(secs(2)), None).run(), ["70s alarm"]);
}

#[test]
fn a_step_that_is_taken_back_leaves_the_clock_as_it_was() {
    let steps = alarm().fault(step(4 * SECOND), node("a"), at(secs(2)), Some(secs(3)));
    assert_eq!(steps.run(), ["10s alarm"]);
}

#[test]
fn overlapping_steps_add_up() {
    let steps = alarm().fault(step(-20 * SECOND), node("a"), at(secs(1)), Some(secs(4))).fault(
        step(3 * SECOND),
        node("a"),
        at(secs(2)),
        None,
    );
    assert_eq!(steps.run(), ["7s alarm"]);
}

#[test]
fn wall_timers_that_a_step_makes_overdue_fire_in_the_order_of_their_deadlines() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            for second in [7, 3, 9, 5] {
                let (node, log) = (node.clone(), log.clone());
                node.clone().spawn(async move {
                    node.sleep_until_wall(EPOCH_NS + second * SECOND).await;
                    log.add(second);
                });
            }
        })
        .fault(step(60 * SECOND), node("a"), at(secs(1)), None)
        .run();
    assert_eq!(log, ["1s 3", "1s 5", "1s 7", "1s 9"]);
}

#[test]
fn steps_do_not_touch_the_monotonic_clock() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            node.sleep(secs(10)).await;
            log.add(node.monotonic_ns() / 1_000_000_000);
            log.add((node.wall_ns() - EPOCH_NS) / SECOND);
        })
        .fault(step(-60 * SECOND), node("a"), at(secs(2)), None)
        .run();
    assert_eq!(log, ["10s 10", "10s -50"]);
}

#[test]
fn a_sleep_lasts_as_long_as_the_drifting_clock_says() {
    let mut stage = Stage::new(1).node("a", |node, log| async move {
        node.sleep(secs(10)).await;
        log.add("by the monotonic clock");
        node.sleep_until_wall(EPOCH_NS + 30 * SECOND).await;
        log.add("by the wall clock");
    });
    stage.world.set_clock(FIRST, 5 * SECOND, 250_000, -500_000);
    assert_eq!(stage.run(), ["20s by the monotonic clock", "20s by the wall clock"]);
}

#[test]
fn a_clock_that_runs_faster_brings_its_timers_forward() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            node.sleep(secs(10)).await;
            log.add("done");
        })
        .fault(rate(0, 1_000_000), node("a"), at(secs(4)), None)
        .run();
    assert_eq!(log, ["7s done"]);
}

#[test]
fn of_overlapping_rates_the_last_counts_and_in_the_end_the_clock_has_its_own_rate() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            let mut before = node.wall_ns();
            for _ in 0..5 {
                node.sleep(secs(10)).await;
                log.add(node.wall_ns() - before);
                before = node.wall_ns();
            }
        })
        .fault(rate(100_000, 0), node("a"), at(secs(10)), Some(secs(20)))
        .fault(rate(200_000, 0), node("a"), at(secs(20)), Some(secs(20)))
        .run();
    let gained = ["10000000000", "11000000000", "12000000000", "12000000000", "10000000000"];
    let shown: Vec<_> = log.iter().map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(shown, gained);
}

#[test]
fn an_observer_sees_a_wall_clock_reach_a_reading_though_the_process_is_stopped() {
    let stage = Stage::new(1).node("a", |_, _| async {});
    let (log, probe) = (stage.log.clone(), stage.log.probe().clone());
    stage.log.probe().spawn(async move {
        probe.wall_reaches(FIRST, EPOCH_NS + 10 * SECOND).await;
        log.add("reached");
    });
    let stage = stage.fault(pause(), node("a"), at(secs(1)), Some(secs(100))).fault(
        step(4 * SECOND),
        node("a"),
        at(secs(2)),
        None,
    );
    assert_eq!(stage.run(), ["6s reached"]);
}

#[test]
fn a_sleep_counts_from_its_call_not_from_its_first_poll() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            let deadline = node.sleep(ms(100));
            node.work("step", ms(60)).await;
            deadline.await;
            log.add("due");
        })
        .run();
    assert_eq!(log, ["100ms due"]);
}

#[test]
fn extreme_steps_stop_at_the_ends_of_the_clock() {
    let mut stage = Stage::new(1)
        .node("a", |node, log| async move {
            node.sleep(secs(10)).await;
            log.add(node.wall_ns() == i64::MAX);
        })
        .fault(step(i64::MAX), node("a"), at(secs(1)), None);
    assert_eq!(stage.world.run(secs(20)), RunEnd::Quiescent);
    assert_eq!(stage.log.lines(), ["10s true"]);
}
