//! The same seed gives the same run: again, on another thread, and whatever ran before.

mod support;

use std::cell::Cell;
use std::thread;

use fencepost_sim::fault::What;
use fencepost_sim::{Concern, Latency, Stream};
use support::*;

/// A world in which every stream of randomness matters.
fn busy(seed: u64) -> Stage {
    let mut faults = Stream::new(seed, Concern::Faults, 0);
    let mut stage =
        Stage::new(seed).latency(Latency::Uniform(ms(1)..=ms(20))).echo("server", ms(2)).observed();
    for name in ["a", "b", "c"] {
        stage = stage.node(name, |node, log| async move {
            for number in 0..20 {
                let Ok(server) = node.connect::<Num, Num>(FIRST, "echo").await else { continue };
                node.work("think", node.draw_duration(ms(1)..=ms(50))).await;
                node.disk().append("file", &[number as u8]);
                node.disk().fsync("file").await;
                server.send(Num(number));
                let answer = node.timeout(ms(40), server.recv()).await;
                log.add(format_args!("{} {number} {answer:?}", node.name()));
            }
        });
        let time = ms(faults.between(0, 1000));
        stage = stage.fault(pause(), node(name), at(time), Some(ms(faults.between(1, 300))));
    }
    stage.fault(What::Kill, node("server"), at(ms(700)), for_ms(100))
}

/// What a run is compared by.
fn run(mut stage: Stage) -> (u64, Vec<String>) {
    stage.world.run(secs(60));
    (stage.world.digest(), stage.log.lines())
}

#[test]
fn the_same_seed_gives_the_same_run_again() {
    for seed in 0..20 {
        assert_eq!(run(busy(seed)), run(busy(seed)));
    }
}

#[test]
fn the_same_seed_gives_the_same_run_on_another_thread_and_in_another_order() {
    let here: Vec<_> = (0..20).map(|seed| run(busy(seed))).collect();
    let there = thread::spawn(|| (0..20).rev().map(|seed| run(busy(seed))).collect::<Vec<_>>());
    assert_eq!(here, there.join().unwrap().into_iter().rev().collect::<Vec<_>>());
}

#[test]
fn different_seeds_give_different_runs() {
    let mut digests: Vec<_> = (0..20).map(|seed| run(busy(seed)).0).collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), 20);
}

/// The canary: node code that looks at something outside of its world is caught by the comparison.
#[test]
fn a_planted_nondeterminism_is_noticed() {
    thread_local!(static RUNS: Cell<u64> = const { Cell::new(0) });
    let planted = |seed| {
        let planted = busy(seed).node("d", |node, log| async move {
            let runs = RUNS.with(|runs| runs.replace(runs.get() + 1));
            node.sleep(ms(100 + runs)).await;
            log.add("planted");
        });
        run(planted)
    };
    let (first, second) = (planted(1), planted(1));
    assert_ne!(first.0, second.0);
    assert_ne!(first.1, second.1);
    let elsewhere = thread::spawn(move || planted(1)).join().unwrap();
    assert_eq!(elsewhere, first, "nothing else differs");
}

#[test]
fn another_fault_does_not_reshuffle_what_it_does_not_touch() {
    let drawn = |stage: Stage| -> Vec<String> {
        let log = run(stage.node("z", |node, log| async move {
            for _ in 0..10 {
                log.add(format_args!("z drew {}", node.draw(0..=1_000_000)));
                node.sleep(ms(100)).await;
            }
        }));
        log.1.into_iter().filter(|line| line.contains("z drew")).collect()
    };
    let more = busy(1).fault(What::Kill, node("a"), at(ms(5)), for_ms(5));
    assert_eq!(drawn(busy(1)), drawn(more));
}
