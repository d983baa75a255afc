//! `fencepost scenario`: a scenario over its seeds.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Args;
use fencepost_checker::digest;
use fencepost_models::run;
use fencepost_reports::summary::{Judgement, View, summary};
use fencepost_scenarios::builtin::{self, LoadError};
use fencepost_scenarios::judge::{self, Requirement};
use fencepost_scenarios::runner::{Options, run_scenario};
use fencepost_scenarios::saved::SavedRun;
use fencepost_scenarios::selection::{Selection, Wanted};
use fencepost_scenarios::{Results, Scenario, json};

use super::screen::Screen;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A built-in scenario (see `fencepost list`), or the path of a scenario file
    #[arg(value_name = "NAME|FILE.toml")]
    scenario: String,
    /// Run the seeds 0..N instead of the scenario's own number
    #[arg(long, value_name = "N", conflicts_with = "seed")]
    seeds: Option<u64>,
    /// Run this one seed
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    #[command(flatten)]
    rows: RowArguments,
    /// Require counts of every row, such as lost_debits=0,double_holders=>0: exit code 1 or 3 if broken
    #[arg(long, value_name = "COUNT=N", value_delimiter = ',')]
    require: Vec<String>,
    /// Write the results as JSON; `-` writes them to stdout instead of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Save the first failing run of each row (with --seed: each run) in folders below DIR
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Print the scenario's file, with parameters as set, and run nothing
    #[arg(long)]
    print: bool,
}

/// Which rows, and with which parameters.
#[derive(Clone, Debug, Args)]
struct RowArguments {
    /// Only this lock, or all of a family (`redis*`); may be given several times
    #[arg(long = "lock", value_name = "LOCK")]
    locks: Vec<String>,
    /// Only this fence mode; may be given several times
    #[arg(long = "fence", value_name = "FENCE")]
    fences: Vec<String>,
    /// Only this workload; may be given several times
    #[arg(long = "workload", value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// Set a parameter, such as pause=6.3s or work=1s..2s; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// Set when somebody pressed Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
const INTERRUPTED_CODE: u8 = 130;

pub(super) fn run(arguments: &Arguments, threads: usize, screen: &mut Screen) -> anyhow::Result<u8> {
    let scenario = load(&arguments.scenario, &arguments.rows.set, screen)?;
    if arguments.print {
        screen.print(scenario.source_with_overrides())?;
        return Ok(0);
    }
    let required = arguments.require.iter().map(|text| Requirement::parse(text));
    let required = required.collect::<Result<Vec<_>, _>>()?;
    let selection = Selection::of(&scenario, &wanted(arguments))?;
    if let Some(folder) = &arguments.save {
        fs::create_dir_all(folder).with_context(|| format!("--save {}", folder.display()))?;
    }
    if let Some(path) = arguments.json.as_deref().filter(|path| *path != Path::new("-")) {
        // Better now than after the runs.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if path.is_dir() || folder.is_some_and(|folder| !folder.is_dir()) {
            bail!("--json {}: a file in a folder that exists is expected", path.display());
        }
    }

    // A second Ctrl-C while results are written ends the program at once.
    ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED_CODE));
        }
    })
    .context("cannot listen for Ctrl-C")?;
    let started = Instant::now();
    let bar = screen.progress(selection.runs(), &scenario.name);
    let options = Options { threads, stop: Some(&INTERRUPTED), ..Options::default() };
    let results = run_scenario(&scenario, &selection, &options, &|| bar.inc(1))?;
    bar.finish_and_clear();
    let took = started.elapsed();

    let interrupted = INTERRUPTED.load(Ordering::Relaxed);
    let judged = selection.is_judged(&scenario) && !interrupted;
    let mut failures = judge::requirements(&required, &results);
    if judged {
        failures.extend(judge::expectations(&scenario, &results));
    }
    let exit = judge::exit(&results, &failures);
    let document = || json::document(&scenario, &results, judged, &failures, exit).text();
    if arguments.json.as_deref() == Some(Path::new("-")) {
        screen.print(&document())?;
    } else {
        let threads = if threads == 0 { available_threads() } else { threads };
        let view = View { width: screen.width, colour: screen.colour, took: Some((took, threads)) };
        let judgement = Judgement { judged, failures: &failures };
        screen.print(&summary(&scenario, &results, judgement, view))?;
        if let Some(path) = &arguments.json {
            write_whole(path, &document()).with_context(|| format!("--json {}", path.display()))?;
        }
    }
    if let Some(folder) = &arguments.save {
        save(&scenario, &selection, &results, folder, screen)?;
    }
    if interrupted {
        screen.note("interrupted: what was finished is above");
        return Ok(INTERRUPTED_CODE);
    }
    Ok(exit.code())
}

/// Loads a scenario and sets its parameters. A message about a broken file is shown as it is.
pub(super) fn load(name: &str, set: &[String], screen: &Screen) -> anyhow::Result<Scenario> {
    let mut scenario = match builtin::load(name) {
        Err(LoadError::Invalid(error)) => bail!("{}", error.render(screen.error_colour())),
        loaded => loaded?,
    };
    for flag in set {
        scenario.set(flag)?;
    }
    Ok(scenario)
}

fn wanted(arguments: &Arguments) -> Wanted {
    Wanted {
        locks: arguments.rows.locks.clone(),
        fences: arguments.rows.fences.clone(),
        workloads: arguments.rows.workloads.clone(),
        seeds: arguments.seeds,
        seed: arguments.seed,
    }
}

fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Under its name a file is there whole or not at all.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    fs::write(&part, text)?;
    fs::rename(&part, path)
}

/// Saves the first failing run of each row, or the one run that was asked for.
fn save(
    scenario: &Scenario,
    selection: &Selection,
    results: &Results,
    folder: &Path,
    screen: &Screen,
) -> anyhow::Result<()> {
    for row in &results.rows {
        let only = (row.seeds == 1).then_some(selection.first_seed);
        let Some(seed) = only.or_else(|| row.first_example_seed()) else { continue };
        let config = scenario.run_config(row.row, seed);
        let output = run::run(&config);
        let digest = digest(&output.header, &output.entries);
        let written = SavedRun::new(scenario, row.row, &config, digest).write(folder, &output)?;
        screen.note(&format!("saved {}", written.display()));
    }
    Ok(())
}
