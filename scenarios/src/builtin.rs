//! The scenarios that are compiled in, and how a scenario is found by what somebody typed.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use thiserror::Error;

use crate::diagnostic::ScenarioError;
use crate::nearest::did_you_mean;
use crate::scenario::Scenario;

/// A scenario that is compiled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// The text of its file.
    pub source: &'static str,
}

macro_rules! builtin {
    ($($name:literal),+ $(,)?) => {
        &[$(Builtin { name: $name, source: include_str!(concat!("../files/", $name, ".toml")) },)+]
    };
}

/// In the order in which they are listed: each leads to the next.
const ALL: &[Builtin] =
    builtin!["gc-pause", "pause-before-check", "slow-downstream", "delayed-packet", "calm"];

/// A scenario is a page or two of text; a file that is much larger is something else.
const FILE_BYTES_MAX: u64 = 1 << 20;

impl Builtin {
    /// Reads it.
    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        let scenario = Scenario::parse(self.name, &format!("{}.toml", self.name), self.source)?;
        Ok(Scenario { argument: self.name.to_owned(), ..scenario })
    }
}

/// All of them, in order.
pub fn all() -> &'static [Builtin] {
    ALL
}

/// The one of this name.
pub fn find(name: &str) -> Option<&'static Builtin> {
    ALL.iter().find(|builtin| builtin.name == name)
}

/// Why there is no scenario to run.
#[derive(Debug, Error)]
pub enum LoadError {
    /// None of this name is compiled in.
    #[error("there is no scenario `{name}`{}\n{}", question(.nearest), ways_on(.name))]
    Unknown {
        /// What was typed.
        name: String,
        /// A near name, as a question.
        nearest: Option<String>,
    },
    /// There is no such file.
    #[error("{path}: there is no such file")]
    NotFound {
        /// What was typed.
        path: String,
    },
    /// It is a directory.
    #[error("{path}: this is a directory, and a scenario is a file")]
    Directory {
        /// What was typed.
        path: String,
    },
    /// It is too large.
    #[error("{path}: this file is larger than {} KiB, which no scenario is", FILE_BYTES_MAX / 1024)]
    TooBig {
        /// What was typed.
        path: String,
    },
    /// It is not text.
    #[error("{path}: this is not a text in UTF-8 (byte {at})")]
    NotText {
        /// What was typed.
        path: String,
        /// The first byte that is wrong, from 0.
        at: usize,
    },
    /// It could not be read.
    #[error("{path}: {error}")]
    Unreadable {
        /// What was typed.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// It is no scenario.
    #[error(transparent)]
    Invalid(#[from] ScenarioError),
}

fn question(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|question| format!(": {question}")).unwrap_or_default()
}

fn ways_on(name: &str) -> String {
    format!("`fencepost list scenarios` shows all; a file needs its path, such as ./{name}.toml")
}

/// The scenario that somebody means who types this: a file if it has a path separator or ends in `.toml`,
/// else one that is compiled in.
pub fn load(name_or_path: &str) -> Result<Scenario, LoadError> {
    if is_path(name_or_path) {
        let text = text_of(name_or_path)?;
        let stem = Path::new(name_or_path).file_stem().and_then(|stem| stem.to_str());
        return Ok(Scenario::parse(stem.unwrap_or(name_or_path), name_or_path, &text)?);
    }
    match find(name_or_path) {
        Some(builtin) => Ok(builtin.scenario()?),
        None => Err(LoadError::Unknown {
            name: name_or_path.to_owned(),
            nearest: did_you_mean(name_or_path, ALL.iter().map(|builtin| builtin.name)),
        }),
    }
}

/// Whether this names a file rather than a scenario that is compiled in.
pub fn is_path(name_or_path: &str) -> bool {
    name_or_path.contains(std::path::is_separator) || name_or_path.ends_with(".toml")
}

fn text_of(path: &str) -> Result<String, LoadError> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => LoadError::NotFound { path: path.to_owned() },
        _ => LoadError::Unreadable { path: path.to_owned(), error },
    };
    let file = fs::File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.is_dir() {
        return Err(LoadError::Directory { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    // One byte more than allowed tells whether there is more: a pipe does not know its size.
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(LoadError::TooBig { path: path.to_owned() });
    }
    String::from_utf8(bytes)
        .map_err(|error| LoadError::NotText { path: path.to_owned(), at: error.utf8_error().valid_up_to() })
}
