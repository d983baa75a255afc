//! Timers: by true time, by a clock of a node, or by the running time of a process.
//!
//! They are lazy. A time-out that is dropped because its reply came leaves its entry in the engine's heap, and
//! the next timer that is due no earlier takes the slot over with that entry: when it comes up, it is put
//! back to where the timer belongs. So a call with a time-out costs the heap nothing. The place among the
//! events of one instant is the one that was reserved when the timer was armed.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::core::Core;
use crate::event::Event;
use crate::node::NodeId;

/// What a timer runs by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// True time: for observers only.
    True,
    /// The node's monotonic clock: `sleep` and time-outs.
    Monotonic(NodeId),
    /// The node's wall clock: a step may bring it forward or put it off.
    Wall(NodeId),
    /// The time during which the process runs: a pause stops it, and the rest follows after the resume.
    Running(NodeId),
}

#[derive(Default)]
pub(crate) struct Timers {
    slots: Vec<Slot>,
    /// Slots that nobody uses and that had no entry in the heap when they became free.
    clean: Vec<u32>,
    /// Slots that nobody uses and that had one, the last freed one last.
    trailing: Vec<u32>,
}

struct Slot {
    /// Counts entries of the slot in the heap: only the last one means anything.
    generation: u32,
    /// When that one comes up; absent if it did.
    entry_at: Option<u64>,
    basis: Basis,
    /// What the clock must show; unused for true and running time.
    target: i64,
    state: State,
    waker: Option<Waker>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nobody uses the slot.
    Free,
    /// Somebody uses it, and waits for nothing now.
    Idle,
    /// Due at this true time, in this place among the events of that instant.
    Armed { at: u64, seq: u64 },
    /// The process is stopped, with this much left to run.
    Frozen { left: u64 },
    /// It came up.
    Due,
}

impl Timers {
    /// A slot that nobody uses: for a timer that is due at `at`, if possible one whose entry comes up no
    /// later.
    fn take_slot(&mut self, at: u64) -> u32 {
        if let Some(&slot) = self.trailing.last()
            && self.slots[slot as usize].entry_at.is_none_or(|entry_at| entry_at <= at)
        {
            self.trailing.pop();
            return slot;
        }
        self.clean.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                generation: 0,
                entry_at: None,
                basis: Basis::True,
                target: 0,
                state: State::Free,
                waker: None,
            });
            self.slots.len() as u32 - 1
        })
    }
}

impl Slot {
    /// Lets the timer be due at `at`; puts an entry into the heap unless one is there that comes up in time.
    fn arm(&mut self, index: u32, at: u64, core: &Core) {
        let seq = core.engine.next_seq();
        self.state = State::Armed { at, seq };
        if self.entry_at.is_none_or(|entry_at| entry_at > at) {
            self.generation += 1;
            self.put_entry(index, at, seq, core);
        }
    }

    fn put_entry(&mut self, index: u32, at: u64, seq: u64, core: &Core) {
        self.entry_at = Some(at);
        core.engine.schedule_seq(at, seq, Event::Timer { slot: index, generation: self.generation });
    }
}

/// A future that ends when the timer is due. It can be set anew, and keeps its slot meanwhile.
pub(crate) struct Timer {
    core: Rc<Core>,
    slot: u32,
}

impl Timer {
    /// A timer that is due once its clock shows `target`.
    pub(crate) fn at_reading(core: &Rc<Core>, basis: Basis, target: i64) -> Timer {
        let at = core.reading_time(basis, target);
        Timer::begin(core, basis, target, at, |slot, index| slot.arm(index, at, core))
    }

    /// A timer that is due after `ns` of running time.
    pub(crate) fn running(core: &Rc<Core>, node: NodeId, ns: u64) -> Timer {
        let (basis, at) = (Basis::Running(node), core.engine.now().saturating_add(ns));
        if core.is_paused(node) {
            Timer::begin(core, basis, 0, at, |slot, _| slot.state = State::Frozen { left: ns })
        } else {
            Timer::begin(core, basis, 0, at, |slot, index| slot.arm(index, at, core))
        }
    }

    /// Lets it be due once its clock shows `target`, whatever it was set to before.
    pub(crate) fn set(&self, target: i64) {
        let mut timers = self.core.timers.borrow_mut();
        let slot = &mut timers.slots[self.slot as usize];
        let at = self.core.reading_time(slot.basis, target);
        slot.target = target;
        slot.arm(self.slot, at, &self.core);
    }

    /// Lets it never be due, until it is set again.
    pub(crate) fn stop(&self) {
        self.core.timers.borrow_mut().slots[self.slot as usize].state = State::Idle;
    }

