//! The moments on which a story turns: what a resource accepts though it is late, and what it refuses.

use fencepost_checker::history::{
    Apply, DebitId, Entry, F, FenceMode, Hold, Op, Refuse, RefuseReason, Value,
};

use crate::narration::Emphasis;
use crate::narration::books::Booking;
use crate::narration::plot::noun;
use crate::narration::telling::{Deed, NearMiss, Telling};
use crate::narration::wording::{debits, instant, money, plain, span, token, was_or_were};

impl Telling<'_> {
    /// A write or charge is accepted that is stale, or late, or does harm.
    pub(super) fn accepts_against_expectation(
        &mut self,
        position: usize,
        entry: &Entry,
        apply: &Apply,
        booking: &Booking,
    ) {
        let newer = self.scene.successor(apply.hold);
        let what = format!("{}'s {}", self.plot.cast.worker(apply.worker), noun(apply.f));
        let reason = self.reason_to_accept(apply, newer);
        let record = match &apply.value {
            Some(Value::Write(write)) => {
                format!(". The record is now: balance {}, {}", money(booking.balance), debits(&write.debits))
            }
            Some(Value::Charge(_)) => format!(". The balance is now {}", money(booking.balance)),
            _ => String::new(),
        };
        let text = format!("ACCEPTS {what}{reason}{record}");
        let blind_spot = self.blind_spot(apply, newer);
        let harms = self.harms(position, apply, booking);
        let debit = match &apply.value {
            Some(Value::Write(write)) => Some(write.debit.id),
            Some(Value::Charge(charge)) => Some(charge.debit.id),
            _ => None,
        };
        if !booking.back.is_empty() {
            self.repairs.push(self.told.len());
        }
        let line = self.say(entry, self.plot.cast.resource(Some(apply.resource)), text).about(apply.hold);
        line.emphasis(Emphasis::Turn);
        if let Some(debit) = debit {
            line.deed(Deed::Booked { worker: apply.worker, debit });
        }
        if let Some(blind_spot) = blind_spot {
            line.note(Emphasis::Turn, blind_spot);
        }
        for (emphasis, harm) in harms {
            line.note(emphasis, harm);
        }
    }

    /// By which rule of its fence.
    fn reason_to_accept(&self, apply: &Apply, newer: Option<Hold>) -> String {
        let newest = self.scene.of(newer).token;
        let shown = apply.token.map(token);
        match self.plot.cast.fence(Some(apply.resource)) {
            FenceMode::Off => match (shown, newest) {
                (Some(shown), Some(newest)) => {
                    format!(
                        ": {shown}, though {} has been granted since. Nobody compares them (fence off)",
                        token(newest)
                    )
                }
                _ => ": it accepts everything (fence off)".to_owned(),
            },
            FenceMode::Write | FenceMode::ReadWrite => match (shown, apply.bar_before) {
                (Some(shown), Some(bar)) if apply.token > Some(bar) => {
                    format!(": {shown} is above the highest that it has seen, {bar}")
                }
                (Some(shown), Some(_)) => format!(": {shown} is the highest that it has seen"),
                (Some(shown), None) => format!(": {shown} is the first that it sees"),
                (None, _) => ", though it shows no token".to_owned(),
            },
            FenceMode::Cas => match apply.version_read {
                Some(version) => {
                    format!(": the record was still version\u{a0}{version}, as it was when it was read")
                }
                None => ", though it names no version".to_owned(),
            },
            FenceMode::Idempotency => ": it is the first charge with the key of this invoice".to_owned(),
        }
    }

    /// Why a fence did not see that a write is stale.
    fn blind_spot(&self, apply: &Apply, newer: Option<Hold>) -> Option<String> {
        let newer = self.scene.of(newer);
        let (worker, newest) = (newer.worker?, newer.token?);
        let name = self.plot.cast.worker(worker);
        if apply.token >= Some(newest) {
            let fence = self.plot.cast.fence(Some(apply.resource));
            let compares = matches!(fence, FenceMode::Write | FenceMode::ReadWrite);
            return compares.then(|| format!("{name} has {}: no fence can tell them apart", token(newest)));
        }
        match self.plot.cast.fence(Some(apply.resource)) {
            FenceMode::Write if newer.read_ns.is_some() => Some(format!(
                "{name} has {}, but has only read so far, and reads show no token: the {} cannot know of it",
                token(newest),
                self.plot.cast.resource(Some(apply.resource)),
            )),
            FenceMode::Write | FenceMode::ReadWrite => Some(format!(
                "{name} has {}, but has not read yet: it will read what is written here",
                token(newest)
            )),
            _ => None,
        }
    }

    /// What the request undoes, and whom that surprises.
    fn harms(&self, position: usize, apply: &Apply, booking: &Booking) -> Vec<(Emphasis, String)> {
        let mut harms = Vec::new();
        if let Some(first) = booking.first_of_invoice {
            let invoice = match &apply.value {
                Some(Value::Write(write)) => write.debit.invoice,
                Some(Value::Charge(charge)) => charge.debit.invoice,
                _ => Default::default(),
            };
            let note =
                format!("invoice\u{a0}{invoice} is charged the SECOND time, after {}", debits(&[first]));
            harms.push((Emphasis::Harm, note));
        }
        let (for_good, wiped): (Vec<DebitId>, Vec<DebitId>) =
            booking.gone.iter().partition(|&&id| self.plot.books.goes_for_good(position, id));
        let (lost, unpromised): (Vec<DebitId>, Vec<DebitId>) =
            for_good.into_iter().partition(|&id| self.plot.is_promised(id));
        let name = self.plot.cast.worker(apply.worker);
        if !lost.is_empty() {
            let (ids, is, it) = named(&lost);
            let is_seen_only = |&id: &DebitId| self.plot.books.fate(id).is_none_or(|fate| !fate.acknowledged);
            let whom = match self.told_that_booked(&lost) {
                Some(told) if lost.iter().any(is_seen_only) => format!("{told}, or somebody has read,"),
                Some(told) => told,
                None => "somebody has read".to_owned(),
            };
            let why = format!("{name} had read the record before {it} came");
            harms.push((
                Emphasis::Harm,
                format!("{ids} {is} LOST, though {whom} that {it} {is} booked: {why}"),
            ));
        }
        if !wiped.is_empty() {
            let (ids, is, it) = named(&wiped);
            let why = format!("{name} had read the record before {it} came");
            harms.push((Emphasis::Harm, format!("{ids} {is} wiped out: {why}")));
        }
        if !unpromised.is_empty() {
            let (ids, is, it) = named(&unpromised);
            let note = format!("{ids} {is} overwritten; nobody was told that {it} {is} booked");
            harms.push((Emphasis::Harm, note));
        }
        if !booking.back.is_empty() {
            let (ids, is, _) = named(&booking.back);
            harms.push((Emphasis::Turn, format!("{ids}, which {name} had read, {is} back")));
        }
        harms
    }

    /// `client-2 was told`, `client-1 and client-2 were told`.
    fn told_that_booked(&self, ids: &[DebitId]) -> Option<String> {
        let fates = ids.iter().filter_map(|&id| self.plot.books.fate(id));
        let mut workers: Vec<_> =
            fates.filter(|fate| fate.acknowledged).filter_map(|fate| fate.worker).collect();
        workers.sort_unstable();
        workers.dedup();
        let names = self.plot.cast.workers(&workers);
        (!workers.is_empty()).then(|| format!("{names} {} told", was_or_were(workers.len())))
    }

    pub(in crate::narration) fn refuses(&mut self, entry: &Entry, refuse: &Refuse) {
        self.refusals.insert(refuse.op, refuse.reason);
        let newer = self.scene.successor(refuse.hold);
        let kind = noun(refuse.f);
        let worker = self.plot.cast.worker(refuse.worker);
        let text = format!("REFUSES {worker}'s {kind}: {}", self.reason_to_refuse(refuse));
        let ledger = self.plot.cast.resource(Some(refuse.resource));
        let is_write = matches!(refuse.f, F::Write | F::Charge);
        let note = match refuse.reason {
            RefuseReason::DuplicateKey => Some("so nothing is charged twice".to_owned()),
            _ if newer.is_some() && is_write => {
                Some(format!("the stale {kind} is stopped here: nothing is lost"))
            }
            RefuseReason::VersionMismatch => Some("so it overwrites nothing".to_owned()),
            _ => None,
        };
        self.note_near_miss(refuse, newer);
        let line =
            self.say(entry, ledger, text).about(refuse.hold).deed(Deed::Refused).emphasis(Emphasis::Turn);
        if let Some(note) = note {
            line.note(Emphasis::Averted, note);
        }
    }

    fn reason_to_refuse(&self, refuse: &Refuse) -> String {
        match refuse.reason {
            RefuseReason::StaleToken => {
                let shown = refuse.token.map_or_else(|| "its token".to_owned(), token);
                let bar = self.scene.bars.get(&refuse.resource).filter(|bar| Some(bar.token) == refuse.bar);
                match (bar, refuse.bar) {
                    (Some(bar), _) => {
                        let name = self.plot.cast.worker(bar.worker);
                        let when = instant(bar.time_ns);
                        format!(
                            "{shown} is below {}, which {name} showed with its {} at {when}",
                            bar.token,
                            noun(bar.f)
                        )
                    }
                    (None, Some(bar)) => format!("{shown} is below {bar}, the highest that it has seen"),
                    (None, None) => format!("{shown} is below one that it has seen"),
                }
            }
            RefuseReason::NoToken => "it shows no token".to_owned(),
            RefuseReason::VersionMismatch => match refuse.version_read {
                Some(read) => format!(
                    "it was computed from version\u{a0}{read}, and by now the {} is at version\u{a0}{}",
                    self.plot.cast.resource(Some(refuse.resource)),
                    refuse.version
                ),
                None => "it names no version that it was computed from".to_owned(),
            },
            RefuseReason::DuplicateKey => {
                let key = self.plot.course(refuse.op).op.and_then(|op| op.idempotency_key);
                let whose =
                    key.map_or_else(|| "this key".to_owned(), |key| format!("the key of invoice\u{a0}{key}"));
                format!("a charge with {whose} is booked already")
            }
        }
    }

    /// A fence on writes refused a stale write: there was a time in which it would not have.
    fn note_near_miss(&mut self, refuse: &Refuse, newer: Option<Hold>) {
        let fence = self.plot.cast.fence(Some(refuse.resource));
        if fence != FenceMode::Write || newer.is_none() {
            return;
        }
        let late = self.scene.of(refuse.hold);
        let after = self.scene.tales.values().filter(|tale| tale.lock == late.lock && tale.rank > late.rank);
        let first = after.min_by_key(|tale| tale.rank);
        if let Some(first) = first
            && let (Some(newer), Some(read_ns), Some(wrote_ns)) =
                (first.worker, first.read_ns, first.wrote_ns)
        {
            self.near_misses.push(NearMiss { late: refuse.worker, newer, read_ns, wrote_ns });
        }
    }

    /// A read, write or charge certainly did nothing.
    pub(in crate::narration) fn is_told_of_refusal(&mut self, entry: &Entry, op: &Op) {
        let kind = noun(op.f);
        let text = match self.refusals.get(&op.op) {
            // What it concludes from that is told next.
            Some(RefuseReason::StaleToken) => return,
            Some(RefuseReason::DuplicateKey) => "learns that the invoice is charged already: done".to_owned(),
            Some(_) => format!("learns that its {kind} was refused: it will do this job again"),
            None => {
                let why = op.error.as_deref().map(plain).filter(|why| !why.is_empty());
                let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                format!("learns that its {kind} was certainly not carried out{why}")
            }
        };
        let took_ns =
            self.plot.course(op.op).invoked_ns.map(|asked_ns| entry.time_ns.saturating_sub(asked_ns));
        let after = took_ns
            .filter(|&took_ns| took_ns > 1_000_000_000)
            .map(|took_ns| format!(", after {}", span(took_ns)));
        let text = text + &after.unwrap_or_default();
        self.say(entry, self.plot.cast.worker(op.worker), text).about(op.hold);
    }
}

/// Debits, with their verb and pronoun.
fn named(ids: &[DebitId]) -> (String, &'static str, &'static str) {
    let (is, it) = if ids.len() == 1 { ("is", "it") } else { ("are", "they") };
    (debits(ids), is, it)
}
