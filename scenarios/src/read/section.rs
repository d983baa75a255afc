//! A table of a scenario file whose keys are taken one by one; what is left over is an error.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::diagnostic::Problem;
use crate::nearest::{did_you_mean, nearest};

/// The text, and what was found to be wrong with it.
pub(super) struct Reader<'t> {
    pub text: &'t str,
    pub problems: Vec<Problem>,
}

/// One key and its value, with their places.
#[derive(Clone, Debug)]
pub(super) struct Entry<'t> {
    pub key: &'t str,
    pub key_at: Range<usize>,
    pub value: &'t DeValue<'t>,
    pub at: Range<usize>,
}

/// A text of the file, or a part of one, with its place.
#[derive(Clone, Debug)]
pub(super) struct Piece<'t> {
    pub text: &'t str,
    pub at: Range<usize>,
    /// Whether each byte of `text` is a byte of the file (it has no escapes), so that parts have places too.
    exact: bool,
}

impl<'t> Piece<'t> {
    /// The place of a part of it.
    pub fn place(&self, part: Range<usize>) -> Range<usize> {
        if self.exact { self.at.start + part.start..self.at.start + part.end } else { self.at.clone() }
    }

    /// A part of it, without the spaces around it.
    pub fn part(&self, part: Range<usize>) -> Piece<'t> {
        let raw = &self.text[part.clone()];
        let start = part.start + (raw.len() - raw.trim_start().len());
        let text = raw.trim();
        // An empty part has no letters to point at.
        let at = if text.is_empty() { self.at.clone() } else { self.place(start..start + text.len()) };
        Piece { text, at, exact: self.exact && !text.is_empty() }
    }
}

impl<'t> Reader<'t> {
    pub fn new(text: &'t str) -> Reader<'t> {
        Reader { text, problems: Vec::new() }
    }

    pub fn report(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Reports a value of the wrong type.
    pub fn wrong_type(&mut self, entry: &Entry<'_>, expected: &str) {
        let found = type_name(entry.value);
        self.report(
            Problem::new(entry.at.clone(), format!("`{}` is {found}", entry.key))
                .label(format!("expected {expected}")),
        );
    }

    pub fn string(&mut self, entry: &Entry<'t>, expected: &str) -> Option<Piece<'t>> {
        let piece = self.piece(entry.value, entry.at.clone());
        if piece.is_none() {
            self.wrong_type(entry, expected);
        }
        piece
    }

    pub fn boolean(&mut self, entry: &Entry<'t>) -> Option<bool> {
        if let DeValue::Boolean(value) = entry.value {
            return Some(*value);
        }
        self.wrong_type(entry, "true or false");
        None
    }

    /// The text of a value, if it is a string.
    pub fn piece(&self, value: &'t DeValue<'t>, at: Range<usize>) -> Option<Piece<'t>> {
        let DeValue::String(text) = value else {
            return None;
        };
        let quotes = if at.len() >= text.len() + 6 { 3 } else { 1 };
        let inner = at.start + quotes..at.end.saturating_sub(quotes);
        if self.text.get(inner.clone()) == Some(text.as_ref()) {
            // An empty text has no letters to point at: its quotes do.
            let at = if text.is_empty() { at } else { inner };
            return Some(Piece { text, at, exact: !text.is_empty() });
        }
        Some(Piece { text, at, exact: false })
    }

    /// One name or a list of them, each different.
    pub fn pieces(&mut self, entry: &Entry<'t>, expected: &str) -> Option<Vec<Piece<'t>>> {
        let pieces = match entry.value {
            DeValue::String(_) => vec![self.string(entry, expected)?],
            DeValue::Array(array) => {
                let mut pieces = Vec::new();
                for element in array.iter() {
                    match self.piece(element.get_ref(), element.span()) {
                        Some(piece) => pieces.push(piece),
                        None => {
                            let found = type_name(element.get_ref());
                            self.report(
                                Problem::new(element.span(), format!("`{}` holds {found}", entry.key))
                                    .label(format!("expected {expected}")),
                            );
                            return None;
                        }
                    }
                }
                pieces
            }
            _ => {
                self.wrong_type(entry, expected);
                return None;
            }
        };
        for (index, piece) in pieces.iter().enumerate() {
            if pieces[..index].iter().any(|earlier| earlier.text == piece.text) {
                self.report(
                    Problem::new(piece.at.clone(), format!("`{}` is there twice", piece.text))
                        .label(format!("remove it: each of `{}` counts once", entry.key)),
                );
                return None;
            }
        }
        Some(pieces)
    }

    /// Reports a name that does not exist, with a near one or else all of them.
    pub fn unknown(&mut self, piece: &Piece<'_>, what: &str, names: &[&str]) {
        self.report(Problem::new(piece.at.clone(), format!("unknown {what} `{}`", piece.text)).suggesting(
            piece.text,
            names,
            "known names",
        ));
    }
}

impl Problem {
    /// Says which of the names may be meant, or else what the names are.
    fn suggesting(mut self, typed: &str, names: &[&str], heading: &str) -> Problem {
        self.label = did_you_mean(typed, names.iter().copied());
        // A long list would hide a suggestion that is most likely right.
        let listed = self.label.is_none() || names.len() <= 8;
        self.maybe_help(listed.then(|| format!("{heading}: {}", names.join(", "))))
    }
}

/// A table and the keys of it that nobody has taken yet.
pub(super) struct Section<'t> {
    /// What it is, with its article: `a fault`.
    pub what: &'static str,
    /// Its place: where a missing key is reported.
    pub at: Range<usize>,
    keys: Vec<&'static str>,
    left: Vec<Entry<'t>>,
}

impl<'t> Section<'t> {
    /// `keys` are all that there can be.
    pub fn new(
        what: &'static str,
        keys: impl IntoIterator<Item = &'static str>,
        table: &'t DeTable<'t>,
        at: Range<usize>,
    ) -> Section<'t> {
        let keys = keys.into_iter().collect();
        Section { what, at, keys, left: entries(table) }
    }

    pub fn take(&mut self, key: &str) -> Option<Entry<'t>> {
        debug_assert!(self.keys.contains(&key), "{key} is no key of {}", self.what);
        let index = self.left.iter().position(|entry| entry.key == key)?;
        Some(self.left.remove(index))
    }

