//! The command line. Everything it can do is in the library crates.

mod command;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::run()
}
