//! The line of an entry, byte for byte as its derived serialisation would write it, but several times faster:
//! a digest is taken of every simulated run.

use super::line::{Field, Line, Text};
use crate::history::{
    Apply, By, CeaseReason, Debit, DebitId, Decider, EndCause, Entry, Event, F, Fault, Hold, JobId, LockId,
    LossReason, NodeId, Op, OpId, Record, Recover, Refuse, RefuseReason, ResourceId, StopKind, Tenure, Value,
    WorkerId,
};

macro_rules! numbers {
    ($($id:ident),*) => {$(
        impl Field for $id {
            fn write(self, line: &mut Line<'_>) {
                self.0.write(line);
            }
        }
    )*};
}

numbers!(NodeId, WorkerId, LockId, ResourceId, Hold, OpId, JobId, DebitId);

/// Appends the line of an entry.
pub(super) fn entry(text: &mut Vec<u8>, entry: &Entry) {
    let mut line = Line::begin(text);
    line.field("index", entry.index);
    line.field("time_ns", entry.time_ns);
    line.field("type", kind(&entry.event));
    match &entry.event {
        Event::Invoke(op) | Event::Ok(op) | Event::Fail(op) | Event::Info(op) => operation(&mut line, op),
        Event::Grant(tenure) | Event::Renew(tenure) | Event::Revive(tenure) => {
            self::tenure(&mut line, tenure)
        }
        Event::End(end) => {
            at_server(&mut line, end.server, end.lock);
            line.field("hold", end.hold);
            line.field("cause", cause(end.cause));
            by(&mut line, end.by);
        }
        Event::Authority(authority) => {
            at_server(&mut line, authority.server, authority.lock);
            line.field("hold", authority.hold);
            line.field("acknowledges", authority.acknowledges);
        }
        Event::Block(block) => {
            at_server(&mut line, block.server, block.lock);
            line.field("blocked", block.blocked);
        }
        Event::Believe(belief) => of_worker(&mut line, belief.worker, belief.lock, belief.hold),
        Event::Check(check) => {
            of_worker(&mut line, check.worker, check.lock, check.hold);
            line.field("passed", check.passed);
            line.optional("deadline_ns", check.deadline_ns);
        }
        Event::Lost(lost) => {
            of_worker(&mut line, lost.worker, lost.lock, lost.hold);
            line.field("reason", loss(lost.reason));
        }
        Event::Cease(cease) => {
            of_worker(&mut line, cease.worker, cease.lock, cease.hold);
            line.field("reason", cease_reason(cease.reason));
        }
        Event::Begin(begin) => {
            line.field("worker", begin.worker);
            line.field("job", begin.job);
            line.optional("hold", begin.hold);
        }
        Event::Apply(apply) => self::apply(&mut line, apply),
        Event::Refuse(refuse) => self::refuse(&mut line, refuse),
        Event::Recover(recover) => self::recover(&mut line, recover),
        Event::Nemesis(fault) => self::fault(&mut line, fault),
    }
    line.end();
}

fn operation(line: &mut Line<'_>, op: &Op) {
    line.field("op", op.op);
    line.field("worker", op.worker);
    line.field("f", f(op.f));
    line.optional("lock", op.lock);
    line.optional("resource", op.resource);
    line.optional("hold", op.hold);
    value(line, op.value.as_ref());
    line.optional("token", op.token);
    line.optional("ttl_ns", op.ttl_ns);
    line.optional("wall_ns", op.wall_ns);
    line.optional("error", op.error.as_deref().map(Text));
    line.optional("job", op.job);
    line.optional("attempt", op.attempt);
    line.optional("retry_of", op.retry_of);
    line.optional("idempotency_key", op.idempotency_key);
    line.optional("sent_ns", op.sent_ns);
    line.optional("deadline_ns", op.deadline_ns);
    line.optional("decided_by", op.decided_by.map(decider));
}

