//! Saved runs: a folder with `run.json` and `history.jsonl`.
//!
//! `run.json` holds all that the run depends on – the scenario's text, the row, the seed, the fault
//! schedule – and the digest of its history. A schedule that was edited by hand runs as it stands; its
//! `digest` must be taken out then, since the history will be another one.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use fencepost_checker::{Digest, jsonl};
use fencepost_models::config::RunConfig;
use fencepost_models::run::RunOutput;
use fencepost_sim::fault::{Fault, Target, What, When};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::diagnostic::ScenarioError;
use crate::nearest::did_you_mean;
use crate::quantity::written_duration;
use crate::scenario::{Row, SEEDS_MAX, Scenario, applies, fence_name};

/// Name and version of the format.
pub const SCHEMA: &str = "fencepost.run/1";

/// What `run.json` holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedRun {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version of this program that made it.
    pub version: String,
    /// The scenario.
    pub scenario: SavedScenario,
    /// The lock.
    pub lock: String,
    /// The fence mode.
    pub fence: String,
    /// The workload.
    pub workload: String,
    /// The seed.
    pub seed: u64,
    /// What goes wrong in it.
    pub faults: Vec<Fault>,
    /// The digest of its history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

/// The scenario of a saved run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedScenario {
    /// Its name.
    pub name: String,
    /// The text of its file, with all parameters as they were set.
    pub text: String,
}

/// Why a run cannot be saved.
#[derive(Debug, Error)]
#[error("{path}: {error}", path = path.display())]
pub struct SaveError {
    path: PathBuf,
    error: io::Error,
}

/// Why a saved run cannot be replayed.
#[derive(Debug, Error)]
pub enum SavedError {
    /// It cannot be read.
    #[error("{path}: {error}")]
    Unreadable {
        /// Where.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// It is no run file.
    #[error(
        "{path}:{line}:{column}: this is no run file: {message}\nexpected a `run.json` that `fencepost scenario NAME --save DIR` wrote"
    )]
    NotARun {
        /// Where.
        path: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// It is of another format.
    #[error("{path}: the schema is {found:?}, expected {SCHEMA:?}")]
    Schema {
        /// Where.
        path: String,
        /// What it says.
        found: String,
    },
    /// Another version made it: its runs may differ.
    #[error(
        "{path}: this run was saved by version {found}, and this is version {ours}: the models may have changed, so the run may not be the same\ninstall version {found}, or run the scenario anew"
    )]
    Version {
        /// Where.
        path: String,
        /// Which version made it.
        found: String,
        /// Which version this is.
        ours: &'static str,
    },
    /// Its scenario cannot be understood.
    #[error("{path}: the scenario in this run file is broken\n{error}")]
    Scenario {
        /// Where.
        path: String,
        /// Why.
        error: Box<ScenarioError>,
    },
    /// Its seed is none.
    #[error("{path}: seed {seed} is too large: seeds are below 2^53")]
    Seed {
        /// Where.
        path: String,
        /// What it says.
        seed: u64,
    },
    /// One of its faults cannot be.
    #[error("{path}: fault {number}: {message}")]
    Fault {
        /// Where.
        path: String,
        /// Which one, from 1.
        number: usize,
        /// What is wrong.
        message: String,
    },
    /// Its row does not exist.
    #[error("{path}: there is no lock {lock:?} with fence {fence:?} and workload {workload:?}")]
    Row {
        /// Where.
        path: String,
        /// The lock that it names.
        lock: String,
        /// The fence mode that it names.
        fence: String,
        /// The workload that it names.
        workload: String,
    },
}

impl SavedRun {
    /// What to save of a run.
    pub fn new(scenario: &Scenario, row: Row, config: &RunConfig, digest: Digest) -> SavedRun {
        SavedRun {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: SavedScenario {
                name: scenario.name.clone(),
                text: scenario.source_with_overrides().to_owned(),
            },
            lock: row.lock.name.to_owned(),
            fence: fence_name(row.fence).to_owned(),
            workload: row.workload.name.to_owned(),
            seed: config.seed,
            faults: config.faults.clone(),
            digest: Some(digest),
        }
    }

