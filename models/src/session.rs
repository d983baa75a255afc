//! What the user of a lock library does with it: takes the lock, renews it, looks whether it still holds it,
//! gives it back or gives it up.
//!
//! How careful it is, is a parameter ([`CheckDepth`], renewal); the code is the same for every lock.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use fencepost_checker::history::{
    Cease, CeaseReason, Check, CheckDepth, Event, F, Hold, JobId, LockId, LossReason, Lost, Op,
};
use fencepost_sim::Node;

use crate::lock::{Ask, Grant, Lock, Renewed};
use crate::recorder::Scribe;

const LOCK: LockId = LockId(0);

/// A worker's use of one lock.
#[derive(Debug)]
pub struct Session<L> {
    node: Node,
    scribe: Scribe,
    lock: Rc<L>,
    lease: Duration,
    renew_every: Option<Duration>,
    check: CheckDepth,
}

/// A lock that the worker believes to hold.
#[derive(Debug)]
pub struct Held<L> {
    node: Node,
    scribe: Scribe,
    lock: Rc<L>,
    lease: Duration,
    check: CheckDepth,
    grant: Grant,
    /// On the worker's monotonic clock.
    deadline_ns: Cell<u64>,
    /// The watchdog was told that the lock is somebody else's; the worker may not have looked yet.
    not_owner: Cell<bool>,
    /// The deadline timer went off.
    alarm: Cell<bool>,
    /// The worker acts on the lock no longer.
    over: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl<L: Lock> Session<L> {
    /// A worker's use of `lock`.
    pub fn new(
        node: &Node,
        scribe: &Scribe,
        lock: L,
        lease: Duration,
        renew_every: Option<Duration>,
        check: CheckDepth,
    ) -> Self {
        let (node, scribe, lock) = (node.clone(), scribe.clone(), Rc::new(lock));
        Session { node, scribe, lock, lease, renew_every, check }
    }

    /// Waits until the lock is granted; renewals and the deadline timer run from then on.
    pub async fn acquire(&self, job: JobId) -> Rc<Held<L>> {
        let hold = self.scribe.recorder().next_hold();
        let op = Op {
            lock: Some(LOCK),
            hold: Some(hold),
            ttl_ns: Some(self.lease.as_nanos() as u64),
            job: Some(job),
            ..self.scribe.operation(F::Acquire)
        };
        self.scribe.record(Event::Invoke(op.clone()));
        self.node.enter_role("waiter");
        let recorder = self.scribe.recorder().clone();
        let grant = self.lock.acquire(&Ask { recorder, hold, op: op.op, lease: self.lease }).await;
        self.node.leave_role("waiter");

        let held = Rc::new(Held {
            node: self.node.clone(),
            scribe: self.scribe.clone(),
            lock: self.lock.clone(),
            lease: self.lease,
            check: self.check,
            deadline_ns: Cell::new(deadline(grant.sent_ns, self.lease)),
            not_owner: Cell::new(false),
            alarm: Cell::new(false),
            over: Cell::new(false),
            waker: RefCell::new(None),
            grant,
        });
        held.record_ok(&op, held.grant.sent_ns);
        self.node.enter_role("holder");
        self.node.mark("grant");
        if let Some(every) = self.renew_every {
            self.node.spawn(held.clone().watchdog(every));
        }
        if self.check == CheckDepth::Timer {
            self.node.spawn(held.clone().deadline_timer());
        }
        held
    }
}

impl<L: Lock> Held<L> {
    /// The name of the grant.
    pub fn hold(&self) -> Hold {
        self.grant.hold
    }

    /// The fencing token.
    pub fn token(&self) -> Option<u64> {
        self.grant.token
    }

    /// Whether the worker acts on the lock no longer.
    pub fn is_over(&self) -> bool {
        self.over.get()
    }

    /// Looks whether the lock is still held, as far as this depth of check looks at all. If not, the worker
    /// must stop; that is recorded here.
    pub fn check(&self) -> bool {
        let passed = match self.check {
            CheckDepth::None => return true,
            CheckDepth::Timer => return !self.stopped_by_timer(),
            CheckDepth::BeforeWrite => {
                !self.not_owner.get() && self.node.monotonic_ns() < self.deadline_ns.get()
            }
        };
        self.record_check(passed);
        if !passed {
            self.give_up();
        }
        passed
    }

    /// Does something while the lock is held. With a deadline timer it is broken off when that goes off:
    /// nothing comes out then, and the worker must stop.
    pub async fn guard<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        poll_fn(|cx| {
            if self.stopped_by_timer() {
                return Poll::Ready(None);
            }
            if self.check == CheckDepth::Timer {
                *self.waker.borrow_mut() = Some(cx.waker().clone());
            }
            future.as_mut().poll(cx).map(Some)
        })
        .await
    }