fn tenure(line: &mut Line<'_>, tenure: &Tenure) {
    at_server(line, tenure.server, tenure.lock);
    line.field("hold", tenure.hold);
    line.optional("token", tenure.token);
    line.optional("ttl_ns", tenure.ttl_ns);
    by(line, tenure.by);
}

fn by(line: &mut Line<'_>, by: By) {
    line.optional("by_op", by.op);
    line.optional("by_hold", by.hold);
}

fn at_server(line: &mut Line<'_>, server: NodeId, lock: LockId) {
    line.field("server", server);
    line.field("lock", lock);
}

fn of_worker(line: &mut Line<'_>, worker: WorkerId, lock: LockId, hold: Hold) {
    line.field("worker", worker);
    line.field("lock", lock);
    line.field("hold", hold);
}

fn apply(line: &mut Line<'_>, apply: &Apply) {
    line.field("resource", apply.resource);
    line.field("seq", apply.seq);
    line.field("op", apply.op);
    line.field("worker", apply.worker);
    line.field("f", f(apply.f));
    line.optional("hold", apply.hold);
    line.optional("token", apply.token);
    line.optional("bar_before", apply.bar_before);
    line.optional("bar_after", apply.bar_after);
    line.optional("version_read", apply.version_read);
    line.field("version", apply.version);
    line.field("durable", apply.durable);
    value(line, apply.value.as_ref());
    line.optional("idempotency_key", apply.idempotency_key);
}

fn refuse(line: &mut Line<'_>, refuse: &Refuse) {
    line.field("resource", refuse.resource);
    line.field("seq", refuse.seq);
    line.field("op", refuse.op);
    line.field("worker", refuse.worker);
    line.field("f", f(refuse.f));
    line.optional("hold", refuse.hold);
    line.optional("token", refuse.token);
    line.optional("bar", refuse.bar);
    line.optional("version_read", refuse.version_read);
    line.field("version", refuse.version);
    line.field("reason", refusal(refuse.reason));
}

fn recover(line: &mut Line<'_>, recover: &Recover) {
    line.field("resource", recover.resource);
    line.optional("bar", recover.bar);
    line.object("record", |line| record(line, &recover.record));
}

fn value(line: &mut Line<'_>, value: Option<&Value>) {
    let Some(value) = value else { return };
    line.object("value", |line| match value {
        Value::Record(record) => line.object("record", |line| self::record(line, record)),
        Value::Write(write) => line.object("write", |line| {
            line.optional("base_version", write.base_version);
            line.object("debit", |line| debit(line, write.debit));
            line.field("balance", write.balance);
            line.list("debits", write.debits.iter().map(|debit| debit.0));
        }),
        Value::Charged(charged) => line.object("charged", |line| {
            line.field("version", charged.version);
            line.field("invoice", charged.invoice);
            line.list("debits", charged.debits.iter().map(|debit| debit.0));
        }),
        Value::Charge(charge) => line.object("charge", |line| {
            line.optional("base_version", charge.base_version);
            line.object("debit", |line| debit(line, charge.debit));
        }),
    });
}

fn record(line: &mut Line<'_>, record: &Record) {
    line.field("version", record.version);
    line.field("balance", record.balance);
    line.list("debits", record.debits.iter().map(|debit| debit.0));
}

fn debit(line: &mut Line<'_>, debit: Debit) {
    line.field("id", debit.id);
    line.field("invoice", debit.invoice);
    line.field("amount", debit.amount);
}

fn fault(line: &mut Line<'_>, fault: &Fault) {
    line.field("f", fault_kind(fault));
    match *fault {
        Fault::Stop { node, kind } => {
            line.field("node", node);
            line.field("kind", stop_kind(kind));
        }
        Fault::Resume { node }
        | Fault::Kill { node }
        | Fault::PowerOff { node }
        | Fault::Restart { node } => line.field("node", node),
        Fault::ClockStep { node, by_ns } => {
            line.field("node", node);
            line.field("by_ns", by_ns);
        }
        Fault::ClockRate { node, wall_ppm, monotonic_ppm } => {
            line.field("node", node);
            line.field("wall_ppm", wall_ppm);
            line.field("monotonic_ppm", monotonic_ppm);
        }
        Fault::HoldMessage { from, to, op } | Fault::DeliverMessage { from, to, op } => {
            link(line, from, to);
            line.optional("op", op);
        }
        Fault::Cut { from, to } | Fault::Heal { from, to } => link(line, from, to),
    }
}

