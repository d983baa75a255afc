//! Nodes, and the handle by which their code sees the world.

use std::fmt;
use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::core::Core;
use crate::disk::Disk;
use crate::engine::TaskFuture;
use crate::net::{ConnectError, Connection, Inbox, Message};
use crate::rng::Stream;
use crate::timer::{Basis, Timer};

/// A node: its place in the order in which the nodes of a world were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

/// What a node runs when it starts, and again when it restarts.
pub(crate) type Boot = Rc<dyn Fn(Node) -> TaskFuture>;

pub(crate) struct NodeState {
    pub(crate) name: String,
    pub(crate) boot: Boot,
    /// The engine's host of the present incarnation.
    pub(crate) host: u32,
    pub(crate) life: Life,
    /// How many faults keep the process stopped now.
    pub(crate) pauses: u32,
    /// How many faults keep the host without power now.
    pub(crate) outages: u32,
    pub(crate) wall: Clock,
    pub(crate) monotonic: Clock,
    /// What the clocks gain when no fault lets them run otherwise: (wall, monotonic) in parts per million.
    pub(crate) own_rates: (i64, i64),
    pub(crate) stream: Stream,
}

/// How much of a node is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// Its process runs, or is stopped.
    Process,
    /// Its host runs without the process: it answers with resets.
    Host,
    /// Its host has no power: silence.
    Nothing,
}

/// The handle by which the code of a node sees the world: its own clocks, connections and disk, and nothing
/// of true time or of other nodes.
///
/// A handle belongs to one incarnation. After a kill nothing that is done with it has an effect, and what is
/// awaited on it never ends.
#[derive(Clone)]
pub struct Node {
    pub(crate) core: Rc<Core>,
    pub(crate) id: NodeId,
    pub(crate) host: u32,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({})", self.id.0)
    }
}

/// A time-out passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

impl Node {
    /// Which node this is.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The node's name.
    pub fn name(&self) -> String {
        self.core.nodes.borrow()[self.id.0 as usize].name.clone()
    }

    /// Whether this incarnation still lives: code of a killed one may run on to its next await.
    pub fn is_alive(&self) -> bool {
        self.core.lives(self.id, self.host)
    }

    /// The wall clock: nanoseconds since 1970, as this node believes.
    pub fn wall_ns(&self) -> i64 {
        self.core.nodes.borrow()[self.id.0 as usize].wall.read(self.core.engine.now())
    }

    /// The wall clock in whole milliseconds since 1970.
    pub fn wall_ms(&self) -> i64 {
        self.wall_ns().div_euclid(1_000_000)
    }

    /// The monotonic clock: nanoseconds since some instant, never going back.
    pub fn monotonic_ns(&self) -> u64 {
        let reading = self.core.nodes.borrow()[self.id.0 as usize].monotonic.read(self.core.engine.now());
        u64::try_from(reading).expect("a monotonic clock starts at 0 and never goes back")
    }

    /// What the monotonic clock shows when `duration` has passed.
    pub(crate) fn monotonic_deadline(&self, duration: Duration) -> i64 {
        signed(self.monotonic_ns().saturating_add(nanos(duration)))
    }

    /// Waits by the monotonic clock, from the call on. Overdue after a pause, it ends at the resume.
    pub fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + use<> {
        let target = self.monotonic_deadline(duration);
        let node = self.clone();
        async move { Timer::at_reading(&node.core, Basis::Monotonic(node.id), target).await }
    }

    /// Waits until the wall clock shows `wall_ns`; a step of the clock may bring that forward or put it off.
    pub async fn sleep_until_wall(&self, wall_ns: i64) {
        Timer::at_reading(&self.core, Basis::Wall(self.id), wall_ns).await;
    }

    /// Computes for a while, at a named point. A pause stops the work and the rest follows after the resume.
    ///
    /// A fault that is aimed at a passing of this point fires at its entry.
    pub async fn work(&self, point: &'static str, duration: Duration) {
        self.core.pass_point(self, point);
        // Even work that takes no time is an event of its own, after the fault: the code does not run on.
        Timer::running(&self.core, self.id, nanos(duration)).await;
    }

