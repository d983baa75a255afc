//! Histories as text: without loss, and without a panic on any text.

use std::sync::Arc;

use fencepost_checker::history::*;
use fencepost_checker::jsonl::{self, Problem};
use fencepost_checker::{Digest, analyse, digest};
use proptest::prelude::*;

use crate::story::*;

fn text(header: &Header, entries: &[Entry]) -> Vec<u8> {
    let mut text = Vec::new();
    jsonl::write(header, entries, &mut text).expect("memory takes every byte");
    text
}

fn some<T: std::fmt::Debug + Clone>(
    value: impl Strategy<Value = T> + Clone,
) -> impl Strategy<Value = Option<T>> {
    prop::option::of(value)
}

fn worker() -> impl Strategy<Value = WorkerId> + Clone {
    (0..3_u32).prop_map(WorkerId)
}

fn node() -> impl Strategy<Value = NodeId> + Clone {
    (0..5_u32).prop_map(NodeId)
}

fn hold() -> impl Strategy<Value = Hold> + Clone {
    prop_oneof![3 => (0..5_u64).prop_map(Hold), 1 => any::<u64>().prop_map(Hold)]
}

fn op_id() -> impl Strategy<Value = OpId> + Clone {
    (0..20_u64).prop_map(OpId)
}

fn debit_ids() -> impl Strategy<Value = Vec<DebitId>> {
    prop::collection::vec((0..6_u64).prop_map(DebitId), 0..4)
}

fn debits() -> impl Strategy<Value = Debit> {
    (0..6_u64, 0..3_u64, any::<i64>()).prop_map(|(id, invoice, amount)| Debit {
        id: DebitId(id),
        invoice: JobId(invoice),
        amount,
    })
}

fn records() -> impl Strategy<Value = Arc<Record>> {
    (prop_oneof![0..9_u64, any::<u64>()], any::<i64>(), debit_ids())
        .prop_map(|(version, balance, debits)| Arc::new(Record { version, balance, debits }))
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        records().prop_map(Value::Record),
        (some(0..9_u64), debits(), any::<i64>(), debit_ids()).prop_map(
            |(base_version, debit, balance, debits)| {
                Value::Write(Write { base_version, debit, balance, debits })
            }
        ),
        (0..9_u64, 0..3_u64, debit_ids()).prop_map(|(version, invoice, debits)| {
            Value::Charged(Charged { version, invoice: JobId(invoice), debits })
        }),
        (some(0..9_u64), debits())
            .prop_map(|(base_version, debit)| Value::Charge(Charge { base_version, debit })),
    ]
}

fn fs() -> impl Strategy<Value = F> {
    prop::sample::select(vec![F::Acquire, F::Renew, F::Release, F::Read, F::Write, F::Charge, F::Call])
}

fn ops() -> impl Strategy<Value = Op> {
    let what = (op_id(), worker(), fs(), prop::option::of(values()));
    let where_to = (any::<bool>(), any::<bool>(), some(hold()));
    let times = (some(any::<u64>()), some(any::<i64>()), some(any::<u64>()), some(any::<u64>()));
    let rest =
        (some(any::<u64>()), prop::option::of(".{0,9}"), some(any::<u64>()), some(op_id()), any::<bool>());
    (what, where_to, times, rest).prop_map(|(what, where_to, times, rest)| Op {
        lock: where_to.0.then_some(LOCK),
        resource: where_to.1.then_some(LEDGER),
        hold: where_to.2,
        value: what.3,
        token: rest.0,
        ttl_ns: times.0,
        wall_ns: times.1,
        error: rest.1,
        job: rest.2.map(JobId),
        attempt: rest.2.map(|attempt| attempt as u32),
        retry_of: rest.3,
        idempotency_key: rest.0,
        sent_ns: times.2,
        deadline_ns: times.3,
        decided_by: rest.4.then_some(Decider::Client),
        ..Op::new(what.0, what.1, what.2)
    })
}

fn tenures() -> impl Strategy<Value = Tenure> {
    (node(), hold(), some(any::<u64>()), some(any::<u64>()), some(op_id()), some(hold())).prop_map(
        |(server, hold, token, ttl_ns, op, by_hold)| Tenure {
            server,
            lock: LOCK,
            hold,
            token,
            ttl_ns,
            by: By { op, hold: by_hold },
        },
    )
}

