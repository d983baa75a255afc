//! From text to [`Scenario`], or to every reason why not.
//!
//! The text is read as TOML first, which keeps the place of each key and value; then each part is read by
//! hand. So a message can point at the very letters that are wrong, and one reading reports all of them.

mod expectations;
mod faults;
mod head;
mod numbers;
mod section;

use toml::de::DeTable;

use crate::diagnostic::{Problem, ScenarioError};
use crate::parameters::Parameters;
use crate::scenario::{self, Scenario};
use section::{Reader, Section};

/// The keys of a scenario file.
const KEYS: &[&str] =
    &["format", "title", "story", "locks", "workloads", "fences", "seeds", "parameters", "faults", "expect"];

pub(crate) fn scenario(name: &str, label: &str, text: &str) -> Result<Scenario, ScenarioError> {
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().unwrap_or(0..0);
        ScenarioError::new(
            label,
            text,
            vec![Problem::new(at, "this is not valid TOML").label(error.message())],
        )
    })?;
    let mut reader = Reader::new(text);
    match document(&mut reader, table.get_ref()) {
        Some(read) if reader.problems.is_empty() => Ok(Scenario {
            name: name.to_owned(),
            argument: label.to_owned(),
            title: read.head.title,
            story: read.head.story,
            locks: read.head.locks,
            workloads: read.head.workloads,
            fences: read.head.fences,
            seeds: read.head.seeds,
            original: read.parameters.clone(),
            parameters: read.parameters,
            faults: read.faults,
            expectations: read.expectations,
            source: text.to_owned(),
            label: label.to_owned(),
            text: text.to_owned(),
            overridden: Vec::new(),
        }),
        _ => Err(ScenarioError::new(label, text, reader.problems)),
    }
}

struct Read {
    head: head::Head,
    parameters: Parameters,
    faults: Vec<crate::FaultTemplate>,
    expectations: Vec<crate::Expectation>,
}

fn document<'t>(reader: &mut Reader<'t>, table: &'t DeTable<'t>) -> Option<Read> {
    let mut file = Section::new("a scenario file", KEYS.iter().copied(), table, 0..0);
    // First of all: a file of another format may have any other keys.
    head::format(reader, &mut file)?;

    let head = head::read(reader, &mut file);
    let written = file.take("parameters");
    let faults = file.take("faults");
    let expectations = file.take("expect");
    file.finish(reader);

    let own = numbers::parameters(reader, written.as_ref());
    let parameters = own.as_ref().map(|own| Parameters::completed(own.entries.clone()));
    // Without the parameters every reference in a fault would be reported too.
    let faults = parameters.as_ref().and_then(|parameters| {
        let mut scope = numbers::Scope::new(parameters);
        let faults = faults::read(reader, &mut scope, faults.as_ref());
        // A fault that was not understood may be the one that uses the parameter.
        if let (Some(own), Some(_)) = (&own, &faults) {
            numbers::unused(reader, &scope, own);
        }
        faults
    });
    let expectations = match &head {
        Some(head) => {
            let rows = scenario::rows(&head.locks, &head.workloads, head.fences.as_deref());
            expectations::read(reader, head, &rows, expectations.as_ref())
        }
        None => None,
    };
    Some(Read { head: head?, parameters: parameters?, faults: faults?, expectations: expectations? })
}
