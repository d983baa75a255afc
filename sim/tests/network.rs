//! Connections deliver in order and at most once; links can be slow, cut, or hold a message back.

mod support;

use std::collections::BTreeSet;

use fencepost_sim::fault::What;
use fencepost_sim::{Incoming, Latency, Node};
use support::*;

fn hold(to: &str) -> What {
    What::HoldMessage { to: node(to) }
}

/// Sends 1, 2 and 3, ten milliseconds apart, from 10 ms on.
async fn three(node: Node) {
    let server = connect(&node, "server").await;
    node.sleep(ms(8)).await;
    for number in 1..=3 {
        server.send(Num(number));
        node.sleep(ms(10)).await;
    }
    std::future::pending::<()>().await;
}

#[test]
fn a_connection_delivers_in_order_however_latencies_vary() {
    for seed in 0..50 {
        let log = Stage::new(seed)
            .latency(Latency::Uniform(ms(1)..=ms(50)))
            .echo("server", ms(0))
            .node("client", |node, _| async move { three(node).await })
            .run();
        let got: Vec<_> = log.iter().map(|line| line.split_once(' ').unwrap().1).collect();
        assert_eq!(got, ["got 1", "got 2", "got 3"]);
    }
}

#[test]
fn two_connections_have_no_mutual_order() {
    let orders: BTreeSet<Vec<String>> = (0..50)
        .map(|seed| {
            let log = Stage::new(seed)
                .latency(Latency::Uniform(ms(1)..=ms(50)))
                .echo("server", ms(0))
                .node("client", |node, _| async move {
                    let (first, second) = (connect(&node, "server").await, connect(&node, "server").await);
                    first.send(Num(1));
                    second.send(Num(2));
                    std::future::pending::<()>().await;
                })
                .run();
            log.iter().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
        })
        .collect();
    assert_eq!(orders.len(), 2);
}

#[test]
fn a_link_may_have_its_own_latency_one_way() {
    let mut stage = Stage::new(1).echo("server", ms(0)).node("client", |node, log| async move {
        let server = connect(&node, "server").await;
        server.send(Num(1));
        let _ = server.recv().await;
        log.add("answered");
        std::future::pending::<()>().await;
    });
    let client = stage.log.probe().node_id("client").unwrap();
    stage.world.set_link_latency(FIRST, client, Latency::Constant(ms(20)));
    assert_eq!(stage.run(), ["22ms got 1", "42ms answered"]);
}

#[test]
fn a_held_message_takes_with_it_what_follows_on_its_connection() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, _| async move { three(node).await })
        .fault(hold("server"), node("client"), at(ms(15)), Some(secs(60)))
        .observed()
        .run();
    assert_eq!(
        log,
        [
            "11ms got 1",
            "20ms HoldMessage { from: NodeId(1), to: NodeId(0), operation: Some(2) }",
            "60.021s DeliverMessage { from: NodeId(1), to: NodeId(0), operation: Some(2) }",
            "60.021s got 2",
            "60.021s got 3",
        ]
    );
}

#[test]
fn a_held_message_lets_other_connections_and_the_way_back_alone() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, log| async move {
            let (first, second) = (connect(&node, "server").await, connect(&node, "server").await);
            first.send(Num(1));
            node.sleep(ms(10)).await;
            first.send(Num(2));
            second.send(Num(3));
            log.add(format_args!("first {:?}", first.recv().await));
            log.add(format_args!("second {:?}", second.recv().await));
            std::future::pending::<()>().await;
        })
        .fault(hold("server"), node("client"), at(ms(10)), Some(secs(60)))
        .run();
    assert_eq!(
        log,
        ["5ms got 1", "14ms first Ok(Num(1))", "15ms got 3", "16ms second Ok(Num(3))", "60.015s got 2"]
    );
}

#[test]
fn a_held_message_is_executed_though_its_client_gave_up() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, log| async move {
            let server = connect(&node, "server").await;
            server.send(Num(1));
            log.add(format_args!("{:?}", node.timeout(ms(500), server.recv()).await));
        })
        .fault(hold("server"), node("client"), at(ms(0)), Some(secs(60)))
        .run();
    assert_eq!(log, ["502ms Err(Elapsed)", "60.003s got 1", "60.003s ended Closed"]);
}

#[test]
fn what_is_sent_into_a_cut_link_arrives_after_the_healing_in_order() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, _| async move { three(node).await })
        .fault(cut("server"), node("client"), at(ms(15)), for_ms(1000))
        .observed()
        .run();
    assert_eq!(
        log,
        [
            "11ms got 1",
            "15ms Cut { from: NodeId(1), to: NodeId(0) }",
            "1.015s Heal { from: NodeId(1), to: NodeId(0) }",
            "1.016s got 2",
            "1.016s got 3",
        ]
    );
}

/// A client that asks every 10 ms and logs the answers.
fn asking(what: What) -> Vec<String> {
    Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, log| async move {
            let server = connect(&node, "server").await;
            node.sleep(ms(8)).await;
            server.send(Num(1));
            let _ = server.recv().await;
            log.add("answered");
            std::future::pending::<()>().await;
        })
        .fault(what, node("client"), at(ms(5)), for_ms(1000))
        .run()
}

