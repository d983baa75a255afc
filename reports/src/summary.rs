//! What `fencepost scenario` prints: the question, the tables, the verdicts, and how to see one failure.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use fencepost_checker::finding::Assumption;
use fencepost_checker::history::FenceMode;
use fencepost_models::catalogue::WorkloadInfo;
use fencepost_scenarios::expectation::{Count, Party};
use fencepost_scenarios::judge::{Expecter, Failure};
use fencepost_scenarios::{Results, RowResult, Scenario, Verdict, command_line, fence_name};

use crate::numbers::{grouped, interval, long_time, wrapped};
use crate::paint::Paint;
use crate::rows::{self, Claim};

/// How to print.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether it shows colours.
    pub colour: bool,
    /// What the run took, with how many threads; left out where output must not depend on the machine.
    pub took: Option<(Duration, usize)>,
}

/// What was expected, and how it turned out.
#[derive(Clone, Copy, Debug)]
pub struct Judgement<'a> {
    /// Whether the file's expectations were judged.
    pub judged: bool,
    /// What did not hold.
    pub failures: &'a [Failure],
}

/// The whole report of a scenario.
pub fn summary(scenario: &Scenario, results: &Results, judgement: Judgement<'_>, view: View) -> String {
    let paint = Paint::new(view.colour);
    let mut text = String::new();
    let mut section = |part: String| {
        if !part.is_empty() {
            let _ = writeln!(text, "{}\n", part.trim_end());
        }
    };
    section(head(scenario, view.width, paint));
    section(setting(scenario, view.width));
    for workload in &workloads(results) {
        section(workload_part(workload, results, view.width, paint));
    }
    section(notes(results, view.width));
    section(verdicts(results, view.width, paint));
    section(expectations(scenario, results, judgement, view));
    text + &closing(scenario, results, view)
}

fn head(scenario: &Scenario, width: usize, paint: Paint) -> String {
    let title = format!("{}: {}", scenario.name, scenario.title);
    let mut text = paint.strong(&wrapped(&title, width, "", "  ")) + "\n";
    for paragraph in scenario.story.trim().split("\n\n") {
        let _ = write!(text, "\n{}\n", wrapped(&with_units(paragraph), width, "  ", "  "));
    }
    text
}

/// Text in one line, with each number held to its unit by a space that no line breaks at.
fn with_units(text: &str) -> String {
    let mut line = String::new();
    let mut after_number = false;
    for word in text.split_whitespace() {
        let unit = word.trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '%');
        let is_unit = ["ns", "us", "ms", "s", "min", "h", "%"].contains(&unit);
        if !line.is_empty() {
            line.push(if after_number && is_unit { '\u{a0}' } else { ' ' });
        }
        line += word;
        after_number = word.ends_with(|c: char| c.is_ascii_digit());
    }
    line
}

/// The numbers that somebody needs who wants to believe the table.
fn setting(scenario: &Scenario, width: usize) -> String {
    let own = scenario.parameters.iter().filter(|it| it.known().is_none());
    let shown = ["clients", "jobs", "lease", "work"].iter().filter_map(|name| scenario.parameters.get(name));
    let parts = shown.chain(own).map(|it| format!("{} {}", it.name.replace('_', "\u{a0}"), it.written));
    // A name stays with its value.
    let parts: Vec<String> = parts.map(|part| part.replace(' ', "\u{a0}")).collect();
    wrapped(&parts.join(" · "), width, "", "  ")
}

fn workloads(results: &Results) -> Vec<&'static WorkloadInfo> {
    let mut workloads: Vec<&'static WorkloadInfo> = Vec::new();
    for row in &results.rows {
        if !workloads.contains(&row.row.workload) {
            workloads.push(row.row.workload);
        }
    }
    workloads
}

fn workload_part(workload: &WorkloadInfo, results: &Results, width: usize, paint: Paint) -> String {
    let rows: Vec<&RowResult> = of_workload(results, workload).collect();
    let title = format!("{}: {}", workload.name, workload.summary);
    let unit = "In how many seeds it happened, and the 95 % interval of that rate:";
    format!(
        "{}\n{}\n\n{}",
        paint.strong(&wrapped(&title, width, "", "  ")),
        paint.faint(&wrapped(unit, width, "", "  ")),
        rows::table(workload, &rows, width, paint)
    )
}

fn of_workload<'a>(results: &'a Results, workload: &'a WorkloadInfo) -> impl Iterator<Item = &'a RowResult> {
    results.rows.iter().filter(move |row| row.row.workload == workload)
}

fn notes(results: &Results, width: usize) -> String {
    let claims = |wanted| results.rows.iter().map(Claim::of).find(|claim| *claim == wanted);
    let notes = [claims(Claim::ByLuck), claims(Claim::NotGuaranteed)];
    let notes = notes.into_iter().flatten().filter_map(Claim::note);
    notes.map(|note| wrapped(note, width, "", "    ") + "\n").collect()
}

