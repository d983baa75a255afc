//! `fencepost suite`: all scenarios against their expectations, for CI.

use std::path::PathBuf;

use clap::Args;
use fencepost_reports::suite::{line, totals};
use fencepost_scenarios::runner::Options;
use fencepost_scenarios::{Exit, suite};

use super::screen::Screen;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Folders with scenario files (*.toml), or files; the built-in scenarios if none is given
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, threads: usize, screen: &mut Screen) -> anyhow::Result<u8> {
    let scenarios = suite::load(&arguments.folders)?;
    let bar = screen.progress(scenarios.iter().map(suite::runs).sum(), "suite");
    let options = Options { threads, ..Options::default() };
    let mut exit = Exit::AsExpected;
    let (mut passed, mut failed) = (0, 0);
    for scenario in scenarios {
        let verdict = suite::run(scenario, &options, &|| bar.inc(1))?;
        let text = line(&verdict, screen.width, screen.colour);
        bar.suspend(|| screen.print(&text))?;
        exit = exit.and(verdict.exit);
        if verdict.exit == Exit::AsExpected {
            passed += 1;
        } else {
            failed += 1;
        }
    }
    bar.finish_and_clear();
    screen.print(&totals(passed, failed))?;
    Ok(exit.code())
}
