//! Numbers of the file: the `[parameters]`, and values of faults that may refer to them.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::de::{DeInteger, DeValue};

use super::section::{Entry, Piece, Reader, entries, type_name};
use crate::diagnostic::Problem;
use crate::fault_template::Number;
use crate::nearest::did_you_mean;
use crate::parameters::{self, Drawn, KNOWN, Origin, Parameter, Parameters};
use crate::quantity::{self, INTEGER_MAX, Kind, QuantityError, Span};

/// What a file says under `[parameters]`.
pub(super) struct Written {
    pub entries: Vec<Parameter>,
    /// The scenario's own parameters, and where they are named.
    own: Vec<(String, Range<usize>)>,
}

pub(super) fn parameters<'t>(reader: &mut Reader<'t>, entry: Option<&Entry<'t>>) -> Option<Written> {
    let mut written = Written { entries: Vec::new(), own: Vec::new() };
    let Some(entry) = entry else {
        return Some(written);
    };
    let DeValue::Table(table) = entry.value else {
        reader.wrong_type(entry, "a table, headed `[parameters]`");
        return None;
    };
    let before = reader.problems.len();
    for entry in entries(table) {
        if let Some(parameter) = parameter(reader, &entry) {
            if parameter.known().is_none() {
                written.own.push((parameter.name.clone(), entry.key_at.clone()));
            }
            written.entries.push(parameter);
        }
    }
    (reader.problems.len() == before).then_some(written)
}

fn parameter<'t>(reader: &mut Reader<'t>, entry: &Entry<'t>) -> Option<Parameter> {
    let name = entry.key;
    let known = parameters::known(name);
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(plain) {
        reader.report(
            Problem::new(entry.key_at.clone(), format!("`{name}` cannot be the name of a parameter"))
                .label("expected small letters, digits, `-` and `_`, a letter first"),
        );
        return None;
    }
    if let DeValue::String(text) = entry.value
        && text.trim_start().starts_with('$')
    {
        reader.report(
            Problem::new(entry.at.clone(), format!("`{name}` refers to another parameter"))
                .label("expected a value; only faults can refer to parameters"),
        );
        return None;
    }
    let kind = known.map_or_else(|| kind_of(entry.value), |known| known.kind);
    let (written, span, at) = quantity(reader, entry, kind)?;
    if let Some(known) = known
        && let Err(message) = parameters::check(known, span)
    {
        reader.report(Problem::new(at, message).label(known.meaning));
        return None;
    }
    Some(Parameter { name: name.to_owned(), kind, written, span, origin: Origin::File })
}

/// What a parameter of the scenario's own counts is seen from its value: a time has a unit.
fn kind_of(value: &DeValue<'_>) -> Kind {
    match value {
        DeValue::Integer(_) => Kind::Integer,
        DeValue::String(text) if quantity::parse(Kind::Integer, text).is_ok() => Kind::Integer,
        _ => Kind::Duration,
    }
}

/// Reports each of the scenario's own parameters that no fault uses: most likely a known one, misspelt.
pub(super) fn unused(reader: &mut Reader<'_>, scope: &Scope<'_>, written: &Written) {
    for (name, at) in &written.own {
        if scope.used.contains(name) {
            continue;
        }
        let names = KNOWN.iter().map(|known| known.name);
        let all = names.clone().collect::<Vec<_>>().join(", ");
        let help = match did_you_mean(name, names) {
            Some(question) => question,
            None => format!("refer to it by \"${name}\" in a fault. Known parameters: {all}"),
        };
        reader.report(
            Problem::new(at.clone(), format!("nothing uses the parameter `{name}`"))
                .label("this is no known parameter, and no fault refers to it")
                .help(help),
        );
    }
}

/// What faults can refer to, and what they have referred to so far.
pub(super) struct Scope<'p> {
    pub parameters: &'p Parameters,
    used: BTreeSet<String>,
}

/// What a number of a fault may be.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub kind: Kind,
    pub allowed: Span,
}

impl Wanted {
    /// A length of time that begins now or later.
    pub const DURATION: Wanted =
        Wanted { kind: Kind::Duration, allowed: Span { low: 0, high: quantity::DURATION_MAX } };
    /// A length of time, back or forth.
    pub const SIGNED_DURATION: Wanted = Wanted {
        kind: Kind::Duration,
        allowed: Span { low: -quantity::DURATION_MAX, high: quantity::DURATION_MAX },
    };
    /// Which one, counted from 1.
    pub const ORDINAL: Wanted = Wanted { kind: Kind::Count, allowed: Span { low: 1, high: INTEGER_MAX } };
    /// How much a clock gains. It cannot stand still, let alone run backwards.
    pub const PPM: Wanted = Wanted { kind: Kind::Integer, allowed: Span { low: -999_999, high: 1_000_000 } };
}