    /// A name for its folder.
    pub fn folder_name(&self) -> String {
        format!("{}-{}-{}-{}-{}", self.scenario.name, self.lock, self.fence, self.workload, self.seed)
    }

    /// Writes `run.json` and `history.jsonl` into a folder below `parent`; says which. Both files appear
    /// under their names only when they are complete.
    ///
    /// # Errors
    /// [`SaveError`] names the file.
    pub fn write(&self, parent: &Path, output: &RunOutput) -> Result<PathBuf, SaveError> {
        let folder = parent.join(self.folder_name());
        fs::create_dir_all(&folder).map_err(|error| SaveError { path: folder.clone(), error })?;
        write_whole(&folder.join("history.jsonl"), |file| {
            jsonl::write(&output.header, &output.entries, file)
        })?;
        write_whole(&folder.join("run.json"), |file| {
            serde_json::to_writer_pretty(&mut *file, self)?;
            file.write_all(b"\n")
        })?;
        Ok(folder)
    }

    /// Reads a `run.json`, or that of a folder.
    ///
    /// # Errors
    /// [`SavedError`].
    pub fn read(path: &Path) -> Result<SavedRun, SavedError> {
        let file = if path.is_dir() { path.join("run.json") } else { path.to_owned() };
        let path = file.display().to_string();
        let text = fs::read(&file).map_err(|error| SavedError::Unreadable { path: path.clone(), error })?;
        // Schema and version first: a file of another version may have other fields.
        #[derive(Deserialize)]
        struct Made {
            schema: String,
            version: String,
        }
        let not_a_run = |error: serde_json::Error| SavedError::NotARun {
            path: path.clone(),
            line: error.line(),
            column: error.column(),
            message: error.to_string(),
        };
        let made: Made = serde_json::from_slice(&text).map_err(not_a_run)?;
        if made.schema != SCHEMA {
            return Err(SavedError::Schema { path, found: made.schema });
        }
        if made.version != env!("CARGO_PKG_VERSION") {
            return Err(SavedError::Version { path, found: made.version, ours: env!("CARGO_PKG_VERSION") });
        }
        serde_json::from_slice(&text).map_err(not_a_run)
    }

    /// The scenario, the row and the run that it describes; `path` is where it comes from.
    ///
    /// # Errors
    /// [`SavedError`] if what it names does not exist.
    pub fn restore(&self, path: &Path) -> Result<(Scenario, Row, RunConfig), SavedError> {
        let path = path.display().to_string();
        let scenario = Scenario::parse(&self.scenario.name, &path, &self.scenario.text);
        let scenario =
            scenario.map_err(|error| SavedError::Scenario { path: path.clone(), error: Box::new(error) })?;
        if self.seed >= SEEDS_MAX {
            return Err(SavedError::Seed { path, seed: self.seed });
        }
        let row = self.row().ok_or_else(|| SavedError::Row {
            path: path.clone(),
            lock: self.lock.clone(),
            fence: self.fence.clone(),
            workload: self.workload.clone(),
        })?;
        let mut config = scenario.run_config(row, self.seed);
        for (index, fault) in self.faults.iter().enumerate() {
            let wrong = |message| SavedError::Fault { path: path.clone(), number: index + 1, message };
            check_fault(fault, config.clients).map_err(wrong)?;
        }
        config.faults.clone_from(&self.faults);
        Ok((scenario, row, config))
    }

    fn row(&self) -> Option<Row> {
        use fencepost_models::catalogue::{FENCES, lock, workload};
        let lock = lock(&self.lock)?;
        let workload = workload(&self.workload)?;
        let (_, fence, _) = *FENCES.iter().find(|(name, ..)| *name == self.fence)?;
        let exists = applies(lock, fence) && workload.fences.contains(&fence);
        exists.then_some(Row { lock, fence, workload })
    }
}

