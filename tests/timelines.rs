//! Sixteen public incidents as timelines: each runs through our resource behind the fences `off`, `write` and
//! `read-write` into a history, and the checker must find exactly the figures that `tests/cases/oracle.py`
//! computes. `tests/cases/README.md` tells the incidents.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;

use fencepost::checker::history::{
    Belief, Block, By, Cease, CeaseReason, CheckDepth, Debit, DebitId, End, EndCause, Entry, Event, F, Fault,
    FenceMode, Header, Hold, JobId, Lock, LockId, NodeId, Op, OpId, Resource, ResourceId, RetryPolicy,
    SCHEMA, Tenure, TokenOrigin, Value, Worker, WorkerId, Write,
};
use fencepost::checker::{Analysis, Checker};
use fencepost::models::fence::fence;
use fencepost::models::ledger::{Ledger, Request, Response};
use fencepost::models::rpc::Traced;
use serde::Deserialize;

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    id: String,
    until_ms: u64,
    events: Vec<Line>,
    expected: Expected,
}

#[derive(Deserialize)]
struct Line {
    t: u64,
    verb: String,
    actor: String,
    token: Option<u64>,
    #[serde(default)]
    cas: bool,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Expected {
    double_holder_windows: usize,
    double_holder_ms: u64,
    max_concurrent_holders: u32,
    double_holder_pairs: Vec<String>,
    windows: Vec<(u64, u64, u32)>,
    service_double_grant_ms: u64,
    stale_belief_ms: u64,
    ghost_owner_ms: u64,
    stuck_ms: u64,
    stuck_from: Option<u64>,
    stuck_to: Option<u64>,
    unfenced: DataFigures,
    fenced_writes: DataFigures,
    fenced_reads_and_writes: DataFigures,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct DataFigures {
    accepted: u64,
    lost: u64,
    stale: u64,
    rejected: u64,
}

const MS: u64 = 1_000_000;

/// A timeline on its way into a history.
struct Recording {
    mode: FenceMode,
    ledger: Ledger,
    entries: Vec<Entry>,
    actors: Vec<String>,
    /// The hold of each actor's last grant, or of the one that it waits for.
    holds: BTreeMap<String, Hold>,
    waiting: BTreeMap<String, Op>,
    /// The version that each actor's next write is computed from.
    snapshots: BTreeMap<String, u64>,
    owners: BTreeMap<Hold, String>,
    numbers: u64,
}

impl Recording {
    fn of(case: &Case, mode: FenceMode) -> (Header, Self) {
        let mut actors: Vec<String> = case.events.iter().map(|line| line.actor.clone()).collect();
        actors.sort();
        actors.dedup();
        let mut recording = Recording {
            mode,
            ledger: Ledger::new(fence(mode), 1_000),
            entries: Vec::new(),
            actors,
            holds: BTreeMap::new(),
            waiting: BTreeMap::new(),
            snapshots: BTreeMap::new(),
            owners: BTreeMap::new(),
            numbers: 0,
        };
        let mut lines: Vec<&Line> = case.events.iter().collect();
        lines.sort_by_key(|line| line.t);
        for line in lines {
            recording.play(line);
        }
        (recording.header(), recording)
    }

    fn header(&self) -> Header {
        let server = self.actors.len() as u32;
        let worker = |(node, name): (usize, &String)| Worker {
            name: name.clone(),
            node: NodeId(node as u32),
            check: CheckDepth::None,
            renew_every_ns: None,
            retry: RetryPolicy::Never,
        };
        Header {
            schema: SCHEMA.to_owned(),
            nodes: self.actors.iter().cloned().chain(["lock service".to_owned()]).collect(),
            workers: self.actors.iter().enumerate().map(worker).collect(),
            locks: vec![Lock {
                name: format!("lock at node {server}"),
                service: true,
                ttl_ns: 0,
                clock_rate_bound_ppm: 0,
                granularity_ns: 0,
                lock_delay_ns: 0,
                tokens: TokenOrigin::WithGrant,
            }],
            resources: vec![Resource { name: "ledger".to_owned(), fence: self.mode, balance: 1_000 }],
        }
    }

    fn play(&mut self, line: &Line) {
        let (actor, at) = (line.actor.as_str(), line.t * MS);
        let (server, lock) = (NodeId(self.actors.len() as u32), LockId(0));
        let by = By::default();
        match line.verb.as_str() {
            "want" => {
                let hold = self.new_hold(actor);
                let mut op = self.op(actor, F::Acquire);
                (op.lock, op.hold) = (Some(lock), Some(hold));
                self.waiting.insert(actor.to_owned(), op.clone());
                self.push(at, Event::Invoke(op));
            }
            "unwant" => {
                let op = self.waiting.remove(actor).expect("only who waits gives up");
                self.push(at, Event::Fail(op));
            }
            "grant" => {
                let hold =
                    if self.waiting.contains_key(actor) { self.holds[actor] } else { self.new_hold(actor) };
                self.push(
                    at,
                    Event::Grant(Tenure { server, lock, hold, token: line.token, ttl_ns: None, by }),
                );
            }
            "believe" => match self.waiting.remove(actor) {
                Some(op) => self.push(at, Event::Ok(op)),
                None => {
                    let belief = Belief { worker: self.worker(actor), lock, hold: self.holds[actor] };
                    self.push(at, Event::Believe(belief));
                }
            },
            "disbelieve" => {
                let (worker, hold) = (self.worker(actor), self.holds[actor]);
                self.push(at, Event::Cease(Cease { worker, lock, hold, reason: CeaseReason::Lost }));
            }
            "crash" => {
                self.waiting.remove(actor);
                self.push(at, Event::Nemesis(Fault::Kill { node: NodeId(self.worker(actor).0) }));
            }
            "expire" | "unlock" | "steal" | "revoke" => {
                let hold = self.holds[actor];
                let (cause, by) = match line.verb.as_str() {
                    "expire" => (EndCause::Expired, by),
                    "unlock" => (EndCause::Released, By { op: None, hold: Some(hold) }),
                    "steal" => (EndCause::Deleted, by),
                    _ => (EndCause::Forgotten, by),
                };
                self.push(at, Event::End(End { server, lock, hold, cause, by }));
            }
            "block" | "unblock" => {
                let blocked = line.verb == "block";
                self.push(at, Event::Block(Block { server, lock, blocked }));
            }
            "read" => self.read(at, line),
            "write" => self.write(at, line),
            verb => panic!("{verb}: no such verb"),
        }
    }

    fn read(&mut self, at: u64, line: &Line) {
        let token = line.token.filter(|_| self.mode == FenceMode::ReadWrite);
        let mut op = self.op(&line.actor, F::Read);
        (op.hold, op.resource, op.token) = (self.holds.get(&line.actor).copied(), Some(ResourceId(0)), token);
        match self.ask(at, &op, Request::Read { token }) {
            Response::Record(record) => {
                self.snapshots.insert(line.actor.clone(), record.version);
                self.push(at, Event::Ok(Op { value: Some(Value::Record(record)), ..op }));
            }
            _ => {
                self.snapshots.remove(&line.actor);
                self.push(at, Event::Fail(op));
            }
        }
    }

    fn write(&mut self, at: u64, line: &Line) {
        let base_version = self.snapshots.get(&line.actor).copied();
        self.numbers += 1;
        let id = DebitId(self.numbers);
        let write = Write {
            base_version,
            debit: Debit { id, invoice: JobId(self.numbers), amount: 1 },
            balance: 999,
            debits: vec![id],
        };
        let mut op = self.op(&line.actor, F::Write);
        (op.hold, op.resource, op.token) =
            (self.holds.get(&line.actor).copied(), Some(ResourceId(0)), line.token);
        op.value = Some(Value::Write(write.clone()));
        let request = Request::Write { token: line.token, write, only_if_unchanged: line.cas };
        let response = self.ask(at, &op, request);
        let done = response == Response::Done;
        if done {
            // What it wrote is what it knows.
            let Some(Entry { event: Event::Apply(apply), .. }) = self.entries.last() else {
                panic!("an accepted write is recorded");
            };
            let version = apply.version;
            self.snapshots.insert(line.actor.clone(), version);
        }
        self.push(at, if done { Event::Ok(op) } else { Event::Fail(op) });
    }

    /// Sends a request to the resource, which takes no time.
    fn ask(&mut self, at: u64, op: &Op, request: Request) -> Response {
        self.push(at, Event::Invoke(op.clone()));
        let traced = Traced { op: op.op, worker: op.worker, hold: op.hold, request };
        let (event, response) = self.ledger.handle(&traced);
        self.push(at, event);
        response
    }

    fn push(&mut self, time_ns: u64, event: Event) {
        let index = self.entries.len() as u64;
        self.entries.push(Entry { index, time_ns, event });
    }

    fn op(&mut self, actor: &str, f: F) -> Op {
        self.numbers += 1;
        Op::new(OpId(self.numbers), self.worker(actor), f)
    }

    fn new_hold(&mut self, actor: &str) -> Hold {
        self.numbers += 1;
        let hold = Hold(self.numbers);
        self.holds.insert(actor.to_owned(), hold);
        self.owners.insert(hold, actor.to_owned());
        hold
    }

    fn worker(&self, actor: &str) -> WorkerId {
        WorkerId(self.actors.iter().position(|name| name == actor).expect("an actor of the case") as u32)
    }
}

fn analysed(case: &Case, mode: FenceMode) -> (Recording, Analysis) {
    let (header, recording) = Recording::of(case, mode);
    let mut checker = Checker::new(&header);
    for entry in &recording.entries {
        checker.push(entry);
    }
    let analysis = checker.finish_at(case.until_ms * MS);
    (recording, analysis)
}

fn data(analysis: &Analysis) -> DataFigures {
    let counts = &analysis.counts;
    DataFigures {
        accepted: counts.writes_applied,
        lost: counts.destroyed_updates,
        // The oracle compares tokens, so it cannot see what no fence can see.
        stale: counts.stale_accepted + counts.stale_rejected - counts.stale_undetectable,
        rejected: counts.reads_refused + counts.writes_refused,
    }
}

fn figures(case: &Case) -> Expected {
    let (recording, analysis) = analysed(case, FenceMode::Off);
    let times = &analysis.times;
    let mut pairs: Vec<String> = analysis
        .pairs
        .iter()
        .map(|(older, newer)| {
            let mut names = [&recording.owners[older], &recording.owners[newer]];
            names.sort();
            format!("{}+{}", names[0], names[1])
        })
        .collect();
    pairs.sort();
    pairs.dedup();
    Expected {
        double_holder_windows: analysis.windows.len(),
        double_holder_ms: times.double_holder_ns / MS,
        max_concurrent_holders: times.max_holders,
        double_holder_pairs: pairs,
        windows: analysis.windows.iter().map(|it| (it.from_ns / MS, it.to_ns / MS, it.holders)).collect(),
        service_double_grant_ms: times.double_grant_ns / MS,
        stale_belief_ms: times.stale_belief_ns / MS,
        ghost_owner_ms: times.ghost_owner_ns / MS,
        stuck_ms: times.stuck_ns / MS,
        stuck_from: times.stuck_from_ns.map(|ns| ns / MS),
        stuck_to: times.stuck_to_ns.map(|ns| ns / MS),
        unfenced: data(&analysis),
        fenced_writes: data(&analysed(case, FenceMode::Write).1),
        fenced_reads_and_writes: data(&analysed(case, FenceMode::ReadWrite).1),
    }
}

#[test]
fn every_timeline_has_the_figures_of_the_oracle() {
    let cases: Cases = serde_json::from_str(include_str!("cases/cases.json")).unwrap();
    assert_eq!(cases.cases.len(), 16);
    for case in &cases.cases {
        assert_eq!(figures(case), case.expected, "case {}", case.id);
    }
}

#[test]
fn what_a_fence_refuses_is_the_same_owner_and_belief_view() {
    let cases: Cases = serde_json::from_str(include_str!("cases/cases.json")).unwrap();
    for case in &cases.cases {
        let views = |mode| {
            let analysis = analysed(case, mode).1;
            (analysis.windows, analysis.pairs, analysis.times.stuck_ns, analysis.times.ghost_owner_ns)
        };
        assert_eq!(views(FenceMode::Off), views(FenceMode::ReadWrite), "case {}", case.id);
    }
}
