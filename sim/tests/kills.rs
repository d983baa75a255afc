//! A kill ends a process without its code; a power-off ends a host; a restart brings back what the disk has.

mod support;

use fencepost_sim::fault::What;
use fencepost_sim::{Connection, Disconnected, Incoming, Latency, Node};
use support::*;

/// Tries everything that code can do when it is dropped.
struct Destructor {
    node: Node,
    to_server: Connection<Num, Num>,
}

impl Drop for Destructor {
    fn drop(&mut self) {
        self.to_server.send(Num(666));
        self.node.disk().write("tomb", b"written".to_vec());
        self.node.mark("dropped");
        self.node.enter_role("ghost");
        let node = self.node.clone();
        self.node.spawn(async move { node.disk().write("tomb", b"spawned".to_vec()) });
        assert_eq!(self.node.draw(5..=1000), 5, "a dead process draws nothing");
    }
}

#[test]
fn destructors_of_a_killed_process_have_no_effect() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("victim", |node, log| async move {
            log.add(format_args!("tomb: {:?}", node.disk().read("tomb")));
            let destructor = Destructor { to_server: connect(&node, "server").await, node: node.clone() };
            std::future::pending::<()>().await;
            drop(destructor);
        })
        .fault(What::Kill, node("victim"), at(ms(10)), for_ms(10))
        .fault(pause(), role("ghost"), at(ms(0)), for_ms(1))
        .fault(pause(), role("ghost"), at(ms(300)), for_ms(1))
        .fault(pause(), node("server"), event("dropped", 1, ms(0)), for_ms(1))
        .fault(What::Kill, node("server"), at(ms(500)), None)
        .observed()
        .run();
    assert_eq!(
        log,
        [
            "0ns tomb: []",
            "10ms Kill { node: NodeId(1) }",
            "11ms ended Reset",
            "20ms Restart { node: NodeId(1) }",
            "20ms tomb: []",
            "500ms Kill { node: NodeId(0) }",
        ]
    );
}

#[test]
fn a_kill_at_a_point_lets_no_code_run_on_not_even_beside_it() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            let step = async {
                node.work("step", ms(0)).await;
                log.add("after the step");
            };
            // The time-out is due at once too, and polled after the step.
            let _ = node.timeout(ms(0), step).await;
            log.add("after the time-out");
        })
        .fault(What::Kill, node("a"), point("step", 1), None)
        .observed()
        .run();
    assert_eq!(log, ["0ns Kill { node: NodeId(0) }"]);
}

#[test]
fn peers_of_a_killed_process_read_what_arrived_and_then_a_reset() {
    let log = Stage::new(1)
        .node("server", |node, _| async move {
            let inbox = inbox(&node);
            let (peer, _) = inbox.recv().await;
            peer.send(Num(7));
            node.sleep(secs(100)).await;
        })
        .node("client", |node, log| async move {
            let server = connect(&node, "server").await;
            server.send(Num(1));
            node.sleep(ms(100)).await;
            for _ in 0..3 {
                log.add(format_args!("{:?}", server.recv().await));
            }
        })
        .fault(What::Kill, node("server"), at(ms(20)), None)
        .run();
    assert_eq!(log, ["102ms Ok(Num(7))", "102ms Err(Reset)", "102ms Err(Reset)"]);
}

#[test]
fn a_killed_process_refuses_connections_until_it_is_back() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, log| async move {
            for _ in 0..3 {
                node.sleep(ms(10)).await;
                let opened = node.connect::<Num, Num>(FIRST, "echo").await;
                log.add(opened.map_or("refused", |_| "accepted"));
            }
        })
        .fault(What::Kill, node("server"), at(ms(15)), for_ms(10))
        .run();
    assert_eq!(
        log,
        ["12ms accepted", "13ms ended Closed", "24ms refused", "36ms accepted", "37ms ended Closed"]
    );
}

#[test]
fn a_request_to_connect_that_was_under_way_meets_the_process_that_is_there_when_it_arrives() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, log| async move {
            let server = connect(&node, "server").await;
            server.send(Num(1));
            log.add(format_args!("{:?}", server.recv().await));
        })
        .fault(What::Kill, node("server"), at(ms(0)), for_ms(0))
        .run();
    assert_eq!(log, ["3ms got 1", "4ms Ok(Num(1))", "5ms ended Closed"]);
}

#[test]
fn a_client_that_dies_while_it_connects_leaves_no_connection() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, _| async move {
            connect(&node, "server").await.send(Num(1));
        })
        .fault(What::Kill, node("client"), at(ms(0)), None)
        .run();
    assert_eq!(log, [""; 0]);
}

#[test]
fn a_host_without_power_is_silent_and_answers_old_connections_with_a_reset_once_it_is_back() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, log| async move {
            let server = connect(&node, "server").await;
            node.sleep(ms(20)).await;
            server.send(Num(1));
            log.add(format_args!("{:?}", node.timeout(ms(50), server.recv()).await));
            // The client's kernel still tries.
            log.add(format_args!("{:?}", server.recv().await));
        })
        .fault(What::PowerOff, node("server"), at(ms(10)), for_ms(1000))
        .run();
    assert_eq!(log, ["72ms Err(Elapsed)", "1.012s Err(Reset)"]);
}

