//! Records a run as a history.
//!
//! The recorder sees true time; the code that it watches does not. What a killed process still does before
//! it is dropped leaves no trace: every record of a node goes through its [`Scribe`], which is mute then.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use fencepost_checker::history::{
    DebitId, Entry, Event, F, Fault, Hold, NodeId, Op, OpId, StopKind, WorkerId,
};
use fencepost_sim::fault::PauseCause;
use fencepost_sim::{Node, Notice, Probe};

/// Collects the entries of one run and hands out the numbers that they use.
#[derive(Debug)]
pub struct Recorder {
    probe: Probe,
    entries: RefCell<Vec<Entry>>,
    ops: Cell<u64>,
    holds: Cell<u64>,
    debits: Cell<u64>,
}

impl Recorder {
    /// A recorder of the world that `probe` watches.
    pub fn new(probe: Probe) -> Rc<Self> {
        Rc::new(Recorder {
            probe,
            entries: RefCell::new(Vec::with_capacity(512)),
            ops: Cell::new(0),
            holds: Cell::new(0),
            debits: Cell::new(0),
        })
    }

    /// What watches the world.
    pub fn probe(&self) -> &Probe {
        &self.probe
    }

    /// Adds an entry, now.
    pub fn push(&self, event: Event) {
        let mut entries = self.entries.borrow_mut();
        let index = entries.len() as u64;
        entries.push(Entry { index, time_ns: self.probe.now_ns(), event });
    }

    /// Takes all entries out.
    pub fn take(&self) -> Vec<Entry> {
        self.entries.take()
    }

    /// A number for an operation.
    pub fn next_op(&self) -> OpId {
        OpId(count(&self.ops))
    }

    /// A name for a grant, before anybody asks for it.
    pub fn next_hold(&self) -> Hold {
        Hold(count(&self.holds))
    }

    /// A number for a debit.
    pub fn next_debit(&self) -> DebitId {
        DebitId(count(&self.debits))
    }

    /// Adds what the nemesis did.
    pub fn nemesis(&self, notice: &Notice) {
        let node = |node: fencepost_sim::NodeId| NodeId(node.0);
        let fault = match *notice {
            Notice::Stop { node: n, cause } => Fault::Stop { node: node(n), kind: stop_kind(cause) },
            Notice::Resume { node: n } => Fault::Resume { node: node(n) },
            Notice::Kill { node: n } => Fault::Kill { node: node(n) },
            Notice::PowerOff { node: n } => Fault::PowerOff { node: node(n) },
            Notice::Restart { node: n } => Fault::Restart { node: node(n) },
            Notice::ClockStep { node: n, by_ns } => Fault::ClockStep { node: node(n), by_ns },
            Notice::ClockRate { node: n, wall_ppm, monotonic_ppm } => {
                Fault::ClockRate { node: node(n), wall_ppm, monotonic_ppm }
            }
            Notice::HoldMessage { from, to, operation } => {
                Fault::HoldMessage { from: node(from), to: node(to), op: operation.map(OpId) }
            }
            Notice::DeliverMessage { from, to, operation } => {
                Fault::DeliverMessage { from: node(from), to: node(to), op: operation.map(OpId) }
            }
            Notice::Cut { from, to } => Fault::Cut { from: node(from), to: node(to) },
            Notice::Heal { from, to } => Fault::Heal { from: node(from), to: node(to) },
        };
        self.push(Event::Nemesis(fault));
    }
}

fn count(counter: &Cell<u64>) -> u64 {
    counter.set(counter.get() + 1);
    counter.get()
}

fn stop_kind(cause: PauseCause) -> StopKind {
    match cause {
        PauseCause::Gc => StopKind::Gc,
        PauseCause::Sigstop => StopKind::Sigstop,
        PauseCause::PageFault => StopKind::PageFault,
        PauseCause::VmSteal => StopKind::VmSteal,
    }
}

/// Records what one worker does.
#[derive(Clone, Debug)]
pub struct Scribe {
    recorder: Rc<Recorder>,
    node: Node,
    worker: WorkerId,
}

impl Scribe {
    /// The scribe of a worker that runs on a node.
    pub fn new(recorder: &Rc<Recorder>, node: &Node, worker: WorkerId) -> Self {
        Scribe { recorder: recorder.clone(), node: node.clone(), worker }
    }

    /// Whose scribe this is.
    pub fn worker(&self) -> WorkerId {
        self.worker
    }

    /// What the scribe writes into.
    pub fn recorder(&self) -> &Rc<Recorder> {
        &self.recorder
    }

    /// Adds an entry, unless the worker's process is dead.
    pub fn record(&self, event: Event) {
        if self.node.is_alive() {
            self.recorder.push(event);
        }
    }

    /// A new operation of this worker; `record` it as [`Event::Invoke`] before anything is sent.
    pub fn operation(&self, f: F) -> Op {
        let mut op = Op::new(self.recorder.next_op(), self.worker, f);
        op.wall_ns = Some(self.node.wall_ns());
        op
    }

    /// A completion of an operation: the same, at the worker's present wall time.
    pub fn completion(&self, invocation: &Op) -> Op {
        Op { wall_ns: Some(self.node.wall_ns()), value: None, ..invocation.clone() }
    }

    /// When the worker's monotonic clock will show `monotonic_ns`, in true time.
    pub fn true_ns_of(&self, monotonic_ns: u64) -> u64 {
        self.recorder.probe.true_ns_of_monotonic(self.node.id(), monotonic_ns)
    }

    /// True time, for records only.
    pub fn now_ns(&self) -> u64 {
        self.recorder.probe.now_ns()
    }
}
