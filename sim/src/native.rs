//! The native engine: a binary heap ordered by (true time, sequence number), and hand-polled futures.
//!
//! No threads, no OS time, no hashing, no floats. Wakers are real ones (combinators rely on them), and safe:
//! a waker pushes its task's number on the queue of its own engine.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering as Cmp;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};

use crate::engine::{RunEnd, TaskFuture, TaskId};
use crate::event::Event;

/// So many steps at one instant are no work but a loop that never lets time pass.
const STEPS_PER_INSTANT_MAX: u64 = 10_000_000;

pub(crate) struct Native {
    now: Cell<u64>,
    next_seq: Cell<u64>,
    heap: RefCell<BinaryHeap<Scheduled>>,
    hosts: RefCell<Vec<Host>>,
    tasks: RefCell<Tasks>,
    ready: Arc<ReadyQueue>,
}

#[derive(Clone, Copy)]
struct Scheduled {
    /// True time and sequence number in one number: one comparison orders two events.
    key: u128,
    event: Event,
}

/// A host's tasks run unless it is paused; those that become ready meanwhile wait here.
#[derive(Default)]
struct Host {
    paused: bool,
    dead: bool,
    waiting: Vec<TaskId>,
}

#[derive(Default)]
struct Tasks {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

struct Slot {
    generation: u32,
    host: u32,
    /// Absent while the task is being polled.
    task: Option<Task>,
}

struct Task {
    future: TaskFuture,
    wake: Arc<TaskWaker>,
    /// The same waker, as a future wants it.
    waker: Waker,
}

impl Native {
    pub(crate) fn new() -> Self {
        Native {
            now: Cell::new(0),
            next_seq: Cell::new(0),
            heap: RefCell::new(BinaryHeap::with_capacity(64)),
            hosts: RefCell::default(),
            tasks: RefCell::default(),
            ready: Arc::default(),
        }
    }

    pub(crate) fn now(&self) -> u64 {
        self.now.get()
    }

    pub(crate) fn schedule(&self, at: u64, event: Event) {
        self.schedule_seq(at, self.next_seq(), event);
    }

    pub(crate) fn next_seq(&self) -> u64 {
        self.next_seq.replace(self.next_seq.get() + 1)
    }

    pub(crate) fn schedule_seq(&self, at: u64, seq: u64, event: Event) {
        assert!(at >= self.now.get(), "an event in the past: {event:?} at {at}");
        self.heap.borrow_mut().push(Scheduled::new(at, seq, event));
    }

    pub(crate) fn add_host(&self) -> u32 {
        let mut hosts = self.hosts.borrow_mut();
        hosts.push(Host::default());
        hosts.len() as u32 - 1
    }

    pub(crate) fn spawn(&self, host: u32, task: TaskFuture) {
        // A destructor of a dead process, or of a world that is being dropped, may still try.
        if self.hosts.borrow()[host as usize].dead {
            return;
        }
        let mut tasks = self.tasks.borrow_mut();
        let tasks = &mut *tasks;
        let slot = tasks.free.pop().unwrap_or_else(|| {
            tasks.slots.push(Slot { generation: 0, host, task: None });
            tasks.slots.len() as u32 - 1
        });
        let place = &mut tasks.slots[slot as usize];
        let id = TaskId { slot, generation: place.generation };
        assert!(place.task.is_none(), "a place for a task is used twice");
        let wake = Arc::new(TaskWaker { id, queued: AtomicBool::new(false), ready: self.ready.clone() });
        wake.wake_by_ref();
        place.host = host;
        place.task = Some(Task { future: task, waker: Waker::from(wake.clone()), wake });
    }

    pub(crate) fn pause(&self, host: u32) {
        self.hosts.borrow_mut()[host as usize].paused = true;
    }

    pub(crate) fn resume(&self, host: u32, arrange: impl FnOnce(&mut [TaskId])) {
        let mut waiting = {
            let host = &mut self.hosts.borrow_mut()[host as usize];
            host.paused = false;
            std::mem::take(&mut host.waiting)
        };
        // What was woken at this very instant is no later than what waited.
        let mut woken = Vec::new();
        if self.ready.take(&mut woken) {
            let is_here = |id: &TaskId| self.tasks.borrow().slots[id.slot as usize].host == host;
            let (here, elsewhere): (Vec<_>, Vec<_>) = woken.into_iter().partition(is_here);
            waiting.extend(here);
            elsewhere.into_iter().for_each(|id| self.ready.push(id));
        }
        arrange(&mut waiting);
        for id in waiting {
            self.ready.push(id);
        }
    }

    pub(crate) fn kill(&self, host: u32) {
        {
            let host = &mut self.hosts.borrow_mut()[host as usize];
            host.dead = true;
            host.waiting.clear();
        }
        let dead = self.tasks.borrow_mut().remove_if(|slot| slot.host == host);
        drop(dead);
    }