/// A schedule may be edited by hand: what it names must exist, and its numbers must make sense.
fn check_fault(fault: &Fault, clients: u32) -> Result<(), String> {
    use fencepost_models::catalogue::{EVENTS, NODES, POINTS, ROLES};
    let known = |what: &str, name: &str, all: Vec<String>| {
        if all.iter().any(|it| it == name) {
            return Ok(());
        }
        let question = did_you_mean(name, all.iter().map(String::as_str));
        let question = question.map(|question| format!(": {question}")).unwrap_or_default();
        Err(format!("there is no {what} `{name}`{question}\nthere are: {}", all.join(", ")))
    };
    let names = |named: &[(&str, &str)]| named.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    let target = |target: &Target| match target {
        Target::Node(name) => {
            let clients = (1..=clients).map(|client| format!("client-{client}"));
            known("node", name, names(NODES).into_iter().chain(clients).collect())
        }
        Target::Role(role) => known("role", role, names(ROLES)),
    };
    target(&fault.target)?;
    match &fault.what {
        What::HoldMessage { to } | What::Cut { to, .. } => target(to)?,
        What::ClockRate { wall_ppm, monotonic_ppm } => {
            let allowed = -999_999..=1_000_000_000;
            if !allowed.contains(wall_ppm) || !allowed.contains(monotonic_ppm) {
                return Err("a clock gains more than -1000000 ppm, or it would run backwards".to_owned());
            }
        }
        What::Pause { .. } | What::Kill | What::PowerOff | What::ClockStep { .. } | What::Isolate => {}
    }
    match &fault.when {
        When::Time { .. } => Ok(()),
        When::Point { passing: 0, .. } | When::Event { occurrence: 0, .. } => {
            Err("`passing` and `occurrence` count from 1".to_owned())
        }
        When::Point { name, .. } => known("point", name, names(POINTS)),
        When::Event { name, .. } => known("event", name, names(EVENTS)),
    }
}

fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<fs::File>) -> io::Result<()>,
) -> Result<(), SaveError> {
    let part = path.with_extension("part");
    let result = (|| {
        let mut file = BufWriter::new(fs::File::create(&part)?);
        write(&mut file)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&part, path)
    })();
    result.map_err(|error| SaveError { path: path.to_owned(), error })
}

/// A fault of a schedule in words.
pub fn in_words(fault: &Fault) -> String {
    let target = |target: &Target| match target {
        Target::Node(name) => name.clone(),
        Target::Role(role) => format!("the {role}"),
    };
    // Nobody reads more than milliseconds of a drawn duration; the exact one is in the file.
    let ns = |ns: u64| {
        let ns = i64::try_from(ns).unwrap_or(i64::MAX);
        written_duration(if ns >= 1_000_000_000 { ns - ns % 1_000_000 } else { ns })
    };
    let what = match &fault.what {
        What::Pause { .. } => format!("stop {}", target(&fault.target)),
        What::Kill => format!("kill {}", target(&fault.target)),
        What::PowerOff => format!("cut the power of {}", target(&fault.target)),
        What::ClockStep { by_ns } => {
            format!("step the clock of {} by {}", target(&fault.target), written_duration(*by_ns))
        }
        What::ClockRate { wall_ppm, monotonic_ppm } => format!(
            "let the clocks of {} gain {wall_ppm} ppm (wall) and {monotonic_ppm} ppm (monotonic)",
            target(&fault.target)
        ),
        What::HoldMessage { to } => {
            format!("hold the next message from {} to {}", target(&fault.target), target(to))
        }
        What::Cut { to, both_ways: true } => {
            format!("cut the link between {} and {}", target(&fault.target), target(to))
        }
        What::Cut { to, both_ways: false } => {
            format!("cut the link from {} to {}", target(&fault.target), target(to))
        }
        What::Isolate => format!("cut {} off from everybody", target(&fault.target)),
    };
    let when = match &fault.when {
        When::Time { ns: at } => format!("at {}", ns(*at)),
        When::Point { name, passing } => format!("when it passes `{name}` for the {} time", nth(*passing)),
        When::Event { name, occurrence, after_ns } => {
            let after = if *after_ns == 0 { "at".to_owned() } else { format!("{} after", ns(*after_ns)) };
            format!("{after} the {} {name}", nth(*occurrence))
        }
    };
    let lasts =
        fault.lasts_ns.map_or_else(|| ", for ever".to_owned(), |lasts| format!(", for {}", ns(lasts)));
    format!("{what} {when}{lasts}")
}

fn nth(number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}
