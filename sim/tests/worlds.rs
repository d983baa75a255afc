//! Worlds begin, stop, go on, end, and do not meet.

mod support;

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::rc::{Rc, Weak};
use std::task::Poll;

use fencepost_sim::fault::What;
use fencepost_sim::{Incoming, Node, RunEnd, World};
use support::*;

/// A world full of everything that could keep it alive: each closure and task holds a share of `token`.
fn crowded(token: &Rc<Cell<u32>>) -> Stage {
    let share = token.clone();
    let mut stage = Stage::new(1)
        .node("server", move |node, log| {
            let share = share.clone();
            async move {
                let inbox = inbox(&node);
                let (keep, kept) = (node.clone(), share.clone());
                node.spawn(async move {
                    pending::<()>().await;
                    drop((keep, kept));
                });
                while let (peer, Incoming::Message(number)) = inbox.recv().await {
                    share.set(share.get() + 1);
                    peer.send(number);
                }
                log.add("never");
            }
        })
        .fault(What::Kill, node("server"), at(ms(50)), for_ms(10))
        .fault(What::PowerOff, node("client"), at(ms(100)), for_ms(10))
        .fault(pause(), node("client"), at(ms(250)), None)
        .fault(cut("server"), node("client"), at(ms(200)), None);
    let share = token.clone();
    stage = stage.node("client", move |node, _| {
        let share = share.clone();
        async move {
            loop {
                if let Ok(server) = node.connect::<Num, Num>(FIRST, "echo").await {
                    server.send(Num(1));
                    let _ = node.timeout(ms(5), server.recv()).await;
                }
                node.disk().fsync("file").await;
                node.sleep(ms(5)).await;
                share.set(share.get() + 1);
            }
        }
    });
    let (share, probe) = (token.clone(), stage.world.probe());
    stage.world.observe_faults(move |_| share.set(share.get() + probe.now_ns() as u32 % 2));
    let (share, probe) = (token.clone(), stage.world.probe());
    stage.world.probe().spawn(async move {
        probe.sleep(secs(1_000_000)).await;
        drop(share);
    });
    stage
}

#[test]
fn a_world_that_is_dropped_is_freed_with_all_that_was_pending_in_it() {
    for limit in [0, 1, 30, 55, 105, 300, 10_000] {
        let token = Rc::new(Cell::new(0));
        let weak: Weak<_> = Rc::downgrade(&token);
        let mut stage = crowded(&token);
        stage.world.run(ms(limit));
        drop((stage, token));
        assert!(weak.upgrade().is_none(), "leaked after {limit} ms");
    }
}

#[test]
fn a_world_that_never_ran_is_freed_too() {
    let token = Rc::new(Cell::new(0));
    drop(crowded(&token));
    assert_eq!(Rc::strong_count(&token), 1);
}

