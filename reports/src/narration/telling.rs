//! Walks through the history once and makes a line of every entry that is worth one.
//!
//! The whole run is told here; `focus` leaves out what the reader does not need.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_checker::history::{DebitId, Entry, Event, F, Hold, OpId, RefuseReason, WorkerId};

use super::plot::Plot;
use super::tale::Scene;
use super::{Emphasis, Step};

/// The whole run, told.
pub(super) struct Telling<'a> {
    pub(super) plot: &'a Plot<'a>,
    pub(super) scene: Scene,
    pub(super) told: Vec<Told>,
    /// Grants that a fault hit.
    pub(super) touched: BTreeSet<Hold>,
    /// Writes that a fence on writes refused only because a newer holder had written.
    pub(super) near_misses: Vec<NearMiss>,
    /// Lines that bring back what had been wiped out, as positions in [`Telling::told`].
    pub(super) repairs: Vec<usize>,
    /// Lines that say that a request was sent: left out if it was accepted at once.
    pub(super) sent: BTreeMap<OpId, usize>,
    pub(super) refusals: BTreeMap<OpId, RefuseReason>,
    /// Jobs that were begun, and by whom last.
    pub(super) begun: BTreeMap<u64, WorkerId>,
}

/// A line, and what the choice of lines needs to know of it.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) step: Step,
    /// The grant that it is about.
    pub(super) hold: Option<Hold>,
    /// The grant that it tells of besides: without that one, it is of no interest.
    pub(super) beside: Option<Hold>,
    /// What a summary says of it.
    pub(super) deed: Option<Deed>,
    /// Another line says it, too.
    pub(super) is_merged: bool,
}

/// What was done, for a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Took { worker: WorkerId, token: Option<u64> },
    Booked { worker: WorkerId, debit: DebitId },
    FoundCharged { worker: WorkerId },
    GaveUp,
    Refused,
}

/// A stale write that was refused because the newer holder had written in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearMiss {
    pub(super) late: WorkerId,
    pub(super) newer: WorkerId,
    /// When the newer holder read and when its write was accepted: between them the late write would have
    /// been taken.
    pub(super) read_ns: u64,
    pub(super) wrote_ns: u64,
}

impl Told {
    /// Which grant the line is about.
    pub(super) fn about(&mut self, hold: Option<Hold>) -> &mut Self {
        self.hold = hold;
        self
    }

    pub(super) fn beside(&mut self, hold: Option<Hold>) -> &mut Self {
        self.beside = hold;
        self
    }

    pub(super) fn deed(&mut self, deed: Deed) -> &mut Self {
        self.deed = Some(deed);
        self
    }

    pub(super) fn emphasis(&mut self, emphasis: Emphasis) -> &mut Self {
        if weight(emphasis) > weight(self.step.emphasis) {
            self.step.emphasis = emphasis;
        }
        self
    }

    /// Says why the line matters.
    pub(super) fn note(&mut self, emphasis: Emphasis, note: impl Into<String>) -> &mut Self {
        let note = note.into();
        self.step.note = Some(match self.step.note.take() {
            None => note,
            Some(before) => format!("{before}; {note}"),
        });
        self.emphasis(emphasis)
    }
}

/// Of several reasons to point at a line, the weightiest decides how it looks.
fn weight(emphasis: Emphasis) -> u8 {
    match emphasis {
        Emphasis::Plain => 0,
        Emphasis::Summary => 1,
        Emphasis::Turn => 2,
        Emphasis::Fault => 3,
        Emphasis::Averted => 4,
        Emphasis::Harm => 5,
    }
}

impl<'a> Telling<'a> {
    pub(super) fn of(plot: &'a Plot<'a>) -> Self {
        let mut telling = Telling {
            plot,
            scene: Scene::default(),
            told: Vec::new(),
            touched: BTreeSet::new(),
            near_misses: Vec::new(),
            repairs: Vec::new(),
            sent: BTreeMap::new(),
            refusals: BTreeMap::new(),
            begun: BTreeMap::new(),
        };
        for (position, entry) in plot.entries.iter().enumerate() {
            telling.tell(position, entry);
        }
        telling.drop_merged();
        telling
    }

    /// Leaves out lines that another line says, too.
    fn drop_merged(&mut self) {
        let merged: Vec<usize> =
            (0..).zip(&self.told).filter(|(_, it)| it.is_merged).map(|(at, _)| at).collect();
        for repair in &mut self.repairs {
            *repair -= merged.partition_point(|at| at < repair);
        }
        self.told.retain(|told| !told.is_merged);
    }

    /// Adds a line.
    pub(super) fn say(&mut self, entry: &Entry, actor: String, text: String) -> &mut Told {
        let (time_ns, index) = (entry.time_ns, entry.index);
        let step = Step { time_ns, index, actor, text, note: None, emphasis: Emphasis::Plain };
        self.told.push(Told { step, hold: None, beside: None, deed: None, is_merged: false });
        let last = self.told.len() - 1;
        &mut self.told[last]
    }

    fn tell(&mut self, position: usize, entry: &Entry) {
        match &entry.event {
            Event::Invoke(op) => match op.f {
                F::Acquire => self.asks_for_the_lock(entry, op),
                F::Release => self.gives_back(entry, op),
                F::Write | F::Charge => self.sends(entry, op),
                F::Call => self.calls(entry, op),
                F::Renew | F::Read => {}
            },
            Event::Ok(op) => match op.f {
                F::Acquire => self.takes_the_lock(entry, op),
                F::Renew => self.has_renewed(entry, op),
                F::Release => self.has_given_back(entry, op),
                F::Read => self.has_read(entry, op),
                F::Write | F::Charge => self.is_told_of_success(entry, op),
                F::Call => self.has_called(entry, op),
            },
            Event::Fail(op) => match op.f {
                F::Acquire => self.does_not_get_the_lock(entry, op),
                F::Renew | F::Release => self.is_told_of_the_loss(entry, op),
                F::Read | F::Write | F::Charge | F::Call => self.is_told_of_refusal(entry, op),
            },
            Event::Info(op) => self.gets_no_answer(entry, op),

            Event::Grant(tenure) => self.grants(entry, tenure),
            Event::Renew(tenure) => self.extends(entry, tenure),
            Event::End(end) => self.ends(entry, end),
            Event::Revive(tenure) => self.revives(entry, tenure),
            Event::Authority(authority) => self.changes_authority(entry, authority),
            Event::Block(block) => self.blocks(entry, block),

            Event::Believe(belief) => self.believes(entry, belief),
            Event::Check(check) => self.checks(entry, check),
            Event::Lost(lost) => self.learns_of_the_loss(entry, lost),
            Event::Cease(cease) => self.ceases(entry, cease),
            Event::Begin(begin) => self.begins(entry, begin),

            Event::Apply(apply) => self.accepts(position, entry, apply),
            Event::Refuse(refuse) => self.refuses(entry, refuse),
            Event::Recover(recover) => self.recovers(entry, recover),

            Event::Nemesis(fault) => self.suffers(position, entry, fault),
        }
    }
}
