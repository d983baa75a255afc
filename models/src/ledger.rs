//! The protected resource: a prepaid balance and the debits that were taken from it.
//!
//! One record, one version counter, one copy, on a disk. What a request changes – the record, or what the
//! fence remembers – is durable before it is answered.

mod client;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use fencepost_checker::history::{
    Apply, Charge, Charged, DebitId, Event, F, JobId, Record, Recover, Refuse, RefuseReason, ResourceId,
    Value, Write,
};
use fencepost_sim::{Incoming, Message, Node, World};
use serde::{Deserialize, Serialize};

pub use client::{LedgerClient, Refusal};

use crate::config::RunConfig;
use crate::fence::{Fence, Memory, Proof};
use crate::recorder::Recorder;
use crate::rpc::Traced;

/// The name under which clients find it.
const SERVICE: &str = "ledger";
const FILE: &str = "ledger.json";
const LEDGER: ResourceId = ResourceId(0);

/// What can be asked of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// The whole record.
    Read {
        /// The fencing token, where reads show it.
        token: Option<u64>,
    },
    /// Whether an invoice was charged.
    Charged {
        /// The fencing token, where reads show it.
        token: Option<u64>,
        /// The invoice.
        invoice: JobId,
    },
    /// Replace the record whole.
    Write {
        /// The fencing token.
        token: Option<u64>,
        /// The new record.
        write: Write,
        /// Only if the version is still the one that `write` was computed from, whatever the fence.
        only_if_unchanged: bool,
    },
    /// Book a debit on what is there.
    Charge {
        /// The fencing token.
        token: Option<u64>,
        /// The debit.
        charge: Charge,
        /// The idempotency key.
        key: Option<u64>,
    },
}

/// What the ledger answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// The record.
    Record(Arc<Record>),
    /// Whether an invoice was charged.
    Charged(Charged),
    /// Done, and durable.
    Done,
    /// Not done.
    Refused(RefuseReason),
}

impl Message for Response {}

/// The ledger itself, apart from disk and network.
pub struct Ledger {
    fence: Box<dyn Fence>,
    state: State,
    /// Counts requests; for records only, so a restart does not begin anew.
    seq: u64,
}

/// What is on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    record: Arc<Record>,
    charges: BTreeMap<JobId, Vec<DebitId>>,
    memory: Memory,
}

impl Ledger {
    /// A new ledger behind a fence.
    pub fn new(fence: Box<dyn Fence>, balance: i64) -> Self {
        let record = Arc::new(Record { version: 0, balance, debits: Vec::new() });
        Ledger { fence, state: State { record, charges: BTreeMap::new(), memory: Memory::default() }, seq: 0 }
    }

    /// Carries a request out or refuses it: the entry for the history, and the answer.
    pub fn handle(&mut self, traced: &Traced<Request>) -> (Event, Response) {
        let bar_before = self.state.memory.bar;
        self.seq += 1;
        match self.admit(&traced.request) {
            Ok(()) => {
                let (value, response) = self.carry_out(&traced.request);
                let event = self.applied(traced, bar_before, value);
                (event, response)
            }
            Err(reason) => (self.refused(traced, reason), Response::Refused(reason)),
        }
    }

    fn admit(&mut self, request: &Request) -> Result<(), RefuseReason> {
        let version = self.state.record.version;
        let proof = proof(request);
        match request {
            Request::Read { token } | Request::Charged { token, .. } => {
                self.fence.admit_read(&mut self.state.memory, *token)
            }
            Request::Write { only_if_unchanged: true, write, .. } if write.base_version != Some(version) => {
                // The fence has the first word: a stale token is refused as such.
                self.fence.admit_write(&mut self.state.memory, proof, version)?;
                Err(RefuseReason::VersionMismatch)
            }
            Request::Write { .. } | Request::Charge { .. } => {
                self.fence.admit_write(&mut self.state.memory, proof, version)
            }
        }
    }

