//! What would have helped.

use fencepost_checker::Finding;
use fencepost_checker::finding::{Assumption, Blame, ClientBug, FindingKind, ResourceFault, ServiceFault};
use fencepost_checker::history::{CeaseReason, EndCause, Event, FenceMode};

use super::Section;
use super::focus::Focus;
use super::plot::Plot;
use super::telling::Telling;
use super::wording::instant;

pub(super) fn section(plot: &Plot<'_>, telling: &Telling<'_>, focus: &Focus<'_>) -> Option<Section> {
    let finding = focus.finding?;
    let paragraph = match finding.blame {
        Blame::Holder if finding.kind == FindingKind::Overlap => overlap(plot, telling, finding),
        Blame::Holder => fence(plot, finding),
        Blame::ClientBug { bug, .. } => fix(plot, bug, finding),
        Blame::Service(fault) => service(plot, fault),
        Blame::Token(_) => {
            "Tokens that are minted in the same step as the grant, by whoever grants, and survive \
                            whatever the grants survive: a consensus log has such a number by nature."
                .to_owned()
        }
        Blame::Resource(fault) => resource(fault).to_owned(),
        Blame::Unexplained => return None,
    };
    Some(Section { title: "What would have helped".to_owned(), paragraphs: vec![paragraph] })
}

/// Two believed, and the data is unharmed.
fn overlap(plot: &Plot<'_>, telling: &Telling<'_>, finding: &Finding) -> String {
    let older = finding.older.and_then(|hold| plot.worker_of(hold));
    let name = older.map_or_else(|| "the older holder".to_owned(), |worker| plot.cast.worker(worker));
    let ledger = plot.cast.resource(None);
    let noun = if plot.books.has_invoices { "charge" } else { "write" };
    if let Some(miss) = telling.near_misses.first() {
        let (late, newer) = (plot.cast.worker(miss.late), plot.cast.worker(miss.newer));
        return format!(
            "This time the fence on writes was enough, but only because {newer} had written before {late} \
             came back. Had {late} come back after {newer} read (at {}) and before {newer} wrote (at {}), \
             its write would have been accepted, and {newer} would have written over it. A fence that reads \
             must pass, too, closes this gap (--fence read-write).",
            instant(miss.read_ns),
            instant(miss.wrote_ns),
        );
    }
    let is_older = |worker| Some(worker) == older;
    let is_late = |reason| reason == CeaseReason::DeadlinePassed;
    let gave_up = plot
        .entries
        .iter()
        .any(|entry| matches!(&entry.event, Event::Cease(it) if is_late(it.reason) && is_older(it.worker)));
    let was_refused =
        plot.entries.iter().any(|entry| matches!(&entry.event, Event::Refuse(it) if is_older(it.worker)));
    if was_refused && plot.cast.fence(None) == FenceMode::Idempotency {
        format!(
            "Nothing more was needed: the {ledger} knew the key of the invoice, and refused the second \
             charge. It would have done so whoever had sent it, and whenever it had come."
        )
    } else if was_refused {
        format!(
            "Nothing more was needed: the {ledger} refused what came too late. No lock can do that, since \
             only the {ledger} sees every request in its true order."
        )
    } else if gave_up {
        format!(
            "Nothing more was needed this time: {name} noticed in time that its lease was over, since it was \
             held up before it looked, and not after. Had it been held up a moment later, between that look \
             and its {noun}, no look could have helped: only a fence at the {ledger} can."
        )
    } else {
        format!(
            "It cost nothing this time. No lease can rule out that two believe at once; a fence at the \
             {ledger} makes sure that it costs nothing (--fence read-write)."
        )
    }
}

/// A holder was late through no fault of its own, and the data is harmed.
fn fence(plot: &Plot<'_>, finding: &Finding) -> String {
    let ledger = plot.cast.resource(finding.resource);
    let newer = finding.newer.and_then(|hold| plot.worker_of(hold));
    let newer = newer.map_or_else(|| "the newer holder".to_owned(), |worker| plot.cast.worker(worker));
    let is_double = finding.kind == FindingKind::DoubleDebit;
    let late = match finding.assumption {
        Some(Assumption::BoundedDelay) => "messages that are later still",
        Some(Assumption::ClockDoesNotJump) => "clocks that jump further",
        _ => "pauses that are longer still",
    };
    match plot.cast.fence(finding.resource) {
        _ if is_double => format!(
            "An idempotency key for each invoice, which the {ledger} stores in the same step as the charge: \
             it refuses the second charge, whoever sends it and whenever it comes (--fence idempotency). A \
             longer lease only moves the problem to {late}."
        ),
        FenceMode::Off => format!(
            "Only the {ledger} sees every request in its true order, so it must check. Let reads and writes \
             show their token, and let the {ledger} refuse any that is below the highest it has seen \
             (--fence read-write); or let it accept a write only while the record is still the version that \
             was read (--fence cas). A longer lease only moves the problem to {late}."
        ),
        FenceMode::Write => format!(
            "Let reads show their token, too (--fence read-write). Then the read of {newer} would have told \
             the {ledger} of its token, and the late write would have been refused. A condition on the \
             version (--fence cas) does it as well."
        ),
        FenceMode::ReadWrite | FenceMode::Cas | FenceMode::Idempotency => {
            format!("This fence should have stopped it: see above what the {ledger} accepted, and why.")
        }
    }
}

