//! Which rows of a scenario to run, and over which seeds.

use fencepost_models::catalogue::{FENCES, LOCKS, LockInfo, WORKLOADS, WorkloadInfo};
use thiserror::Error;

use fencepost_checker::history::FenceMode;

use crate::nearest::did_you_mean;
use crate::scenario::{Row, SEEDS_MAX, Scenario, rows};

/// What somebody asked for on the command line. Empty lists mean what the scenario has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Names of locks, or of families with a `*` (`redis*`).
    pub locks: Vec<String>,
    /// Names of fence modes.
    pub fences: Vec<String>,
    /// Names of workloads.
    pub workloads: Vec<String>,
    /// Seeds `0..seeds` instead of the scenario's number.
    pub seeds: Option<u64>,
    /// This one seed.
    pub seed: Option<u64>,
}

/// What is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The rows, in table order, each with how many seeds it is run with.
    pub rows: Vec<(Row, u64)>,
    /// The first seed.
    pub first_seed: u64,
}

/// A wish that cannot be met.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectionError {
    /// There is nothing of this name.
    #[error("there is no {what} `{name}`{}\nthere are: {all}", nearest.as_ref().map(|it| format!(": {it}")).unwrap_or_default())]
    Unknown {
        /// Lock, fence or workload.
        what: &'static str,
        /// What was typed.
        name: String,
        /// A near name, as a question.
        nearest: Option<String>,
        /// All names.
        all: String,
    },
    /// No fence that was asked for can be used with a lock and workload that were asked for.
    #[error("no row is left: {0}")]
    Nothing(String),
    /// A seed that JSON readers would not keep exactly.
    #[error("--{flag} {seed}: seeds are below 2^53 = {SEEDS_MAX}")]
    SeedTooLarge {
        /// The flag.
        flag: &'static str,
        /// What was typed.
        seed: u64,
    },
    /// Nothing to run.
    #[error("--seeds 0: at least one seed is needed")]
    NoSeeds,
}

impl Selection {
    /// What the scenario itself asks for.
    pub fn all(scenario: &Scenario) -> Selection {
        let seeds = |row: Row| (row, scenario.seeds.of(row.lock));
        Selection { rows: scenario.rows().into_iter().map(seeds).collect(), first_seed: 0 }
    }

    /// What somebody asked for, completed by what the scenario has. A lock that the scenario does not list
    /// can be asked for as well.
    ///
    /// # Errors
    /// [`SelectionError`] for unknown names and for wishes that leave nothing.
    pub fn of(scenario: &Scenario, wanted: &Wanted) -> Result<Selection, SelectionError> {
        let locks = locks(scenario, &wanted.locks)?;
        let workloads = workloads(scenario, &wanted.workloads)?;
        let fences = fences(scenario, &wanted.fences)?;
        let rows = rows(&locks, &workloads, fences.as_deref());
        if rows.is_empty() {
            return Err(SelectionError::Nothing(format!(
                "fence {} does not apply to lock {} with workload {} \
                 (`write` and `read-write` need a lock with tokens, `idempotency` belongs to `invoice`)",
                wanted.fences.join(", "),
                names(locks.iter().map(|it| it.name)),
                names(workloads.iter().map(|it| it.name)),
            )));
        }
        let (first_seed, seeds) = match (wanted.seed, wanted.seeds) {
            (Some(seed), _) if seed >= SEEDS_MAX => {
                return Err(SelectionError::SeedTooLarge { flag: "seed", seed });
            }
            (_, Some(seed)) if seed > SEEDS_MAX => {
                return Err(SelectionError::SeedTooLarge { flag: "seeds", seed });
            }
            (_, Some(0)) => return Err(SelectionError::NoSeeds),
            (Some(seed), _) => (seed, Some(1)),
            (None, seeds) => (0, seeds),
        };
        let seeds = |row: Row| (row, seeds.unwrap_or_else(|| scenario.seeds.of(row.lock)));
        Ok(Selection { rows: rows.into_iter().map(seeds).collect(), first_seed })
    }

    /// Whether the scenario's expectations can be judged by it: the file's own rows and parameters, and at
    /// least its own seeds.
    pub fn is_judged(&self, scenario: &Scenario) -> bool {
        let enough = |(row, seeds): &(Row, u64)| *seeds >= scenario.seeds.of(row.lock);
        let own_rows = scenario.rows();
        let own = |(row, _): &(Row, u64)| own_rows.contains(row);
        !scenario.is_modified() && self.first_seed == 0 && self.rows.iter().all(|it| own(it) && enough(it))
    }

    /// The same rows with at most `seeds` seeds each.
    #[must_use]
    pub fn at_most(&self, seeds: u64) -> Selection {
        let rows = self.rows.iter().map(|(row, all)| (*row, seeds.min(*all))).collect();
        Selection { rows, first_seed: self.first_seed }
    }

    /// How many runs that makes.
    pub fn runs(&self) -> u64 {
        self.rows.iter().map(|(_, seeds)| seeds).sum()
    }
}

fn locks(scenario: &Scenario, wanted: &[String]) -> Result<Vec<&'static LockInfo>, SelectionError> {
    if wanted.is_empty() {
        return Ok(scenario.locks.clone());
    }
    let mut found: Vec<&'static LockInfo> = Vec::new();
    for name in wanted {
        let these = locks_named(scenario, name);
        if these.is_empty() {
            return Err(unknown("lock", name, LOCKS.iter().map(|it| it.name)));
        }
        for lock in these {
            if !found.contains(&lock) {
                found.push(lock);
            }
        }
    }
    Ok(found)
}

/// The lock of this name or, if there is none or the name ends in `*`, those of the family: the ones that the
/// scenario lists, or all.
fn locks_named(scenario: &Scenario, name: &str) -> Vec<&'static LockInfo> {
    if let Some(exact) = LOCKS.iter().find(|it| it.name == name) {
        return vec![exact];
    }
    let family = name.strip_suffix('*').unwrap_or(name);
    let all: Vec<_> = LOCKS.iter().filter(|it| it.family == family).collect();
    let listed: Vec<_> = all.iter().copied().filter(|it| scenario.locks.contains(it)).collect();
    if listed.is_empty() { all } else { listed }
}

fn workloads(scenario: &Scenario, wanted: &[String]) -> Result<Vec<&'static WorkloadInfo>, SelectionError> {
    if wanted.is_empty() {
        return Ok(scenario.workloads.clone());
    }
    let named = |name: &String| {
        let found = WORKLOADS.iter().find(|it| it.name == name);
        found.ok_or_else(|| unknown("workload", name, WORKLOADS.iter().map(|it| it.name)))
    };
    wanted.iter().map(named).collect()
}

fn fences(scenario: &Scenario, wanted: &[String]) -> Result<Option<Vec<FenceMode>>, SelectionError> {
    if wanted.is_empty() {
        return Ok(scenario.fences.clone());
    }
    let named = |name: &String| {
        let found = FENCES.iter().find(|(fence, ..)| fence == name).map(|(_, mode, _)| *mode);
        found.ok_or_else(|| unknown("fence", name, FENCES.iter().map(|(fence, ..)| *fence)))
    };
    wanted.iter().map(named).collect::<Result<_, _>>().map(Some)
}

fn unknown<'a>(what: &'static str, name: &str, all: impl Iterator<Item = &'a str> + Clone) -> SelectionError {
    SelectionError::Unknown {
        what,
        name: name.to_owned(),
        nearest: did_you_mean(name, all.clone()),
        all: names(all),
    }
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
