//! What can be wrong with a history's text.

use std::fmt;

use crate::history::SCHEMA;

/// A fault of a history's text: where it is, what it is, and what may help.
#[derive(Debug, thiserror::Error)]
pub struct ReadError {
    /// The line, counted from 1.
    pub line: u64,
    /// The byte in the line, counted from 1.
    pub column: u64,
    /// What is wrong there.
    #[source]
    pub problem: Problem,
}

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// There is no first line.
    #[error("the file is empty")]
    Empty,
    /// The first line is no header.
    #[error("this is not a history: its first line is no header")]
    NoHeader,
    /// The header is of a version that this reader does not know.
    #[error("this history is of version {found:?}")]
    OtherVersion {
        /// What it says.
        found: String,
    },
    /// The text ends within a line.
    #[error("the line is cut off")]
    CutOff,
    /// The line is not JSON.
    #[error("the line is not JSON: {message}")]
    NotJson {
        /// What the parser said.
        message: String,
    },
    /// The line is JSON but not what belongs here.
    #[error("{message}")]
    Value {
        /// What the parser said.
        message: String,
    },
    /// A number names something that the header does not list.
    #[error("{field} is {found}, but the header lists {listed}")]
    OutOfRange {
        /// Which field.
        field: &'static str,
        /// What it says.
        found: u32,
        /// How many there are.
        listed: usize,
    },
    /// An entry is not later in order than the one before it.
    #[error("index {here} follows index {before}")]
    IndexGoesBack {
        /// The index before it.
        before: u64,
        /// Its own.
        here: u64,
    },
    /// An entry is earlier than the one before it.
    #[error("time {here} ns follows time {before} ns")]
    TimeGoesBack {
        /// The time before it.
        before: u64,
        /// Its own.
        here: u64,
    },
    /// The bytes are no text.
    #[error("the line is not UTF-8")]
    NotUtf8,
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Io(std::io::Error),
}

impl ReadError {
    pub(crate) fn new(line: u64, column: u64, problem: Problem) -> Self {
        ReadError { line, column, problem }
    }

    /// What belongs at this place.
    pub fn expected(&self) -> String {
        match &self.problem {
            Problem::Empty | Problem::NoHeader | Problem::OtherVersion { .. } => {
                format!("a header, {{\"schema\":\"{SCHEMA}\", ...}}")
            }
            Problem::CutOff | Problem::NotJson { .. } => "one whole JSON object on the line".into(),
            Problem::Value { .. } => "the fields and values of an entry".into(),
            Problem::OutOfRange { listed, .. } if *listed > 0 => {
                format!("a number from 0 to {}", listed - 1)
            }
            Problem::OutOfRange { .. } => "no such field, as the header lists none".into(),
            Problem::IndexGoesBack { before, .. } => format!("an index above {before}"),
            Problem::TimeGoesBack { before, .. } => format!("a time of at least {before} ns"),
            Problem::NotUtf8 => "text in UTF-8".into(),
            Problem::Io(_) => "a file that can be read".into(),
        }
    }

    /// What may help.
    pub fn suggestion(&self) -> &'static str {
        match &self.problem {
            Problem::Empty => "was the run that writes it interrupted?",
            Problem::NoHeader => "is it in another format? this reads what `fencepost scenario --save` wrote",
            Problem::OtherVersion { .. } => "read it with the version of the program that wrote it",
            Problem::CutOff => "the writer was interrupted; without this line the rest can be read",
            Problem::NotJson { .. } => "was the file edited, or joined from two?",
            Problem::Value { .. } => "names are in kebab-case; was it written by a newer version?",
            Problem::OutOfRange { .. } => "is this entry from another history than the header?",
            Problem::IndexGoesBack { .. } | Problem::TimeGoesBack { .. } => {
                "sort the entries by time and number them anew"
            }
            Problem::NotUtf8 => "is the file compressed, or damaged?",
            Problem::Io(_) => "look at the path and its permissions",
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReadError { line, column, problem } = self;
        write!(
            f,
            "line {line}, column {column}: {problem}; expected {}; {}",
            self.expected(),
            self.suggestion()
        )
    }
}

/// The parser's message without its position, which is that of a lone line.
pub(super) fn said(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
