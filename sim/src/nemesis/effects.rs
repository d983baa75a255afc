//! What faults do to nodes, clocks and links, and how it is taken back.
//!
//! Faults of one kind may overlap: a process runs again when its last pause is over, a host has power again
//! when its last outage is over, a link is whole when its last cut is healed, steps of a clock add up, and
//! of several rates the one that began last counts.

use std::rc::Rc;

use super::{Notice, Rates, Undo};
use crate::core::Core;
use crate::fault::{PauseCause, What};
use crate::node::{Life, NodeId};

impl Core {
    /// Does what a fault does to its victim; nothing if there is no process to do it to.
    pub(super) fn apply(&self, fault: usize, what: &What, node: NodeId) -> Option<Undo> {
        match what {
            What::Pause { cause } => self.pause(node, *cause),
            What::Kill => self.kill(node),
            What::PowerOff => Some(self.power_off(node)),
            What::ClockStep { by_ns } => {
                self.step_clock(node, *by_ns);
                Some(Undo::StepBack { node, by_ns: *by_ns })
            }
            What::ClockRate { wall_ppm, monotonic_ppm } => {
                let (wall_ppm, monotonic_ppm) = (*wall_ppm, *monotonic_ppm);
                self.nemesis.borrow_mut().rates.push(Rates { fault, node, wall_ppm, monotonic_ppm });
                self.set_rates(node);
                Some(Undo::Rates { node })
            }
            What::Cut { .. } | What::Isolate => {
                let links = self.links(what, node);
                for (from, to) in links.iter().copied() {
                    if self.cut_link(from, to) {
                        self.tell(Notice::Cut { from, to });
                    }
                }
                Some(Undo::Heal { links })
            }
            What::HoldMessage { .. } => unreachable!("a held message is taken when it is sent"),
        }
    }

    pub(super) fn take_back(self: &Rc<Self>, fault: usize, undo: Undo) {
        match undo {
            Undo::Resume { node, host } => self.resume(node, host),
            Undo::Restart { node, host } => {
                let state =
                    (self.nodes.borrow()[node.0 as usize].life, self.nodes.borrow()[node.0 as usize].host);
                // Without power nothing starts, and what was started since needs no start.
                if state == (Life::Host, host) {
                    self.start_again(node);
                }
            }
            Undo::PowerOn { node } => self.power_on(node),
            Undo::StepBack { node, by_ns } => self.step_clock(node, by_ns.saturating_neg()),
            Undo::Rates { node } => {
                self.nemesis.borrow_mut().rates.retain(|rates| rates.fault != fault);
                self.set_rates(node);
            }
            Undo::Heal { links } => {
                for (from, to) in links {
                    if self.heal_link(from, to) {
                        self.tell(Notice::Heal { from, to });
                    }
                }
            }
        }
    }

    fn pause(&self, node: NodeId, cause: PauseCause) -> Option<Undo> {
        let host = {
            let state = &mut self.nodes.borrow_mut()[node.0 as usize];
            if state.life != Life::Process {
                return None;
            }
            state.pauses += 1;
            if state.pauses > 1 {
                return Some(Undo::Resume { node, host: state.host });
            }
            state.host
        };
        self.engine.pause(host);
        self.freeze_running_timers(node);
        self.tell(Notice::Stop { node, cause });
        Some(Undo::Resume { node, host })
    }

    /// Overdue timers and arrivals run in an order drawn from the schedule stream.
    fn resume(&self, node: NodeId, host: u32) {
        {
            let state = &mut self.nodes.borrow_mut()[node.0 as usize];
            // A process that was started anew meanwhile is not the one that was stopped.
            if state.host != host || state.life != Life::Process {
                return;
            }
            assert!(state.pauses > 0, "only a process that was stopped goes on");
            state.pauses -= 1;
            if state.pauses > 0 {
                return;
            }
        }
        self.tell(Notice::Resume { node });
        self.thaw_running_timers(node);
        self.shuffle_arrivals(host);
        self.engine.resume(host, |waiting| self.schedule_stream.borrow_mut().shuffle(waiting));
    }

