//! Executes a fault schedule: when a fault begins, whom it hits, when it ends.
//!
//! Every fault begins as an event of its own, also one that code triggers (by passing a point, marking an
//! event or entering a role). So no code runs on in a process that was stopped or killed.

mod effects;
mod notice;

use std::rc::Rc;

use crate::core::Core;
use crate::event::Event;
use crate::fault::{Fault, Target, What, When};
use crate::node::{Node, NodeId};

pub use notice::Notice;

/// Is told of each fault when it begins or ends.
pub(crate) type FaultObserver = Rc<dyn Fn(&Notice)>;

#[derive(Default)]
pub(crate) struct Nemesis {
    faults: Vec<State>,
    /// Who plays which role, in the order of entering; twice if entered twice.
    roles: Vec<(&'static str, NodeId)>,
    /// How often each event occurred.
    occurrences: Vec<(&'static str, u64)>,
    /// How many faults want the next message of their victims.
    lurking: u32,
    /// Faults that set the clocks' rates now, in the order in which they began.
    rates: Vec<Rates>,
    observer: Option<FaultObserver>,
}

struct State {
    fault: Fault,
    phase: Phase,
    /// How often the target passed the fault's point.
    passings: u64,
    /// Whom it hit, or will hit as the one who triggered it.
    victim: Option<NodeId>,
    /// What ends it.
    undo: Option<Undo>,
    /// The operation in the message that it held.
    operation: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It waits for its trigger.
    Waiting,
    /// Its event is on the heap.
    Triggered,
    /// Its time has come, but nobody plays the role.
    Due,
    /// It wants the next message of its victim.
    Lurking,
    /// It began.
    Active,
    /// It is over, or lasts for ever.
    Over,
}

/// What takes a fault back. It names what was changed, not what its target means by then.
enum Undo {
    Resume { node: NodeId, host: u32 },
    Restart { node: NodeId, host: u32 },
    PowerOn { node: NodeId },
    StepBack { node: NodeId, by_ns: i64 },
    Rates { node: NodeId },
    Heal { links: Vec<(NodeId, NodeId)> },
}

/// The rates that a fault gives to the clocks of a node.
struct Rates {
    fault: usize,
    node: NodeId,
    wall_ppm: i64,
    monotonic_ppm: i64,
}

impl Core {
    pub(crate) fn set_fault_observer(&self, observer: FaultObserver) {
        self.nemesis.borrow_mut().observer = Some(observer);
    }

    /// Takes a schedule over. Faults at fixed times are put on the heap; the others wait for their trigger.
    pub(crate) fn load_faults(&self, faults: &[Fault]) {
        let mut nemesis = self.nemesis.borrow_mut();
        for fault in faults {
            let mut phase = Phase::Waiting;
            if let When::Time { ns } = fault.when {
                self.engine.schedule(ns, Event::Fault { index: nemesis.faults.len() as u32 });
                phase = Phase::Triggered;
            }
            let (fault, passings, victim, undo, operation) = (fault.clone(), 0, None, None, None);
            nemesis.faults.push(State { fault, phase, passings, victim, undo, operation });
        }
    }

    /// A fault whose node does not exist would never do anything: somebody misspelt a name.
    pub(crate) fn check_faults(&self) {
        for state in &self.nemesis.borrow().faults {
            for target in [Some(&state.fault.target), state.fault.what.other()].into_iter().flatten() {
                if let Target::Node(name) = target {
                    assert!(
                        self.node_id(name).is_some(),
                        "a fault names a node that does not exist: {name:?}"
                    );
                }
            }
        }
    }

    pub(crate) fn enter_role(&self, node: NodeId, role: &'static str) {
        let now = self.engine.now();
        let mut nemesis = self.nemesis.borrow_mut();
        nemesis.roles.push((role, node));
        for (index, state) in nemesis.faults.iter_mut().enumerate() {
            let plays = |target: &Target| matches!(target, Target::Role(name) if name == role);
            if state.phase == Phase::Due
                && (plays(&state.fault.target) || state.fault.what.other().is_some_and(plays))
            {
                state.phase = Phase::Triggered;
                self.engine.schedule(now, Event::Fault { index: index as u32 });
            }
        }
    }

    pub(crate) fn leave_role(&self, node: NodeId, role: &'static str) {
        let mut nemesis = self.nemesis.borrow_mut();
        if let Some(place) = nemesis.roles.iter().position(|entry| *entry == (role, node)) {
            nemesis.roles.remove(place);
        }
    }

    pub(crate) fn mark(&self, event: &'static str) {
        let now = self.engine.now();
        let mut nemesis = self.nemesis.borrow_mut();
        let nemesis = &mut *nemesis;
        let place = match nemesis.occurrences.iter().position(|(name, _)| *name == event) {
            Some(place) => place,
            None => {
                nemesis.occurrences.push((event, 0));
                nemesis.occurrences.len() - 1
            }
        };
        nemesis.occurrences[place].1 += 1;
        let count = nemesis.occurrences[place].1;
        for (index, state) in nemesis.faults.iter_mut().enumerate() {
            if let When::Event { name, occurrence, after_ns } = &state.fault.when
                && name == event
                && *occurrence == count
            {
                assert_eq!(state.phase, Phase::Waiting, "an occurrence happens once");
                state.phase = Phase::Triggered;
                self.engine.schedule(now.saturating_add(*after_ns), Event::Fault { index: index as u32 });
            }
        }
    }

    /// A node passes a point; tells whether that begins a fault, which fires as an event of its own.
    pub(crate) fn pass_point(&self, node: &Node, point: &str) -> bool {
        if self.nemesis.borrow().faults.is_empty() || !node.is_alive() {
            return false;
        }
        let mut fires = false;
        let mut nemesis = self.nemesis.borrow_mut();
        for index in 0..nemesis.faults.len() {
            let State { phase, fault, .. } = &nemesis.faults[index];
            let When::Point { name, passing } = &fault.when else { continue };
            if *phase != Phase::Waiting || name != point || !self.means(&nemesis, &fault.target, node.id) {
                continue;
            }
            let passing = *passing;
            let state = &mut nemesis.faults[index];
            state.passings += 1;
            if state.passings == passing {
                (state.phase, state.victim) = (Phase::Triggered, Some(node.id));
                self.engine.schedule(self.engine.now(), Event::Fault { index: index as u32 });
                fires = true;
            }
        }
        fires
    }

    /// Begins a fault: on the one who triggered it, else on whoever its target means now.
    pub(crate) fn begin_fault(&self, index: usize) {
        let (fault, victim) = {
            let mut nemesis = self.nemesis.borrow_mut();
            let State { fault, phase, victim, .. } = &nemesis.faults[index];
            assert_eq!(*phase, Phase::Triggered, "a fault fires once, after its trigger");
            let victim = victim.or_else(|| self.resolve(&nemesis, &fault.target).first().copied());
            let nobody_there = match &fault.what {
                What::Cut { to, .. } => self.resolve(&nemesis, to).is_empty(),
                _ => false,
            };
            let holds = matches!(fault.what, What::HoldMessage { .. });
            let Some(victim) = victim.filter(|_| !nobody_there) else {
                nemesis.faults[index].phase = Phase::Due;
                return;
            };
            nemesis.lurking += u32::from(holds);
            let state = &mut nemesis.faults[index];
            state.victim = Some(victim);
            state.phase = match state.fault.lasts_ns {
                _ if holds => Phase::Lurking,
                Some(_) => Phase::Active,
                None => Phase::Over,
            };
            if holds {
                return;
            }
            (state.fault.clone(), victim)
        };
        let undo = self.apply(index, &fault.what, victim);
        self.nemesis.borrow_mut().faults[index].undo = undo;
        if let Some(lasts) = fault.lasts_ns {
            let end = self.engine.now().saturating_add(lasts);
            self.engine.schedule(end, Event::FaultEnd { index: index as u32 });
        }
    }

    pub(crate) fn end_fault(self: &Rc<Self>, index: usize) {
        let undo = {
            let state = &mut self.nemesis.borrow_mut().faults[index];
            assert_eq!(state.phase, Phase::Active, "only an active fault ends");
            state.phase = Phase::Over;
            state.undo.take()
        };
        if let Some(undo) = undo {
            self.take_back(index, undo);
        }
    }

    /// Whether a fault wants the message that is about to be sent: which one, and for how long.
    pub(crate) fn take_hold(&self, from: NodeId, to: NodeId, operation: Option<u64>) -> Option<(u32, u64)> {
        if self.nemesis.borrow().lurking == 0 {
            return None;
        }
        let taken = {
            let mut nemesis = self.nemesis.borrow_mut();
            let wants = |state: &State| match &state.fault.what {
                What::HoldMessage { to: target } if state.phase == Phase::Lurking => {
                    state.victim == Some(from) && self.means(&nemesis, target, to)
                }
                _ => false,
            };
            let index = nemesis.faults.iter().position(wants)?;
            nemesis.lurking -= 1;
            let state = &mut nemesis.faults[index];
            state.phase = Phase::Over;
            state.operation = operation;
            (index as u32, state.fault.lasts_ns.unwrap_or(u64::MAX / 2))
        };
        self.tell(Notice::HoldMessage { from, to, operation });
        Some(taken)
    }

    pub(crate) fn held_message_arrives(&self, fault: u32, from: NodeId, to: NodeId) {
        let operation = self.nemesis.borrow().faults[fault as usize].operation;
        self.tell(Notice::DeliverMessage { from, to, operation });
    }

    /// Whom a target means now.
    fn resolve(&self, nemesis: &Nemesis, target: &Target) -> Vec<NodeId> {
        match target {
            Target::Node(name) => self.node_id(name).into_iter().collect(),
            Target::Role(role) => {
                nemesis.roles.iter().filter(|(name, _)| name == role).map(|(_, node)| *node).collect()
            }
        }
    }

    /// Whether a target means this node now.
    fn means(&self, nemesis: &Nemesis, target: &Target, node: NodeId) -> bool {
        match target {
            Target::Node(name) => self.nodes.borrow()[node.0 as usize].name == *name,
            Target::Role(role) => nemesis.roles.iter().any(|(name, player)| *player == node && name == role),
        }
    }

    /// Tells the observer, with nothing borrowed.
    fn tell(&self, notice: Notice) {
        let observer = self.nemesis.borrow().observer.clone();
        if let Some(observer) = observer {
            observer(&notice);
        }
    }
}
