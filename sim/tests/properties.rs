//! Random small worlds under random fault schedules keep what the crate promises.

mod support;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use fencepost_sim::fault::{Fault, PauseCause, Target, What, When};
use fencepost_sim::{Incoming, Latency, Message, Node, NodeId, Notice, RunEnd, World};
use proptest::prelude::*;
use support::{Log, ms, ns, secs};

/// The number of a message on its connection, from 1 on; what a dead process sends has none.
struct Numbered(u64);

impl Message for Numbered {}

/// What a seed does not say about a world.
#[derive(Clone, Debug)]
struct Plan {
    seed: u64,
    nodes: u32,
    latency_ms: (u64, u64),
    fsync_ms: (u64, u64),
    drift_ppm: Vec<(i64, i64)>,
    faults: Vec<Fault>,
}

/// Watches a world from outside and knows what must hold.
#[derive(Default)]
struct Witness {
    /// The latest incarnation of each node, whether it is stopped, and whether it lives.
    incarnations: RefCell<BTreeMap<u32, (u64, bool, bool)>>,
    monotonic: RefCell<BTreeMap<u32, u64>>,
    /// What each node wrote last, and what of it `fsync` acknowledged.
    written: RefCell<BTreeMap<u32, u64>>,
    synced: RefCell<BTreeMap<u32, u64>>,
    /// Whether the node's host lost power since the last boot.
    lost_power: RefCell<BTreeMap<u32, bool>>,
}

/// One incarnation of a node.
#[derive(Clone)]
struct Life {
    node: Node,
    incarnation: u64,
    witness: Rc<Witness>,
    log: Log,
}

impl Witness {
    fn notice(&self, notice: &Notice) {
        let change = |node: &NodeId, change: &dyn Fn(&mut (u64, bool, bool))| {
            change(self.incarnations.borrow_mut().get_mut(&node.0).expect("a node has booted"));
        };
        match notice {
            Notice::Stop { node, .. } => change(node, &|state| state.1 = true),
            Notice::Resume { node } => change(node, &|state| state.1 = false),
            Notice::Kill { node } => change(node, &|state| state.2 = false),
            Notice::PowerOff { node } => {
                change(node, &|state| state.2 = false);
                self.lost_power.borrow_mut().insert(node.0, true);
            }
            _ => {}
        }
    }

    fn boot(self: &Rc<Self>, node: &Node, log: &Log) -> Life {
        let mut incarnations = self.incarnations.borrow_mut();
        let entry = incarnations.entry(node.id().0).or_insert((0, false, false));
        assert!(!entry.2, "a process is started while another one lives");
        *entry = (entry.0 + 1, false, true);
        Life { node: node.clone(), incarnation: entry.0, witness: self.clone(), log: log.clone() }
    }
}

impl Life {
    /// Called after each await: only code of a process that lives and runs gets here.
    fn runs(&self, what: impl std::fmt::Display) {
        let id = self.node.id().0;
        let (incarnation, stopped, lives) = self.witness.incarnations.borrow()[&id];
        assert!(
            lives && incarnation == self.incarnation && self.node.is_alive(),
            "the dead of {id} act: {what}"
        );
        assert!(!stopped, "a stopped process acts: {id} {what}");
        let now = self.node.monotonic_ns();
        let before = self.witness.monotonic.borrow_mut().insert(id, now).unwrap_or(0);
        assert!(before <= now, "a monotonic clock went back");
        self.log.add(format_args!("{id}.{incarnation} {what} {}", self.node.wall_ns()));
    }

    /// Serves "count": what arrives on a connection is numbered 1, 2, 3 and so on until its end.
    async fn serve(self) {
        let inbox = self.node.bind::<Numbered, Numbered>("count");
        let mut next: BTreeMap<u32, Option<u64>> = BTreeMap::new();
        loop {
            let (peer, incoming) = inbox.recv().await;
            let expected = next.entry(peer.connection()).or_insert(Some(1));
            let number = expected.expect("nothing arrives after the end");
            match incoming {
                Incoming::Message(Numbered(got)) => {
                    assert_eq!(got, number, "in order and at most once");
                    *expected = Some(number + 1);
                    self.runs(format_args!("serves {got} of {}", peer.connection()));
                    self.node.work("serve", ms(1)).await;
                    self.runs("answers");
                    peer.send(Numbered(got));
                }
                Incoming::Ended(how) => {
                    *expected = None;
                    self.runs(format_args!("reads {how:?} of {}", peer.connection()));
                }
            }
        }
    }

