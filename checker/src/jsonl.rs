//! Histories as JSON Lines: the header on the first line, then one entry a line.
//!
//! What is written is read back without loss. The reader takes one line at a time, and says of a line that
//! it cannot take where the fault is, what it expected, and what may help.

mod encode;
mod error;
mod line;
mod range;

use std::io::{self, BufRead, Write};

use serde::Deserialize;

use crate::history::{Entry, Header, SCHEMA};
use range::Limits;

pub use error::{Problem, ReadError};

/// Writes a history.
///
/// # Errors
///
/// Those of the writer.
pub fn write<'a>(
    header: &Header,
    entries: impl IntoIterator<Item = &'a Entry>,
    to: &mut impl Write,
) -> io::Result<()> {
    let mut line = Vec::with_capacity(512);
    push_header(&mut line, header);
    to.write_all(&line)?;
    for entry in entries {
        line.clear();
        push_entry(&mut line, entry);
        to.write_all(&line)?;
    }
    to.flush()
}

/// Appends the first line.
pub(crate) fn push_header(text: &mut Vec<u8>, header: &Header) {
    // Memory takes every byte, and no part of a header refuses to be serialised.
    let written = serde_json::to_writer(&mut *text, header);
    assert!(written.is_ok(), "a header can always be written: {written:?}");
    text.push(b'\n');
}

/// Appends the line of an entry.
pub(crate) fn push_entry(text: &mut Vec<u8>, entry: &Entry) {
    encode::entry(text, entry);
}

/// Reads a whole history.
///
/// # Errors
///
/// The first fault of the text.
pub fn read(from: impl BufRead) -> Result<(Header, Vec<Entry>), ReadError> {
    let (header, entries) = Reader::new(from)?;
    let entries = entries.collect::<Result<_, _>>()?;
    Ok((header, entries))
}

/// The entries of a history, read line by line; stops after the first fault.
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    limits: Limits,
    last: Option<(u64, u64)>,
    is_over: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header; the entries follow from the reader itself.
    ///
    /// # Errors
    ///
    /// If the text is not a history of this version.
    #[allow(clippy::new_ret_no_self, reason = "the header comes first, the entries follow")]
    pub fn new(from: R) -> Result<(Header, Self), ReadError> {
        let mut lines = Lines { from, number: 0, bytes: Vec::new() };
        if !lines.advance()? {
            return Err(ReadError::new(1, 1, Problem::Empty));
        }
        let header = read_header(&lines)?;
        let limits = Limits::of(&header);
        limits.check_header(&header).map_err(|problem| ReadError::new(lines.number, 1, problem))?;
        Ok((header, Reader { lines, limits, last: None, is_over: false }))
    }

    fn read_entry(&mut self) -> Result<Option<Entry>, ReadError> {
        loop {
            if !self.lines.advance()? {
                return Ok(None);
            }
            if !self.lines.is_blank() {
                break;
            }
        }
        let entry: Entry = self.lines.parse()?;
        let fault = |problem| ReadError::new(self.lines.number, 1, problem);
        self.limits.check_entry(&entry).map_err(fault)?;
        if let Some((time_ns, index)) = self.last {
            if entry.index <= index {
                return Err(fault(Problem::IndexGoesBack { before: index, here: entry.index }));
            }
            if entry.time_ns < time_ns {
                return Err(fault(Problem::TimeGoesBack { before: time_ns, here: entry.time_ns }));
            }
        }
        self.last = Some((entry.time_ns, entry.index));
        Ok(Some(entry))
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let entry = self.read_entry().transpose();
        self.is_over = !matches!(entry, Some(Ok(_)));
        entry
    }
}

/// A header of any version names its schema; the rest is looked at only if it is ours.
#[derive(Deserialize)]
struct Schema {
    schema: String,
}

fn read_header<R: BufRead>(lines: &Lines<R>) -> Result<Header, ReadError> {
    let text = lines.text()?;
    let at = |problem| ReadError::new(lines.number, 1, problem);
    let family = SCHEMA.split('/').next().unwrap_or(SCHEMA);
    match serde_json::from_str::<Schema>(text) {
        Ok(Schema { schema }) if schema == SCHEMA => lines.parse(),
        Ok(Schema { schema }) if schema.split('/').next() == Some(family) => {
            Err(at(Problem::OtherVersion { found: schema }))
        }
        Ok(_) | Err(_) if lines.is_cut_off(text) => {
            Err(lines.parse::<Header>().err().unwrap_or_else(|| at(Problem::NoHeader)))
        }
        Ok(_) | Err(_) => Err(at(Problem::NoHeader)),
    }
}

/// The lines of a text, one at a time, in a buffer that is used again.
#[derive(Debug)]
struct Lines<R> {
    from: R,
    number: u64,
    bytes: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Goes to the next line; false at the end of the text.
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.bytes.clear();
        self.number += 1;
        match self.from.read_until(b'\n', &mut self.bytes) {
            Ok(read) => Ok(read > 0),
            Err(error) => Err(ReadError::new(self.number, 1, Problem::Io(error))),
        }
    }

    fn is_blank(&self) -> bool {
        self.bytes.iter().all(u8::is_ascii_whitespace)
    }

    fn text(&self) -> Result<&str, ReadError> {
        std::str::from_utf8(&self.bytes).map_err(|error| {
            let column = error.valid_up_to() as u64 + 1;
            ReadError::new(self.number, column, Problem::NotUtf8)
        })
    }

    /// Whether the line ends in the middle of a value, and the text with it.
    fn is_cut_off(&self, text: &str) -> bool {
        !text.ends_with('\n')
            && serde_json::from_str::<serde::de::IgnoredAny>(text).is_err_and(|error| error.is_eof())
    }

    fn parse<T: for<'de> Deserialize<'de>>(&self) -> Result<T, ReadError> {
        let text = self.text()?;
        serde_json::from_str(text).map_err(|error| {
            let column = u64::try_from(error.column()).unwrap_or(u64::MAX).max(1);
            let problem = match error.classify() {
                _ if self.is_cut_off(text) => Problem::CutOff,
                serde_json::error::Category::Data => Problem::Value { message: error::said(&error) },
                _ => Problem::NotJson { message: error::said(&error) },
            };
            ReadError::new(self.number, column, problem)
        })
    }
}
