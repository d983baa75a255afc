//! What the ledger holds in the end, and what it should hold.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_checker::Analysis;
use fencepost_checker::history::{DebitId, JobId, LockId, ResourceId};

use super::Section;
use super::books::{Fate, Ledger};
use super::plot::Plot;
use super::telling::Telling;
use super::wording::{capitalised, count, debits, in_words, is_or_are, money, numbered, span, was_or_were};

pub(super) fn section(plot: &Plot<'_>, telling: &Telling<'_>, analysis: &Analysis) -> Section {
    let unfinished = unfinished(plot, telling, analysis);
    let accounts = plot.books.ledgers().map(|(id, ledger)| account(plot, id, ledger, unfinished.is_some()));
    let mut paragraphs: Vec<String> = accounts.collect();
    if paragraphs.is_empty() {
        paragraphs.push("The history does not say what there was to protect.".to_owned());
    }
    if let Some(reasons) = unfinished {
        paragraphs.push(format!("But NOT EVERYBODY FINISHED. {}", reasons.join(" ")));
    }
    paragraphs.extend(overwritten(analysis));
    paragraphs.extend(together(plot, analysis));
    Section { title: "In the end".to_owned(), paragraphs }
}

/// One ledger.
fn account(plot: &Plot<'_>, id: ResourceId, ledger: &Ledger, is_unfinished: bool) -> String {
    let name = plot.cast.resource(Some(id));
    if !ledger.is_recorded {
        return format!("The history does not say what the {name} holds.");
    }
    let fates: Vec<&Fate> = plot.books.fates().filter(|fate| fate.resource == id).collect();
    let confirmed = fates.iter().filter(|fate| fate.acknowledged).count();
    let ids = |is_one: fn(&Fate) -> bool| -> Vec<DebitId> {
        fates.iter().filter(|fate| is_one(fate)).map(|fate| fate.debit.id).collect()
    };
    let (lost, phantom) = (ids(Fate::is_lost), ids(Fate::is_phantom));
    let only_read = ids(|fate| fate.read && !fate.acknowledged);
    let unconfirmed: Vec<DebitId> =
        ids(|fate| fate.present && !fate.acknowledged && !fate.read && !fate.is_phantom());
    let again = plot.books.charged_again();

    let holds = count(ledger.debits.len(), "debit");
    let mut text = format!("The {name} holds {holds}, and its balance is {}.", money(ledger.balance));
    let confirmed = match confirmed {
        0 => "No debit was confirmed to a worker".to_owned(),
        1 => "One debit was confirmed to its worker".to_owned(),
        number => format!("{}\u{a0}debits were confirmed to their workers", capitalised(&in_words(number))),
    };
    let verb = is_or_are(lost.len());
    text += &match (only_read.is_empty(), lost.is_empty()) {
        (true, true) => format!(" {confirmed}, and none is missing."),
        (true, false) => format!(" {confirmed}, but {} {verb} LOST.", debits(&lost)),
        (false, is_complete) => {
            let (was, them) = match only_read.len() {
                1 => ("was", "it"),
                _ => ("were", "them"),
            };
            let others = debits(&only_read);
            let all = format!(" {confirmed}; {others} {was} not, but somebody has read {them}.");
            match is_complete {
                true => format!("{all} None of all these is missing."),
                false => format!("{all} Of all these, {} {verb} LOST.", debits(&lost)),
            }
        }
    };
    for ((_, invoice), ids) in again.iter().filter(|((resource, _), _)| *resource == id) {
        text += &again_sentence(*invoice, ids);
    }
    if !phantom.is_empty() {
        text += &format!(" Nobody asked for {}, or it was refused.", debits(&phantom));
    }
    if !unconfirmed.is_empty() {
        text += &format!(" {} is in it, though nobody was told so.", capitalised(&debits(&unconfirmed)));
    }
    let unknown = fates.iter().filter(|fate| !fate.present && fate.is_open());
    for fate in unknown {
        let who = fate.worker.map_or_else(|| "Nobody".to_owned(), |worker| plot.cast.worker(worker));
        let debit = debits(&[fate.debit.id]);
        text += &format!(" {who} was never told what became of {debit}: it is not in the {name}.");
    }
    text + &difference(&fates, ledger, is_unfinished)
}

fn again_sentence(invoice: JobId, ids: &[DebitId]) -> String {
    let times = if ids.len() == 2 { "TWICE".to_owned() } else { format!("{} TIMES", ids.len()) };
    format!(" Invoice\u{a0}{invoice} was charged {times} ({}).", debits(ids))
}

/// By how much the balance is wrong: each invoice or job counts once.
fn difference(fates: &[&Fate], ledger: &Ledger, is_unfinished: bool) -> String {
    let due = fates.iter().filter(|fate| (fate.present && !fate.is_phantom()) || fate.is_lost());
    let due: BTreeMap<JobId, i128> =
        due.map(|fate| (fate.debit.invoice, i128::from(fate.debit.amount))).collect();
    let right = due.values().fold(ledger.start, |balance, amount| balance.saturating_sub(*amount));
    match ledger.balance.saturating_sub(right) {
        0 if is_unfinished => " The balance is right for what was booked.".to_owned(),
        0 => " The balance is right.".to_owned(),
        wrong if wrong > 0 => {
            format!(" The balance should be {}: it is {} too high.", money(right), money(wrong))
        }
        wrong => format!(" The balance should be {}: it is {} too low.", money(right), money(-wrong)),
    }
}

