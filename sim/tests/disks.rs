//! What is written lies in the page cache; what was synced survives a power-off.

mod support;

use fencepost_sim::fault::What;
use support::*;

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("tests write text")
}

/// A node that logs what it finds, runs `fill` at its first boot, and then waits.
fn disk(fill: impl AsyncFn(&fencepost_sim::Node, &Log) + Copy + 'static) -> Stage {
    let mut stage = Stage::new(1).node("a", move |node, log| async move {
        let found = node.disk().read("file");
        if found.is_empty() && node.monotonic_ns() == 0 {
            fill(&node, &log).await;
            std::future::pending::<()>().await;
        }
        log.add(format_args!("found {:?}", text(found)));
    });
    stage.world.set_fsync(FIRST, ms(10)..=ms(10));
    stage
}

#[test]
fn a_kill_loses_nothing_that_was_written() {
    let log = disk(async |node, _| node.disk().write("file", b"written".to_vec()))
        .fault(What::Kill, node("a"), at(ms(100)), for_ms(1))
        .run();
    assert_eq!(log, ["101ms found \"written\""]);
}

#[test]
fn a_power_off_loses_what_was_not_synced() {
    let log = disk(async |node, log| {
        node.disk().write("file", b"old".to_vec());
        node.disk().fsync("file").await;
        log.add("synced");
        node.disk().append("file", b" new");
        log.add(format_args!("holds {:?}", text(node.disk().read("file"))));
    })
    .fault(What::PowerOff, node("a"), at(ms(100)), for_ms(1))
    .run();
    assert_eq!(log, ["10ms synced", "10ms holds \"old new\"", "101ms found \"old\""]);
}

#[test]
fn a_sync_that_was_under_way_at_a_power_off_never_happened() {
    let log = disk(async |node, log| {
        node.disk().write("file", b"x".to_vec());
        node.disk().fsync("file").await;
        log.add("synced");
    })
    .fault(What::PowerOff, node("a"), at(ms(9)), for_ms(100))
    .run();
    assert_eq!(log, ["109ms found \"\""]);
}

#[test]
fn a_sync_covers_what_the_file_held_when_it_began() {
    let log = disk(async |node, _| {
        node.disk().write("file", b"before".to_vec());
        let (disk, other) = (node.disk(), node.clone());
        node.spawn(async move {
            other.sleep(ms(5)).await;
            other.disk().write("file", b"after".to_vec());
        });
        disk.fsync("file").await;
    })
    .fault(What::PowerOff, node("a"), at(ms(20)), for_ms(1))
    .run();
    assert_eq!(log, ["21ms found \"before\""]);
}

#[test]
fn a_sync_of_a_killed_process_is_finished_by_the_kernel() {
    let log = disk(async |node, log| {
        node.disk().write("file", b"x".to_vec());
        node.disk().fsync("file").await;
        log.add("synced");
    })
    .fault(What::Kill, node("a"), at(ms(5)), Some(secs(100)))
    .fault(What::PowerOff, node("a"), at(ms(50)), for_ms(1))
    .run();
    assert_eq!(log, ["51ms found \"x\""]);
}

#[test]
fn an_older_sync_that_ends_later_does_not_undo_a_newer_one() {
    for seed in 0..100 {
        let mut stage = Stage::new(seed).node("a", |node, log| async move {
            if node.monotonic_ns() > 0 {
                return log.add(format_args!("found {:?}", node.disk().read("file")));
            }
            for version in 1..=3 {
                node.disk().write("file", vec![version]);
                let other = node.clone();
                node.spawn(async move { other.disk().fsync("file").await });
                node.sleep(ms(1)).await;
            }
        });
        stage.world.set_fsync(FIRST, ms(1)..=ms(50));
        let log = stage.fault(What::PowerOff, node("a"), at(ms(100)), for_ms(1)).run();
        assert_eq!(log, ["101ms found [3]"]);
    }
}

#[test]
fn each_host_has_its_own_disk() {
    let log = Stage::new(1)
        .node("a", |node, _| async move { node.disk().write("file", vec![1]) })
        .node("b", |node, log| async move {
            node.sleep(ms(1)).await;
            log.add(format_args!("{:?}", node.disk().read("file")));
        })
        .run();
    assert_eq!(log, ["1ms []"]);
}
