//! Stories of histories that no model of ours makes: the teller knows every entry, and never panics.

#![allow(clippy::unwrap_used)]

use std::sync::{Arc, LazyLock};

use fencepost_checker::finding::{
    Assumption, Blame, ClientBug, FindingKind, ResourceFault, ServiceFault, TokenFault,
};
use fencepost_checker::history::{
    Authority, Belief, Block, By, Cease, CeaseReason, CheckDepth, DebitId, End, EndCause, Entry, Event, F,
    Fault, FenceMode, Header, Hold, Lock, LockId, LossReason, Lost, NodeId, Op, OpId, Record, Recover,
    Refuse, RefuseReason, Resource, ResourceId, RetryPolicy, SCHEMA, StopKind, Tenure, TokenOrigin, Worker,
    WorkerId,
};
use fencepost_checker::{Analysis, Finding, analyse};
use fencepost_models::catalogue;
use fencepost_models::run::{RunOutput, run};
use fencepost_reports::narration::Narration;
use fencepost_scenarios::builtin;
use proptest::prelude::*;

fn header() -> Header {
    let worker = |name: &str, node| Worker {
        name: name.to_owned(),
        node: NodeId(node),
        check: CheckDepth::Timer,
        renew_every_ns: None,
        retry: RetryPolicy::Never,
    };
    Header {
        schema: SCHEMA.to_owned(),
        nodes: ["north", "south", "bank", "client-1", "cli\u{1b}[31ment-2"].map(str::to_owned).to_vec(),
        workers: vec![worker("client-1", 3), worker("cli\u{1b}[31ment-2", 4)],
        locks: vec![Lock {
            name: "account".to_owned(),
            service: true,
            ttl_ns: 10_000_000_000,
            clock_rate_bound_ppm: 0,
            granularity_ns: 0,
            lock_delay_ns: 0,
            tokens: TokenOrigin::Apart,
        }],
        resources: vec![Resource { name: "bank".to_owned(), fence: FenceMode::ReadWrite, balance: 100_000 }],
    }
}