    /// Takes a key that must be there; `example` is one that could be.
    pub fn require(&mut self, reader: &mut Reader<'t>, key: &str, example: &str) -> Option<Entry<'t>> {
        let entry = self.take(key);
        if entry.is_none() && !self.is_misspelt(key) {
            reader.report(
                Problem::new(self.at.clone(), format!("{} needs the key `{key}`", self.what))
                    .label(format!("`{key}` is missing"))
                    .help(format!("for example: {example}")),
            );
        }
        entry
    }

    /// Whether a key is there that means this one. Then [`Section::finish`] says so, which is enough.
    fn is_misspelt(&self, key: &str) -> bool {
        let unknown = self.left.iter().filter(|entry| !self.keys.contains(&entry.key));
        unknown.into_iter().any(|entry| nearest(entry.key, self.keys.iter().copied()) == Some(key))
    }

    /// Reports what nobody has taken.
    pub fn finish(self, reader: &mut Reader<'t>) {
        for entry in &self.left {
            reader.report(
                Problem::new(entry.key_at.clone(), format!("{} has no key `{}`", self.what, entry.key))
                    .suggesting(entry.key, &self.keys, "known keys"),
            );
        }
    }

    /// Some of the keys can no longer be there.
    pub fn exclude(&mut self, keys: &[&str]) {
        self.keys.retain(|key| !keys.contains(key));
    }
}

/// The entries of a table, in the order of the file.
pub(super) fn entries<'t>(table: &'t DeTable<'t>) -> Vec<Entry<'t>> {
    let mut entries: Vec<Entry<'t>> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref(),
            key_at: key.span(),
            value: value.get_ref(),
            at: value.span(),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_at.start);
    entries
}

/// The tables of a `[[key]]`, or of an array of inline tables.
pub(super) fn tables<'t>(
    reader: &mut Reader<'t>,
    entry: Option<&Entry<'t>>,
    what: &'static str,
    keys: &[&'static str],
) -> Option<Vec<Section<'t>>> {
    let Some(entry) = entry else {
        return Some(Vec::new());
    };
    let DeValue::Array(array) = entry.value else {
        let found = type_name(entry.value);
        let header = format!("[[{}]]", entry.key);
        reader.report(
            Problem::new(entry.key_at.clone(), format!("`{}` is {found}", entry.key))
                .label("expected a list of tables")
                .help(format!("head each of them with `{header}`, in two pairs of brackets")),
        );
        return None;
    };
    let mut sections = Vec::new();
    for element in array.iter() {
        match element.get_ref() {
            DeValue::Table(table) => {
                let keys = keys.iter().copied();
                sections.push(Section::new(what, keys, table, element.span()));
            }
            other => {
                let message = format!("`{}` holds {}", entry.key, type_name(other));
                reader.report(Problem::new(element.span(), message).label("expected a table"));
                return None;
            }
        }
    }
    Some(sections)
}

/// What a value is, for messages.
pub(super) fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a decimal point",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date or a time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
