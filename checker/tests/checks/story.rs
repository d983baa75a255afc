//! Histories told step by step, in milliseconds.
//!
//! Node 0 serves the lock; the workers *A*, *B*, *C* run on nodes 1, 2, 3; node 4 is a second server. A step
//! may be told in any order: the story is sorted by time before it is read. Whole operations take 2 ms:
//! invoked at `t`, carried out at `t + 1`, acknowledged at `t + 2`. Hold *n* has token *n*, debit *n* settles
//! invoice *n* with 10, and the lease is 10 s.

use std::sync::Arc;

use fencepost_checker::history::*;
use fencepost_checker::{Analysis, analyse};

pub const A: WorkerId = WorkerId(0);
pub const B: WorkerId = WorkerId(1);
pub const C: WorkerId = WorkerId(2);
pub const SERVER: NodeId = NodeId(0);
pub const OTHER_SERVER: NodeId = NodeId(4);
pub const LOCK: LockId = LockId(0);
pub const LEDGER: ResourceId = ResourceId(0);
pub const LEASE_MS: u64 = 10_000;
pub const MS: u64 = 1_000_000;

pub struct Story {
    pub header: Header,
    /// Whether grants carry their token.
    pub tokens_come_with_grants: bool,
    entries: Vec<Entry>,
    operations: u64,
}

/// A request to the ledger that is on its way.
#[derive(Clone)]
pub struct Sent {
    pub op: Op,
    base: Option<u64>,
}

impl Sent {
    pub fn new(op: Op) -> Self {
        Sent { op, base: None }
    }
}

pub fn node_of(worker: WorkerId) -> NodeId {
    NodeId(worker.0 + 1)
}

impl Story {
    pub fn new() -> Self {
        let worker = |(id, name): (u32, &str)| Worker {
            name: name.into(),
            node: NodeId(id + 1),
            check: CheckDepth::BeforeWrite,
            renew_every_ns: None,
            retry: RetryPolicy::Never,
        };
        let header = Header {
            schema: SCHEMA.into(),
            nodes: ["server", "a", "b", "c", "other-server"].map(String::from).into(),
            workers: [(0, "A"), (1, "B"), (2, "C")].map(worker).into(),
            locks: vec![Lock {
                name: "lock".into(),
                service: true,
                ttl_ns: LEASE_MS * MS,
                clock_rate_bound_ppm: 0,
                granularity_ns: 0,
                lock_delay_ns: 0,
                tokens: TokenOrigin::WithGrant,
            }],
            resources: vec![Resource { name: "ledger".into(), fence: FenceMode::Off, balance: 1000 }],
        };
        Story { header, tokens_come_with_grants: true, entries: Vec::new(), operations: 0 }
    }

    pub fn fenced(fence: FenceMode) -> Self {
        let mut story = Story::new();
        story.header.resources[0].fence = fence;
        story
    }

    pub fn lock(&mut self) -> &mut Lock {
        &mut self.header.locks[0]
    }