fn ends() -> impl Strategy<Value = End> {
    let causes = prop::sample::select(vec![
        EndCause::Expired,
        EndCause::Released,
        EndCause::Deleted,
        EndCause::Extended,
        EndCause::Evicted,
        EndCause::Forgotten,
        EndCause::Clock,
    ]);
    (tenures(), causes).prop_map(|(Tenure { server, lock, hold, by, .. }, cause)| End {
        server,
        lock,
        hold,
        cause,
        by,
    })
}

fn applies() -> impl Strategy<Value = Apply> {
    let numbers = prop::array::uniform6(some(prop_oneof![0..9_u64, any::<u64>()]));
    (ops(), any::<u64>(), numbers, prop_oneof![0..9_u64, any::<u64>()], any::<bool>()).prop_map(
        |(op, seq, [token, bar_before, bar_after, version_read, key, _], version, durable)| Apply {
            resource: LEDGER,
            seq,
            op: op.op,
            worker: op.worker,
            f: op.f,
            hold: op.hold,
            token,
            bar_before,
            bar_after,
            version_read,
            version,
            durable,
            value: op.value,
            idempotency_key: key,
        },
    )
}

fn refusals() -> impl Strategy<Value = Refuse> {
    let reasons = prop::sample::select(vec![
        RefuseReason::StaleToken,
        RefuseReason::NoToken,
        RefuseReason::VersionMismatch,
        RefuseReason::DuplicateKey,
    ]);
    (applies(), reasons).prop_map(|(apply, reason)| Refuse {
        resource: apply.resource,
        seq: apply.seq,
        op: apply.op,
        worker: apply.worker,
        f: apply.f,
        hold: apply.hold,
        token: apply.token,
        bar: apply.bar_before,
        version_read: apply.version_read,
        version: apply.version,
        reason,
    })
}

fn faults() -> impl Strategy<Value = Fault> {
    let kinds =
        prop::sample::select(vec![StopKind::Gc, StopKind::Sigstop, StopKind::PageFault, StopKind::VmSteal]);
    prop_oneof![
        (node(), kinds).prop_map(|(node, kind)| Fault::Stop { node, kind }),
        node().prop_map(|node| Fault::Resume { node }),
        node().prop_map(|node| Fault::Kill { node }),
        node().prop_map(|node| Fault::PowerOff { node }),
        node().prop_map(|node| Fault::Restart { node }),
        (node(), any::<i64>()).prop_map(|(node, by_ns)| Fault::ClockStep { node, by_ns }),
        (node(), any::<i64>(), any::<i64>()).prop_map(|(node, wall_ppm, monotonic_ppm)| {
            Fault::ClockRate { node, wall_ppm, monotonic_ppm }
        }),
        (node(), node(), some(op_id())).prop_map(|(from, to, op)| Fault::HoldMessage { from, to, op }),
        (node(), node(), some(op_id())).prop_map(|(from, to, op)| Fault::DeliverMessage { from, to, op }),
        (node(), node()).prop_map(|(from, to)| Fault::Cut { from, to }),
        (node(), node()).prop_map(|(from, to)| Fault::Heal { from, to }),
    ]
}