/// Every kind of entry that the models do not record (yet).
fn strange_events() -> Vec<Event> {
    let (lock, server, worker) = (LockId(0), NodeId(0), WorkerId(0));
    let (mine, other) = (Hold(1), Hold(2));
    let tenure = |server, hold: Hold, token, by: Hold| Tenure {
        server,
        lock,
        hold,
        token,
        ttl_ns: Some(10_000_000_000),
        by: By { op: Some(OpId(hold.0)), hold: Some(by) },
    };
    let end = |hold, cause, by| Event::End(End { server, lock, hold, cause, by: By { op: None, hold: by } });
    let op = |op, worker, f| Op {
        lock: Some(lock),
        resource: Some(ResourceId(0)),
        ..Op::new(OpId(op), worker, f)
    };
    let record = Arc::new(Record { version: 1, balance: 99_880, debits: vec![DebitId(1)] });
    let refuse = |reason| {
        Event::Refuse(Refuse {
            resource: ResourceId(0),
            seq: 1,
            op: OpId(9),
            worker,
            f: F::Read,
            hold: Some(mine),
            token: None,
            bar: Some(7),
            version_read: None,
            version: 1,
            reason,
        })
    };
    let node = NodeId(1);
    vec![
        Event::Invoke(Op { hold: Some(mine), ..op(1, worker, F::Acquire) }),
        Event::Ok(Op { hold: Some(mine), token: Some(5), ..op(1, worker, F::Acquire) }),
        Event::Grant(tenure(server, mine, Some(5), mine)),
        Event::Believe(Belief { worker, lock, hold: mine }),
        Event::Grant(tenure(node, other, Some(5), other)),
        Event::Ok(Op { hold: Some(other), token: Some(5), ..op(2, WorkerId(1), F::Acquire) }),
        Event::Authority(Authority { server, lock, hold: mine, acknowledges: true }),
        Event::Authority(Authority { server, lock, hold: mine, acknowledges: false }),
        Event::Renew(tenure(server, mine, None, other)),
        Event::Info(Op { hold: Some(mine), ..op(3, worker, F::Renew) }),
        end(mine, EndCause::Deleted, Some(other)),
        end(mine, EndCause::Extended, Some(other)),
        end(mine, EndCause::Evicted, None),
        end(mine, EndCause::Released, Some(other)),
        end(Hold(99), EndCause::Forgotten, None),
        Event::Revive(tenure(server, mine, None, mine)),
        Event::Block(Block { server, lock, blocked: true }),
        Event::Block(Block { server, lock, blocked: false }),
        Event::Lost(Lost { worker, lock, hold: mine, reason: LossReason::SessionLost }),
        Event::Cease(Cease { worker, lock, hold: Hold(98), reason: CeaseReason::Lost }),
        refuse(RefuseReason::NoToken),
        refuse(RefuseReason::StaleToken),
        refuse(RefuseReason::VersionMismatch),
        refuse(RefuseReason::DuplicateKey),
        Event::Fail(Op { error: Some("connection refused\u{7}".to_owned()), ..op(10, worker, F::Write) }),
        Event::Fail(Op { hold: Some(mine), ..op(11, worker, F::Acquire) }),
        Event::Recover(Recover { resource: ResourceId(0), bar: None, record }),
        Event::Nemesis(Fault::Stop { node, kind: StopKind::PageFault }),
        Event::Nemesis(Fault::Resume { node }),
        Event::Nemesis(Fault::Stop { node: NodeId(3), kind: StopKind::Sigstop }),
        Event::Nemesis(Fault::PowerOff { node: NodeId(3) }),
        Event::Nemesis(Fault::Restart { node: NodeId(3) }),
        Event::Nemesis(Fault::ClockStep { node: NodeId(77), by_ns: i64::MIN }),
        Event::Nemesis(Fault::ClockRate { node, wall_ppm: 500, monotonic_ppm: -20 }),
        Event::Nemesis(Fault::HoldMessage { from: server, to: node, op: None }),
        Event::Nemesis(Fault::HoldMessage { from: NodeId(3), to: node, op: Some(OpId(1)) }),
        Event::Nemesis(Fault::DeliverMessage { from: server, to: node, op: None }),
        Event::Nemesis(Fault::Cut { from: server, to: node }),
        Event::Nemesis(Fault::Heal { from: server, to: node }),
        Event::Fail(Op { hold: Some(mine), ..op(12, worker, F::Release) }),
    ]
}

/// It makes the story about both grants, from beginning to end.
fn overlap() -> Finding {
    Finding {
        kind: FindingKind::Overlap,
        time_ns: 0,
        index: 0,
        lock: Some(LockId(0)),
        resource: None,
        older: Some(Hold(1)),
        newer: Some(Hold(2)),
        debit: None,
        rule: 2,
        blame: Blame::Service(ServiceFault::DoubleGrant),
        also: vec![(5, Blame::Token(TokenFault::Repeated)), (8, Blame::Holder)],
        assumption: Some(Assumption::DurableGrant),
        dormant: false,
    }
}

#[test]
fn every_kind_of_entry_has_a_sentence() {
    let event = |(index, event)| Entry { index, time_ns: index * 250_000_000, event };
    let entries: Vec<Entry> = (0..).zip(strange_events()).map(event).collect();
    let analysis = Analysis { findings: vec![overlap()], ..analyse(&header(), &entries) };
    insta::assert_snapshot!(Narration::new(&header(), &entries, &analysis).text(80, false));
}

#[test]
fn an_empty_history_is_told() {
    let empty = Header {
        schema: SCHEMA.to_owned(),
        nodes: vec![],
        workers: vec![],
        locks: vec![],
        resources: vec![],
    };
    let analysis = analyse(&empty, &[]);
    insta::assert_snapshot!(Narration::new(&empty, &[], &analysis).text(80, false));
}