/// Why not all work was done, a sentence for each reason.
///
/// A history does not say how many jobs there were to do: only that somebody still waits, or is stopped, or
/// what was begun.
pub(super) fn unfinished(plot: &Plot<'_>, telling: &Telling<'_>, analysis: &Analysis) -> Option<Vec<String>> {
    let mut reasons = Vec::new();
    reasons.extend(waiting(plot, telling, analysis));
    for &node in telling.scene.stopped.keys() {
        let crew = plot.cast.crew(node);
        let mut holds = crew.iter().flat_map(|&worker| telling.scene.beliefs(worker));
        if holds.any(|hold| telling.scene.of(Some(hold)).wrote_ns.is_none()) {
            let name = plot.cast.machine(node);
            reasons.push(format!("{name} is still stopped, in the middle of its work."));
        }
    }
    reasons.extend(begun_only(plot, telling));
    (!reasons.is_empty()).then_some(reasons)
}

/// Who waits in vain.
fn waiting(plot: &Plot<'_>, telling: &Telling<'_>, analysis: &Analysis) -> Option<String> {
    let number = usize::try_from(analysis.waiting_at_end).unwrap_or(usize::MAX);
    let mut queue = telling.scene.queue();
    queue.sort_unstable();
    let (waits, they) = match number {
        0 => return None,
        1 => ("waits", "it"),
        _ => ("wait", "they"),
    };
    let who = match (queue.len() == number, number) {
        (true, _) => plot.cast.workers(&queue),
        (false, 1) => "One worker".to_owned(),
        (false, _) => format!("{}\u{a0}workers", capitalised(&in_words(number))),
    };
    let has_one_lock = plot.cast.header().locks.len() == 1;
    let owner = has_one_lock.then(|| telling.scene.owner(LockId(0))).flatten();
    let owner = owner.and_then(|owner| telling.scene.of(Some(owner)).worker);
    let owner = owner.map(|owner| {
        format!(" As far as {} knows, {} has it.", plot.cast.service(None), plot.cast.worker(owner))
    });
    let rest = match (plot.books.has_invoices, number) {
        (true, 1) => ", and has not gone through all invoices".to_owned(),
        (true, _) => ", and have not gone through all invoices".to_owned(),
        (false, _) => format!(": what {they} still had to do never happened"),
    };
    let owner = owner.unwrap_or_default();
    Some(format!("{who} still {waits} for the lock at the end of the run{rest}.{owner}"))
}

/// Jobs of which nothing was booked.
fn begun_only(plot: &Plot<'_>, telling: &Telling<'_>) -> Option<String> {
    // What became of an open debit is told with the ledger.
    let is_settled = |fate: &Fate| fate.present || fate.acknowledged || fate.read || fate.is_open();
    let settled: BTreeSet<u64> =
        plot.books.fates().filter(|fate| is_settled(fate)).map(|fate| fate.debit.invoice.0).collect();
    let jobs: Vec<u64> = telling.begun.keys().copied().filter(|job| !settled.contains(job)).collect();
    let (noun, done) = if plot.books.has_invoices { ("invoice", "charged") } else { ("job", "done") };
    let (was, what) = (was_or_were(jobs.len()), capitalised(&numbered(noun, &jobs)));
    (!jobs.is_empty()).then(|| format!("{what} {was} begun, but never {done}."))
}

/// Updates that were destroyed on the way, even if they are back.
fn overwritten(analysis: &Analysis) -> Option<String> {
    let number = usize::try_from(analysis.counts.destroyed_updates).unwrap_or(usize::MAX);
    let what = match number {
        0 => return None,
        1 => "one write was overwritten".to_owned(),
        number => format!("{}\u{a0}writes were overwritten", in_words(number)),
    };
    Some(format!("On the way {what} by somebody who had read before."))
}

/// How long more than one worker believed.
fn together(plot: &Plot<'_>, analysis: &Analysis) -> Option<String> {
    let (ns, most) = (analysis.times.double_holder_ns, analysis.times.max_holders);
    if ns == 0 || most < 2 {
        return None;
    }
    let number = if most == 2 { "two".to_owned() } else { format!("up to {}", in_words(most as usize)) };
    let what = if plot.cast.has_service(None) {
        "believed at once that the lock was theirs"
    } else {
        "were at it at once"
    };
    let mut text = format!("For {} {number} workers {what}.", span(ns));
    match usize::try_from(analysis.counts.duplicate_runs).unwrap_or(usize::MAX) {
        0 => {}
        1 => text += " One job was begun a second time.",
        jobs => text += &format!(" {}\u{a0}jobs were begun again.", capitalised(&in_words(jobs))),
    }
    Some(text)
}
