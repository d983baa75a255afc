//! The commands of `fencepost`, one file each.

mod list;
mod replay;
mod scenario;
mod screen;
mod suite;
mod welcome;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use fencepost_scenarios::Exit;

use screen::{ClosedPipe, Screen, When};

/// Shows, before production does, when a distributed lock lets two holders in and what that costs.
#[derive(Debug, Parser)]
#[command(name = "fencepost", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    common: Common,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    as expected
  1    a safety expectation or --require is broken
  2    bad input or usage
  3    only liveness expectations are broken
  5    inconclusive
  70   our own fault
  130  interrupted";

/// What every command understands.
#[derive(Clone, Copy, Debug, Args)]
struct Common {
    /// Threads that run seeds; 0 means one for each processor
    #[arg(long, global = true, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
    /// No progress, and nothing on stderr but errors
    #[arg(long, short, global = true)]
    quiet: bool,
    /// When to use colours
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = When::Auto, hide_default_value = true)]
    color: When,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a scenario over its seeds: table, verdicts, and a command that shows one failure
    Scenario(scenario::Arguments),
    /// List what there is
    List(list::Arguments),
    /// Tell one run step by step
    Replay(replay::Arguments),
    /// Run all scenarios against their expectations, each one twice: for CI
    Suite(suite::Arguments),
}

/// Runs the command that was typed.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors, and a closed pipe is none either.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { Exit::BadInput.code() } else { 0 });
        }
    };
    let mut screen = Screen::new(cli.common.color, cli.common.quiet);
    let result = match &cli.command {
        None => welcome::run(&mut screen),
        Some(Command::Scenario(arguments)) => scenario::run(arguments, cli.common.threads, &mut screen),
        Some(Command::List(arguments)) => list::run(arguments, &mut screen),
        Some(Command::Replay(arguments)) => replay::run(arguments, &mut screen),
        Some(Command::Suite(arguments)) => suite::run(arguments, cli.common.threads, &mut screen),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) if error.is::<ClosedPipe>() => ExitCode::SUCCESS,
        Err(error) => {
            screen.error(&format!("{error:#}"));
            ExitCode::from(Exit::BadInput.code())
        }
    }
}