/// Runs of all kinds, made once.
static RUNS: LazyLock<Vec<RunOutput>> = LazyLock::new(|| {
    let mut runs = Vec::new();
    for builtin in builtin::all() {
        let scenario = builtin.scenario().unwrap();
        runs.extend(scenario.rows().into_iter().map(|row| run(&scenario.run_config(row, 0))));
    }
    assert!(catalogue::LOCKS.len() > 1 && runs.len() > 20);
    runs
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is left of a history, and in whatever order, it is told.
    #[test]
    fn nothing_panics(
        run in 0..1000_usize,
        from in 0..300_usize,
        length in 0..300_usize,
        swaps in prop::collection::vec((0..300_usize, 0..300_usize), 0..200),
        is_headless in any::<bool>(),
    ) {
        let output = &RUNS[run % RUNS.len()];
        let mut header = output.header.clone();
        if is_headless {
            header.workers.truncate(1);
            header.nodes.clear();
            header.resources.clear();
        }
        let mut entries: Vec<Entry> = output.entries.iter().skip(from).take(length).cloned().collect();
        for (one, other) in swaps {
            if one < entries.len() && other < entries.len() {
                entries.swap(one, other);
            }
        }
        // The findings are those of the whole run: they name what may be missing here.
        let analysis = analyse(&output.header, &output.entries);
        let narration = Narration::new(&header, &entries, &analysis);
        prop_assert!(!narration.text(80, true).is_empty());
        prop_assert!(!narration.text(120, false).is_empty());
    }
}

/// Whatever the checker blames, there is a sentence for it, and for what would have helped.
#[test]
fn every_blame_has_words() {
    let event = |(index, event)| Entry { index, time_ns: index * 250_000_000, event };
    let entries: Vec<Entry> = (0..).zip(strange_events()).map(event).collect();
    let of = WorkerId(0);
    let bugs = [
        ClientBug::EndedAnothersTenure,
        ClientBug::ExtendedAnothersTenure,
        ClientBug::WrongConclusion,
        ClientBug::Token(TokenOrigin::Clock),
        ClientBug::NoLock,
        ClientBug::ActedAfterRelease,
        ClientBug::ActedAfterLoss,
        ClientBug::NoCheck,
        ClientBug::ReleasedWithOpenWrite,
        ClientBug::RetriedWithoutIdempotence,
        ClientBug::ReadBeforeLock,
        ClientBug::WrongRecord,
    ];
    let services = [
        ServiceFault::DoubleGrant,
        ServiceFault::EarlyEnd(EndCause::Forgotten),
        ServiceFault::EarlyEnd(EndCause::Clock),
        ServiceFault::EarlyEnd(EndCause::Evicted),
        ServiceFault::BrokenDelay,
        ServiceFault::FalseOk,
    ];
    let resources = [ResourceFault::BrokenFence, ResourceFault::LostWrite, ResourceFault::MadeUp];
    let mut findings: Vec<Finding> = Vec::new();
    let data = Finding { kind: FindingKind::LostDebit, also: vec![], assumption: None, ..overlap() };
    findings.extend(bugs.map(|bug| Finding { rule: 7, blame: Blame::ClientBug { of, bug }, ..data.clone() }));
    findings.extend(services.map(|fault| Finding { rule: 3, blame: Blame::Service(fault), ..data.clone() }));
    findings.push(Finding { rule: 5, blame: Blame::Token(TokenFault::Repeated), ..data.clone() });
    findings.extend(resources.map(|fault| Finding {
        rule: 6,
        blame: Blame::Resource(fault),
        ..data.clone()
    }));
    findings.extend(Assumption::ALL.map(|assumption| Finding {
        rule: 8,
        blame: Blame::Holder,
        assumption: Some(assumption),
        ..data.clone()
    }));
    findings.push(Finding { rule: 9, blame: Blame::Unexplained, ..data });
    let mut words = String::new();
    for finding in findings {
        let analysis =
            Analysis { findings: vec![finding], findings_total: 1, ..analyse(&header(), &entries) };
        let narration = Narration::new(&header(), &entries, &analysis);
        for section in &narration.ending()[1..] {
            words += &format!("{}: {}\n", section.title, section.paragraphs.join(" / "));
        }
        words.push('\n');
    }
    insta::assert_snapshot!(words.replace('\u{a0}', " "));
}
