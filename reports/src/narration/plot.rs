//! The whole run at a glance: what became of every operation, message and pause.

use std::collections::BTreeMap;

use fencepost_checker::history::{DebitId, Entry, Event, F, Fault, Header, Hold, NodeId, Op, OpId, WorkerId};

use super::books::{Books, debit_of};
use super::cast::Cast;

/// Answers that come within this time are told together with what they answer.
pub(super) const AT_ONCE_NS: u64 = 50_000_000;

/// What the teller knows beforehand.
pub(super) struct Plot<'a> {
    pub(super) cast: Cast<'a>,
    pub(super) books: Books,
    pub(super) entries: &'a [Entry],
    courses: BTreeMap<OpId, Course<'a>>,
    workers: BTreeMap<Hold, WorkerId>,
}

/// The course of an operation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Course<'a> {
    pub(super) op: Option<&'a Op>,
    pub(super) invoked_ns: Option<u64>,
    /// When a resource or a lock service first carried it out or refused it.
    pub(super) handled_ns: Option<u64>,
    pub(super) completed_ns: Option<u64>,
    pub(super) outcome: Option<Outcome>,
}

/// What an operation's worker was told in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    NotDone,
    Unknown,
}

impl Course<'_> {
    /// Whether it was carried out soon after it was asked for.
    pub(super) fn was_prompt(&self) -> bool {
        match (self.invoked_ns, self.handled_ns) {
            (Some(invoked_ns), Some(handled_ns)) => handled_ns.saturating_sub(invoked_ns) < AT_ONCE_NS,
            _ => false,
        }
    }

    /// Whether its worker was told soon after it was carried out.
    pub(super) fn was_answered_promptly(&self) -> bool {
        match (self.handled_ns, self.completed_ns) {
            (Some(handled_ns), Some(completed_ns)) => completed_ns.saturating_sub(handled_ns) < AT_ONCE_NS,
            _ => false,
        }
    }
}

impl<'a> Plot<'a> {
    pub(super) fn new(header: &'a Header, entries: &'a [Entry]) -> Self {
        let mut courses: BTreeMap<OpId, Course<'a>> = BTreeMap::new();
        let mut workers: BTreeMap<Hold, WorkerId> = BTreeMap::new();
        for entry in entries {
            if let Event::Invoke(op) | Event::Ok(op) = &entry.event
                && let (F::Acquire, Some(hold)) = (op.f, op.hold)
            {
                workers.entry(hold).or_insert(op.worker);
            }
            let time_ns = entry.time_ns;
            let mut complete = |op: &Op, outcome| {
                let course = courses.entry(op.op).or_default();
                course.completed_ns.get_or_insert(time_ns);
                course.outcome.get_or_insert(outcome);
            };
            match &entry.event {
                Event::Ok(op) => complete(op, Outcome::Done),
                Event::Fail(op) => complete(op, Outcome::NotDone),
                Event::Info(op) => complete(op, Outcome::Unknown),
                Event::Invoke(op) => {
                    let course = courses.entry(op.op).or_default();
                    course.op.get_or_insert(op);
                    course.invoked_ns.get_or_insert(time_ns);
                }
                other => {
                    if let Some(op) = handled_by(other) {
                        let course = courses.entry(op).or_default();
                        course.handled_ns.get_or_insert(time_ns);
                    }
                }
            }
        }
        let cast = Cast::new(header, entries);
        Plot { cast, books: Books::read(header, entries), entries, courses, workers }
    }

    pub(super) fn course(&self, op: OpId) -> Course<'a> {
        self.courses.get(&op).copied().unwrap_or_default()
    }

    /// When a held message arrives, if it does.
    pub(super) fn arrival_ns(
        &self,
        position: usize,
        from: NodeId,
        to: NodeId,
        op: Option<OpId>,
    ) -> Option<u64> {
        let arrives = Fault::DeliverMessage { from, to, op };
        let later = self.entries.get(position..).unwrap_or_default();
        let arrival = later.iter().find(|entry| matches!(&entry.event, Event::Nemesis(it) if *it == arrives));
        arrival.map(|entry| entry.time_ns)
    }

    /// The faults of one kind that hit at one instant, from this one on; nothing if it is not the first.
    pub(super) fn volley(
        &self,
        position: usize,
        is_one: fn(&Fault) -> Option<(NodeId, NodeId)>,
    ) -> Vec<(NodeId, NodeId)> {
        let one_at = |entry: &Entry, time_ns: u64| match &entry.event {
            Event::Nemesis(fault) if entry.time_ns == time_ns => is_one(fault),
            _ => None,
        };
        let Some(first) = self.entries.get(position) else { return Vec::new() };
        let before = position.checked_sub(1).and_then(|before| self.entries.get(before));
        if before.is_some_and(|before| one_at(before, first.time_ns).is_some()) {
            return Vec::new();
        }
        let later = self.entries.get(position..).unwrap_or_default();
        later.iter().map_while(|entry| one_at(entry, first.time_ns)).collect()
    }

    /// The debit that an operation books.
    pub(super) fn debit(&self, op: OpId) -> Option<DebitId> {
        let value = self.course(op).op?.value.as_ref()?;
        debit_of(value).map(|debit| debit.id)
    }

    /// Whether a worker was, or will be, told that a debit is booked.
    pub(super) fn is_promised(&self, debit: DebitId) -> bool {
        self.books.fate(debit).is_some_and(|fate| fate.acknowledged || fate.read)
    }

    /// Who got a grant.
    pub(super) fn worker_of(&self, hold: Hold) -> Option<WorkerId> {
        self.workers.get(&hold).copied()
    }
}

/// What an operation is called.
pub(super) fn noun(f: F) -> &'static str {
    match f {
        F::Acquire => "request for the lock",
        F::Renew => "renewal",
        F::Release => "release",
        F::Read => "read",
        F::Write => "write",
        F::Charge => "charge",
        F::Call => "call",
    }
}

/// The operation that a server or a resource carried out or refused.
fn handled_by(event: &Event) -> Option<OpId> {
    match event {
        Event::Apply(apply) => Some(apply.op),
        Event::Refuse(refuse) => Some(refuse.op),
        Event::Grant(tenure) | Event::Renew(tenure) => tenure.by.op,
        Event::End(end) => end.by.op,
        _ => None,
    }
}
