//! What the ledger holds in the end, and what it should hold.

use std::collections::BTreeMap;

use fencepost_checker::Analysis;
use fencepost_checker::history::{DebitId, JobId, ResourceId};

use super::Section;
use super::books::{Fate, Ledger};
use super::plot::Plot;
use super::wording::{capitalised, count, debits, in_words, is_or_are, money, span};

pub(super) fn section(plot: &Plot<'_>, analysis: &Analysis) -> Section {
    let mut paragraphs: Vec<String> =
        plot.books.ledgers().map(|(id, ledger)| account(plot, id, ledger)).collect();
    if paragraphs.is_empty() {
        paragraphs.push("The history does not say what there was to protect.".to_owned());
    }
    paragraphs.extend(overwritten(analysis));
    paragraphs.extend(together(plot, analysis));
    Section { title: "In the end".to_owned(), paragraphs }
}

/// One ledger.
fn account(plot: &Plot<'_>, id: ResourceId, ledger: &Ledger) -> String {
    let name = plot.cast.resource(Some(id));
    if !ledger.is_recorded {
        return format!("The history does not say what the {name} holds.");
    }
    let fates: Vec<&Fate> = plot.books.fates().filter(|fate| fate.resource == id).collect();
    let confirmed = fates.iter().filter(|fate| fate.acknowledged || fate.read).count();
    let ids = |is_one: fn(&Fate) -> bool| -> Vec<DebitId> {
        fates.iter().filter(|fate| is_one(fate)).map(|fate| fate.debit.id).collect()
    };
    let (lost, phantom) = (ids(Fate::is_lost), ids(Fate::is_phantom));
    let unconfirmed: Vec<DebitId> =
        ids(|fate| fate.present && !fate.acknowledged && !fate.read && !fate.is_phantom());
    let again = plot.books.charged_again();

    let holds = count(ledger.debits.len(), "debit");
    let mut text = format!("The {name} holds {holds}, and its balance is {}.", money(ledger.balance));
    let confirmed = match confirmed {
        0 => "No debit was confirmed to a worker".to_owned(),
        1 => "One debit was confirmed to its worker".to_owned(),
        number => format!("{} debits were confirmed to their workers", capitalised(&in_words(number))),
    };
    if lost.is_empty() {
        text += &format!(" {confirmed}, and none is missing.");
    } else {
        text += &format!(" {confirmed}, but {} {} LOST.", debits(&lost), is_or_are(lost.len()));
    }
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
    text + &difference(&fates, ledger)
}

fn again_sentence(invoice: JobId, ids: &[DebitId]) -> String {
    let times = if ids.len() == 2 { "TWICE".to_owned() } else { format!("{} TIMES", ids.len()) };
    format!(" Invoice\u{a0}{invoice} was charged {times} ({}).", debits(ids))
}

/// By how much the balance is wrong: each invoice or job counts once.
fn difference(fates: &[&Fate], ledger: &Ledger) -> String {
    let due = fates.iter().filter(|fate| (fate.present && !fate.is_phantom()) || fate.is_lost());
    let due: BTreeMap<JobId, i128> =
        due.map(|fate| (fate.debit.invoice, i128::from(fate.debit.amount))).collect();
    let right = due.values().fold(ledger.start, |balance, amount| balance.saturating_sub(*amount));
    match ledger.balance.saturating_sub(right) {
        0 => " The balance is right.".to_owned(),
        wrong if wrong > 0 => {
            format!(" The balance should be {}: it is {} too high.", money(right), money(wrong))
        }
        wrong => format!(" The balance should be {}: it is {} too low.", money(right), money(-wrong)),
    }
}

/// Updates that were destroyed on the way, even if they are back.
fn overwritten(analysis: &Analysis) -> Option<String> {
    let number = usize::try_from(analysis.counts.destroyed_updates).unwrap_or(usize::MAX);
    let what = match number {
        0 => return None,
        1 => "one write was overwritten".to_owned(),
        number => format!("{} writes were overwritten", in_words(number)),
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
        jobs => text += &format!(" {} jobs were begun again.", capitalised(&in_words(jobs))),
    }
    Some(text)
}
