//! The findings of a history: all are counted and blamed, the first are kept.

use crate::finding::{Assumption, Assumptions, BlameSet, Finding};

/// How many findings are kept with their details.
const KEPT: usize = 1000;

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) kept: Vec<Finding>,
    pub(crate) total: u64,
    pub(crate) blame: BlameSet,
    pub(crate) assumptions: Assumptions,
}

impl Findings {
    pub(crate) fn add(&mut self, finding: Finding) {
        self.total += 1;
        self.blame.insert(finding.blame);
        if let Some(assumption) = finding.assumption {
            self.assumptions.insert(assumption);
        }
        if self.kept.len() < KEPT {
            self.kept.push(finding);
        }
    }

    /// The run relied on something without any finding that names it.
    pub(crate) fn assume(&mut self, assumption: Assumption) {
        self.assumptions.insert(assumption);
    }

    /// The kept findings in order of time.
    pub(crate) fn sort(&mut self) {
        self.kept.sort_by_key(|finding| (finding.time_ns, finding.index, finding.kind, finding.debit));
    }
}
