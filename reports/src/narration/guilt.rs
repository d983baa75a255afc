//! Whose fault it was, in plain words.

use fencepost_checker::finding::{Assumption, Blame, ClientBug, FindingKind, Party};
use fencepost_checker::history::WorkerId;
use fencepost_checker::{Analysis, Finding};

use super::Section;
use super::focus::Focus;
use super::outcome;
use super::plot::Plot;
use super::telling::Telling;
use super::wording::{enumeration, in_words};

pub(super) fn section(
    plot: &Plot<'_>,
    telling: &Telling<'_>,
    focus: &Focus<'_>,
    analysis: &Analysis,
) -> Section {
    let mut paragraphs = Vec::new();
    match focus.finding {
        None => paragraphs.push(innocence(plot, telling, analysis)),
        Some(finding) => {
            paragraphs.push(format!("{} (Rule {}.)", verdict(plot, finding), finding.rule));
            paragraphs.extend(also(finding));
            paragraphs.extend(others(finding, analysis));
        }
    }
    Section { title: "Whose fault".to_owned(), paragraphs }
}

/// Nothing was found.
fn innocence(plot: &Plot<'_>, telling: &Telling<'_>, analysis: &Analysis) -> String {
    let kept_apart = if plot.cast.header().locks.iter().any(|lock| lock.service) {
        ", and the lock kept the workers apart"
    } else {
        ""
    };
    let stopped = match usize::try_from(analysis.counts.stale_rejected).unwrap_or(usize::MAX) {
        0 => String::new(),
        1 => format!(" The {} refused one stale request.", plot.cast.resource(None)),
        number => {
            format!(" The {} refused {}\u{a0}stale requests.", plot.cast.resource(None), in_words(number))
        }
    };
    match outcome::unfinished(plot, telling, analysis) {
        None => format!("Nobody's: no harm was done{kept_apart}.{stopped}"),
        Some(_) if analysis.waiting_at_end > 0 => format!(
            "No data was harmed{kept_apart}.{stopped} But not everybody finished: whoever waits for a \
             lock and never gets it does nothing at all. Nothing in this story judges whose fault that is."
        ),
        Some(_) => {
            format!("No data was harmed{kept_apart}.{stopped} But not everybody finished, as told above.")
        }
    }
}

fn verdict(plot: &Plot<'_>, finding: &Finding) -> String {
    let service = plot.cast.service(finding.lock);
    let ledger = plot.cast.resource(finding.resource);
    match finding.blame {
        Blame::Holder => holder(plot, finding),
        Blame::ClientBug { of, bug: ClientBug::NoLock } => {
            format!(
                "The code of {}, and of the others: they work on shared data without a lock.",
                plot.cast.worker(of)
            )
        }
        Blame::ClientBug { of, .. } => {
            format!("The code of {}: {}.", plot.cast.worker(of), clause(finding.blame))
        }
        Blame::Service(_) => format!("The lock service, {service}: {}.", clause(finding.blame)),
        Blame::Token(_) => format!("The tokens of {service}: {}.", clause(finding.blame)),
        Blame::Resource(_) => format!("The {ledger}: {}.", clause(finding.blame)),
        Blame::Unexplained => {
            "No rule explains this. That is a fault of this program: please report it.".to_owned()
        }
    }
}

/// A blame's phrase with a subject.
fn clause(blame: Blame) -> String {
    let phrase = blame.phrase();
    if phrase.starts_with("its ") { phrase.to_owned() } else { format!("it {phrase}") }
}

/// Nobody's code is wrong: what was relied upon?
fn holder(plot: &Plot<'_>, finding: &Finding) -> String {
    let who =
        culprit(plot, finding).map_or_else(|| "the holder".to_owned(), |worker| plot.cast.worker(worker));
    let (what, relied) = match finding.assumption {
        Some(Assumption::BoundedPause) => (
            format!("{who} was stopped in the middle of its work, for longer than its lease lasted"),
            "that no pause is that long",
        ),
        Some(Assumption::BoundedDelay) => (
            format!("a message of {who} was on its way for longer than the lease lasted"),
            "that no message takes that long",
        ),
        Some(Assumption::ClockDoesNotJump) => (
            format!("{who} and the lock service had different ideas of the time"),
            "that both go by the same time",
        ),
        Some(Assumption::DurableGrant) => {
            ("a grant was forgotten".to_owned(), "that what was granted is remembered")
        }
        Some(Assumption::DeadPeersNoticed) => {
            (format!("nobody noticed what had become of {who}"), "that somebody notices when a peer is dead")
        }
        Some(Assumption::ResourceCooperates) | None => {
            (format!("{who} was late through no fault of its own"), "that nobody is late")
        }
    };
    let name = finding.assumption.map(|it| format!(" ({})", it.phrase())).unwrap_or_default();
    format!(
        "Nobody's code is wrong: {what}. A lease rests on an assumption that nobody can \
         enforce: {relied}{name}."
    )
}

/// The older holder.
fn culprit(plot: &Plot<'_>, finding: &Finding) -> Option<WorkerId> {
    let hold = finding.older.or(finding.newer)?;
    plot.worker_of(hold)
}

/// Further rules that hold, as far as they say anything new: of somebody else, or of another fault.
fn also(finding: &Finding) -> Option<String> {
    let mut said = vec![(finding.blame.party(), clause(finding.blame))];
    let mut clauses = Vec::new();
    for &(rule, blame) in &finding.also {
        let (party, clause) = (blame.party(), clause(blame));
        let is_new = !said.contains(&(party, clause.clone()));
        if is_new {
            clauses.push(match blame {
                Blame::Holder => format!("a holder was late through no fault of its own (rule\u{a0}{rule})"),
                _ => format!("rule\u{a0}{rule} applies ({}: {clause})", name(party)),
            });
            said.push((party, clause));
        }
    }
    (!clauses.is_empty()).then(|| format!("Besides, {}.", enumeration(&clauses)))
}

fn name(party: Party) -> &'static str {
    match party {
        Party::Service => "the lock service",
        Party::Token => "the tokens",
        Party::Resource => "the resource",
        Party::Client => "a client",
        Party::Holder => "the holder",
        Party::Unexplained => "unknown",
    }
}

/// What else was found in this run.
fn others(finding: &Finding, analysis: &Analysis) -> Option<String> {
    let others = analysis.findings_total.saturating_sub(1);
    let kind = match finding.kind {
        FindingKind::Overlap => "two holders at once",
        FindingKind::LostDebit => "a lost debit",
        FindingKind::DestroyedUpdate => "an overwritten debit",
        FindingKind::DoubleDebit => "a second charge",
        FindingKind::PhantomDebit => "a debit that nobody asked for",
        FindingKind::SumMismatch => "a wrong balance",
    };
    match usize::try_from(others).unwrap_or(usize::MAX) {
        0 => None,
        1 => Some(format!("This is about {kind}; the checker reports one more finding in this run.")),
        number => Some(format!(
            "This is about {kind}; the checker reports {}\u{a0}more findings in this run.",
            in_words(number)
        )),
    }
}
