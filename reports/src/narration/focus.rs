//! Which part of a run is told line by line.
//!
//! From the grant of the older holder of the worst finding to the end of the harm; without a finding, around
//! the faults; without faults, the first grants.

use std::collections::BTreeSet;

use fencepost_checker::finding::FindingKind;
use fencepost_checker::history::Hold;
use fencepost_checker::{Analysis, Finding};

use super::plot::Plot;
use super::summary::{self, Place};
use super::telling::{Deed, Telling, Told};
use super::{Emphasis, Step};

/// How many grants are told of a run in which nothing happens.
const CALM_GRANTS: usize = 2;

/// What is told line by line.
pub(super) struct Focus<'a> {
    /// What the story is about.
    pub(super) finding: Option<&'a Finding>,
    /// The first and the last line that belongs to it, as positions in the telling.
    window: Option<(usize, usize)>,
    /// Grants whose lines are all shown.
    in_full: BTreeSet<Hold>,
}

impl<'a> Focus<'a> {
    pub(super) fn of(plot: &Plot<'_>, telling: &Telling<'_>, analysis: &'a Analysis) -> Self {
        let finding = analysis.findings.iter().min_by_key(|it| {
            // Without a lock there is harm everywhere: the shortest story is told.
            let has_service = plot.cast.has_service(it.lock);
            let length_ns = if has_service { 0 } else { length_ns(telling, it) };
            (severity(it), length_ns, it.time_ns, it.index)
        });
        let mut in_full: BTreeSet<Hold> = match finding {
            Some(finding) => [finding.older, finding.newer].into_iter().flatten().collect(),
            None => telling.touched.clone(),
        };
        if in_full.is_empty() && finding.is_none() {
            let rank = |hold: &Hold| telling.scene.of(Some(*hold)).rank;
            let first =
                telling.scene.tales.keys().filter(|hold| rank(hold).is_some_and(|rank| rank < CALM_GRANTS));
            in_full = first.copied().collect();
        }
        let heroes = in_full.clone();
        let is_about = |told: &Told| {
            told.hold.is_some_and(|hold| heroes.contains(&hold))
                || finding.is_some_and(|finding| finding.index == told.step.index)
        };
        let begins = |told: &Told| is_about(told) && matches!(told.deed, Some(Deed::Took { .. }));
        let calm = finding.is_none() && telling.touched.is_empty();
        let first = telling.told.iter().position(|told| begins(told) && !calm);
        let first = first.or_else(|| telling.told.iter().position(is_about));
        let last = telling.told.iter().rposition(is_about);
        let mut window = first.zip(last);
        if let Some((first, last)) =
            window.filter(|_| finding.is_some_and(|it| plot.cast.has_service(it.lock)))
        {
            // What was wiped out and comes back by luck: that is the end of the harm.
            let harms = |told: &Told| told.step.emphasis == Emphasis::Harm;
            let harm = telling.told[first..=last].iter().position(harms).map(|harm| first + harm);
            let repair =
                telling.repairs.iter().copied().find(|&repair| harm.is_some_and(|harm| repair > harm));
            if let Some(hold) = repair.and_then(|repair| telling.told.get(repair)).and_then(|told| told.hold)
            {
                in_full.insert(hold);
                let end = telling.told.iter().rposition(|told| told.hold == Some(hold)).unwrap_or(last);
                window = Some((first, last.max(end)));
            }
        }
        // Whoever came right after the older holder shows how there came to be two.
        let older = in_full.iter().filter_map(|&hold| telling.scene.of(Some(hold)).rank).min();
        if let Some((first, last)) = window.filter(|_| !calm) {
            let next = telling.told[first..=last].iter().filter_map(|told| told.hold).find(|&hold| {
                let rank = telling.scene.of(Some(hold)).rank;
                rank.is_some() && rank == older.map(|rank| rank + 1)
            });
            in_full.extend(next);
        }
        Focus { finding, window, in_full }
    }

    /// The lines of the story, with one line for each stretch that is left out.
    pub(super) fn steps(&self, plot: &Plot<'_>, telling: &Telling<'_>) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        let mut left_out: Vec<&Told> = Vec::new();
        for (position, told) in telling.told.iter().enumerate() {
            if self.is_shown(position, told) {
                let place = self.place(position);
                steps.extend(summary::of(plot, &left_out, place));
                left_out.clear();
                steps.push(told.step.clone());
            } else {
                left_out.push(told);
            }
        }
        steps.extend(summary::of(
            plot,
            &left_out,
            if self.window.is_some() { Place::After } else { Place::Whole },
        ));
        steps
    }

    fn is_shown(&self, position: usize, told: &Told) -> bool {
        if told.step.emphasis == Emphasis::Fault {
            return true;
        }
        let is_within = self.window.is_some_and(|(first, last)| (first..=last).contains(&position));
        let is_told = |hold: Hold| self.in_full.contains(&hold);
        let is_needed = told.hold.is_none_or(is_told) && told.beside.is_none_or(is_told);
        is_within && (is_needed || matches!(told.step.emphasis, Emphasis::Harm | Emphasis::Averted))
    }

    /// Where a stretch lies that ends before this line.
    fn place(&self, position: usize) -> Place {
        match self.window {
            Some((first, _)) if position <= first => Place::Before,
            Some((_, last)) if position > last => Place::After,
            Some(_) => Place::Meanwhile,
            None => Place::Whole,
        }
    }
}

/// From the beginning of the older grant to the harm.
fn length_ns(telling: &Telling<'_>, finding: &Finding) -> u64 {
    let begins = |told: &&Told| told.hold.is_some() && told.hold == finding.older;
    let first = telling.told.iter().find(begins);
    first.map_or(u64::MAX, |first| finding.time_ns.saturating_sub(first.step.time_ns))
}

/// The worst finding is what a story is about.
fn severity(finding: &Finding) -> u8 {
    match finding.kind {
        FindingKind::LostDebit | FindingKind::DoubleDebit => 0,
        FindingKind::PhantomDebit | FindingKind::SumMismatch => 1,
        FindingKind::DestroyedUpdate => 2,
        FindingKind::Overlap => 3,
    }
}
