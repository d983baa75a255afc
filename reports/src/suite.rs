//! What `fencepost suite` prints.

use fencepost_scenarios::Exit;
use fencepost_scenarios::suite::{REPEATED_SEEDS, Verdict};

use crate::numbers::{grouped, wrapped};
use crate::paint::Paint;

/// One scenario: a line, and one for each expectation that did not hold.
pub fn line(verdict: &Verdict, width: usize, colour: bool) -> String {
    let paint = Paint::new(colour);
    let word = if verdict.exit == Exit::AsExpected { paint.good("pass") } else { paint.harm("FAIL") };
    let mut text = format!(
        "{word}  {:20} {:>7} runs, digest {}\n",
        verdict.scenario.name,
        grouped(verdict.results.runs()),
        verdict.results.digest().short(),
    );
    let mut problem = |message: String| {
        text += &wrapped(&message, width, "      ", "        ");
        text.push('\n');
    };
    for failure in &verdict.failures {
        let seed = failure.seed.map(|seed| format!(", first in seed {seed}")).unwrap_or_default();
        problem(format!(
            "{}: {} {} expected, {} found{seed}",
            failure.row_name(),
            failure.key,
            failure.expected,
            failure.found
        ));
    }
    if !verdict.deterministic {
        problem(format!(
            "the first {REPEATED_SEEDS} seeds have other histories on another number of threads: \
             this is a fault of ours, please report it"
        ));
    }
    for row in &verdict.results.rows {
        if let Some(seed) = row.first_unexplained_seed {
            problem(format!(
                "{}, seed {seed}: no rule explains a finding: this is a fault of ours, please report it",
                row.row.lock.name
            ));
        }
    }
    text
}

/// The closing line.
pub fn totals(passed: usize, failed: usize) -> String {
    format!("\n{passed} passed, {failed} failed\n")
}