    pub(crate) fn clear(&self) {
        for host in self.hosts.borrow_mut().iter_mut() {
            host.dead = true;
            host.waiting.clear();
        }
        let all = self.tasks.borrow_mut().remove_if(|_| true);
        drop(all);
    }

    pub(crate) fn run(&self, until_ns: u64, stop: &dyn Fn() -> bool, fire: &dyn Fn(Event)) -> RunEnd {
        let (mut steps, mut batch) = (0, Vec::new());
        loop {
            while self.ready.take(&mut batch) {
                for id in batch.drain(..) {
                    self.count_step(&mut steps);
                    self.poll(id);
                }
            }
            if stop() {
                return RunEnd::Stopped;
            }
            let next = {
                let mut heap = self.heap.borrow_mut();
                match heap.peek() {
                    None => return RunEnd::Quiescent,
                    Some(next) if next.at() > until_ns => None,
                    Some(_) => heap.pop(),
                }
            };
            let Some(next) = next else {
                self.now.set(self.now.get().max(until_ns));
                return RunEnd::TimeLimit;
            };
            let at = next.at();
            assert!(at >= self.now.get(), "time went backwards at {:?}", next.event);
            if at > self.now.replace(at) {
                steps = 0;
            }
            self.count_step(&mut steps);
            fire(next.event);
        }
    }

    fn count_step(&self, steps: &mut u64) {
        *steps += 1;
        assert!(*steps <= STEPS_PER_INSTANT_MAX, "no progress: time stands still at {} ns", self.now.get());
    }

    fn poll(&self, id: TaskId) {
        let mut task = {
            let mut tasks = self.tasks.borrow_mut();
            let slot = &mut tasks.slots[id.slot as usize];
            if slot.generation != id.generation {
                return;
            }
            let host = &mut self.hosts.borrow_mut()[slot.host as usize];
            assert!(!host.dead, "a task outlived its host");
            if host.paused {
                host.waiting.push(id);
                return;
            }
            slot.task.take().expect("a task is polled by nobody else")
        };
        task.wake.queued.store(false, Ordering::Relaxed);
        let poll = task.future.as_mut().poll(&mut Context::from_waker(&task.waker));
        let mut tasks = self.tasks.borrow_mut();
        let slot = &mut tasks.slots[id.slot as usize];
        assert_eq!(slot.generation, id.generation, "a process ended while its code ran");
        if poll.is_ready() {
            tasks.free(id.slot);
            drop(tasks);
            drop(task);
        } else {
            slot.task = Some(task);
        }
    }
}

impl Tasks {
    fn free(&mut self, slot: u32) {
        let place = &mut self.slots[slot as usize];
        place.generation += 1;
        self.free.push(slot);
    }

    /// Takes matching tasks out. The caller drops them when nothing is borrowed: their destructors may call
    /// into the world.
    fn remove_if(&mut self, matches: impl Fn(&Slot) -> bool) -> Vec<Task> {
        let mut removed = Vec::new();
        for slot in 0..self.slots.len() {
            if matches(&self.slots[slot])
                && let Some(task) = self.slots[slot].task.take()
            {
                removed.push(task);
                self.free(slot as u32);
            }
        }
        removed
    }
}

/// Tasks that want to be polled, in the order in which they were woken. Each is in here at most once.
#[derive(Default)]
struct ReadyQueue {
    tasks: Mutex<Vec<TaskId>>,
    /// Spares a look into an empty queue, which is what there is after each event.
    any: AtomicBool,
}

impl ReadyQueue {
    fn push(&self, id: TaskId) {
        self.locked().push(id);
        self.any.store(true, Ordering::Release);
    }

    /// Swaps all of them into an empty `batch`; tells whether there were any.
    fn take(&self, batch: &mut Vec<TaskId>) -> bool {
        if !self.any.load(Ordering::Acquire) {
            return false;
        }
        let mut tasks = self.locked();
        self.any.store(false, Ordering::Release);
        std::mem::swap(&mut *tasks, batch);
        true
    }

    fn locked(&self) -> MutexGuard<'_, Vec<TaskId>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct TaskWaker {
    id: TaskId,
    queued: AtomicBool,
    ready: Arc<ReadyQueue>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::Relaxed) {
            self.ready.push(self.id);
        }
    }
}

impl Scheduled {
    fn new(at: u64, seq: u64, event: Event) -> Self {
        Scheduled { key: u128::from(at) << 64 | u128::from(seq), event }
    }

    fn at(&self) -> u64 {
        (self.key >> 64) as u64
    }
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Scheduled {}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<Cmp> {
        Some(self.cmp(other))
    }
}

impl Ord for Scheduled {
    /// The heap gives the greatest first, so earlier is greater.
    fn cmp(&self, other: &Self) -> Cmp {
        other.key.cmp(&self.key)
    }
}