    /// Gives the lock back. Belief ends here, whatever the service will answer.
    pub async fn release(&self) {
        let op = Op { lock: Some(LOCK), hold: Some(self.hold()), ..self.scribe.operation(F::Release) };
        self.scribe.record(Event::Invoke(op.clone()));
        self.leave();
        self.node.mark("release");
        let outcome = self.lock.release(self.hold(), op.op).await;
        let completion = self.scribe.completion(&op);
        self.scribe.record(match outcome {
            Ok(true) => Event::Ok(completion),
            Ok(false) => Event::Fail(Op { error: Some("not the owner".to_owned()), ..completion }),
            Err(error) => Event::Info(Op { error: Some(error.message().to_owned()), ..completion }),
        });
    }

    /// Stops acting on the lock without giving it back: it will run out.
    pub fn cease(&self, reason: CeaseReason) {
        if !self.over.get() {
            let (worker, hold) = (self.scribe.worker(), self.hold());
            self.scribe.record(Event::Cease(Cease { worker, lock: LOCK, hold, reason }));
            self.leave();
        }
    }

    /// The worker learns that the lock is lost, and stops.
    pub fn learn_loss(&self, reason: LossReason) {
        let (worker, hold) = (self.scribe.worker(), self.hold());
        self.scribe.record(Event::Lost(Lost { worker, lock: LOCK, hold, reason }));
        self.cease(CeaseReason::Lost);
    }

    fn stopped_by_timer(&self) -> bool {
        let stopped = self.check == CheckDepth::Timer && (self.alarm.get() || self.not_owner.get());
        if stopped && !self.over.get() {
            self.record_check(false);
            self.give_up();
        }
        stopped
    }

    fn give_up(&self) {
        if self.not_owner.get() {
            self.learn_loss(LossReason::NotOwner);
        } else {
            self.cease(CeaseReason::DeadlinePassed);
        }
    }

    fn leave(&self) {
        self.over.set(true);
        self.node.leave_role("holder");
    }

    fn record_check(&self, passed: bool) {
        let deadline_ns = Some(self.scribe.true_ns_of(self.deadline_ns.get()));
        let (worker, hold) = (self.scribe.worker(), self.hold());
        self.scribe.record(Event::Check(Check { worker, lock: LOCK, hold, passed, deadline_ns }));
    }

    /// Renews the lease until the worker is done with the lock, or it is somebody else's.
    async fn watchdog(self: Rc<Self>, every: Duration) {
        loop {
            self.node.sleep(every).await;
            if self.over.get() {
                return;
            }
            let ttl_ns = Some(self.lease.as_nanos() as u64);
            let hold = Some(self.hold());
            let op = Op { lock: Some(LOCK), hold, ttl_ns, ..self.scribe.operation(F::Renew) };
            self.scribe.record(Event::Invoke(op.clone()));
            match self.lock.renew(self.hold(), op.op, self.lease).await {
                Ok(Renewed::Extended { sent_ns }) => {
                    self.deadline_ns.set(deadline(sent_ns, self.lease));
                    self.record_ok(&op, sent_ns);
                }
                Ok(Renewed::NotOwner) => {
                    let error = Some("not the owner".to_owned());
                    self.scribe.record(Event::Fail(Op { error, ..self.scribe.completion(&op) }));
                    self.not_owner.set(true);
                    self.wake_guard();
                    return;
                }
                Err(no_reply) => {
                    let error = Some(no_reply.message().to_owned());
                    self.scribe.record(Event::Info(Op { error, ..self.scribe.completion(&op) }));
                }
            }
        }
    }

    /// Goes off at the deadline, which renewals put off.
    async fn deadline_timer(self: Rc<Self>) {
        while !self.over.get() {
            let left = self.deadline_ns.get().saturating_sub(self.node.monotonic_ns());
            if left == 0 {
                self.alarm.set(true);
                self.wake_guard();
                return;
            }
            self.node.sleep(Duration::from_nanos(left)).await;
        }
    }

    fn wake_guard(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Records that an acquire or renewal, sent when the worker's clock showed `sent_ns`, succeeded.
    fn record_ok(&self, op: &Op, sent_ns: u64) {
        let first_try = op.f == F::Renew;
        self.scribe.record(Event::Ok(Op {
            hold: Some(self.hold()),
            token: self.token().filter(|_| op.f == F::Acquire),
            attempt: (op.f == F::Acquire).then_some(self.grant.attempts),
            sent_ns: (!first_try).then(|| self.scribe.true_ns_of(sent_ns)),
            deadline_ns: Some(self.scribe.true_ns_of(deadline(sent_ns, self.lease))),
            decided_by: Some(self.grant.decided_by),
            ..self.scribe.completion(op)
        }));
    }
}

fn deadline(sent_ns: u64, lease: Duration) -> u64 {
    sent_ns.saturating_add(u64::try_from(lease.as_nanos()).unwrap_or(u64::MAX))
}
