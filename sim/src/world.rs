//! A simulated world: who builds and runs it, and who watches it from outside.

use std::fmt;
use std::future::Future;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

use crate::clock::{Clock, EPOCH_NS};
use crate::core::{Core, OBSERVERS};
use crate::engine::RunEnd;
use crate::fault::Fault;
use crate::nemesis::Notice;
use crate::net::Latency;
use crate::node::{Boot, Life, Node, NodeId, NodeState, nanos};
use crate::rng::{Concern, Stream};
use crate::timer::{Basis, Timer};

/// A simulated world: nodes, their clocks, network and disks, and the faults that befall them.
///
/// Everything in it lives on one thread and depends on nothing but the seed and what was added.
pub struct World {
    core: Rc<Core>,
}

/// Sees true time and every clock, is never stopped, and changes nothing: for recording and for starting
/// what a run needs. Node code must not have one.
#[derive(Clone)]
pub struct Probe {
    core: Rc<Core>,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "World(seed {}, at {} ns)", self.core.seed, self.core.engine.now())
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Probe(at {} ns)", self.core.engine.now())
    }
}

impl World {
    /// An empty world.
    pub fn new(seed: u64) -> Self {
        World { core: Rc::new(Core::new(seed)) }
    }

    /// Adds a node. `boot` is what its process runs: at the start of the run, and after each restart.
    pub fn add_node<F>(&mut self, name: &str, boot: impl Fn(Node) -> F + 'static) -> NodeId
    where
        F: Future<Output = ()> + 'static,
    {
        assert!(self.core.node_id(name).is_none(), "two nodes are called {name:?}");
        let mut nodes = self.core.nodes.borrow_mut();
        let id = NodeId(nodes.len() as u32);
        nodes.push(NodeState {
            name: name.to_owned(),
            boot: Rc::new(move |node| Box::pin(boot(node))),
            host: OBSERVERS,
            life: Life::Host,
            pauses: 0,
            outages: 0,
            wall: Clock::starting_at(EPOCH_NS),
            monotonic: Clock::starting_at(0),
            own_rates: (0, 0),
            stream: Stream::new(self.core.seed, Concern::Workload, id.0),
        });
        id
    }

    /// Sets the latency of all links.
    pub fn set_latency(&mut self, latency: Latency) {
        self.core.network.borrow_mut().set_latency(latency);
    }

    /// Sets the latency of one link, one way.
    pub fn set_link_latency(&mut self, from: NodeId, to: NodeId, latency: Latency) {
        self.core.network.borrow_mut().set_link_latency(from, to, latency);
    }

    /// Sets how long an `fsync` takes on a node.
    pub fn set_fsync(&mut self, node: NodeId, latency: RangeInclusive<Duration>) {
        self.core.disks.borrow_mut().set_fsync(node, latency);
    }

    /// Sets how far off a node's wall clock is at the start, and how much its clocks gain, in parts per
    /// million.
    ///
    /// # Panics
    /// If the world has run already: then only faults change clocks.
    pub fn set_clock(&mut self, node: NodeId, offset_ns: i64, wall_ppm: i64, monotonic_ppm: i64) {
        assert_eq!(self.core.engine.now(), 0, "clocks are set before the run");
        let mut nodes = self.core.nodes.borrow_mut();
        let state = &mut nodes[node.0 as usize];
        state.wall = Clock::starting_at(EPOCH_NS.saturating_add(offset_ns));
        state.wall.set_rate(0, wall_ppm);
        state.monotonic.set_rate(0, monotonic_ppm);
        state.own_rates = (wall_ppm, monotonic_ppm);
    }

    /// Adds a fault schedule: what it names happens, and nothing else.
    ///
    /// # Panics
    /// If a fault should begin at a time that is over.
    pub fn add_faults(&mut self, faults: &[Fault]) {
        self.core.load_faults(faults);
    }

    /// Is told of each fault at the instant at which it begins or ends.
    pub fn observe_faults(&mut self, observer: impl Fn(&Notice) + 'static) {
        self.core.set_fault_observer(Rc::new(observer));
    }

    /// The names of the nodes, by their numbers.
    pub fn node_names(&self) -> Vec<String> {
        self.core.nodes.borrow().iter().map(|node| node.name.clone()).collect()
    }

    /// What watches this world.
    pub fn probe(&self) -> Probe {
        Probe { core: self.core.clone() }
    }

    /// Starts all nodes in the order in which they were added, and runs until nothing is left that could
    /// happen, a probe stops it, or true time is `limit`. A later call goes on from there.
    ///
    /// # Panics
    /// If code of a node panics, if a fault names a node that does not exist, or if the world makes no
    /// progress: millions of steps without time going on.
    pub fn run(&mut self, limit: Duration) -> RunEnd {
        self.core.check_faults();
        let nodes = self.core.nodes.borrow().len() as u32;
        for node in (0..nodes).map(NodeId) {
            if self.core.nodes.borrow()[node.0 as usize].host == OBSERVERS {
                self.core.boot(node);
            }
        }
        let (stop, fire) = (|| self.core.stop.get(), |event| self.core.fire(event));
        let end = self.core.engine.run(nanos(limit), &stop, &fire);
        self.core.stop.set(false);
        end
    }

    /// A number made from every event of the run: its instant, its kind, whom it concerns. Two runs whose
    /// events differ differ in it. What messages and files hold is not in it: compare histories for that.
    pub fn digest(&self) -> u64 {
        self.core.digest()
    }
}

impl Drop for World {
    /// Tasks, services and observers point back to the world: without this nothing of it would be freed.
    fn drop(&mut self) {
        for node in self.core.nodes.borrow_mut().iter_mut() {
            node.life = Life::Nothing;
        }
        self.core.engine.clear();
        // Nodes stay: handles may outlive the world, and their destructors look for themselves.
        let nothing: Boot = Rc::new(|_| Box::pin(std::future::pending()));
        let replace = |node: &mut NodeState| std::mem::replace(&mut node.boot, nothing.clone());
        let boots: Vec<_> = self.core.nodes.borrow_mut().iter_mut().map(replace).collect();
        drop(boots);
        let services = self.core.network.borrow_mut().take_services();
        drop(services);
        let observer = self.core.nemesis.take();
        drop(observer);
    }
}

impl Probe {
    /// True time, in nanoseconds since the start of the run.
    pub fn now_ns(&self) -> u64 {
        self.core.engine.now()
    }