    /// Passes a named point at which no time is spent: only a fault that is aimed at it makes the code wait.
    pub async fn point(&self, point: &'static str) {
        if self.core.pass_point(self, point) {
            Timer::running(&self.core, self.id, 0).await;
        }
    }

    /// Ends with the future, or with [`Elapsed`] once the monotonic clock has gone on by `duration`. If both
    /// are due when the process gets to run, the future wins.
    ///
    /// # Errors
    /// [`Elapsed`]: the future is dropped; what it had sent stays sent.
    pub async fn timeout<F: Future>(&self, duration: Duration, future: F) -> Result<F::Output, Elapsed> {
        let mut future = pin!(future);
        let mut timer = pin!(self.sleep(duration));
        std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => timer.as_mut().poll(cx).map(|()| Err(Elapsed)),
        })
        .await
    }

    /// Runs another task of this node, beside the present one.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        if self.is_alive() {
            self.core.engine.spawn(self.host, Box::pin(task));
        }
    }

    /// The node of this name.
    ///
    /// # Panics
    /// If there is none: names are wired by whoever builds the world.
    pub fn lookup(&self, name: &str) -> NodeId {
        self.core.node_id(name).unwrap_or_else(|| panic!("no node is called {name:?}"))
    }

    /// Offers a service: what clients send to it arrives in the inbox, also while the process is stopped.
    pub fn bind<In: Message, Out: Message>(&self, service: &'static str) -> Inbox<In, Out> {
        Inbox::bind(self, service)
    }

    /// Connects to a service of another node.
    ///
    /// # Errors
    /// [`ConnectError`] if no process offers the service there. As long as the host is silent, this waits.
    pub async fn connect<Out: Message, In: Message>(
        &self,
        to: NodeId,
        service: &'static str,
    ) -> Result<Connection<Out, In>, ConnectError> {
        Connection::open(self, to, service).await
    }

    /// The disk of the node's host.
    pub fn disk(&self) -> Disk {
        Disk::new(self.clone())
    }

    /// A number drawn from the node's own stream. A dead process draws the lowest.
    ///
    /// # Panics
    /// If the range is empty.
    pub fn draw(&self, range: RangeInclusive<u64>) -> u64 {
        if !self.is_alive() {
            return *range.start();
        }
        self.core.nodes.borrow_mut()[self.id.0 as usize].stream.between(*range.start(), *range.end())
    }

    /// A duration drawn from the node's own stream.
    ///
    /// # Panics
    /// If the range is empty.
    pub fn draw_duration(&self, range: RangeInclusive<Duration>) -> Duration {
        Duration::from_nanos(self.draw(nanos(*range.start())..=nanos(*range.end())))
    }

    /// Says that something happened after which a fault may begin.
    pub fn mark(&self, event: &'static str) {
        if self.is_alive() {
            self.core.mark(event);
        }
    }

    /// Plays a role from now on, so that faults can aim at it.
    pub fn enter_role(&self, role: &'static str) {
        if self.is_alive() {
            self.core.enter_role(self.id, role);
        }
    }

    /// Plays a role no longer.
    pub fn leave_role(&self, role: &'static str) {
        if self.is_alive() {
            self.core.leave_role(self.id, role);
        }
    }
}

impl Core {
    pub(crate) fn is_paused(&self, node: NodeId) -> bool {
        self.nodes.borrow()[node.0 as usize].pauses > 0
    }

    /// Starts the node's process: at the beginning, and after its end.
    pub(crate) fn boot(self: &Rc<Self>, id: NodeId) {
        let host = self.engine.add_host();
        let boot = {
            let mut nodes = self.nodes.borrow_mut();
            let state = &mut nodes[id.0 as usize];
            (state.host, state.life, state.pauses) = (host, Life::Process, 0);
            state.boot.clone()
        };
        let node = Node { core: self.clone(), id, host };
        self.engine.spawn(host, boot(node));
    }
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}
