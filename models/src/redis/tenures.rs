//! Records what a Redis server grants, and when that ends there.
//!
//! An end is recorded at the instant at which the server's clock passes the deadline, whether anybody
//! touches the key or not, and even while the server is stopped: who owns the lock is a matter of the clock.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use fencepost_checker::history::{Block, By, End, EndCause, Event, Hold, LockId, NodeId, Tenure};
use fencepost_sim::Notice;

use super::keyspace::{Change, Deletion, Keyspace, Reply, Text};
use super::random_value::hold_of;
use super::{Command, Script};
use crate::recorder::Recorder;
use crate::rpc::Traced;

#[derive(Debug)]
pub(super) struct Tenures {
    recorder: Rc<Recorder>,
    lock_key: Text,
    server: Cell<fencepost_sim::NodeId>,
    /// What the present process keeps; dropped with it.
    keys: RefCell<Weak<RefCell<Keyspace>>>,
    current: RefCell<Option<Current>>,
    /// Whether nobody can acquire now.
    blocked: Cell<bool>,
}

/// The last tenure of the lock.
#[derive(Clone, Copy, Debug)]
struct Current {
    hold: Hold,
    deadline_ms: i64,
    ttl_ns: u64,
    ended: bool,
}

const LOCK: LockId = LockId(0);

impl Tenures {
    pub(super) fn new(recorder: &Rc<Recorder>, lock_key: &str) -> Self {
        Tenures {
            recorder: recorder.clone(),
            lock_key: lock_key.into(),
            server: Cell::new(fencepost_sim::NodeId(0)),
            keys: RefCell::default(),
            current: RefCell::default(),
            blocked: Cell::new(false),
        }
    }

    pub(super) fn set_server(&self, node: fencepost_sim::NodeId) {
        self.server.set(node);
    }

    pub(super) fn server(&self) -> fencepost_sim::NodeId {
        self.server.get()
    }

    pub(super) fn server_started(&self, keys: &Rc<RefCell<Keyspace>>) {
        *self.keys.borrow_mut() = Rc::downgrade(keys);
    }

    /// Records what a command did to the lock.
    pub(super) fn record(self: &Rc<Self>, traced: &Traced<Command>, reply: &Reply, changes: &[Change]) {
        let by = By { op: Some(traced.op), hold: traced.hold };
        for change in changes {
            match change {
                Change::Stored { key, value, deadline_ms: Some(deadline_ms) } if *key == self.lock_key => {
                    let (Some(hold), Some(px)) = (hold_of(value), px(&traced.request)) else { continue };
                    let token = match (&traced.request, reply) {
                        (Command::Eval(Script::Acquire { .. }), Reply::Integer(token)) => {
                            Some(token.unsigned_abs())
                        }
                        _ => None,
                    };
                    self.recorder.push(Event::Grant(self.tenure(hold, token, px, by)));
                    self.begin(hold, *deadline_ms, px);
                }
                Change::Extended { key, value, deadline_ms } if *key == self.lock_key => {
                    let (Some(hold), Some(px)) = (hold_of(value), px(&traced.request)) else { continue };
                    self.recorder.push(Event::Renew(self.tenure(hold, None, px, by)));
                    self.begin(hold, *deadline_ms, px);
                }
                Change::Deleted { key, value, why } if *key == self.lock_key => match why {
                    Deletion::Expired => self.end(hold_of(value), EndCause::Expired, By::default()),
                    Deletion::Compared => self.end(hold_of(value), EndCause::Released, by),
                    Deletion::Unconditional => self.end(hold_of(value), EndCause::Deleted, by),
                },
                _ => {}
            }
        }
    }

    /// Records what the active expire cycle did to the lock.
    pub(super) fn record_expired(&self, changes: &[Change]) {
        for change in changes {
            if let Change::Deleted { key, value, .. } = change
                && *key == self.lock_key
            {
                self.end(hold_of(value), EndCause::Expired, By::default());
            }
        }
    }

    pub(super) fn on_fault(self: &Rc<Self>, notice: &Notice) {
        match *notice {
            Notice::ClockStep { node, .. } if node == self.server.get() => self.clock_stepped(),
            Notice::Kill { node } | Notice::PowerOff { node } if node == self.server.get() => {
                let hold = self.current.borrow().map(|current| current.hold);
                self.end(hold, EndCause::Forgotten, By::default());
                self.block(true);
            }
            Notice::Stop { node, .. } if node == self.server.get() => self.block(true),
            Notice::Resume { node } | Notice::Restart { node } if node == self.server.get() => {
                self.block(false);
            }
            _ => {}
        }
    }

    /// Nobody can acquire while the server does not run.
    fn block(&self, blocked: bool) {
        if self.blocked.replace(blocked) != blocked {
            let server = NodeId(self.server.get().0);
            self.recorder.push(Event::Block(Block { server, lock: LOCK, blocked }));
        }
    }

    /// A step over the deadline ends the tenure; a step back brings back what is still in memory.
    fn clock_stepped(self: &Rc<Self>) {
        let Some(current) = *self.current.borrow() else { return };
        let now_ms = self.recorder.probe().wall_ns(self.server.get()).div_euclid(1_000_000);
        let passed = now_ms > current.deadline_ms;
        if passed && !current.ended {
            self.end(Some(current.hold), EndCause::Clock, By::default());
        }
        let in_memory = self.keys.borrow().upgrade().is_some_and(|keys| {
            keys.borrow().peek(&self.lock_key).is_some_and(|(value, _)| hold_of(value) == Some(current.hold))
        });
        if !passed && current.ended && in_memory {
            let revived = self.tenure(current.hold, None, current.ttl_ns, By::default());
            self.recorder.push(Event::Revive(revived));
            self.begin(current.hold, current.deadline_ms, current.ttl_ns);
        }
    }

    fn tenure(&self, hold: Hold, token: Option<u64>, ttl_ns: u64, by: By) -> Tenure {
        Tenure { server: NodeId(self.server.get().0), lock: LOCK, hold, token, ttl_ns: Some(ttl_ns), by }
    }

    /// The tenure runs until the clock shows one millisecond more than its deadline.
    fn begin(self: &Rc<Self>, hold: Hold, deadline_ms: i64, ttl_ns: u64) {
        *self.current.borrow_mut() = Some(Current { hold, deadline_ms, ttl_ns, ended: false });
        let this = self.clone();
        let probe = self.recorder.probe().clone();
        let server = self.server.get();
        self.recorder.probe().spawn(async move {
            probe.wall_reaches(server, (deadline_ms + 1).saturating_mul(1_000_000)).await;
            let same = |current: Current| current.hold == hold && current.deadline_ms == deadline_ms;
            if this.current.borrow().is_some_and(same) {
                this.end(Some(hold), EndCause::Expired, By::default());
            }
        });
    }

    fn end(&self, hold: Option<Hold>, cause: EndCause, by: By) {
        let mut current = self.current.borrow_mut();
        let Some(current) = current.as_mut().filter(|current| Some(current.hold) == hold) else { return };
        if !std::mem::replace(&mut current.ended, true) {
            let server = NodeId(self.server.get().0);
            self.recorder.push(Event::End(End { server, lock: LOCK, hold: current.hold, cause, by }));
        }
    }
}

/// The TTL that a command asks for, in nanoseconds.
fn px(command: &Command) -> Option<u64> {
    match command {
        Command::SetNxPx { px, .. }
        | Command::Eval(Script::Acquire { px, .. } | Script::CompareAndExtend { px, .. }) => {
            Some(px.unsigned_abs() * 1_000_000)
        }
        _ => None,
    }
}
