//! All scenarios against their expectations, and each run twice: what a team runs in CI.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::builtin::{self, LoadError};
use crate::exit::Exit;
use crate::judge::{self, Failure};
use crate::runner::{Options, Results, ThreadsError, run_scenario};
use crate::scenario::Scenario;
use crate::selection::Selection;

/// How many seeds of each row are run a second time.
pub const REPEATED_SEEDS: u64 = 50;

/// What became of one scenario.
#[derive(Debug)]
pub struct Verdict {
    /// The scenario.
    pub scenario: Scenario,
    /// Its results.
    pub results: Results,
    /// What was expected and did not hold.
    pub failures: Vec<Failure>,
    /// Whether the second run of its first seeds gave the same digests.
    pub deterministic: bool,
    /// What it means for the caller.
    pub exit: Exit,
}

/// Why there is no suite.
#[derive(Debug, Error)]
pub enum SuiteError {
    /// A scenario cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A folder cannot be read.
    #[error("{path}: {error}", path = path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A folder has no scenario.
    #[error("{path}: no scenario (*.toml) in this folder", path = path.display())]
    Empty {
        /// Which.
        path: PathBuf,
    },
    /// The threads cannot be started.
    #[error(transparent)]
    Threads(#[from] ThreadsError),
}

/// The scenarios of some folders, by name of file; without folders the ones that are compiled in.
///
/// # Errors
/// [`SuiteError`]: a folder or a file that cannot be read or understood.
pub fn load(folders: &[PathBuf]) -> Result<Vec<Scenario>, SuiteError> {
    if folders.is_empty() {
        return builtin::all().iter().map(|it| Ok(builtin::load(it.name)?)).collect();
    }
    let mut scenarios = Vec::new();
    for folder in folders {
        let files = if folder.is_dir() { files(folder)? } else { vec![folder.clone()] };
        for file in files {
            let path = file.to_string_lossy();
            // A file without a separator in its path is still a file here.
            let path = if builtin::is_path(&path) { path.into_owned() } else { format!("./{path}") };
            scenarios.push(builtin::load(&path)?);
        }
    }
    Ok(scenarios)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, SuiteError> {
    let unreadable = |error| SuiteError::Folder { path: folder.to_owned(), error };
    let mut files = Vec::new();
    for entry in folder.read_dir().map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(SuiteError::Empty { path: folder.to_owned() });
    }
    Ok(files)
}

/// Runs a scenario with its own parameters and seeds, judges it, and runs its first seeds again on another
/// number of threads and in another order.
///
/// # Errors
/// [`ThreadsError`].
pub fn run(
    scenario: Scenario,
    options: &Options,
    progress: &(dyn Fn() + Sync),
) -> Result<Verdict, ThreadsError> {
    let selection = Selection::all(&scenario);
    let results = run_scenario(&scenario, &selection, options, progress)?;
    let failures = judge::expectations(&scenario, &results);
    let deterministic = repeats(&scenario, &selection, options, progress)?;
    let own_fault = if deterministic { Exit::AsExpected } else { Exit::OurFault };
    let exit = judge::exit(&results, &failures).and(own_fault);
    Ok(Verdict { scenario, results, failures, deterministic, exit })
}

/// How many runs [`run`] makes.
pub fn runs(scenario: &Scenario) -> u64 {
    let selection = Selection::all(scenario);
    selection.runs() + 2 * selection.at_most(REPEATED_SEEDS).runs()
}

/// Whether the first seeds have the same histories on one thread as on several in another order.
fn repeats(
    scenario: &Scenario,
    selection: &Selection,
    options: &Options,
    progress: &(dyn Fn() + Sync),
) -> Result<bool, ThreadsError> {
    let first = selection.at_most(REPEATED_SEEDS);
    let one = Options { threads: 1, shuffle: None, ..*options };
    let several = Options { threads: options.threads.max(2), shuffle: Some(REPEATED_SEEDS), ..*options };
    let one = run_scenario(scenario, &first, &one, progress)?;
    let several = run_scenario(scenario, &first, &several, progress)?;
    Ok(one.digest() == several.digest())
}
