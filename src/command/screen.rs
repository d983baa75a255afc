//! What a command writes to: data on stdout, progress and errors on stderr.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::time::Duration;

use anstream::ColorChoice;
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    /// On a terminal that can show them, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Nobody reads stdout any more: no error, and nothing more to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClosedPipe;

impl std::fmt::Display for ClosedPipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("nobody reads the output any more")
    }
}

impl std::error::Error for ClosedPipe {}

/// Where a command writes, and how.
#[derive(Debug)]
pub(super) struct Screen {
    /// Columns.
    pub(super) width: usize,
    /// Whether stdout shows colours.
    pub(super) colour: bool,
    /// Whether stderr shows colours.
    error_colour: bool,
    quiet: bool,
}

/// Without a terminal nobody says how wide it is.
const DEFAULT_WIDTH: usize = 80;
/// Longer lines are hard to read, however wide the terminal is.
const MAX_WIDTH: usize = 140;

impl Screen {
    pub(super) fn new(when: When, quiet: bool) -> Self {
        let colours = |automatic: ColorChoice| match when {
            When::Always => true,
            When::Never => false,
            When::Auto => automatic != ColorChoice::Never,
        };
        Screen {
            width: width(),
            colour: colours(anstream::AutoStream::choice(&io::stdout())),
            error_colour: colours(anstream::AutoStream::choice(&io::stderr())),
            quiet,
        }
    }

    /// Writes data.
    pub(super) fn print(&mut self, text: &str) -> anyhow::Result<()> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(ClosedPipe.into()),
            Err(error) => Err(anyhow::Error::new(error).context("cannot write to stdout")),
        }
    }

    /// Says what went wrong.
    pub(super) fn error(&self, message: &str) {
        let label = if self.error_colour { "\u{1b}[1;31merror\u{1b}[0m" } else { "error" };
        // A message that already says so needs no second label.
        let text = if message.trim_start().starts_with("error") {
            format!("{message}\n")
        } else {
            format!("{label}: {message}\n")
        };
        // There is nowhere left to say that stderr is closed.
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// Says what is good to know, unless it should be quiet.
    pub(super) fn note(&self, message: &str) {
        if !self.quiet {
            let _ = writeln!(io::stderr(), "{message}");
        }
    }

    /// Whether errors may be coloured.
    pub(super) fn error_colour(&self) -> bool {
        self.error_colour
    }

    /// A bar for `total` runs: on a terminal only.
    pub(super) fn progress(&self, total: u64, what: &str) -> ProgressBar {
        if self.quiet || !io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} runs");
        let bar = ProgressBar::new(total).with_message(what.to_owned());
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(100));
        bar
    }
}

fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(told).unwrap_or(DEFAULT_WIDTH).clamp(40, MAX_WIDTH)
}
