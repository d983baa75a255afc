//! When a fault begins and whom it hits.

mod support;

use fencepost_sim::World;
use fencepost_sim::fault::What;
use support::*;

/// A node that passes the point "step" every 10 ms, from 0 on, and logs it.
fn stepper(stage: Stage, name: &'static str) -> Stage {
    stage.node(name, move |node, log| async move {
        for number in 1..=4 {
            node.work("step", ms(10)).await;
            log.add(format_args!("{name}{number}"));
        }
    })
}

#[test]
fn at_a_time() {
    let log = stepper(Stage::new(1), "a").fault(pause(), node("a"), at(ms(15)), for_ms(100)).run();
    assert_eq!(log, ["10ms a1", "120ms a2", "130ms a3", "140ms a4"]);
}

#[test]
fn at_the_entry_of_the_nth_passing_of_a_point() {
    let log = stepper(Stage::new(1), "a").fault(pause(), node("a"), point("step", 3), for_ms(100)).observed();
    assert_eq!(
        log.run(),
        [
            "10ms a1",
            "20ms a2",
            "20ms Stop { node: NodeId(0), cause: Gc }",
            "120ms Resume { node: NodeId(0) }",
            "130ms a3",
            "140ms a4"
        ]
    );
}

#[test]
fn some_time_after_the_nth_occurrence_of_an_event() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            for _ in 0..3 {
                node.sleep(ms(10)).await;
                node.mark("grant");
            }
            node.work("rest", ms(10)).await;
            log.add("done");
        })
        .fault(pause(), node("a"), event("grant", 2, ms(5)), for_ms(100))
        .observed()
        .run();
    assert_eq!(
        log,
        ["25ms Stop { node: NodeId(0), cause: Gc }", "125ms Resume { node: NodeId(0) }", "135ms done"]
    );
}

#[test]
fn passings_of_other_nodes_do_not_count() {
    let log = stepper(stepper(Stage::new(1), "a"), "b").fault(What::Kill, node("b"), point("step", 2), None);
    assert_eq!(log.run(), ["10ms a1", "10ms b1", "20ms a2", "30ms a3", "40ms a4"]);
}

/// Two nodes that play the role "holder" in turn, 10 ms each, and pass "write" once each time.
fn holders() -> Stage {
    let holder = |first: u64| {
        move |node: fencepost_sim::Node, log: Log| async move {
            node.sleep(ms(first)).await;
            for _ in 0..2 {
                node.enter_role("holder");
                node.work("write", ms(10)).await;
                log.add(format_args!("{} wrote", node.name()));
                node.leave_role("holder");
                node.sleep(ms(10)).await;
            }
        }
    };
    Stage::new(1).node("a", holder(5)).node("b", holder(15))
}

#[test]
fn a_role_means_whoever_plays_it_when_the_fault_fires() {
    for (time, victim) in [(10, "a"), (20, "b"), (30, "a"), (40, "b")] {
        let log = holders().fault(pause(), role("holder"), at(ms(time)), for_ms(500)).run();
        let last = log.last().unwrap();
        assert!(last.starts_with('5') && last.contains(victim), "the victim is late: {log:?}");
    }
}

#[test]
fn passings_are_counted_over_all_who_play_the_role() {
    let log = holders().fault(What::Kill, role("holder"), point("write", 3), None).run();
    assert_eq!(log, ["15ms a wrote", "25ms b wrote", "45ms b wrote"]);
}

#[test]
fn a_fault_whose_role_nobody_plays_waits_for_the_first_who_does() {
    let log = holders().fault(pause(), role("holder"), at(ms(0)), for_ms(100)).observed().run();
    assert_eq!(log[0], "5ms Stop { node: NodeId(0), cause: Gc }");
}

#[test]
fn a_fault_that_waited_lets_no_code_run_on_in_a_process_that_it_stops() {
    let log = Stage::new(1)
        .node("a", |node, log| async move {
            node.sleep(ms(5)).await;
            node.enter_role("holder");
            node.sleep(ms(0)).await;
            log.add("next step");
        })
        .fault(pause(), role("holder"), at(ms(0)), for_ms(100))
        .run();
    assert_eq!(log, ["105ms next step"]);
}

