//! A pause stops all code of a process; clocks, timers and the kernel go on.

mod support;

use std::collections::BTreeSet;

use fencepost_sim::Latency;
use support::*;

#[test]
fn work_stops_and_the_rest_follows_after_the_resume() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            node.work("step", ms(100)).await;
            log.add("done");
        })
        .fault(pause(), node("a"), at(ms(40)), for_ms(1000))
        .run();
    assert_eq!(log, ["1.1s done"]);
}

#[test]
fn a_sleep_that_is_overdue_ends_at_the_resume() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            node.sleep(ms(100)).await;
            log.add("done");
        })
        .fault(pause(), node("a"), at(ms(40)), for_ms(1000))
        .run();
    assert_eq!(log, ["1.04s done"]);
}

#[test]
fn a_sleep_that_is_not_yet_due_is_not_put_off() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            node.sleep(ms(100)).await;
            log.add("done");
        })
        .fault(pause(), node("a"), at(ms(40)), for_ms(20))
        .run();
    assert_eq!(log, ["100ms done"]);
}

#[test]
fn both_clocks_go_on_while_the_process_is_stopped() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            let (wall, monotonic) = (node.wall_ns(), node.monotonic_ns());
            node.work("step", ms(10)).await;
            log.add((node.wall_ns() - wall) / 1_000_000);
            log.add((node.monotonic_ns() - monotonic) / 1_000_000);
        })
        .fault(pause(), node("a"), at(ms(5)), for_ms(1000))
        .run();
    assert_eq!(log, ["1.01s 1010", "1.01s 1010"]);
}

#[test]
fn overlapping_pauses_end_with_the_last_one() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            node.work("step", ms(100)).await;
            log.add("done");
        })
        .fault(pause(), node("a"), at(ms(40)), for_ms(100))
        .fault(pause(), node("a"), at(ms(60)), for_ms(200))
        .observed()
        .run();
    assert_eq!(
        log,
        ["40ms Stop { node: NodeId(0), cause: Gc }", "260ms Resume { node: NodeId(0) }", "320ms done"]
    );
}

#[test]
fn a_time_out_passes_during_the_pause_but_what_arrived_wins() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, log| async move {
            let server = connect(&node, "server").await;
            server.send(Num(1));
            log.add(format_args!("{:?}", node.timeout(ms(50), server.recv()).await));
            log.add(format_args!("{:?}", node.timeout(ms(50), server.recv()).await));
            std::future::pending::<()>().await;
        })
        .fault(pause(), node("client"), at(ms(3)), for_ms(1000))
        .run();
    assert_eq!(log, ["3ms got 1", "1.003s Ok(Ok(Num(1)))", "1.053s Err(Elapsed)"]);
}

#[test]
fn the_kernel_accepts_and_buffers_while_the_process_is_stopped() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, log| async move {
            node.sleep(ms(10)).await;
            let server = connect(&node, "server").await;
            log.add("connected");
            server.send(Num(1));
            let _ = server.recv().await;
            log.add("answered");
        })
        .fault(pause(), node("server"), at(ms(5)), for_ms(1000))
        .run();
    assert_eq!(log, ["12ms connected", "1.005s got 1", "1.006s answered", "1.007s ended Closed"]);
}

#[test]
fn a_pause_at_a_point_stops_the_whole_process_and_then_all_that_is_overdue_races() {
    let seen = orders(|seed| {
        Stage::new(seed)
            .node("a", |node, log| async move {
                let (other, seen) = (node.clone(), log.clone());
                node.spawn(async move {
                    other.sleep(ms(20)).await;
                    seen.add("other task");
                });
                node.sleep(ms(10)).await;
                node.point("before-write").await;
                log.add("write");
            })
            .fault(pause(), node("a"), point("before-write", 1), for_ms(1000))
    });
    let both = [["1.01s other task", "1.01s write"], ["1.01s write", "1.01s other task"]];
    assert_eq!(seen, both.map(|order| order.map(str::to_owned).to_vec()).into());
}

/// Runs the same pause with many seeds; which orders were seen?
fn orders(build: impl Fn(u64) -> Stage) -> BTreeSet<Vec<String>> {
    (0..200).map(|seed| build(seed).run()).collect()
}

#[test]
fn overdue_timers_run_in_every_order() {
    let orders = orders(|seed| {
        Stage::new(seed)
            .node("a", |node, log| async move {
                for number in 1..=3 {
                    let (node, log) = (node.clone(), log.clone());
                    node.clone().spawn(async move {
                        node.sleep(ms(number)).await;
                        log.add(number);
                    });
                }
            })
            .fault(pause(), node("a"), at(ms(0)), for_ms(10))
    });
    assert_eq!(orders.len(), 6);
}

#[test]
fn arrivals_of_several_connections_run_in_every_order_but_each_connection_in_its_own() {
    let client = |first: u64| {
        move |node: fencepost_sim::Node, _| async move {
            let server = connect(&node, "server").await;
            node.sleep(ms(10)).await;
            server.send(Num(first));
            server.send(Num(first + 1));
            let _ = server.recv().await;
            let _ = server.recv().await;
        }
    };
    let orders = orders(|seed| {
        Stage::new(seed)
            .latency(Latency::Constant(ms(1)))
            .echo("server", ms(0))
            .node("a", client(10))
            .node("b", client(20))
            .fault(pause(), node("server"), at(ms(5)), for_ms(100))
    });
    assert_eq!(orders.len(), 6, "two pairs can be merged in six ways");
    for order in orders {
        let place = |number: u64| order.iter().position(|line| line.ends_with(&format!("got {number}")));
        assert!(place(10) < place(11) && place(20) < place(21), "{order:?}");
    }
}

#[test]
fn an_overdue_timer_and_an_arrival_run_in_either_order() {
    let orders = orders(|seed| {
        Stage::new(seed)
            .echo("server", ms(0))
            .node("client", |node, log| async move {
                let server = connect(&node, "server").await;
                let (other, seen) = (node.clone(), log.clone());
                node.spawn(async move {
                    other.sleep(ms(5)).await;
                    seen.add("timer");
                });
                server.send(Num(1));
                let _ = server.recv().await;
                log.add("arrival");
            })
            .fault(pause(), node("client"), at(ms(3)), for_ms(100))
    });
    assert_eq!(orders.len(), 2);
}
