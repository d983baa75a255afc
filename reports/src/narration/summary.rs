//! One line for a stretch of the run in which nothing happens that the reader must know.

use fencepost_checker::history::{DebitId, WorkerId};

use super::plot::Plot;
use super::telling::{Deed, Told};
use super::wording::{count, debits, in_words, instant, numbered};
use super::{Emphasis, Step};

/// Shorter stretches are over when they have begun.
const A_WHILE_NS: u64 = 500_000_000;

/// Where the stretch lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Before the story begins.
    Before,
    /// Between two lines of the story.
    Meanwhile,
    /// After the story.
    After,
    /// There is no story.
    Whole,
}

/// What was done in a stretch.
#[derive(Debug, Default)]
struct Done {
    /// Who worked, in order of appearance.
    workers: Vec<WorkerId>,
    booked: Vec<DebitId>,
    tokens: Vec<u64>,
    found_charged: usize,
    gave_up: usize,
    refused: usize,
    harmed: usize,
    /// Who got the lock and had not booked anything by the end of the stretch.
    still_busy: Vec<(WorkerId, Option<u64>)>,
}

/// The line, unless nothing was done.
pub(super) fn of(plot: &Plot<'_>, left_out: &[&Told], place: Place) -> Option<Step> {
    let done = Done::of(left_out);
    let first = left_out.iter().find(|told| told.deed.is_some())?;
    let last = left_out.last()?;
    let mut parts = Vec::new();
    if !done.booked.is_empty() {
        parts.push(bookings(plot, &done));
    }
    if done.found_charged > 0 {
        parts.push(match done.found_charged {
            1 => "one invoice is found charged already".to_owned(),
            number => format!("{} are found charged already", count(number, "invoice")),
        });
    }
    if done.refused > 0 {
        parts.push(format!("{} refused", count(done.refused, "request")));
    }
    if done.gave_up > 0 {
        parts.push(format!("{} given up", count(done.gave_up, "job")));
    }
    if done.harmed > 0 {
        let verb = if done.harmed == 1 { "does" } else { "do" };
        parts.push(format!("{}\u{a0}of these writes {verb} harm", in_words(done.harmed)));
    }
    // Without a lock, everybody is always busy.
    if plot.cast.has_service(None) && !done.still_busy.is_empty() {
        let workers: Vec<WorkerId> = done.still_busy.iter().map(|(worker, _)| *worker).collect();
        let tokens: Vec<u64> = done.still_busy.iter().filter_map(|(_, token)| *token).collect();
        let verb = if workers.len() == 1 { "gets" } else { "get" };
        let tokens =
            if tokens.is_empty() { String::new() } else { format!(" ({})", numbered("token", &tokens)) };
        parts.push(format!("{} {verb} the lock{tokens}", plot.cast.workers(&workers)));
    }
    if parts.is_empty() {
        return None;
    }
    let is_calm = done.harmed + done.gave_up + done.refused == 0 && done.still_busy.is_empty();
    let (from_ns, to_ns) = (first.step.time_ns, last.step.time_ns);
    let until = if to_ns.saturating_sub(from_ns) > A_WHILE_NS {
        format!("until {}: ", instant(to_ns))
    } else {
        String::new()
    };
    let (opening, closing) = match place {
        Place::Before | Place::After if is_calm => ("", ", nothing special"),
        Place::Meanwhile => ("meanwhile, ", ""),
        Place::Before | Place::After | Place::Whole => ("", ""),
    };
    Some(Step {
        time_ns: from_ns,
        index: first.step.index,
        actor: String::new(),
        text: format!("… {opening}{until}{}{closing}", parts.join("; ")),
        note: None,
        emphasis: Emphasis::Summary,
    })
}

/// `client-1 books debit 3 (token 2)`, `client-1 and client-3 charge 2 invoices (debits 1 and 2)`.
fn bookings(plot: &Plot<'_>, done: &Done) -> String {
    let ending = if done.workers.len() == 1 { "s" } else { "" };
    let who = plot.cast.workers(&done.workers);
    let mut terms = Vec::new();
    let what = if plot.books.has_invoices {
        terms.push(debits(&done.booked));
        format!("charge{ending} {}", count(done.booked.len(), "invoice"))
    } else {
        format!("book{ending} {}", debits(&done.booked))
    };
    if !done.tokens.is_empty() {
        terms.push(numbered("token", &done.tokens));
    }
    let terms = if terms.is_empty() { String::new() } else { format!(" ({})", terms.join("; ")) };
    format!("{who} {what}{terms}")
}

impl Done {
    fn of(left_out: &[&Told]) -> Self {
        let mut done = Done::default();
        for told in left_out {
            done.harmed += usize::from(told.step.emphasis == Emphasis::Harm);
            match told.deed {
                Some(Deed::Took { worker, token }) => {
                    done.still_busy.retain(|(other, _)| *other != worker);
                    done.still_busy.push((worker, token));
                }
                Some(Deed::Booked { worker, debit }) => {
                    done.booked.push(debit);
                    let token = done.finish(worker);
                    done.tokens.extend(token);
                    if !done.workers.contains(&worker) {
                        done.workers.push(worker);
                    }
                }
                Some(Deed::FoundCharged { worker }) => {
                    done.found_charged += 1;
                    done.finish(worker);
                }
                Some(Deed::GaveUp) => {
                    done.gave_up += 1;
                }
                Some(Deed::Refused) => done.refused += 1,
                None => {}
            }
        }
        done
    }

    /// A worker has done something under the lock; its token, if it got it in this stretch.
    fn finish(&mut self, worker: WorkerId) -> Option<u64> {
        let busy = self.still_busy.iter().position(|(other, _)| *other == worker)?;
        self.still_busy.remove(busy).1
    }
}