    fn carry_out(&mut self, request: &Request) -> (Option<Value>, Response) {
        let state = &mut self.state;
        match request {
            Request::Read { .. } => (None, Response::Record(state.record.clone())),
            Request::Charged { invoice, .. } => {
                let debits = state.charges.get(invoice).cloned().unwrap_or_default();
                let version = state.record.version;
                (None, Response::Charged(Charged { version, invoice: *invoice, debits }))
            }
            Request::Write { write, .. } => {
                let version = state.record.version + 1;
                let (balance, debits) = (write.balance, write.debits.clone());
                state.record = Arc::new(Record { version, balance, debits });
                state.charges.entry(write.debit.invoice).or_default().push(write.debit.id);
                (Some(Value::Write(write.clone())), Response::Done)
            }
            Request::Charge { charge, .. } => {
                let record = Arc::make_mut(&mut state.record);
                record.version += 1;
                record.balance -= charge.debit.amount;
                record.debits.push(charge.debit.id);
                state.charges.entry(charge.debit.invoice).or_default().push(charge.debit.id);
                (Some(Value::Charge(charge.clone())), Response::Done)
            }
        }
    }

    fn applied(&self, traced: &Traced<Request>, bar_before: Option<u64>, value: Option<Value>) -> Event {
        let proof = proof(&traced.request);
        Event::Apply(Apply {
            resource: LEDGER,
            seq: self.seq,
            op: traced.op,
            worker: traced.worker,
            f: function(&traced.request),
            hold: traced.hold,
            token: proof.token,
            bar_before,
            bar_after: self.state.memory.bar,
            version_read: proof.base_version,
            version: self.state.record.version,
            durable: true,
            value,
            idempotency_key: proof.key,
        })
    }

    fn refused(&self, traced: &Traced<Request>, reason: RefuseReason) -> Event {
        let proof = proof(&traced.request);
        Event::Refuse(Refuse {
            resource: LEDGER,
            seq: self.seq,
            op: traced.op,
            worker: traced.worker,
            f: function(&traced.request),
            hold: traced.hold,
            token: proof.token,
            bar: self.state.memory.bar,
            version_read: proof.base_version,
            version: self.state.record.version,
            reason,
        })
    }
}

/// What the fence sees of a request.
fn proof(request: &Request) -> Proof {
    match request {
        Request::Read { token } | Request::Charged { token, .. } => {
            Proof { token: *token, base_version: None, key: None }
        }
        Request::Write { token, write, .. } => {
            Proof { token: *token, base_version: write.base_version, key: None }
        }
        Request::Charge { token, charge, key } => {
            Proof { token: *token, base_version: charge.base_version, key: *key }
        }
    }
}

fn function(request: &Request) -> F {
    match request {
        Request::Read { .. } | Request::Charged { .. } => F::Read,
        Request::Write { .. } => F::Write,
        Request::Charge { .. } => F::Charge,
    }
}

/// Adds the ledger's node to the world.
pub fn start(world: &mut World, recorder: &Rc<Recorder>, config: &RunConfig) {
    let (recorder, balance) = (recorder.clone(), config.balance);
    let (mode, make_fence) = (config.fence, config.make_fence);
    let seq = Rc::new(Cell::new(0));
    let node = world.add_node("ledger", move |node| {
        let ledger = Ledger::new(make_fence(mode), balance);
        serve(node, recorder.clone(), Ledger { seq: seq.get(), ..ledger }, seq.clone())
    });
    world.set_fsync(node, config.fsync.clone());
}

/// The ledger's process: one request at a time.
async fn serve(node: Node, recorder: Rc<Recorder>, mut ledger: Ledger, seq: Rc<Cell<u64>>) {
    let disk = node.disk();
    let stored = disk.read(FILE);
    if !stored.is_empty() {
        ledger.state = serde_json::from_slice(&stored).expect("the file is replaced whole");
        let (bar, record) = (ledger.state.memory.bar, ledger.state.record.clone());
        recorder.push(Event::Recover(Recover { resource: LEDGER, bar, record }));
    }
    let inbox = node.bind::<Traced<Request>, Response>(SERVICE);
    loop {
        let (client, incoming) = inbox.recv().await;
        let Incoming::Message(traced) = incoming else { continue };
        let (version, bar) = (ledger.state.record.version, ledger.state.memory.bar);
        let (event, response) = ledger.handle(&traced);
        recorder.push(event);
        seq.set(ledger.seq);
        if (ledger.state.record.version, ledger.state.memory.bar) != (version, bar) {
            disk.write(FILE, serde_json::to_vec(&ledger.state).expect("plain data"));
            disk.fsync(FILE).await;
        }
        client.send(response);
    }
}