#[test]
fn a_cut_one_way_leaves_the_other_way_open() {
    assert_eq!(asking(cut("server")), ["1.006s got 1", "1.007s answered"]);
    let back = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, log| async move {
            let server = connect(&node, "server").await;
            node.sleep(ms(8)).await;
            server.send(Num(1));
            let _ = server.recv().await;
            log.add("answered");
            std::future::pending::<()>().await;
        })
        .fault(cut("client"), node("server"), at(ms(5)), for_ms(1000))
        .run();
    assert_eq!(back, ["11ms got 1", "1.006s answered"]);
}

#[test]
fn an_isolated_node_is_cut_off_both_ways() {
    assert_eq!(asking(What::Isolate), ["1.006s got 1", "1.007s answered"]);
}

#[test]
fn a_link_is_whole_when_its_last_cut_is_healed() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, _| async move { three(node).await })
        .fault(cut("server"), node("client"), at(ms(5)), for_ms(1000))
        .fault(What::Isolate, node("server"), at(ms(500)), for_ms(1000))
        .run();
    assert_eq!(log, ["1.501s got 1", "1.501s got 2", "1.501s got 3"]);
}

#[test]
fn a_reset_crosses_a_cut_link_only_after_the_healing() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, _| async move { three(node).await })
        .fault(cut("server"), node("client"), at(ms(15)), for_ms(1000))
        .fault(What::Kill, node("client"), at(ms(25)), None)
        .run();
    assert_eq!(log, ["11ms got 1", "1.016s got 2", "1.016s ended Reset"]);
}

#[test]
fn connecting_waits_for_the_link_in_both_directions() {
    for (from, to) in [("client", "server"), ("server", "client")] {
        let log = Stage::new(1)
            .echo("server", ms(0))
            .node("client", |node, log| async move {
                node.sleep(ms(10)).await;
                let server = connect(&node, "server").await;
                log.add("connected");
                drop(server);
            })
            .fault(cut(to), node(from), at(ms(5)), for_ms(1000))
            .run();
        let connected = if from == "client" { "1.007s connected" } else { "1.006s connected" };
        assert_eq!(log[0], connected);
    }
}

#[test]
fn connecting_to_nobody_is_refused() {
    let log = Stage::new(1)
        .node("server", |_, _| async {})
        .node("client", |node, log| async move {
            let opened = node.connect::<Num, Num>(FIRST, "echo").await;
            log.add(format_args!("{:?}", opened.map(|_| ())));
        })
        .run();
    assert_eq!(log, ["2ms Err(ConnectError)"]);
}

#[test]
fn a_client_that_gives_up_connecting_leaves_no_connection() {
    for patience in [0, 1, 2, 3] {
        let log = Stage::new(1)
            .node("server", |node, log| async move {
                let inbox = inbox(&node);
                while let (peer, Incoming::Ended(how)) = inbox.recv().await {
                    // A connection that was accepted is over; one that was not never was.
                    log.add(format_args!("{how:?} {}", peer.connection()));
                }
            })
            .node("client", move |node, _| async move {
                let _ = node.timeout(ms(patience), node.connect::<Num, Num>(FIRST, "echo")).await;
                std::future::pending::<()>().await;
            })
            .run();
        let accepted = if patience == 0 { 0 } else { 1 };
        assert_eq!(log.len(), accepted, "after {patience} ms: {log:?}");
    }
}

#[test]
fn a_connection_that_is_dropped_delivers_what_it_sent_and_then_ends() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, _| async move {
            let server = connect(&node, "server").await;
            server.send(Num(1));
            server.send(Num(2));
        })
        .run();
    assert_eq!(log, ["3ms got 1", "3ms got 2", "3ms ended Closed"]);
}

#[test]
fn a_service_that_is_dropped_closes_its_connections_and_can_be_offered_again() {
    let log = Stage::new(1)
        .node("server", |node, _| async move {
            let first = inbox(&node);
            node.sleep(ms(10)).await;
            drop(first);
            node.sleep(ms(10)).await;
            let second = inbox(&node);
            while let (peer, Incoming::Message(number)) = second.recv().await {
                peer.send(number);
            }
        })
        .node("client", |node, log| async move {
            let server = connect(&node, "server").await;
            log.add(format_args!("{:?}", server.recv().await));
            let opened = node.connect::<Num, Num>(FIRST, "echo").await;
            log.add(format_args!("{:?}", opened.map(|_| ())));
            node.sleep(ms(10)).await;
            let server = connect(&node, "server").await;
            server.send(Num(3));
            log.add(format_args!("{:?}", server.recv().await));
        })
        .run();
    assert_eq!(log, ["11ms Err(Closed)", "13ms Err(ConnectError)", "27ms Ok(Num(3))"]);
}

#[test]
#[should_panic(expected = "speaks another protocol")]
fn a_client_of_another_protocol_is_a_mistake_of_the_builder() {
    struct Other;
    impl fencepost_sim::Message for Other {}
    Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, _| async move {
            let _ = node.connect::<Other, Num>(FIRST, "echo").await;
        })
        .run();
}