    /// What a node's wall clock shows, in nanoseconds since 1970.
    pub fn wall_ns(&self, node: NodeId) -> i64 {
        self.core.nodes.borrow()[node.0 as usize].wall.read(self.core.engine.now())
    }

    /// When a node's monotonic clock shows `monotonic_ns`, in true time, at its present rate: in the past or
    /// in the future.
    pub fn true_ns_of_monotonic(&self, node: NodeId, monotonic_ns: u64) -> u64 {
        let reading = i64::try_from(monotonic_ns).unwrap_or(i64::MAX);
        let nodes = self.core.nodes.borrow();
        nodes[node.0 as usize].monotonic.time_of(reading)
    }

    /// The node of this name.
    pub fn node_id(&self, name: &str) -> Option<NodeId> {
        self.core.node_id(name)
    }

    /// Ends when a node's wall clock shows `wall_ns` or more, whether its process runs or not.
    pub async fn wall_reaches(&self, node: NodeId, wall_ns: i64) {
        Timer::at_reading(&self.core, Basis::Wall(node), wall_ns).await;
    }

    /// Ends when `duration` of true time has passed.
    pub async fn sleep(&self, duration: Duration) {
        let target = self.core.engine.now().saturating_add(nanos(duration));
        Timer::at_reading(&self.core, Basis::True, i64::try_from(target).unwrap_or(i64::MAX)).await;
    }

    /// Runs a task that belongs to no node: no fault reaches it.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.core.engine.spawn(OBSERVERS, Box::pin(task));
    }

    /// Ends the run once everything that is ready now has run.
    pub fn stop(&self) {
        self.core.stop.set(true);
    }
}