impl<'p> Scope<'p> {
    pub fn new(parameters: &'p Parameters) -> Scope<'p> {
        Scope { parameters, used: BTreeSet::new() }
    }

    /// A number of a fault: a value, a range, or `$parameter`.
    pub fn number<'t>(
        &mut self,
        reader: &mut Reader<'t>,
        entry: &Entry<'t>,
        wanted: Wanted,
    ) -> Option<Number> {
        if let Some(piece) = reader.piece(entry.value, entry.at.clone()) {
            return self.number_in(reader, &piece, wanted);
        }
        let (_, span, at) = quantity(reader, entry, wanted.kind)?;
        allowed(reader, at, span, wanted)?;
        Some(Number { span, parameter: None })
    }

    /// A number of a fault that is a text.
    pub fn number_in(
        &mut self,
        reader: &mut Reader<'_>,
        piece: &Piece<'_>,
        wanted: Wanted,
    ) -> Option<Number> {
        let start = piece.text.len() - piece.text.trim_start().len();
        if piece.text[start..].starts_with('$') {
            return self.reference(reader, piece.part(start + 1..piece.text.len()), wanted);
        }
        let span = match quantity::parse(wanted.kind, piece.text) {
            Ok(span) => span,
            Err(error) => {
                reader.report(problem_of(error, piece));
                return None;
            }
        };
        allowed(reader, piece.at.clone(), span, wanted)?;
        Some(Number { span, parameter: None })
    }

    fn reference(&mut self, reader: &mut Reader<'_>, piece: Piece<'_>, wanted: Wanted) -> Option<Number> {
        let name = piece.text;
        let Some(parameter) = self.parameters.get(name) else {
            let names: Vec<&str> = self.parameters.names().collect();
            reader.unknown(&piece, "parameter", &names);
            return None;
        };
        self.used.insert(name.to_owned());
        if parameter.known().is_some_and(|known| known.drawn == Drawn::AtEachUse) {
            reader.report(
                Problem::new(piece.at.clone(), format!("a fault cannot refer to `{name}`"))
                    .label("it is drawn anew at each use, so a run has no single value of it"),
            );
            return None;
        }
        if (parameter.kind == Kind::Duration) != (wanted.kind == Kind::Duration) {
            let found = format!("`{name}` is `{}`, which is no {}", parameter.written, wanted.kind);
            let expected = format!("expected {}", wanted.kind.expected());
            reader.report(Problem::new(piece.at.clone(), found).label(expected));
            return None;
        }
        allowed(reader, piece.at.clone(), parameter.span, wanted)?;
        Some(Number { span: parameter.span, parameter: Some(name.to_owned()) })
    }
}

fn allowed(reader: &mut Reader<'_>, at: Range<usize>, span: Span, wanted: Wanted) -> Option<()> {
    let Wanted { kind, allowed } = wanted;
    let label = if span.low < allowed.low {
        format!("`{}` is too small: expected at least {}", kind.written(span.low), kind.written(allowed.low))
    } else if span.high > allowed.high {
        format!("`{}` is too large: expected at most {}", kind.written(span.high), kind.written(allowed.high))
    } else {
        return Some(());
    };
    let text = &reader.text[at.clone()];
    let message = format!("`{text}` cannot be used here");
    reader.report(Problem::new(at, message).label(label));
    None
}

/// A value as it was written, what it means, and where it stands.
fn quantity<'t>(
    reader: &mut Reader<'t>,
    entry: &Entry<'t>,
    kind: Kind,
) -> Option<(String, Span, Range<usize>)> {
    let expected = format!("expected {}", kind.expected());
    let problem = match entry.value {
        DeValue::String(_) => {
            let piece = reader.piece(entry.value, entry.at.clone())?;
            match quantity::parse(kind, piece.text) {
                Ok(span) => return Some((piece.text.trim().to_owned(), span, piece.at)),
                Err(error) => problem_of(error, &piece),
            }
        }
        DeValue::Integer(number) if kind == Kind::Duration => {
            Problem::new(entry.at.clone(), format!("`{number}` has no unit"))
                .label(expected)
                .help(format!("for seconds write \"{number}s\", in quotes"))
        }
        DeValue::Integer(number) => {
            let value = whole(number).filter(|value| (-INTEGER_MAX..=INTEGER_MAX).contains(value));
            match value {
                Some(value) => return Some((value.to_string(), Span::exactly(value), entry.at.clone())),
                None => Problem::new(entry.at.clone(), format!("`{number}` is too large"))
                    .label(format!("expected at most {INTEGER_MAX}")),
            }
        }
        DeValue::Float(number) if kind == Kind::Duration => {
            Problem::new(entry.at.clone(), format!("`{number}` has no unit"))
                .label(expected)
                .help(format!("for seconds write \"{number}s\", in quotes"))
        }
        other => {
            Problem::new(entry.at.clone(), format!("`{}` is {}", entry.key, type_name(other))).label(expected)
        }
    };
    reader.report(problem);
    None
}

fn problem_of(error: QuantityError, piece: &Piece<'_>) -> Problem {
    // An error about nothing in particular is about all of it.
    let at = if error.at.is_empty() { piece.at.clone() } else { piece.place(error.at) };
    match error.message.strip_prefix("expected ") {
        Some(_) => Problem::new(at, format!("`{}` is not understood", piece.text)).label(error.message),
        None => Problem::new(at, error.message),
    }
    .maybe_help(error.help)
}

/// The value of a TOML integer, if it fits.
pub(super) fn whole(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}