    /// Talks to all other nodes in turn.
    async fn ask(self, nodes: u32) {
        for round in 0.. {
            let to = NodeId((self.node.id().0 + 1 + round % (nodes - 1)) % nodes);
            let opened =
                self.node.timeout(ms(200), self.node.connect::<Numbered, Numbered>(to, "count")).await;
            self.runs(format_args!("connects to {}", to.0));
            let Ok(Ok(connection)) = opened else {
                self.node.sleep(ms(50)).await;
                continue;
            };
            let connection = Rc::new(connection);
            let _last_word = LastWord { life: self.clone(), connection: connection.clone() };
            let (mut sent, mut answered) = (0, 0);
            for _ in 0..self.node.draw(1..=5) {
                for _ in 0..self.node.draw(1..=3) {
                    sent += 1;
                    connection.send(Numbered(sent));
                }
                self.node.work("ask", self.node.draw_duration(ms(0)..=ms(30))).await;
                self.runs("asks");
                match self.node.timeout(ms(40), connection.recv()).await {
                    Ok(Ok(Numbered(got))) => {
                        answered += 1;
                        assert_eq!(got, answered, "in order and at most once");
                        assert!(got <= sent, "nobody answers what was not asked");
                    }
                    Ok(Err(end)) => {
                        assert_eq!(connection.recv().await.map(|_| ()), Err(end), "nothing after the end");
                        break;
                    }
                    Err(_) => {}
                }
                self.runs("goes on");
            }
            self.node.mark("round");
        }
    }

    /// Keeps a counter on the disk.
    async fn count(self) {
        let id = self.node.id().0;
        let on_disk = self.node.disk().read("counter");
        let mut counter = on_disk.try_into().map_or(0, u64::from_le_bytes);
        let written = self.witness.written.borrow().get(&id).copied().unwrap_or(0);
        let synced = self.witness.synced.borrow().get(&id).copied().unwrap_or(0);
        if self.witness.lost_power.borrow_mut().insert(id, false) == Some(true) {
            assert!(
                synced <= counter && counter <= written,
                "an honest fsync lost {synced}: found {counter}"
            );
        } else {
            assert_eq!(counter, written, "the page cache survives a kill");
        }
        assert!(self.node.disk().read("tomb").is_empty(), "a destructor had an effect");
        loop {
            counter += 1;
            self.node.disk().write("counter", counter.to_le_bytes().to_vec());
            self.witness.written.borrow_mut().insert(id, counter);
            if self.node.draw(0..=2) == 0 {
                self.node.disk().fsync("counter").await;
                self.runs("synced");
                self.witness.synced.borrow_mut().insert(id, counter);
            }
            self.node.enter_role("writer");
            self.node.sleep(self.node.draw_duration(ms(1)..=ms(80))).await;
            self.runs("wakes");
            self.node.leave_role("writer");
        }
    }
}

/// Tries to act when it is dropped; of a dead process nothing of it may be seen.
struct LastWord {
    life: Life,
    connection: Rc<fencepost_sim::Connection<Numbered, Numbered>>,
}

impl Drop for LastWord {
    fn drop(&mut self) {
        let node = &self.life.node;
        if !node.is_alive() {
            self.connection.send(Numbered(0));
            node.disk().write("tomb", vec![1]);
            node.enter_role("ghost");
            node.mark("round");
            let other = self.life.clone();
            node.spawn(async move { other.runs("from the grave") });
        }
    }
}

