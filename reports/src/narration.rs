//! One run told as a story, line by line, for somebody who has never heard of fencing.
//!
//! A [`Narration`] is data first – a setting, [`Step`]s, closing [`Section`]s – and text second: whoever
//! wants to walk through it step by step, or to show it on a page, takes the same steps that
//! [`Narration::text`] lays out for a terminal.
//!
//! How it comes about, one module each:
//! - `plot` reads the history once and knows how everything ends; `books` keeps the ledger beside it;
//! - `telling` walks through the entries and makes a line of each that is worth one, with the
//!   `sentences` of its family;
//! - `focus` picks the part of the run that matters, `summary` makes one line of what lies between;
//! - `setting`, `outcome`, `guilt` and `remedy` say what comes before and after;
//! - `layout` puts it into columns.
//!
//! Nothing here judges: what is a finding and whose fault it is comes from the checker.
//!
//! Numbers and their units are held together by no-break spaces (U+00A0) in the data; the text for
//! terminals has plain ones.

mod books;
mod cast;
mod focus;
mod guilt;
mod layout;
mod outcome;
mod plot;
mod remedy;
mod sentences;
mod setting;
mod summary;
mod tale;
mod telling;
mod wording;

use fencepost_checker::Analysis;
use fencepost_checker::history::{Entry, Header};

use focus::Focus;
use plot::Plot;
use telling::Telling;

/// The story of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narration {
    setting: Section,
    steps: Vec<Step>,
    ending: Vec<Section>,
}

/// One line of the story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// True time since the start of the run, in nanoseconds.
    pub time_ns: u64,
    /// The entry that is told: its [`Entry::index`]. Of a summary, the first one that is left out.
    pub index: u64,
    /// Who does it; empty for a summary.
    pub actor: String,
    /// What happens.
    pub text: String,
    /// Why it matters.
    pub note: Option<String>,
    /// How much it matters.
    pub emphasis: Emphasis,
}

/// How much a step matters, and in which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Emphasis {
    /// It is needed to follow the story.
    Plain,
    /// Several things that happened meanwhile, in one line.
    Summary,
    /// Something goes wrong from outside.
    Fault,
    /// The story takes a turn.
    Turn,
    /// Data is harmed.
    Harm,
    /// Harm is averted.
    Averted,
}

/// A heading and what stands below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// The text.
    pub paragraphs: Vec<String>,
}

impl Narration {
    /// Tells a run from its history and from what the checker found in it.
    pub fn new(header: &Header, entries: &[Entry], analysis: &Analysis) -> Narration {
        let plot = Plot::new(header, entries);
        let telling = Telling::of(&plot);
        let focus = Focus::of(&plot, &telling, analysis);
        let mut ending = vec![
            outcome::section(&plot, &telling, analysis),
            guilt::section(&plot, &telling, &focus, analysis),
        ];
        ending.extend(remedy::section(&plot, &telling, &focus));
        Narration { setting: setting::section(&plot), steps: focus.steps(&plot, &telling), ending }
    }

    /// Who is in the story, and by which rules they play.
    pub fn setting(&self) -> &Section {
        &self.setting
    }

    /// The story, in order of time.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What came of it, whose fault it was, and what would have helped.
    pub fn ending(&self) -> &[Section] {
        &self.ending
    }

    /// The story for a terminal of `width` columns.
    pub fn text(&self, width: usize, colour: bool) -> String {
        layout::text(self, width, colour)
    }
}