/// One paragraph a lock: what it is good for here, and whose fault the rest is.
fn verdicts(results: &Results, width: usize, paint: Paint) -> String {
    let mut text =
        paint.strong("Verdict") + ", for this scenario and these seeds (what held here is no proof)\n";
    let mut locks: Vec<&str> = Vec::new();
    for row in &results.rows {
        let lock = row.row.lock.name;
        if locks.contains(&lock) {
            continue;
        }
        locks.push(lock);
        let rows: Vec<&RowResult> = results.rows.iter().filter(|it| it.row.lock.name == lock).collect();
        let _ = writeln!(text, "{}", paint.strong(lock));
        for line in lock_verdict(&rows, paint) {
            let _ = writeln!(text, "{}", wrapped(&line, width, "  ", "    "));
        }
    }
    text
}

fn lock_verdict(rows: &[&RowResult], paint: Paint) -> Vec<String> {
    let mut lines = vec![exclusion_line(rows, paint)];
    lines.extend(efficiency_line(rows, paint));
    lines.push(correctness_line(rows, paint));
    lines.extend(liveness_line(rows, paint));
    lines.extend(fault_line(rows));
    lines
}

/// How often two workers held the lock at once, in the row in which it happened most: rows share their seeds,
/// so that adding them up would only seem to know more.
fn exclusion_line(rows: &[&RowResult], paint: Paint) -> String {
    let with = |row: &RowResult| row.tally(Count::DoubleHolders).seeds;
    let Some(worst) = rows.iter().rev().max_by_key(|row| with(row)) else { return String::new() };
    let (count, seeds) = (with(worst), worst.seeds);
    let rate = interval(count, seeds);
    if count == 0 {
        return format!("{}: never, in {} seeds ({rate})", paint.good("two holders at once"), grouped(seeds));
    }
    let acted = match worst.tally(Count::DoubleHoldersActing).seeds {
        0 => "the old holder always looked again before it acted".to_owned(),
        acting => format!("in {} of them the old holder acted without looking again", grouped(acting)),
    };
    let title = paint.harm("two holders at once");
    format!("{title}: in {} of {} seeds ({rate}); {acted}", grouped(count), grouped(seeds))
}

/// More jobs than this out of 10,000 begun twice are too many for a lock that only saves work.
const DUPLICATES_PER_10_000: u64 = 10;

/// Whether it saves work: judged where a second run does no harm.
fn efficiency_line(rows: &[&RowResult], paint: Paint) -> Option<String> {
    let row = rows.iter().find(|row| row.row.fence == FenceMode::Idempotency)?;
    let duplicates = row.tally(Count::DuplicateRuns).total;
    let rate = (duplicates * 10_000).checked_div(row.jobs)?;
    let is_stuck = row.liveness() == Verdict::Fail;
    let verdict = if rate <= DUPLICATES_PER_10_000 && !is_stuck {
        paint.good("held here")
    } else {
        paint.harm("failed here")
    };
    let stuck = if is_stuck { ", and the lock was stuck for longer than a lease" } else { "" };
    Some(format!(
        "as an efficiency lock: {verdict}: work was begun again {} times per 10,000 jobs (up to \
         {DUPLICATES_PER_10_000} are fine){stuck}",
        grouped(rate),
    ))
}