#[test]
fn a_role_that_was_left_at_once_was_never_seen() {
    let log = Stage::new(1)
        .node("a", |node, _| async move {
            node.enter_role("holder");
            node.leave_role("holder");
            node.sleep(ms(10)).await;
            node.enter_role("holder");
            node.sleep(ms(10)).await;
        })
        .fault(pause(), role("holder"), at(ms(0)), for_ms(1))
        .observed()
        .run();
    assert_eq!(log[0], "10ms Stop { node: NodeId(0), cause: Gc }");
}

#[test]
fn a_killed_node_plays_no_role_any_more() {
    let log = Stage::new(1)
        .node("a", |node, _| async move {
            node.enter_role("holder");
            std::future::pending::<()>().await;
        })
        .node("b", |node, _| async move {
            node.sleep(ms(50)).await;
            node.enter_role("holder");
            std::future::pending::<()>().await;
        })
        .fault(What::Kill, node("a"), at(ms(10)), None)
        .fault(pause(), role("holder"), at(ms(20)), for_ms(1))
        .observed()
        .run();
    assert_eq!(log[1], "50ms Stop { node: NodeId(1), cause: Gc }");
}

#[test]
fn the_other_end_of_a_cut_may_be_a_role_too() {
    let log = Stage::new(1)
        .node("a", |_, _| async {})
        .node("b", |node, _| async move {
            node.sleep(ms(50)).await;
            node.enter_role("leader");
            std::future::pending::<()>().await;
        })
        .fault(What::Cut { to: role("leader"), both_ways: true }, node("a"), at(ms(10)), None)
        .observed()
        .run();
    assert_eq!(
        log,
        ["50ms Cut { from: NodeId(0), to: NodeId(1) }", "50ms Cut { from: NodeId(1), to: NodeId(0) }"]
    );
}

#[test]
fn several_faults_may_be_aimed_at_one_point() {
    let log = stepper(Stage::new(1), "a")
        .fault(pause(), node("a"), point("step", 1), for_ms(100))
        .fault(What::Kill, node("a"), point("step", 2), for_ms(7))
        .run();
    assert_eq!(log, ["110ms a1", "127ms a1", "137ms a2", "147ms a3", "157ms a4"]);
}

#[test]
fn a_fault_that_finds_no_process_does_nothing() {
    let log = stepper(Stage::new(1), "a")
        .fault(What::Kill, node("a"), at(ms(15)), None)
        .fault(pause(), node("a"), at(ms(20)), for_ms(5))
        .fault(What::Kill, node("a"), at(ms(30)), for_ms(5))
        .observed()
        .run();
    assert_eq!(log, ["10ms a1", "15ms Kill { node: NodeId(0) }"]);
}

#[test]
fn a_schedule_is_data() {
    let faults = [
        fault(pause(), role("holder"), point("before-write", 2), for_ms(15_000)),
        fault(What::HoldMessage { to: node("server") }, node("a"), event("first-grant", 1, ms(50)), None),
        fault(cut("b"), role("holder"), at(ms(1)), for_ms(1)),
    ];
    let text = serde_json::to_string(&faults).unwrap();
    assert!(text.contains(r#"{"kind":"pause","cause":"gc"}"#), "{text}");
    assert!(text.contains(r#""when":{"at":"point","name":"before-write","passing":2}"#), "{text}");
    assert_eq!(serde_json::from_str::<Vec<fencepost_sim::fault::Fault>>(&text).unwrap(), faults);
}

#[test]
#[should_panic(expected = "a fault names a node that does not exist: \"nobdy\"")]
fn a_misspelt_node_is_a_mistake_of_the_builder() {
    let mut world = World::new(1);
    world.add_node("nobody", |_| async {});
    world.add_faults(&[fault(What::Kill, node("nobdy"), at(ms(1)), None)]);
    world.run(secs(1));
}