#[test]
fn messages_that_nobody_read_are_freed_with_their_world() {
    struct Parcel(#[allow(dead_code, reason = "it is only carried")] Rc<Cell<u32>>);
    impl fencepost_sim::Message for Parcel {}
    let token = Rc::new(Cell::new(0));
    let share = token.clone();
    let mut stage = Stage::new(1)
        .node("server", |node, _| async move {
            let inbox = node.bind::<Parcel, Num>("store");
            pending::<()>().await;
            drop(inbox);
        })
        .node("client", move |node, _| {
            let share = share.clone();
            async move {
                let store = node.connect::<Parcel, Num>(FIRST, "store").await.expect("it is open");
                loop {
                    store.send(Parcel(share.clone()));
                    node.sleep(ms(1)).await;
                }
            }
        });
    stage.world.run(ms(50));
    assert!(Rc::strong_count(&token) > 40, "parcels pile up");
    drop(stage);
    assert_eq!(Rc::strong_count(&token), 1);
}

#[test]
fn destructors_cannot_bring_a_dropped_world_back() {
    struct Spawner(fencepost_sim::Probe, Rc<Cell<u32>>);
    impl Drop for Spawner {
        fn drop(&mut self) {
            let share = (self.0.clone(), self.1.clone());
            self.0.spawn(async move {
                pending::<()>().await;
                drop(share);
            });
        }
    }
    let token = Rc::new(Cell::new(0));
    let stage = Stage::new(1);
    let spawner = Spawner(stage.world.probe(), token.clone());
    stage.world.probe().spawn(async move {
        pending::<()>().await;
        drop(spawner);
    });
    drop(stage);
    assert_eq!(Rc::strong_count(&token), 1);
}

#[test]
fn handles_may_outlive_their_world_and_do_nothing() {
    let kept = Rc::new(std::cell::RefCell::new(None));
    let keep = kept.clone();
    let mut stage = Stage::new(1).echo("server", ms(0)).node("client", move |node, _| {
        let keep = keep.clone();
        async move {
            let server = connect(&node, "server").await;
            keep.replace(Some((node.clone(), server, node.sleep(secs(9)))));
            pending::<()>().await;
        }
    });
    stage.world.run(secs(1));
    let probe = stage.world.probe();
    drop(stage);
    let (node, server, sleep): (Node, _, _) = kept.take().unwrap();
    server.send(Num(1));
    node.disk().write("file", vec![1]);
    assert!(!node.is_alive() && node.disk().read("file").is_empty());
    assert_eq!((node.name().as_str(), probe.now_ns()), ("client", probe.now_ns()));
    drop((server, sleep, node));
}

#[test]
fn worlds_on_one_thread_do_not_meet() {
    let build = |seed| {
        Stage::new(seed).echo("server", ms(1)).node("client", |node, log| async move {
            let server = connect(&node, "server").await;
            loop {
                server.send(Num(node.draw(0..=1000)));
                log.add(format_args!("{:?}", server.recv().await));
            }
        })
    };
    let alone = |seed| {
        let mut stage = build(seed);
        stage.world.run(secs(1));
        (stage.world.digest(), stage.log.lines())
    };
    let (mut one, mut two) = (build(1), build(2));
    for step in 1..=100 {
        one.world.run(ms(step * 10));
        two.world.run(ms(step * 10));
    }
    assert_eq!((one.world.digest(), one.log.lines()), alone(1));
    assert_eq!((two.world.digest(), two.log.lines()), alone(2));
}

#[test]
fn a_world_inside_of_a_node_of_another_world_is_a_world_of_its_own() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            node.sleep(ms(5)).await;
            let inner = Stage::new(2).node("b", |node, log| async move {
                node.sleep(ms(7)).await;
                log.add("inner");
            });
            log.add(format_args!("{:?}", inner.run()));
            node.sleep(ms(5)).await;
            log.add("outer");
        })
        .run();
    assert_eq!(log, ["5ms [\"7ms inner\"]", "10ms outer"]);
}

#[test]
fn a_run_says_why_it_ended_and_a_later_one_goes_on_from_there() {
    let mut stage = Stage::new(1).node("a", |node, log| async move {
        node.sleep(ms(10)).await;
        log.probe().stop();
        log.add("stopped");
        node.sleep(ms(10)).await;
        log.add("done");
    });
    let probe = stage.world.probe();
    assert_eq!((stage.world.run(ms(5)), probe.now_ns()), (RunEnd::TimeLimit, 5_000_000));
    assert_eq!((stage.world.run(ms(3)), probe.now_ns()), (RunEnd::TimeLimit, 5_000_000));
    assert_eq!(stage.world.run(secs(1)), RunEnd::Stopped);
    assert_eq!(stage.log.lines(), ["10ms stopped"]);
    assert_eq!((stage.world.run(secs(1)), probe.now_ns()), (RunEnd::Quiescent, 20_000_000));
    assert_eq!(stage.log.lines(), ["10ms stopped", "20ms done"]);
}

#[test]
#[should_panic(expected = "no progress: time stands still at 7000000 ns")]
fn a_world_that_makes_no_progress_is_stopped() {
    Stage::new(1)
        .node("a", |node, _| async move {
            node.sleep(ms(7)).await;
            poll_fn(|cx| {
                cx.waker().wake_by_ref();
                Poll::<()>::Pending
            })
            .await;
        })
        .run();
}

#[test]
#[should_panic(expected = "no progress: time stands still at 7000000 ns")]
fn code_that_sleeps_for_no_time_for_ever_is_stopped() {
    Stage::new(1)
        .node("a", |node, _| async move {
            node.sleep(ms(7)).await;
            loop {
                node.sleep(ms(0)).await;
            }
        })
        .run();
}

#[test]
#[should_panic(expected = "two nodes are called \"a\"")]
fn names_are_given_once() {
    let mut world = World::new(1);
    world.add_node("a", |_| async {});
    world.add_node("a", |_| async {});
}