fn events() -> impl Strategy<Value = Event> {
    let lock = LOCK;
    let client = (worker(), hold(), any::<bool>(), some(any::<u64>()));
    prop_oneof![
        3 => ops().prop_map(Event::Invoke),
        3 => ops().prop_map(Event::Ok),
        1 => ops().prop_map(Event::Fail),
        1 => ops().prop_map(Event::Info),
        2 => tenures().prop_map(Event::Grant),
        1 => tenures().prop_map(Event::Renew),
        1 => ends().prop_map(Event::End),
        1 => tenures().prop_map(Event::Revive),
        1 => (node(), hold(), any::<bool>()).prop_map(move |(server, hold, acknowledges)| {
            Event::Authority(Authority { server, lock, hold, acknowledges })
        }),
        1 => (node(), any::<bool>())
            .prop_map(move |(server, blocked)| Event::Block(Block { server, lock, blocked })),
        1 => (worker(), hold())
            .prop_map(move |(worker, hold)| Event::Believe(Belief { worker, lock, hold })),
        1 => client.prop_map(move |(worker, hold, passed, deadline_ns)| {
            Event::Check(Check { worker, lock, hold, passed, deadline_ns })
        }),
        1 => (worker(), hold()).prop_map(move |(worker, hold)| {
            Event::Lost(Lost { worker, lock, hold, reason: LossReason::SessionLost })
        }),
        1 => (worker(), hold()).prop_map(move |(worker, hold)| {
            Event::Cease(Cease { worker, lock, hold, reason: CeaseReason::UnknownOutcome })
        }),
        1 => (worker(), 0..3_u64, some(hold()))
            .prop_map(|(worker, job, hold)| Event::Begin(Begin { worker, job: JobId(job), hold })),
        3 => applies().prop_map(Event::Apply),
        1 => refusals().prop_map(Event::Refuse),
        1 => (some(0..9_u64), records())
            .prop_map(|(bar, record)| Event::Recover(Recover { resource: LEDGER, bar, record })),
        2 => faults().prop_map(Event::Nemesis),
    ]
}

fn histories() -> impl Strategy<Value = Vec<Entry>> {
    prop::collection::vec((0..50_u64, events()), 0..60).prop_map(|steps| {
        let mut time_ns = 0;
        let entry = |(index, (step, event)): (u64, (u64, Event))| {
            time_ns += step;
            Entry { index, time_ns, event }
        };
        (0..).zip(steps).map(entry).collect()
    })
}

fn fences() -> impl Strategy<Value = FenceMode> {
    prop::sample::select(vec![
        FenceMode::Off,
        FenceMode::Write,
        FenceMode::ReadWrite,
        FenceMode::Cas,
        FenceMode::Idempotency,
    ])
}

/// One change to a text: cut it, replace a byte, or put one in.
fn mutate(mut text: Vec<u8>, changes: &[(prop::sample::Index, u8, u8)]) -> Vec<u8> {
    for (place, kind, byte) in changes {
        if text.is_empty() {
            break;
        }
        let place = place.index(text.len());
        match kind % 4 {
            0 => text.truncate(place),
            1 => text[place] = *byte,
            2 => text.insert(place, *byte),
            _ => drop(text.remove(place)),
        }
    }
    text
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(entries in histories()) {
        let header = Story::new().header;
        let written = text(&header, &entries);
        let (read_header, read_entries) = jsonl::read(&written[..]).unwrap();
        prop_assert_eq!(read_header, header.clone());
        prop_assert_eq!(&read_entries, &entries);
        prop_assert_eq!(digest(&header, &entries), Digest::of(&written));
        let derived = entries.iter().map(|entry| serde_json::to_string(entry).unwrap());
        let lines = std::str::from_utf8(&written).unwrap().lines().skip(1);
        prop_assert!(lines.eq(derived), "the hand-written serialisation differs from the derived one");
    }

    #[test]
    fn any_history_is_analysed_without_a_panic(entries in histories(), fence in fences(), service: bool) {
        let mut story = Story::fenced(fence);
        story.lock().service = service;
        let analysis = analyse(&story.header, &entries);
        prop_assert_eq!(&analysis, &analyse(&story.header, &entries));
        let json = serde_json::to_string(&analysis).unwrap();
        prop_assert_eq!(serde_json::from_str::<fencepost_checker::Analysis>(&json).unwrap(), analysis);
    }

    #[test]
    fn no_text_makes_the_reader_panic(
        entries in histories(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<u8>()), 1..6),
    ) {
        let text = mutate(text(&Story::new().header, &entries), &changes);
        if let Err(error) = jsonl::read(&text[..]) {
            prop_assert!(error.line >= 1 && error.column >= 1);
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(jsonl::read(&bytes[..]).is_err());
    }
}

/// The fault of a history whose text was edited.
fn fault(edit: impl Fn(&mut Vec<String>)) -> (u64, Problem, String) {
    let mut story = Story::new();
    story.takes(0, A, 1);
    let text = text(&story.header, &story.entries());
    let mut lines: Vec<String> =
        String::from_utf8(text).expect("it is text").lines().map(String::from).collect();
    edit(&mut lines);
    let error = jsonl::read(lines.join("\n").as_bytes()).expect_err("it was spoilt");
    let message = error.to_string();
    (error.line, error.problem, message)
}

