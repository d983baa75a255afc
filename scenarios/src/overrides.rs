//! Parameters set from outside: `pause=6.3s`.
//!
//! An override is worked into the text of the file, and the text is read again. So a scenario with overrides
//! is checked as strictly as a file, and the text that is printed for it is the text that was run.

use thiserror::Error;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::ScenarioError;
use crate::nearest::did_you_mean;
use crate::parameters::Parameter;
use crate::quantity::{self, Kind};
use crate::scenario::Scenario;

/// Why a parameter cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SetError {
    /// There is no `=`.
    #[error("--set {flag}: expected key=value, such as `--set lease=20s`")]
    NoValue {
        /// What was given.
        flag: String,
    },
    /// The scenario has no such parameter.
    #[error("--set {flag}: scenario `{scenario}` has no parameter `{key}`{}\nit has: {keys}", question(.help))]
    UnknownKey {
        /// What was given.
        flag: String,
        /// The part before the `=`.
        key: String,
        /// The scenario's name.
        scenario: String,
        /// A near name, as a question.
        help: Option<String>,
        /// The parameters that there are.
        keys: String,
    },
    /// The value is none that the parameter can have.
    #[error("--set {flag}: {message}{}", help_line(.help))]
    BadValue {
        /// What was given.
        flag: String,
        /// What is wrong.
        message: String,
        /// What to write instead.
        help: Option<String>,
    },
    /// The scenario does not fit the value.
    #[error("--set {flag} does not go with the rest of the scenario\n{error}")]
    Unfit {
        /// What was given.
        flag: String,
        /// What is wrong, shown in the text of the file with the value worked in.
        error: Box<ScenarioError>,
    },
}

fn question(help: &Option<String>) -> String {
    help.as_ref().map(|help| format!(": {help}")).unwrap_or_default()
}

fn help_line(help: &Option<String>) -> String {
    help.as_ref().map(|help| format!("\n{help}")).unwrap_or_default()
}

impl Scenario {
    /// Sets a parameter, known or the scenario's own: `key=value`, with the value as in a file but without
    /// quotes. On an error the scenario is as it was.
    pub fn set(&mut self, flag: &str) -> Result<(), SetError> {
        let (key, value) = flag.split_once('=').ok_or_else(|| SetError::NoValue { flag: flag.to_owned() })?;
        let (key, value) = (key.trim(), value.trim());
        let parameter = self.parameters.get(key).ok_or_else(|| SetError::UnknownKey {
            flag: flag.to_owned(),
            key: key.to_owned(),
            scenario: self.name.clone(),
            help: did_you_mean(key, self.parameters.names()),
            keys: self.parameters.names().collect::<Vec<_>>().join(", "),
        })?;
        let literal = literal_of(parameter, value).map_err(|(message, help)| SetError::BadValue {
            flag: flag.to_owned(),
            message,
            help,
        })?;

        let text = with_parameter(&self.text, key, &literal);
        let read = Scenario::parse(&self.name, &self.label, &text)
            .map_err(|error| SetError::Unfit { flag: flag.to_owned(), error: Box::new(error) })?;

        if !self.overridden.iter().any(|name| name == key) {
            self.overridden.push(key.to_owned());
        }
        self.text = text;
        self.parameters = read.parameters;
        self.parameters.mark_overridden(&self.overridden);
        // The spans are those of the new values; the lines stay those of the file.
        for (fault, new) in self.faults.iter_mut().zip(read.faults) {
            *fault = crate::fault_template::FaultTemplate { line: fault.line, ..new };
        }
        Ok(())
    }

    /// Whether a parameter has another value than in the file.
    pub fn is_modified(&self) -> bool {
        !self.parameters.same_values(&self.original)
    }

    /// The text of the file with the values that were set in the place of those that it has. It reads as
    /// this scenario.
    pub fn source_with_overrides(&self) -> &str {
        &self.text
    }
}

/// The value as one writes it in a file, if it is one that the parameter can have.
fn literal_of(parameter: &Parameter, value: &str) -> Result<String, (String, Option<String>)> {
    let span = quantity::parse(parameter.kind, value).map_err(|error| {
        let bare = error.message.starts_with("expected ");
        let message =
            if bare { format!("`{value}` is not understood: {}", error.message) } else { error.message };
        (message, error.help)
    })?;
    if let Some(known) = parameter.known()
        && let Err(message) = crate::parameters::check(known, span)
    {
        return Err((message, None));
    }
    let plain = span.is_single() && parameter.kind != Kind::Duration;
    Ok(if plain { span.low.to_string() } else { format!("\"{value}\"") })
}

/// The text with one parameter set. `text` is a scenario that was read without complaint.
fn with_parameter(text: &str, key: &str, literal: &str) -> String {
    let document = DeTable::parse(text).expect("the text was read before");
    let Some(section) = document.get_ref().get("parameters") else {
        let separator = if text.is_empty() || text.ends_with('\n') { "\n" } else { "\n\n" };
        return format!("{text}{separator}[parameters]\n{key} = {literal}\n");
    };
    let DeValue::Table(table) = section.get_ref() else {
        unreachable!("the text was read before, with its parameters in a table");
    };
    if let Some(value) = table.get(key) {
        let at = value.span();
        return format!("{}{literal}{}", &text[..at.start], &text[at.end..]);
    }
    let (place, line) = match text[section.span().start..].chars().next() {
        // parameters = { clients = 3 }
        Some('{') => {
            let comma = if table.is_empty() { "" } else { "," };
            (section.span().start + 1, format!(" {key} = {literal}{comma}"))
        }
        // [parameters], each on its line: behind the last one.
        Some('[') => {
            let last = table.values().map(|value| value.span().end).max().unwrap_or(section.span().end);
            match text[last..].find('\n') {
                Some(rest) => (last + rest + 1, format!("{key} = {literal}\n")),
                None => (text.len(), format!("\n{key} = {literal}\n")),
            }
        }
        // parameters.clients = 3: in front of the first one.
        _ => {
            let first = table.keys().map(|key| key.span().start).min().unwrap_or(0);
            let start = text[..first].rfind('\n').map_or(0, |newline| newline + 1);
            (start, format!("parameters.{key} = {literal}\n"))
        }
    };
    format!("{}{line}{}", &text[..place], &text[place..])
}
