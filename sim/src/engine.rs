//! The seam between the world and what runs it.
//!
//! Everything that makes a simulated world – nodes, clocks, connections, disks, faults, randomness – lies
//! above the seam. Below it lie only time, the order of events, and the polling of tasks.

use std::future::Future;
use std::pin::Pin;

use crate::event::Event;
use crate::native::Native;

/// A task of a node, or of nobody.
pub(crate) type TaskFuture = Pin<Box<dyn Future<Output = ()>>>;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// Nothing is left that could happen.
    Quiescent,
    /// Somebody asked for the end.
    Stopped,
    /// The time limit was reached.
    TimeLimit,
}

/// An engine. A plain build has one variant, and the branch costs nothing.
pub(crate) enum Engine {
    Native(Native),
}

macro_rules! delegate {
    ($self:ident, $engine:ident => $call:expr) => {
        match $self {
            Engine::Native($engine) => $call,
        }
    };
}

impl Engine {
    /// True time, in nanoseconds since the start.
    pub(crate) fn now(&self) -> u64 {
        delegate!(self, engine => engine.now())
    }

    /// Lets an event fire at `at`; events of one instant fire in the order of their scheduling.
    pub(crate) fn schedule(&self, at: u64, event: Event) {
        delegate!(self, engine => engine.schedule(at, event))
    }

    /// Reserves the next place among the events of whatever instant.
    pub(crate) fn next_seq(&self) -> u64 {
        delegate!(self, engine => engine.next_seq())
    }

    /// Lets an event fire at `at`, in a place that was reserved.
    pub(crate) fn schedule_seq(&self, at: u64, seq: u64, event: Event) {
        delegate!(self, engine => engine.schedule_seq(at, seq, event))
    }

    /// Makes room for a host, or for its next incarnation: tasks of the one before are gone.
    pub(crate) fn add_host(&self) -> u32 {
        delegate!(self, engine => engine.add_host())
    }

    /// Runs a task on a host.
    pub(crate) fn spawn(&self, host: u32, task: TaskFuture) {
        delegate!(self, engine => engine.spawn(host, task))
    }

    /// Stops polling the tasks of a host.
    pub(crate) fn pause(&self, host: u32) {
        delegate!(self, engine => engine.pause(host))
    }

    /// Polls the tasks of a host again; those that became ready meanwhile in the order that `arrange` makes.
    pub(crate) fn resume(&self, host: u32, arrange: impl FnOnce(&mut [TaskId])) {
        delegate!(self, engine => engine.resume(host, arrange))
    }

    /// Forgets all tasks of a host. What their destructors do must have no effect.
    pub(crate) fn kill(&self, host: u32) {
        delegate!(self, engine => engine.kill(host))
    }

    /// Runs until nothing is left, `stop` says so, or true time `until_ns`.
    pub(crate) fn run(&self, until_ns: u64, stop: &dyn Fn() -> bool, fire: &dyn Fn(Event)) -> RunEnd {
        delegate!(self, engine => engine.run(until_ns, stop, fire))
    }

    /// Forgets all tasks, so that a world that its tasks point to can be freed.
    pub(crate) fn clear(&self) {
        delegate!(self, engine => engine.clear())
    }
}

/// A task, by its place and by how often that place was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskId {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}