#[test]
fn connecting_to_a_host_without_power_waits_until_it_is_back() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, log| async move {
            node.sleep(ms(20)).await;
            let server = connect(&node, "server").await;
            log.add("connected");
            drop(server);
        })
        .fault(What::PowerOff, node("server"), at(ms(10)), for_ms(1000))
        .run();
    assert_eq!(log, ["1.012s connected", "1.013s ended Closed"]);
}

#[test]
fn a_host_that_stays_without_power_leaves_its_peers_waiting() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, log| async move {
            let server = connect(&node, "server").await;
            node.sleep(ms(20)).await;
            server.send(Num(1));
            log.add(format_args!("{:?}", server.recv().await));
        })
        .fault(What::PowerOff, node("server"), at(ms(10)), None)
        .run();
    assert_eq!(log, [""; 0]);
}

#[test]
fn a_restart_runs_the_boot_closure_again_as_a_new_incarnation() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            let boots = node.disk().read("boots").len();
            node.disk().append("boots", b"x");
            log.add(format_args!("boot {boots}"));
            node.sleep(ms(100)).await;
            log.add("slept");
        })
        .fault(What::Kill, node("a"), at(ms(50)), for_ms(20))
        .run();
    assert_eq!(log, ["0ns boot 0", "70ms boot 1", "170ms slept"]);
}

#[test]
fn a_pause_of_the_dead_does_not_reach_the_next_incarnation() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            node.work("step", ms(100)).await;
            log.add("done");
        })
        .fault(pause(), node("a"), at(ms(10)), for_ms(1000))
        .fault(What::Kill, node("a"), at(ms(20)), for_ms(10))
        .run();
    assert_eq!(log, ["130ms done"]);
}

#[test]
fn a_power_off_also_hits_a_host_whose_process_was_killed() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            log.add(format_args!("{:?}", node.disk().read("file")));
            node.disk().write("file", vec![1]);
        })
        .fault(What::Kill, node("a"), at(ms(10)), for_ms(20))
        .fault(What::PowerOff, node("a"), at(ms(20)), for_ms(100))
        .run();
    assert_eq!(log, ["0ns []", "120ms []"], "nothing starts without power, and the page cache is gone");
}

#[test]
fn a_host_has_power_again_when_its_last_outage_is_over() {
    let log = Stage::new(1)
        .node("a", |_, log| async move { log.add("boot") })
        .fault(What::PowerOff, node("a"), at(ms(10)), for_ms(20))
        .fault(What::PowerOff, node("a"), at(ms(20)), for_ms(100))
        .run();
    assert_eq!(log, ["0ns boot", "120ms boot"]);
}

#[test]
fn what_a_host_without_power_had_still_to_send_is_lost_with_what_follows_it() {
    let log = Stage::new(1)
        .latency(Latency::Constant(ms(5)))
        .node("server", |node, log| async move {
            let inbox = inbox(&node);
            let (client, Incoming::Message(Num(0))) = inbox.recv().await else { panic!("0 is sent first") };
            node.sleep(ms(500)).await;
            client.send(Num(0));
            log.add(format_args!("{:?}", inbox.recv().await.1));
        })
        .node("client", |node, _| async move {
            if node.monotonic_ns() > 0 {
                return;
            }
            let server = connect(&node, "server").await;
            for number in 0..3 {
                server.send(Num(number));
                node.sleep(ms(10)).await;
            }
        })
        // 0 arrives before the cut and 1 into it; 2 is on its way when the power goes.
        .fault(cut("server"), node("client"), at(ms(18)), for_ms(100))
        .fault(What::PowerOff, node("client"), at(ms(32)), for_ms(10))
        .run();
    assert_eq!(log, ["525ms Ended(Reset)"]);
}

#[test]
fn what_a_killed_process_had_sent_still_arrives() {
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("client", |node, _| async move {
            let server = connect(&node, "server").await;
            node.sleep(ms(17)).await;
            server.send(Num(1));
            node.sleep(ms(80)).await;
        })
        .fault(What::Kill, node("client"), at(ms(20)), None)
        .run();
    assert_eq!(log, ["20ms got 1", "21ms ended Reset"]);
}

#[test]
fn a_handle_of_a_dead_incarnation_stays_dead_after_the_restart() {
    let kept = std::rc::Rc::new(std::cell::RefCell::new(None::<(Node, Connection<Num, Num>)>));
    let keep = kept.clone();
    let log = Stage::new(1)
        .echo("server", ms(0))
        .node("a", move |node, log| {
            let keep = keep.clone();
            async move {
                if let Some((old, to_server)) = keep.take() {
                    assert!(!old.is_alive() && node.is_alive());
                    to_server.send(Num(666));
                    old.disk().write("file", vec![6]);
                    node.sleep(ms(10)).await;
                    log.add(format_args!("{:?} {:?}", node.disk().read("file"), to_server.recv().await));
                    return;
                }
                let to_server = connect(&node, "server").await;
                keep.replace(Some((node.clone(), to_server)));
                std::future::pending::<()>().await;
            }
        })
        .fault(What::Kill, node("a"), at(ms(10)), for_ms(10))
        .run();
    assert_eq!(
        log,
        ["11ms ended Reset", format!("30ms [] {:?}", Err::<Num, _>(Disconnected::Closed)).as_str()]
    );
}