fn replace(line: usize, from: &'static str, to: &'static str) -> impl Fn(&mut Vec<String>) {
    move |lines| {
        assert!(lines[line].contains(from), "{}", lines[line]);
        lines[line] = lines[line].replacen(from, to, 1);
    }
}

#[test]
fn an_empty_file() {
    assert!(matches!(fault(Vec::clear), (1, Problem::Empty, _)));
}

#[test]
fn a_foreign_file() {
    let foreign = |lines: &mut Vec<String>| lines[0] = "{:process 0, :type :invoke}".into();
    assert!(matches!(fault(foreign), (1, Problem::NoHeader, _)));
    assert!(matches!(fault(|lines| drop(lines.remove(0))), (1, Problem::NoHeader, _)));
}

#[test]
fn another_version() {
    let (line, problem, message) = fault(replace(0, "history/1", "history/2"));
    assert!(matches!((line, problem), (1, Problem::OtherVersion { found }) if found.ends_with("/2")));
    assert!(message.contains("the version of the program that wrote it"), "{message}");
}

#[test]
fn a_line_that_is_cut_off() {
    let cut = |lines: &mut Vec<String>| lines[3].truncate(20);
    assert!(matches!(fault(cut), (4, Problem::CutOff, _)));
    assert!(matches!(
        fault(|lines| {
            lines.truncate(1);
            lines[0].truncate(30)
        }),
        (1, Problem::CutOff, _)
    ));
}

#[test]
fn a_line_that_is_not_json() {
    assert!(matches!(fault(replace(2, ",", ";")), (3, Problem::NotJson { .. }, _)));
    let cut_in_the_middle = |lines: &mut Vec<String>| lines[1].truncate(20);
    assert!(matches!(fault(cut_in_the_middle), (2, Problem::NotJson { .. }, _)));
}

#[test]
fn an_unknown_type_or_value() {
    let (line, problem, message) = fault(replace(1, "\"invoke\"", "\"involve\""));
    assert!(matches!((line, problem), (2, Problem::Value { .. })));
    assert!(message.contains("involve") && message.contains("`invoke`"), "{message}");
    assert!(matches!(fault(replace(1, "\"acquire\"", "\"steal\"")), (2, Problem::Value { .. }, _)));
    assert!(matches!(fault(replace(1, "\"worker\":0", "\"worker\":-1")), (2, Problem::Value { .. }, _)));
}

#[test]
fn a_number_that_the_header_does_not_list() {
    let (line, problem, message) = fault(replace(1, "\"worker\":0", "\"worker\":3"));
    assert!(matches!((line, problem), (2, Problem::OutOfRange { field: "a worker", found: 3, listed: 3 })));
    assert!(message.contains("a number from 0 to 2"), "{message}");
    let header = replace(0, "\"node\":1", "\"node\":99");
    assert!(matches!(fault(header), (1, Problem::OutOfRange { field: "a node", .. }, _)));
}

#[test]
fn entries_out_of_order() {
    let (line, problem, _) = fault(replace(2, "\"index\":1", "\"index\":0"));
    assert!(matches!((line, problem), (3, Problem::IndexGoesBack { before: 0, here: 0 })));
    let (line, problem, _) = fault(replace(3, "\"time_ns\":2000000", "\"time_ns\":2"));
    assert!(matches!((line, problem), (4, Problem::TimeGoesBack { before: 1_000_000, here: 2 })));
}

#[test]
fn bytes_that_are_no_text() {
    let mut text = text(&Story::new().header, &[]);
    text.extend_from_slice(b"{\"index\":\xff}\n");
    let error = jsonl::read(&text[..]).unwrap_err();
    assert!(matches!(error.problem, Problem::NotUtf8));
    assert_eq!((error.line, error.column), (2, 10));
}

#[test]
fn blank_lines_are_passed_over() {
    let mut text = text(&Story::new().header, &[]);
    text.extend_from_slice(b"\n  \r\n");
    assert_eq!(jsonl::read(&text[..]).unwrap().1, []);
}