    fn begin(
        core: &Rc<Core>,
        basis: Basis,
        target: i64,
        at: u64,
        start: impl FnOnce(&mut Slot, u32),
    ) -> Timer {
        let mut timers = core.timers.borrow_mut();
        let index = timers.take_slot(at);
        let slot = &mut timers.slots[index as usize];
        assert!(slot.state == State::Free && slot.waker.is_none(), "a timer slot is used twice");
        (slot.basis, slot.target) = (basis, target);
        start(slot, index);
        Timer { core: core.clone(), slot: index }
    }
}

impl Future for Timer {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut timers = self.core.timers.borrow_mut();
        let slot = &mut timers.slots[self.slot as usize];
        if slot.state == State::Due {
            return Poll::Ready(());
        }
        match &mut slot.waker {
            Some(waker) if waker.will_wake(cx.waker()) => {}
            waker => *waker = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let mut timers = self.core.timers.borrow_mut();
        let slot = &mut timers.slots[self.slot as usize];
        (slot.state, slot.waker) = (State::Free, None);
        let has_entry = slot.entry_at.is_some();
        if has_entry { timers.trailing.push(self.slot) } else { timers.clean.push(self.slot) }
    }
}

impl Core {
    /// An entry comes up: the timer is due, or its deadline was put off, or nobody waits for it any more.
    pub(crate) fn timer_due(&self, index: u32, generation: u32) {
        let waker = {
            let mut timers = self.timers.borrow_mut();
            let slot = &mut timers.slots[index as usize];
            if slot.generation != generation {
                return;
            }
            slot.entry_at = None;
            match slot.state {
                State::Armed { at, seq } if at > self.engine.now() => {
                    slot.put_entry(index, at, seq, self);
                    return;
                }
                State::Armed { .. } => slot.state = State::Due,
                State::Free | State::Idle | State::Frozen { .. } | State::Due => return,
            }
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The process stops: what it still has to run waits.
    pub(crate) fn freeze_running_timers(&self, node: NodeId) {
        let now = self.engine.now();
        for slot in &mut self.timers.borrow_mut().slots {
            if let (true, State::Armed { at, .. }) = (slot.basis == Basis::Running(node), slot.state) {
                slot.state = State::Frozen { left: at - now };
            }
        }
    }

    /// The process runs again: what it still has to run goes on. What had nothing left to run is due now,
    /// like everything that became overdue meanwhile.
    pub(crate) fn thaw_running_timers(&self, node: NodeId) {
        let mut due = Vec::new();
        for slot in &mut self.timers.borrow_mut().slots {
            if slot.basis == Basis::Running(node) && slot.state == (State::Frozen { left: 0 }) {
                slot.state = State::Due;
                due.extend(slot.waker.take());
            }
        }
        due.into_iter().for_each(Waker::wake);
        self.rearm(|slot, now| match slot.state {
            State::Frozen { left } if slot.basis == Basis::Running(node) => Some(now.saturating_add(left)),
            _ => None,
        });
    }

    /// A clock of the node was stepped or runs at another rate: timers that go by it are due at other times.
    pub(crate) fn clock_changed(&self, node: NodeId) {
        self.rearm(|slot, _| match (slot.state, slot.basis) {
            (State::Armed { .. }, Basis::Monotonic(of) | Basis::Wall(of)) if of == node => {
                Some(self.reading_time(slot.basis, slot.target))
            }
            _ => None,
        });
    }

    /// Arms timers anew. Those that are overdue at once fire in the order in which they would have fired.
    fn rearm(&self, due: impl Fn(&Slot, u64) -> Option<u64>) {
        let now = self.engine.now();
        let mut timers = self.timers.borrow_mut();
        let mut moved: Vec<(u64, i64, usize)> = Vec::new();
        for (index, slot) in timers.slots.iter().enumerate() {
            if let Some(at) = due(slot, now)
                && !matches!(slot.state, State::Armed { at: before, .. } if before == at)
            {
                moved.push((at, slot.target, index));
            }
        }
        moved.sort_unstable();
        for (at, _, index) in moved {
            timers.slots[index].arm(index as u32, at, self);
        }
    }

    /// The first true time from now on at which the clock of `basis` shows `target`.
    fn reading_time(&self, basis: Basis, target: i64) -> u64 {
        let now = self.engine.now();
        let nodes = self.nodes.borrow();
        match basis {
            Basis::True | Basis::Running(_) => u64::try_from(target).unwrap_or(0).max(now),
            Basis::Monotonic(node) => nodes[node.0 as usize].monotonic.when(target, now),
            Basis::Wall(node) => nodes[node.0 as usize].wall.when(target, now),
        }
    }
}
