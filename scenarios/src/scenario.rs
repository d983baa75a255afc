//! A scenario: locks and workloads, faults, and what is expected of them.

use fencepost_checker::history::FenceMode;
use fencepost_models::catalogue::{FENCES, LockInfo, WorkloadInfo};

use crate::diagnostic::ScenarioError;
use crate::expectation::Expectation;
use crate::fault_template::FaultTemplate;
use crate::parameters::Parameters;
use crate::read;

/// The format of scenario files that is read here: `format = 1`.
pub const FORMAT: i64 = 1;

/// The number of seeds if a file gives none.
pub const SEEDS_DEFAULT: u64 = 300;

/// The largest number of seeds: a seed must survive a reader of JSON that knows only floats.
pub const SEEDS_MAX: u64 = 1 << 53;

/// A scenario, as its file has it and as it was changed since.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name: that of a built-in one, or of the file without folder and ending.
    pub name: String,
    /// What to type to get it again: the name of a built-in one, or the path of the file.
    pub argument: String,
    /// One line about it.
    pub title: String,
    /// What happens, for somebody who has never heard of it.
    pub story: String,
    /// The locks, in the order of the file.
    pub locks: Vec<&'static LockInfo>,
    /// The workloads, in the order of the file.
    pub workloads: Vec<&'static WorkloadInfo>,
    /// The fence modes; every one that applies if absent.
    pub fences: Option<Vec<FenceMode>>,
    /// How many seeds each row is run with, counted from 0.
    pub seeds: Seeds,
    /// The numbers, known and own ones.
    pub parameters: Parameters,
    /// The faults, in the order of the file.
    pub faults: Vec<FaultTemplate>,
    /// What is expected, in the order of the file.
    pub expectations: Vec<Expectation>,
    /// The text of the file, untouched.
    pub source: String,
    /// What to call the file in messages.
    pub(crate) label: String,
    /// The text of the file with all changes of parameters worked in; it reads as this scenario.
    pub(crate) text: String,
    /// The parameters as the file has them.
    pub(crate) original: Parameters,
    /// The parameters that were set since, each once.
    pub(crate) overridden: Vec<String>,
}

/// How many seeds a row is run with: a scenario must end in time, so some locks may get fewer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// For locks that are not listed.
    pub default: u64,
    /// For some locks.
    pub per_lock: Vec<(&'static LockInfo, u64)>,
}

impl Seeds {
    /// The same number for all locks.
    pub fn all(default: u64) -> Seeds {
        Seeds { default, per_lock: Vec::new() }
    }

    /// For the rows of a lock.
    pub fn of(&self, lock: &LockInfo) -> u64 {
        let listed = self.per_lock.iter().find(|(it, _)| it.name == lock.name);
        listed.map_or(self.default, |(_, seeds)| *seeds)
    }
}

/// One row of a scenario's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The lock.
    pub lock: &'static LockInfo,
    /// What the resource checks.
    pub fence: FenceMode,
    /// What the clients do under the lock.
    pub workload: &'static WorkloadInfo,
}

impl Scenario {
    /// Reads a scenario.
    ///
    /// `label` is what messages call the text, usually its path. It is strict: what is not understood, or
    /// can have no effect, is an error that shows the place.
    pub fn parse(name: &str, label: &str, text: &str) -> Result<Scenario, ScenarioError> {
        read::scenario(name, label, text)
    }

    /// The rows of its table in their order: for each lock, for each workload, each of the workload's fence
    /// modes that applies.
    pub fn rows(&self) -> Vec<Row> {
        rows(&self.locks, &self.workloads, self.fences.as_deref())
    }

    /// The expectations that speak of a row.
    pub fn expectations_of(&self, row: Row) -> impl Iterator<Item = &Expectation> {
        self.expectations.iter().filter(move |it| it.matches(row.lock, row.fence, row.workload))
    }

    /// Whether another scenario says the same. Texts, their layout and the order in which parameters are
    /// listed do not count.
    pub fn says_the_same_as(&self, other: &Scenario) -> bool {
        let faults = |it: &Scenario| -> Vec<FaultTemplate> {
            it.faults.iter().map(|fault| FaultTemplate { line: 0, ..fault.clone() }).collect()
        };
        let expectations = |it: &Scenario| -> Vec<Expectation> {
            it.expectations.iter().map(|one| Expectation { line: 0, ..one.clone() }).collect()
        };
        self.title == other.title
            && self.story == other.story
            && self.locks == other.locks
            && self.workloads == other.workloads
            && self.fences == other.fences
            && self.seeds == other.seeds
            && self.parameters.same_values(&other.parameters)
            && faults(self) == faults(other)
            && expectations(self) == expectations(other)
    }
}

/// See [`Scenario::rows`].
pub(crate) fn rows(
    locks: &[&'static LockInfo],
    workloads: &[&'static WorkloadInfo],
    fences: Option<&[FenceMode]>,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for &lock in locks {
        for &workload in workloads {
            for &fence in workload.fences {
                let wanted = fences.is_none_or(|fences| fences.contains(&fence));
                if wanted && applies(lock, fence) {
                    rows.push(Row { lock, fence, workload });
                }
            }
        }
    }
    rows
}

/// Whether a fence mode can be used with a lock: one that compares tokens needs a lock that has them.
pub fn applies(lock: &LockInfo, fence: FenceMode) -> bool {
    match fence {
        FenceMode::Write | FenceMode::ReadWrite => lock.tokens,
        FenceMode::Off | FenceMode::Cas | FenceMode::Idempotency => true,
    }
}

/// The name of a fence mode.
pub fn fence_name(fence: FenceMode) -> &'static str {
    let found = FENCES.iter().find(|(_, mode, _)| *mode == fence);
    found.map(|(name, _, _)| *name).expect("every fence mode has a name")
}