    pub fn habits(&mut self, worker: WorkerId) -> &mut Worker {
        &mut self.header.workers[worker.0 as usize]
    }

    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = self.entries.clone();
        entries.sort_by_key(|entry| entry.time_ns);
        for (index, entry) in (0..).zip(&mut entries) {
            entry.index = index;
        }
        entries
    }

    pub fn analyse(&self) -> Analysis {
        analyse(&self.header, &self.entries())
    }

    pub fn tell(&mut self, t: u64, event: Event) {
        self.entries.push(Entry { index: 0, time_ns: t * MS, event });
    }

    pub fn op(&mut self, worker: WorkerId, f: F, hold: u64) -> Op {
        self.operations += 1;
        let mut op = Op::new(OpId(self.operations), worker, f);
        op.hold = Some(Hold(hold));
        match f {
            F::Acquire | F::Renew | F::Release => op.lock = Some(LOCK),
            F::Read | F::Write | F::Charge => op.resource = Some(LEDGER),
            F::Call => {}
        }
        op
    }

    fn tenure(&self, hold: u64, op: Option<OpId>) -> Tenure {
        Tenure {
            server: SERVER,
            lock: LOCK,
            hold: Hold(hold),
            token: self.tokens_come_with_grants.then_some(hold),
            ttl_ns: Some(LEASE_MS * MS),
            by: By { op, hold: Some(Hold(hold)) },
        }
    }

    /// A whole acquire: waits from `t`, is granted at `t + 1`, believes from `t + 2`.
    pub fn takes(&mut self, t: u64, worker: WorkerId, hold: u64) -> Op {
        self.takes_with_token(t, worker, hold, hold)
    }

    pub fn takes_with_token(&mut self, t: u64, worker: WorkerId, hold: u64, token: u64) -> Op {
        let op = self.asks(t, worker, hold);
        let tenure = self.tenure(hold, Some(op.op));
        let token = Some(token);
        self.tell(t + 1, Event::Grant(Tenure { token: tenure.token.and(token), ..tenure }));
        self.is_told(t + 2, &op, t + LEASE_MS, token);
        op
    }

    pub fn asks(&mut self, t: u64, worker: WorkerId, hold: u64) -> Op {
        let op = self.op(worker, F::Acquire, hold);
        self.tell(t, Event::Invoke(op.clone()));
        op
    }

    pub fn granted(&mut self, t: u64, op: &Op) {
        let hold = op.hold.map_or(0, |hold| hold.0);
        self.tell(t, Event::Grant(self.tenure(hold, Some(op.op))));
    }

    pub fn granted_by(&mut self, t: u64, op: &Op, server: NodeId) {
        let hold = op.hold.map_or(0, |hold| hold.0);
        self.tell(t, Event::Grant(Tenure { server, ..self.tenure(hold, Some(op.op)) }));
    }

    pub fn is_told(&mut self, t: u64, op: &Op, deadline: u64, token: Option<u64>) {
        self.tell(t, Event::Ok(Op { deadline_ns: Some(deadline * MS), token, ..op.clone() }));
    }

    pub fn renews(&mut self, t: u64, worker: WorkerId, hold: u64) -> Op {
        let op = self.is_renewing(t, worker, hold);
        self.is_told(t + 2, &op, t + LEASE_MS, None);
        op
    }

    /// A renewal that is carried out at `t + 1`; its reply is still to come.
    pub fn is_renewing(&mut self, t: u64, worker: WorkerId, hold: u64) -> Op {
        let op = self.op(worker, F::Renew, hold);
        self.tell(t, Event::Invoke(op.clone()));
        self.tell(t + 1, Event::Renew(self.tenure(hold, Some(op.op))));
        op
    }

    pub fn releases(&mut self, t: u64, worker: WorkerId, hold: u64) -> Op {
        let op = self.op(worker, F::Release, hold);
        self.tell(t, Event::Invoke(op.clone()));
        let by = By { op: Some(op.op), hold: Some(Hold(hold)) };
        self.ends(t + 1, hold, EndCause::Released, by);
        self.tell(t + 2, Event::Ok(op.clone()));
        op
    }

    pub fn expires(&mut self, t: u64, hold: u64) {
        self.ends(t, hold, EndCause::Expired, By::default());
    }

    pub fn ends(&mut self, t: u64, hold: u64, cause: EndCause, by: By) {
        self.tell(t, Event::End(End { server: SERVER, lock: LOCK, hold: Hold(hold), cause, by }));
    }

    pub fn authority(&mut self, t: u64, hold: u64, server: NodeId, acknowledges: bool) {
        self.tell(t, Event::Authority(Authority { server, lock: LOCK, hold: Hold(hold), acknowledges }));
    }

    pub fn checks(&mut self, t: u64, worker: WorkerId, hold: u64, passed: bool) {
        let check = Check { worker, lock: LOCK, hold: Hold(hold), passed, deadline_ns: None };
        self.tell(t, Event::Check(check));
    }

    pub fn learns(&mut self, t: u64, worker: WorkerId, hold: u64) {
        let reason = LossReason::NotOwner;
        self.tell(t, Event::Lost(Lost { worker, lock: LOCK, hold: Hold(hold), reason }));
    }

    pub fn ceases(&mut self, t: u64, worker: WorkerId, hold: u64) {
        let reason = CeaseReason::DeadlinePassed;
        self.tell(t, Event::Cease(Cease { worker, lock: LOCK, hold: Hold(hold), reason }));
    }

    pub fn believes(&mut self, t: u64, worker: WorkerId, hold: u64) {
        self.tell(t, Event::Believe(Belief { worker, lock: LOCK, hold: Hold(hold) }));
    }

    pub fn nemesis(&mut self, t: u64, fault: Fault) {
        self.tell(t, Event::Nemesis(fault));
    }

    pub fn is_stopped(&mut self, from: u64, to: u64, worker: WorkerId) {
        let node = node_of(worker);
        self.nemesis(from, Fault::Stop { node, kind: StopKind::Gc });
        self.nemesis(to, Fault::Resume { node });
    }

    /// A whole read of the ledger, which holds these debits.
    pub fn reads(&mut self, t: u64, worker: WorkerId, hold: u64, debits: &[u64]) -> Op {
        let op = self.op(worker, F::Read, hold);
        self.tell(t, Event::Invoke(op.clone()));
        let version = debits.len() as u64;
        let sent = Sent { op: op.clone(), base: None };
        self.applied(t + 1, &sent, version);
        let record = Record { version, balance: balance(debits), debits: ids(debits) };
        self.tell(t + 2, Event::Ok(Op { value: Some(Value::Record(Arc::new(record))), ..op.clone() }));
        op
    }

    /// A whole write from one version to the next: the last debit is the new one.
    pub fn writes(
        &mut self,
        t: u64,
        worker: WorkerId,
        hold: u64,
        versions: (u64, u64),
        debits: &[u64],
    ) -> Sent {
        let sent = self.sends(t, worker, hold, versions.0, debits);
        self.applied(t + 1, &sent, versions.1);
        self.acknowledged(t + 2, &sent);
        sent
    }

    pub fn sends(&mut self, t: u64, worker: WorkerId, hold: u64, base: u64, debits: &[u64]) -> Sent {
        let debit = debit(debits.last().copied().unwrap_or_default());
        let write = Write { base_version: Some(base), debit, balance: balance(debits), debits: ids(debits) };
        self.sends_record(t, worker, hold, write)
    }

    pub fn sends_record(&mut self, t: u64, worker: WorkerId, hold: u64, write: Write) -> Sent {
        let mut op = self.op(worker, F::Write, hold);
        let base = write.base_version;
        op.value = Some(Value::Write(write));
        op.token = Some(hold);
        self.tell(t, Event::Invoke(op.clone()));
        Sent { op, base }
    }

    /// Sends a charge of an invoice.
    pub fn charges(&mut self, t: u64, worker: WorkerId, hold: u64, id: u64, invoice: u64) -> Sent {
        self.charges_again(t, (worker, hold), id, invoice, None)
    }

    /// Sends a charge of an invoice, because the outcome of an earlier one is unknown.
    pub fn charges_again(
        &mut self,
        t: u64,
        (worker, hold): (WorkerId, u64),
        id: u64,
        invoice: u64,
        retry_of: Option<OpId>,
    ) -> Sent {
        let mut op = self.op(worker, F::Charge, hold);
        op.retry_of = retry_of;
        let debit = Debit { invoice: JobId(invoice), ..debit(id) };
        op.value = Some(Value::Charge(Charge { base_version: None, debit }));
        op.token = Some(hold);
        self.tell(t, Event::Invoke(op.clone()));
        Sent { op, base: None }
    }

    pub fn applied(&mut self, t: u64, sent: &Sent, version: u64) {
        let Sent { op, base } = sent;
        self.tell(
            t,
            Event::Apply(Apply {
                resource: LEDGER,
                seq: t,
                op: op.op,
                worker: op.worker,
                f: op.f,
                hold: op.hold,
                token: op.token,
                bar_before: None,
                bar_after: None,
                version_read: *base,
                version,
                durable: true,
                value: op.value.clone(),
                idempotency_key: op.idempotency_key,
            }),
        );
    }

    pub fn refused(&mut self, t: u64, sent: &Sent, reason: RefuseReason) {
        let Sent { op, base } = sent;
        self.tell(
            t,
            Event::Refuse(Refuse {
                resource: LEDGER,
                seq: t,
                op: op.op,
                worker: op.worker,
                f: op.f,
                hold: op.hold,
                token: op.token,
                bar: None,
                version_read: *base,
                version: 0,
                reason,
            }),
        );
        self.tell(t + 1, Event::Fail(op.clone()));
    }

    pub fn acknowledged(&mut self, t: u64, sent: &Sent) {
        self.tell(t, Event::Ok(sent.op.clone()));
    }

    pub fn recovers(&mut self, t: u64, bar: Option<u64>, debits: &[u64]) {
        let record = Record { version: debits.len() as u64, balance: balance(debits), debits: ids(debits) };
        self.tell(t, Event::Recover(Recover { resource: LEDGER, bar, record: Arc::new(record) }));
    }

    /// The usual disaster: *A* reads an empty ledger under hold 1, its lease ends at 10.001 s, *B* books
    /// debit 2 under hold 2 until 12.3 s, and *A* writes debit 1 over it at 13 s. What *A* was up to in
    /// between is up to the test.
    pub fn late_write(&mut self) {
        self.takes(0, A, 1);
        self.reads(10, A, 1, &[]);
        self.expires(10_001, 1);
        self.takes(11_000, B, 2);
        self.reads(12_000, B, 2, &[]);
        self.writes(12_200, B, 2, (0, 1), &[2]);
        self.releases(12_300, B, 2);
        self.writes(13_000, A, 1, (0, 2), &[1]);
        self.releases(13_100, A, 1);
    }
}

pub fn debit(id: u64) -> Debit {
    Debit { id: DebitId(id), invoice: JobId(id), amount: 10 }
}

pub fn ids(debits: &[u64]) -> Vec<DebitId> {
    debits.iter().copied().map(DebitId).collect()
}

pub fn balance(debits: &[u64]) -> i64 {
    debits.iter().fold(1000, |balance, _| balance - 10)
}