    fn kill(&self, node: NodeId) -> Option<Undo> {
        let (before, host) = self.end_life(node, Life::Host);
        if before != Life::Process {
            return None;
        }
        self.tell(Notice::Kill { node });
        self.engine.kill(host);
        self.abandon_connections(node, host, true);
        Some(Undo::Restart { node, host })
    }

    /// A host that runs without its process loses its page cache too.
    fn power_off(&self, node: NodeId) -> Undo {
        self.nodes.borrow_mut()[node.0 as usize].outages += 1;
        let (before, host) = self.end_life(node, Life::Nothing);
        if before != Life::Nothing {
            self.tell(Notice::PowerOff { node });
            self.engine.kill(host);
            self.abandon_connections(node, host, false);
            self.lose_unsent(node);
            self.disks.borrow_mut().lose_cache(node);
        }
        Undo::PowerOn { node }
    }

    /// Takes life from a node, first of all: whatever its destructors do has no effect then.
    fn end_life(&self, node: NodeId, left: Life) -> (Life, u32) {
        let (before, host) = {
            let state = &mut self.nodes.borrow_mut()[node.0 as usize];
            let before = state.life;
            if before == Life::Process || left == Life::Nothing {
                (state.life, state.pauses) = (left, 0);
            }
            (before, state.host)
        };
        if before == Life::Process {
            self.nemesis.borrow_mut().roles.retain(|(_, player)| *player != node);
        }
        (before, host)
    }

    fn power_on(self: &Rc<Self>, node: NodeId) {
        let outages = {
            let state = &mut self.nodes.borrow_mut()[node.0 as usize];
            assert_eq!(state.life, Life::Nothing, "without power nothing runs");
            state.outages -= 1;
            state.outages
        };
        if outages == 0 {
            self.start_again(node);
            self.send_again(node);
        }
    }

    fn start_again(self: &Rc<Self>, node: NodeId) {
        self.tell(Notice::Restart { node });
        self.boot(node);
    }

    fn step_clock(&self, node: NodeId, by_ns: i64) {
        self.nodes.borrow_mut()[node.0 as usize].wall.step(self.engine.now(), by_ns);
        self.tell(Notice::ClockStep { node, by_ns });
        self.clock_changed(node);
    }

    /// Gives the clocks of a node the rates of the fault that began last, or their own.
    fn set_rates(&self, node: NodeId) {
        let (wall_ppm, monotonic_ppm) = {
            let nemesis = self.nemesis.borrow();
            let state = &mut self.nodes.borrow_mut()[node.0 as usize];
            let last = nemesis.rates.iter().rfind(|rates| rates.node == node);
            let (wall_ppm, monotonic_ppm) =
                last.map_or(state.own_rates, |rates| (rates.wall_ppm, rates.monotonic_ppm));
            state.wall.set_rate(self.engine.now(), wall_ppm);
            state.monotonic.set_rate(self.engine.now(), monotonic_ppm);
            (wall_ppm, monotonic_ppm)
        };
        self.tell(Notice::ClockRate { node, wall_ppm, monotonic_ppm });
        self.clock_changed(node);
    }

    fn links(&self, what: &What, node: NodeId) -> Vec<(NodeId, NodeId)> {
        let (others, both_ways) = match what {
            What::Cut { to, both_ways } => (self.resolve(&self.nemesis.borrow(), to), *both_ways),
            _ => ((0..self.nodes.borrow().len() as u32).map(NodeId).collect(), true),
        };
        let others = others.into_iter().filter(|other| *other != node);
        others
            .flat_map(|other| [(node, other), (other, node)].into_iter().take(if both_ways { 2 } else { 1 }))
            .collect()
    }
}
