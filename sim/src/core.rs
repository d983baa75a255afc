//! What the parts of a world share. Each part adds its own methods in its own file.

use std::cell::{Cell, RefCell};

use crate::disk::Disks;
use crate::engine::Engine;
use crate::event::Event;
use crate::native::Native;
use crate::nemesis::Nemesis;
use crate::net::Network;
use crate::node::{Life, NodeId, NodeState};
use crate::rng::{Concern, Stream};
use crate::timer::Timers;

/// The tasks of observers run on this host of the engine; no fault reaches it.
pub(crate) const OBSERVERS: u32 = 0;

pub(crate) struct Core {
    pub(crate) seed: u64,
    pub(crate) engine: Engine,
    pub(crate) nodes: RefCell<Vec<NodeState>>,
    pub(crate) timers: RefCell<Timers>,
    pub(crate) network: RefCell<Network>,
    pub(crate) disks: RefCell<Disks>,
    pub(crate) nemesis: RefCell<Nemesis>,
    pub(crate) schedule_stream: RefCell<Stream>,
    pub(crate) stop: Cell<bool>,
    digest: Cell<u64>,
}

impl Core {
    pub(crate) fn new(seed: u64) -> Self {
        let engine = Engine::Native(Native::new());
        let observers = engine.add_host();
        assert_eq!(observers, OBSERVERS);
        Core {
            seed,
            engine,
            nodes: RefCell::default(),
            timers: RefCell::default(),
            network: RefCell::new(Network::new(seed)),
            disks: RefCell::new(Disks::new(seed)),
            nemesis: RefCell::default(),
            schedule_stream: RefCell::new(Stream::new(seed, Concern::Schedule, 0)),
            stop: Cell::new(false),
            digest: Cell::new(0),
        }
    }

    /// Handles an event.
    pub(crate) fn fire(self: &std::rc::Rc<Self>, event: Event) {
        self.digest.set(mix(mix(self.digest.get(), self.engine.now()), event.fingerprint()));
        match event {
            Event::Timer { slot, generation } => self.timer_due(slot, generation),
            Event::Connect { attempt } => self.connect_arrives(attempt),
            Event::Connected { attempt } => self.connect_answered(attempt),
            Event::Arrive { endpoint } => self.arrive(endpoint),
            Event::Fault { index } => self.begin_fault(index as usize),
            Event::FaultEnd { index } => self.end_fault(index as usize),
            Event::Synced { node, sync } => self.synced(node, sync),
        }
    }

    /// A number that differs when any event of the run differs.
    pub(crate) fn digest(&self) -> u64 {
        self.digest.get()
    }

    /// Whether this incarnation of a node's process still lives.
    pub(crate) fn lives(&self, node: NodeId, host: u32) -> bool {
        let state = &self.nodes.borrow()[node.0 as usize];
        state.life == Life::Process && state.host == host
    }

    pub(crate) fn node_id(&self, name: &str) -> Option<NodeId> {
        let nodes = self.nodes.borrow();
        nodes.iter().position(|node| node.name == name).map(|index| NodeId(index as u32))
    }
}

fn mix(digest: u64, value: u64) -> u64 {
    (digest.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
