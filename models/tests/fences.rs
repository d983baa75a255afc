//! Each fence mode: what it refuses, what it lets through, and that it keeps its promise whatever comes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use fencepost_checker::history::{
    Charge, Debit, DebitId, Event, FenceMode, Hold, JobId, OpId, RefuseReason, WorkerId, Write,
};
use fencepost_models::fence::fence;
use fencepost_models::ledger::{Ledger, Request, Response};
use fencepost_models::rpc::Traced;
use proptest::prelude::*;

fn ask(ledger: &mut Ledger, request: Request) -> (Event, Response) {
    ledger.handle(&Traced { op: OpId(1), worker: WorkerId(0), hold: Some(Hold(1)), request })
}

fn debit(id: u64) -> Debit {
    Debit { id: DebitId(id), invoice: JobId(id), amount: 1 }
}

fn write(token: u64, base_version: u64) -> Request {
    let write = Write { base_version: Some(base_version), debit: debit(1), balance: 0, debits: Vec::new() };
    Request::Write { token: Some(token), write, only_if_unchanged: false }
}

fn ledger(mode: FenceMode) -> Ledger {
    Ledger::new(fence(mode), 100)
}

#[test]
fn off_takes_everything() {
    let mut ledger = ledger(FenceMode::Off);
    for token in [3, 1, 2] {
        assert_eq!(ask(&mut ledger, write(token, 0)).1, Response::Done);
    }
}

#[test]
fn write_refuses_what_is_below_the_highest_write_and_knows_nothing_of_reads() {
    let mut ledger = ledger(FenceMode::Write);
    ask(&mut ledger, Request::Read { token: Some(9) });
    assert_eq!(ask(&mut ledger, write(2, 0)).1, Response::Done);
    assert_eq!(ask(&mut ledger, write(2, 1)).1, Response::Done, "the same holder may write again");
    assert_eq!(ask(&mut ledger, write(1, 2)).1, Response::Refused(RefuseReason::StaleToken));
    let mut tokenless = write(0, 2);
    if let Request::Write { token, .. } = &mut tokenless {
        *token = None;
    }
    assert_eq!(ask(&mut ledger, tokenless).1, Response::Refused(RefuseReason::NoToken));
}

#[test]
fn read_write_refuses_what_is_below_the_highest_read() {
    let mut ledger = ledger(FenceMode::ReadWrite);
    assert!(matches!(ask(&mut ledger, Request::Read { token: Some(2) }).1, Response::Record(_)));
    assert_eq!(ask(&mut ledger, write(1, 0)).1, Response::Refused(RefuseReason::StaleToken));
    let stale_read = ask(&mut ledger, Request::Read { token: Some(1) }).1;
    assert_eq!(stale_read, Response::Refused(RefuseReason::StaleToken));
    assert_eq!(ask(&mut ledger, write(2, 0)).1, Response::Done);
}

#[test]
fn cas_refuses_another_version_than_the_current_one() {
    let mut ledger = ledger(FenceMode::Cas);
    assert_eq!(ask(&mut ledger, write(1, 0)).1, Response::Done);
    assert_eq!(ask(&mut ledger, write(9, 0)).1, Response::Refused(RefuseReason::VersionMismatch));
    assert_eq!(ask(&mut ledger, write(1, 1)).1, Response::Done);
}

#[test]
fn idempotency_charges_an_invoice_once() {
    let mut ledger = ledger(FenceMode::Idempotency);
    let charge = |key| Request::Charge {
        token: Some(1),
        charge: Charge { base_version: None, debit: debit(7) },
        key: Some(key),
    };
    assert_eq!(ask(&mut ledger, charge(7)).1, Response::Done);
    assert_eq!(ask(&mut ledger, charge(7)).1, Response::Refused(RefuseReason::DuplicateKey));
    assert_eq!(ask(&mut ledger, charge(8)).1, Response::Done);
    let Response::Charged(found) = ask(&mut ledger, Request::Charged { token: None, invoice: JobId(7) }).1
    else {
        panic!("a question is answered");
    };
    assert_eq!(found.debits.len(), 2, "both charges name debit 7");
}

fn requests() -> impl Strategy<Value = Vec<(bool, u64, u64)>> {
    proptest::collection::vec((any::<bool>(), 0u64..6, 0u64..6), 1..40)
}

proptest! {
    #[test]
    fn accepted_tokens_never_fall(
        requests in requests(),
        mode in prop::sample::select(vec![FenceMode::Write, FenceMode::ReadWrite]),
    ) {
        let mut ledger = ledger(mode);
        let mut highest = 0;
        for (is_read, token, version) in requests {
            let request = if is_read { Request::Read { token: Some(token) } } else { write(token, version) };
            let counts = !is_read || mode == FenceMode::ReadWrite;
            match ask(&mut ledger, request) {
                (Event::Apply(apply), _) if counts => {
                    prop_assert!(token >= highest, "{token} after {highest}");
                    prop_assert_eq!(apply.bar_after, Some(token));
                    highest = token;
                }
                (Event::Refuse(refuse), _) => {
                    prop_assert!(token < highest);
                    prop_assert_eq!(refuse.bar, Some(highest));
                }
                _ => {}
            }
        }
    }

    #[test]
    fn cas_never_destroys_an_update_and_versions_never_repeat(requests in requests()) {
        let mut ledger = ledger(FenceMode::Cas);
        let mut version = 0;
        for (_, token, base) in requests {
            match ask(&mut ledger, write(token, base)) {
                (Event::Apply(apply), _) => {
                    prop_assert_eq!(apply.version_read, Some(version));
                    prop_assert_eq!(apply.version, version + 1);
                    version = apply.version;
                }
                _ => prop_assert_ne!(base, version),
            }
        }
    }

    #[test]
    fn each_request_has_one_place_in_the_order(requests in requests()) {
        let mut ledger = ledger(FenceMode::Write);
        for (place, (_, token, base)) in requests.into_iter().enumerate() {
            let seq = match ask(&mut ledger, write(token, base)).0 {
                Event::Apply(apply) => apply.seq,
                Event::Refuse(refuse) => refuse.seq,
                other => panic!("{other:?}"),
            };
            prop_assert_eq!(seq, place as u64 + 1);
        }
    }
}
