//! Holds results against what was expected of them.

use thiserror::Error;

use crate::exit::Exit;
use crate::expectation::{Check, Comparison, Contract, Count, Property, blame_holds};
use crate::nearest::did_you_mean;
use crate::row::{RowResult, Verdict};
use crate::runner::Results;
use crate::scenario::{Row, Scenario, fence_name};
use fencepost_checker::analysis::Line;

/// Something that was expected and did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Of which row.
    pub row: Row,
    /// The key of the expectation.
    pub key: String,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
    /// The first seed that shows it, if one seed can.
    pub seed: Option<u64>,
    /// What is broken.
    pub property: Property,
    /// Whether the scenario's file expected it, or `--require`.
    pub by: Expecter,
}

/// Who expected something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expecter {
    /// The scenario's file.
    File,
    /// `--require`.
    Requirement,
}

/// Something that somebody required on the command line: `lost_debits=0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    count: Count,
    comparison: Comparison,
}

/// A requirement that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RequirementError {
    /// It has no `=`.
    #[error("--require {0}: expected count=number, such as `--require lost_debits=0` or `double_holders=>0`")]
    NoValue(String),
    /// Nothing of that name is counted.
    #[error("--require {text}: `{key}` is not counted{}\ncounted are: {all}", nearest.as_ref().map(|it| format!(": {it}")).unwrap_or_default())]
    UnknownCount {
        /// What was typed.
        text: String,
        /// The part before the `=`.
        key: String,
        /// A near name, as a question.
        nearest: Option<String>,
        /// All names.
        all: String,
    },
    /// The number is none.
    #[error(
        "--require {text}: {message}{help}\nexpected a number such as 0, or a comparison such as >0, >=3, <10"
    )]
    BadValue {
        /// What was typed.
        text: String,
        /// What is wrong.
        message: String,
        /// What to write instead.
        help: String,
    },
}

impl Requirement {
    /// Reads `count=number`.
    ///
    /// # Errors
    /// [`RequirementError`].
    pub fn parse(text: &str) -> Result<Requirement, RequirementError> {
        let Some((key, value)) = text.split_once('=') else {
            return Err(RequirementError::NoValue(text.to_owned()));
        };
        let names = || Count::ALL.iter().map(|count| count.name());
        let count = Count::named(key.trim()).ok_or_else(|| RequirementError::UnknownCount {
            text: text.to_owned(),
            key: key.trim().to_owned(),
            nearest: did_you_mean(key.trim(), names()),
            all: names().collect::<Vec<_>>().join(", "),
        })?;
        let comparison = Comparison::parse(value).map_err(|(message, help)| RequirementError::BadValue {
            text: text.to_owned(),
            message,
            help: help.map(|help| format!(": {help}")).unwrap_or_default(),
        })?;
        Ok(Requirement { count, comparison })
    }
}

/// Everything in the scenario's file that did not hold.
pub fn expectations(scenario: &Scenario, results: &Results) -> Vec<Failure> {
    let mut failures = Vec::new();
    for row in &results.rows {
        for expectation in scenario.expectations_of(row.row) {
            for check in &expectation.checks {
                failures.extend(failure(row, check, Expecter::File));
            }
        }
    }
    failures
}

/// Every requirement that did not hold.
pub fn requirements(required: &[Requirement], results: &Results) -> Vec<Failure> {
    let mut failures = Vec::new();
    for row in &results.rows {
        for Requirement { count, comparison } in required {
            failures.extend(failure(row, &Check::Count(*count, *comparison), Expecter::Requirement));
        }
    }
    failures
}

/// What a program that ends with these results tells its caller.
pub fn exit(results: &Results, failures: &[Failure]) -> Exit {
    let broken = |property| failures.iter().any(|failure| failure.property == property);
    if results.rows.iter().any(|row| row.first_unexplained_seed.is_some()) {
        Exit::OurFault
    } else if broken(Property::Safety) {
        Exit::Safety
    } else if broken(Property::Liveness) {
        Exit::Liveness
    } else if results.rows.iter().any(|row| row.data() == Verdict::Unknown) {
        Exit::Inconclusive
    } else {
        Exit::AsExpected
    }
}

fn failure(row: &RowResult, check: &Check, by: Expecter) -> Option<Failure> {
    let (holds, found, seed) = match check {
        Check::Count(count, comparison) => {
            let tally = row.tally(*count);
            (comparison.holds(tally.total), tally.total.to_string(), tally.first_seed)
        }
        Check::Blame(expected) => {
            let blamed = row.blamed();
            let names: Vec<&str> = blamed.iter().map(|party| party.name()).collect();
            let found = if names.is_empty() { "nobody".to_owned() } else { names.join(", ") };
            (blame_holds(expected, &blamed, row.findings), found, None)
        }
        Check::Contract(expected) => {
            let found = contract(row);
            (found == *expected, found.name().to_owned(), None)
        }
    };
    (!holds).then(|| Failure {
        row: row.row,
        key: check.key().to_owned(),
        expected: check.expected(),
        found,
        seed,
        property: check.property(),
        by,
    })
}

fn contract(row: &RowResult) -> Contract {
    let lines = row.contract;
    let all = lines.exclusion.and(lines.tenure).and(lines.truth).and(lines.delay);
    if all.and(lines.tokens).and(lines.resource) == Line::Broken { Contract::Broken } else { Contract::Kept }
}

impl Failure {
    /// `redis, fence off, ledger`.
    pub fn row_name(&self) -> String {
        let Row { lock, fence, workload } = self.row;
        format!("{}, fence {}, {}", lock.name, fence_name(fence), workload.name)
    }
}