/// A client's code is wrong.
fn fix(plot: &Plot<'_>, bug: ClientBug, finding: &Finding) -> String {
    let ledger = plot.cast.resource(finding.resource);
    let fence = match finding.kind {
        FindingKind::DoubleDebit => "--fence idempotency",
        _ => "--fence read-write or cas",
    };
    let fix = match bug {
        ClientBug::NoLock if finding.kind == FindingKind::DoubleDebit => {
            return format!(
                "A lock makes two at once rare. What rules the second charge out is an idempotency key, \
                 stored by the {ledger} in the same step as the charge (--fence idempotency): with it, \
                 nothing is charged twice even without a lock."
            );
        }
        ClientBug::NoLock => {
            return format!(
                "A lock makes two at once rare. What rules the harm out is a write that the {ledger} accepts \
                 only while the record is still the version that was read (--fence cas): with it, nothing \
                 gets lost even without a lock."
            );
        }
        ClientBug::NoCheck | ClientBug::CheckedTooEarly | ClientBug::IgnoredCheck | ClientBug::Overstayed => {
            return format!(
                "Look at the clock right before each write, and stop if the lease is over (--lock redis \
                 does). That catches most cases, but not a pause between the look and the write: for those \
                 the {ledger} must check ({fence})."
            );
        }
        ClientBug::EndedAnothersTenure => {
            "Give a lock back only if it is still your own: delete the key only while it holds your value."
        }
        ClientBug::ExtendedAnothersTenure => {
            "Extend a lease only if it is still your own: compare the value first, in the same step."
        }
        ClientBug::WrongConclusion => {
            "After the last answer, look at the clock once more: is there any time left?"
        }
        ClientBug::Token(_) => "Take the token from the grant itself, minted in the same step.",
        ClientBug::ActedAfterRelease => "Give the lock back only when all is done.",
        ClientBug::ActedAfterLoss => "Stop when you learn that the lock is lost.",
        ClientBug::ReleasedWithOpenWrite => {
            "While a write may still arrive, do not give the lock back: let it run out, or wait."
        }
        ClientBug::RetriedWithoutIdempotence => {
            "Send a request again only if the receiver can tell that it is the same one."
        }
        ClientBug::ReadBeforeLock => "Take the lock first, then read.",
        ClientBug::WrongRecord => "Write what follows from what was read.",
    };
    fix.to_owned()
}

/// The lock service broke a promise.
fn service(plot: &Plot<'_>, fault: ServiceFault) -> String {
    let ledger = plot.cast.resource(None);
    let fix = match fault {
        ServiceFault::DoubleGrant | ServiceFault::EarlyEnd(EndCause::Forgotten) => {
            "A lock service that keeps its grants through crashes and failovers: by consensus, or \
             on disk before it answers."
        }
        ServiceFault::EarlyEnd(EndCause::Clock) => {
            "A lock service that measures leases by a clock that does not jump."
        }
        ServiceFault::EarlyEnd(_) => "A lock service that ends no lease before its time.",
        ServiceFault::BrokenDelay => "A lock service that keeps its lock-delay.",
        ServiceFault::FalseOk => "A lock service that confirms only what is still true.",
    };
    format!("{fix} And whatever the lock does, a fence at the {ledger} can refuse what comes too late.")
}

/// The resource broke a promise.
fn resource(fault: ResourceFault) -> &'static str {
    match fault {
        ResourceFault::BrokenFence => {
            "A fence that compares every token with the highest seen, in the same step as the write, and \
             keeps that number as durably as the data."
        }
        ResourceFault::LostWrite => "A write that is on the disk before it is confirmed.",
        ResourceFault::MadeUp => "A resource that books only what it is asked to.",
    }
}
