//! A small stage for tests: a world whose links take 1 ms, a log in true time, and short names for faults.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use fencepost_sim::fault::{Fault, PauseCause, Target, What, When};
use fencepost_sim::{Connection, Inbox, Incoming, Latency, Message, Node, NodeId, Probe, World};

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Num(pub u64);

impl Message for Num {
    fn operation(&self) -> Option<u64> {
        Some(self.0)
    }
}

/// What happened, in true time.
#[derive(Clone)]
pub struct Log {
    probe: Probe,
    lines: Rc<RefCell<Vec<String>>>,
}

impl Log {
    pub fn of(world: &World) -> Self {
        Log { probe: world.probe(), lines: Rc::default() }
    }

    pub fn add(&self, what: impl std::fmt::Display) {
        let now = Duration::from_nanos(self.probe.now_ns());
        self.lines.borrow_mut().push(format!("{now:?} {what}"));
    }

    pub fn lines(&self) -> Vec<String> {
        self.lines.borrow().clone()
    }

    pub fn probe(&self) -> &Probe {
        &self.probe
    }
}

/// A world and its log.
pub struct Stage {
    pub world: World,
    pub log: Log,
}

impl Stage {
    pub fn new(seed: u64) -> Self {
        let mut world = World::new(seed);
        world.set_latency(Latency::Constant(ms(1)));
        let log = Log::of(&world);
        Stage { world, log }
    }

    pub fn latency(mut self, latency: Latency) -> Self {
        self.world.set_latency(latency);
        self
    }

    pub fn node<F>(mut self, name: &str, boot: impl Fn(Node, Log) -> F + 'static) -> Self
    where
        F: Future<Output = ()> + 'static,
    {
        let log = self.log.clone();
        self.world.add_node(name, move |node| boot(node, log.clone()));
        self
    }

    /// A node that offers "echo", works for `work` on each request, and logs what it gets.
    pub fn echo(self, name: &str, work: Duration) -> Self {
        self.node(name, move |node, log| async move {
            let inbox = inbox(&node);
            loop {
                match inbox.recv().await {
                    (peer, Incoming::Message(Num(number))) => {
                        log.add(format_args!("got {number}"));
                        if work > Duration::ZERO {
                            node.work("serve", work).await;
                        }
                        peer.send(Num(number));
                    }
                    (_, Incoming::Ended(how)) => log.add(format_args!("ended {how:?}")),
                }
            }
        })
    }

    pub fn fault(mut self, what: What, target: Target, when: When, lasts: Option<Duration>) -> Self {
        self.world.add_faults(&[fault(what, target, when, lasts)]);
        self
    }

    /// Also logs what faults do.
    pub fn observed(mut self) -> Self {
        let log = self.log.clone();
        self.world.observe_faults(move |notice| log.add(format_args!("{notice:?}")));
        self
    }

    /// Runs for at most an hour and returns the log.
    pub fn run(mut self) -> Vec<String> {
        self.world.run(secs(3600));
        self.log.lines()
    }
}

/// The service "echo" of a node.
pub fn inbox(node: &Node) -> Inbox<Num, Num> {
    node.bind("echo")
}

/// A connection to the service "echo" of a node.
pub async fn connect(node: &Node, to: &str) -> Connection<Num, Num> {
    node.connect(node.lookup(to), "echo").await.expect("somebody listens")
}

pub fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub fn ns(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

pub fn fault(what: What, target: Target, when: When, lasts: Option<Duration>) -> Fault {
    Fault { what, target, when, lasts_ns: lasts.map(ns) }
}

pub fn pause() -> What {
    What::Pause { cause: PauseCause::Gc }
}

pub fn cut(to: &str) -> What {
    What::Cut { to: node(to), both_ways: false }
}

pub fn node(name: &str) -> Target {
    Target::Node(name.to_owned())
}

pub fn role(name: &str) -> Target {
    Target::Role(name.to_owned())
}

pub fn at(time: Duration) -> When {
    When::Time { ns: ns(time) }
}

pub fn point(name: &str, passing: u64) -> When {
    When::Point { name: name.to_owned(), passing }
}

pub fn event(name: &str, occurrence: u64, after: Duration) -> When {
    When::Event { name: name.to_owned(), occurrence, after_ns: ns(after) }
}

pub fn for_ms(time: u64) -> Option<Duration> {
    Some(ms(time))
}

/// The first node that was added.
pub const FIRST: NodeId = NodeId(0);