/// Whether the ledger is right, fence by fence; the worst workload counts.
fn correctness_line(rows: &[&RowResult], paint: Paint) -> String {
    let mut fences: Vec<(FenceMode, Claim)> = Vec::new();
    for row in rows {
        let (fence, claim) = (row.row.fence, Claim::of(row));
        match fences.iter_mut().find(|(it, _)| *it == fence) {
            Some((_, worst)) => *worst = claim.max(*worst),
            None => fences.push((fence, claim)),
        }
    }
    let with = |wanted: Claim| -> Option<String> {
        let names = fences.iter().filter(|(_, claim)| *claim == wanted).map(|(fence, _)| fence_name(*fence));
        let names: Vec<&str> = names.collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    let parts = [
        with(Claim::Failed).map(|names| format!("{} with fence {names}", paint.harm("failed here"))),
        with(Claim::ByLuck).map(|names| format!("{} with fence {names}", paint.doubt("no claim"))),
        with(Claim::Unknown).map(|names| format!("{} with fence {names}", paint.doubt("unknown"))),
        with(Claim::NotGuaranteed).map(|names| {
            format!("{} with fence {names}, but not guaranteed for invoices", paint.doubt("held here"))
        }),
        with(Claim::Held).map(|names| format!("{} with fence {names}", paint.good("held here"))),
    ];
    format!("as a correctness lock: {}", parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

/// Only where somebody did not get on; in the row in which that happened most.
fn liveness_line(rows: &[&RowResult], paint: Paint) -> Option<String> {
    let worst = rows.iter().rev().max_by_key(|row| row.liveness_failures)?;
    let (count, seeds) = (worst.liveness_failures, worst.seeds);
    let waiting = worst.tally(Count::Unfinished).seeds;
    (count > 0).then(|| {
        format!(
            "{}: in {} of {} seeds ({}) the lock was stuck for longer than a lease, or workers still waited in \
             the end (in {})",
            paint.harm("not everybody got on"),
            grouped(count),
            grouped(seeds),
            interval(count, seeds),
            grouped(waiting),
        )
    })
}

fn fault_line(rows: &[&RowResult]) -> Option<String> {
    let blamed = Party::ALL.iter().filter(|party| rows.iter().any(|row| row.blamed_seeds(**party) > 0));
    let who: Vec<&str> = blamed.map(|party| in_words(*party)).collect();
    if who.is_empty() {
        return None;
    }
    let reasons: BTreeSet<&str> = rows.iter().flat_map(|row| &row.reasons).copied().collect();
    let reasons: Vec<&str> = reasons.into_iter().collect();
    let broken = Assumption::ALL.iter().filter(|it| rows.iter().any(|row| row.assumptions.contains(**it)));
    let broken: Vec<&str> = broken.map(|it| it.phrase()).collect();
    let broken = match broken.is_empty() {
        true => String::new(),
        false => format!("; assumed, and did not hold: {}", broken.join(", ")),
    };
    Some(format!("fault of {}: {}{broken}", who.join(" and "), reasons.join("; ")))
}

fn in_words(party: Party) -> &'static str {
    match party {
        Party::Service => "the lock service",
        Party::Token => "the service's tokens",
        Party::Resource => "the resource",
        Party::Client => "the client's code",
        Party::Holder => "the holder (no code is wrong)",
    }
}

fn expectations(scenario: &Scenario, results: &Results, judgement: Judgement<'_>, view: View) -> String {
    let (width, paint) = (view.width, Paint::new(view.colour));
    let mut text = String::new();
    for row in &results.rows {
        if let Some(seed) = row.first_unexplained_seed {
            let line =
                "NOT EXPLAINED: no rule explains a finding, which is a fault of ours: please report this run";
            let _ = writeln!(text, "{}", paint.harm(&wrapped(line, width, "", "  ")));
            let _ = writeln!(text, "  {}", command_line::replay(scenario, row.row, seed));
        }
    }
    for failure in judgement.failures {
        let who = match failure.by {
            Expecter::File => "expected",
            Expecter::Requirement => "required",
        };
        let seed = failure.seed.map(|seed| format!(", first in seed {seed}")).unwrap_or_default();
        let line = format!(
            "NOT AS {}: {}: {} {}, found {}{seed}",
            who.to_uppercase(),
            failure.row_name(),
            failure.key,
            failure.expected,
            failure.found,
        );
        let _ = writeln!(text, "{}", paint.harm(&wrapped(&line, width, "", "  ")));
    }
    if !judgement.judged {
        text += "Expectations not judged: they hold for the file's own parameters and seeds.\n";
    } else if !judgement.failures.iter().any(|failure| failure.by == Expecter::File) {
        text += "Everything is as the scenario expects.\n";
    }
    text
}

/// `seeds 0 to 299`, `seed 7`.
fn seeds_of(results: &Results) -> String {
    match (results.first_seed, results.seeds()) {
        (first, 0 | 1) => format!("seed {first}"),
        (first, seeds) => format!("seeds {first} to {}", first + seeds - 1),
    }
}

fn closing(scenario: &Scenario, results: &Results, view: View) -> String {
    let took = view.took.map_or_else(String::new, |(took, threads)| {
        let threads = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        format!(" in {:.1} s on {threads}", took.as_secs_f64())
    });
    let mut text = wrapped(
        &format!(
            "{} runs ({}), {} of simulated time{took} · digest {} · fencepost {}",
            grouped(results.runs()),
            seeds_of(results),
            long_time(results.simulated_ns()),
            results.digest().short(),
            env!("CARGO_PKG_VERSION"),
        ),
        view.width,
        "",
        "  ",
    );
    text.push('\n');
    let first = examples(results);
    if !first.is_empty() {
        text += "\nSee it happen, step by step:\n";
    }
    for (row, seed) in first {
        let _ = writeln!(text, "  {}", command_line::replay(scenario, row.row, seed));
    }
    text
}

/// One run for each fence that failed, of the first lock that did; if none failed, the first run in which
/// anything was broken.
fn examples(results: &Results) -> Vec<(&RowResult, u64)> {
    let mut examples: Vec<(&RowResult, u64)> = Vec::new();
    for row in &results.rows {
        let is_new = examples.iter().all(|(it, _)| it.row.fence != row.row.fence);
        let same_lock = examples.first().is_none_or(|(it, _)| it.row.lock == row.row.lock);
        if let (Some(seed), true, true) = (row.first_harmed_seed(), is_new, same_lock) {
            examples.push((row, seed));
        }
    }
    if examples.is_empty() {
        let broken = |row| Some((row, RowResult::first_example_seed(row)?));
        examples.extend(results.rows.iter().find_map(broken));
    }
    examples
}