fn run(plan: &Plan) -> (u64, Vec<String>) {
    let mut world = World::new(plan.seed);
    let (low, high) = plan.latency_ms;
    world.set_latency(Latency::Uniform(ms(low)..=ms(high)));
    let witness = Rc::new(Witness::default());
    let log = Log::of(&world);
    let nodes = plan.nodes;
    for index in 0..nodes {
        let (witness, log) = (witness.clone(), log.clone());
        let id = world.add_node(&format!("n{index}"), move |node| {
            let (witness, log) = (witness.clone(), log.clone());
            async move {
                let life = witness.boot(&node, &log);
                node.spawn(life.clone().ask(nodes));
                node.spawn(life.clone().count());
                life.serve().await;
            }
        });
        world.set_fsync(id, ms(plan.fsync_ms.0)..=ms(plan.fsync_ms.1));
        let (wall, monotonic) = plan.drift_ppm[index as usize];
        world.set_clock(id, wall * 1000, wall, monotonic);
    }
    let seen = witness.clone();
    let notices = log.clone();
    world.observe_faults(move |notice| {
        seen.notice(notice);
        notices.add(format_args!("{notice:?}"));
    });
    world.add_faults(&plan.faults);
    let end = world.run(secs(5));
    assert_ne!(end, RunEnd::Stopped);
    (world.digest(), log.lines())
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        3 => (0..2u32).prop_map(|index| Target::Node(format!("n{index}"))),
        1 => Just(Target::Role("writer".to_owned())),
        1 => Just(Target::Role("ghost".to_owned())),
    ]
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        3 => Just(What::Pause { cause: PauseCause::VmSteal }),
        3 => Just(What::Kill),
        3 => Just(What::PowerOff),
        1 => (-10_000_000_000..10_000_000_000i64).prop_map(|by_ns| What::ClockStep { by_ns }),
        1 => (-900_000..900_000i64, -900_000..900_000i64)
            .prop_map(|(wall_ppm, monotonic_ppm)| What::ClockRate { wall_ppm, monotonic_ppm }),
        2 => target().prop_map(|to| What::HoldMessage { to }),
        2 => (target(), any::<bool>()).prop_map(|(to, both_ways)| What::Cut { to, both_ways }),
        1 => Just(What::Isolate),
    ]
}

fn when() -> impl Strategy<Value = When> {
    let points = prop_oneof![Just("ask"), Just("serve")];
    prop_oneof![
        2 => (0..3_000u64).prop_map(|time| When::Time { ns: ns(ms(time)) }),
        1 => (points, 1..10u64).prop_map(|(name, passing)| When::Point { name: name.to_owned(), passing }),
        1 => (1..10u64, 0..200u64).prop_map(|(occurrence, after)| When::Event {
            name: "round".to_owned(),
            occurrence,
            after_ns: ns(ms(after)),
        }),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    let lasts = proptest::option::weighted(0.9, (0..1_500u64).prop_map(|time| ns(ms(time))));
    let fault = (what(), target(), when(), lasts);
    let fault = fault.prop_map(|(what, target, when, lasts_ns)| Fault { what, target, when, lasts_ns });
    let drift = proptest::collection::vec((-500_000..500_000i64, -500_000..500_000i64), 4);
    let faults = proptest::collection::vec(fault, 0..12);
    let ranges = (0..5u64, 0..20u64, 0..5u64, 0..40u64);
    (0..1u64 << 53, 2..=4u32, ranges, drift, faults).prop_map(|(seed, nodes, ranges, drift_ppm, faults)| {
        Plan {
            seed,
            nodes,
            latency_ms: (ranges.0, ranges.0 + ranges.1),
            fsync_ms: (ranges.2, ranges.2 + ranges.3),
            drift_ppm,
            faults,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The assertions are in the world's code and in its witness.
    #[test]
    fn a_random_world_keeps_every_promise_and_does_it_again(plan in plan()) {
        let (first, second) = (run(&plan), run(&plan));
        prop_assert_eq!(first.0, second.0);
        prop_assert_eq!(first.1, second.1);
    }
}

#[test]
fn the_random_worlds_are_busy_enough_to_mean_something() {
    let drift_ppm = vec![(0, 0); 4];
    let plan =
        Plan { seed: 1, nodes: 3, latency_ms: (1, 5), fsync_ms: (1, 5), drift_ppm, faults: Vec::new() };
    let (_, log) = run(&plan);
    for what in ["serves 5 of", "answers", "goes on", "synced", "wakes", "reads Closed of"] {
        assert!(log.iter().any(|line| line.contains(what)), "nobody {what}");
    }
}
