//! What is wrong with a scenario file, shown where it is wrong.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// How many problems one message shows: with more, the first ones are usually the cause of the others.
const SHOWN_MAX: usize = 10;

/// Width that a message may take; longer lines of the file are cut around the caret.
const WIDTH: usize = 110;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Which bytes of the file are wrong.
    pub at: Range<usize>,
    /// What is wrong, in one line.
    pub message: String,
    /// What is said under the offending text.
    pub label: Option<String>,
    /// What to write instead.
    pub help: Option<String>,
}

impl Problem {
    pub(crate) fn new(at: Range<usize>, message: impl Into<String>) -> Problem {
        Problem { at, message: message.into(), label: None, help: None }
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Problem {
        self.label = Some(label.into());
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn maybe_help(mut self, help: Option<String>) -> Problem {
        self.help = help.or(self.help);
        self
    }
}

/// Why a text is no scenario: every problem that was found, in the order of the file.
///
/// Displayed, it shows each problem with file, line, column and a caret under the offending text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    label: String,
    source: String,
    problems: Vec<Problem>,
}

impl ScenarioError {
    pub(crate) fn new(label: &str, source: &str, mut problems: Vec<Problem>) -> ScenarioError {
        assert!(!problems.is_empty(), "an error needs a reason");
        for problem in &mut problems {
            problem.at = within(source, problem.at.clone());
        }
        problems.sort_by_key(|problem| problem.at.start);
        ScenarioError { label: label.to_owned(), source: source.to_owned(), problems }
    }

    /// What is wrong, in the order of the file; never empty.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Line of the first problem, from 1.
    pub fn line(&self) -> usize {
        line_of(&self.source, self.problems[0].at.start)
    }

    /// The message, with colours if they are asked for.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() }.term_width(WIDTH);
        let mut parts: Vec<String> =
            self.problems.iter().take(SHOWN_MAX).map(|problem| self.part(&renderer, problem)).collect();
        if self.problems.len() > SHOWN_MAX {
            parts.push(format!("… and {} more", self.problems.len() - SHOWN_MAX));
        }
        parts.join("\n\n")
    }

    fn part(&self, renderer: &Renderer, problem: &Problem) -> String {
        let mark = AnnotationKind::Primary.span(problem.at.clone()).label(problem.label.as_deref());
        let snippet = Snippet::source(&self.source).path(&self.label).annotation(mark);
        let mut group = Level::ERROR.primary_title(&problem.message).element(snippet);
        if let Some(help) = &problem.help {
            group = group.element(Level::HELP.message(help));
        }
        renderer.render(&[group])
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for ScenarioError {}

/// Line of a byte, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count()
}

/// The range, cut to what the text has, at the borders of letters.
fn within(text: &str, at: Range<usize>) -> Range<usize> {
    let mut start = at.start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = at.end.clamp(start, text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}