fn link(line: &mut Line<'_>, from: NodeId, to: NodeId) {
    line.field("from", from);
    line.field("to", to);
}

fn kind(event: &Event) -> &'static str {
    match event {
        Event::Invoke(_) => "invoke",
        Event::Ok(_) => "ok",
        Event::Fail(_) => "fail",
        Event::Info(_) => "info",
        Event::Grant(_) => "grant",
        Event::Renew(_) => "renew",
        Event::End(_) => "end",
        Event::Revive(_) => "revive",
        Event::Authority(_) => "authority",
        Event::Block(_) => "block",
        Event::Believe(_) => "believe",
        Event::Check(_) => "check",
        Event::Lost(_) => "lost",
        Event::Cease(_) => "cease",
        Event::Begin(_) => "begin",
        Event::Apply(_) => "apply",
        Event::Refuse(_) => "refuse",
        Event::Recover(_) => "recover",
        Event::Nemesis(_) => "nemesis",
    }
}

fn f(f: F) -> &'static str {
    match f {
        F::Acquire => "acquire",
        F::Renew => "renew",
        F::Release => "release",
        F::Read => "read",
        F::Write => "write",
        F::Charge => "charge",
        F::Call => "call",
    }
}

fn decider(decider: Decider) -> &'static str {
    match decider {
        Decider::Server => "server",
        Decider::Client => "client",
    }
}

fn cause(cause: EndCause) -> &'static str {
    match cause {
        EndCause::Expired => "expired",
        EndCause::Released => "released",
        EndCause::Deleted => "deleted",
        EndCause::Extended => "extended",
        EndCause::Evicted => "evicted",
        EndCause::Forgotten => "forgotten",
        EndCause::Clock => "clock",
    }
}

fn loss(reason: LossReason) -> &'static str {
    match reason {
        LossReason::NotOwner => "not-owner",
        LossReason::StaleToken => "stale-token",
        LossReason::SessionLost => "session-lost",
    }
}

fn cease_reason(reason: CeaseReason) -> &'static str {
    match reason {
        CeaseReason::DeadlinePassed => "deadline-passed",
        CeaseReason::Lost => "lost",
        CeaseReason::UnknownOutcome => "unknown-outcome",
    }
}

fn refusal(reason: RefuseReason) -> &'static str {
    match reason {
        RefuseReason::StaleToken => "stale-token",
        RefuseReason::NoToken => "no-token",
        RefuseReason::VersionMismatch => "version-mismatch",
        RefuseReason::DuplicateKey => "duplicate-key",
    }
}

fn stop_kind(kind: StopKind) -> &'static str {
    match kind {
        StopKind::Gc => "gc",
        StopKind::Sigstop => "sigstop",
        StopKind::PageFault => "page-fault",
        StopKind::VmSteal => "vm-steal",
    }
}

fn fault_kind(fault: &Fault) -> &'static str {
    match fault {
        Fault::Stop { .. } => "stop",
        Fault::Resume { .. } => "resume",
        Fault::Kill { .. } => "kill",
        Fault::PowerOff { .. } => "power-off",
        Fault::Restart { .. } => "restart",
        Fault::ClockStep { .. } => "clock-step",
        Fault::ClockRate { .. } => "clock-rate",
        Fault::HoldMessage { .. } => "hold-message",
        Fault::DeliverMessage { .. } => "deliver-message",
        Fault::Cut { .. } => "cut",
        Fault::Heal { .. } => "heal",
    }
}
