//! The numbers of a scenario: the known ones, which every scenario has, and its own.

use serde::ser::{Serialize, Serializer};

use crate::quantity::{DURATION_MAX, INTEGER_MAX, Kind, Span};

/// A parameter that every scenario has, whether its file mentions it or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownParameter {
    /// Its name.
    pub name: &'static str,
    /// What it counts.
    pub kind: Kind,
    /// Its value if the file gives none, as one would write it there.
    pub default: &'static str,
    /// What it means, in one line.
    pub meaning: &'static str,
    /// What it may be.
    pub allowed: Span,
    /// When a value is drawn from its range.
    pub drawn: Drawn,
}

/// When a value is drawn from a parameter's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// Once in each run; a fault may refer to it.
    OncePerRun,
    /// Anew at each use.
    AtEachUse,
}

const fn from(low: i64, high: i64) -> Span {
    Span { low, high }
}

const MS: i64 = 1_000_000;

/// All known parameters, in the order in which they are shown.
pub const KNOWN: &[KnownParameter] = &[
    KnownParameter {
        name: "clients",
        kind: Kind::Count,
        default: "3",
        meaning: "how many clients compete for the lock",
        allowed: from(1, 1_000),
        drawn: Drawn::OncePerRun,
    },
    KnownParameter {
        name: "jobs",
        kind: Kind::Count,
        default: "4",
        meaning: "how many jobs each client does, one after the other",
        allowed: from(1, 100_000),
        drawn: Drawn::OncePerRun,
    },
    KnownParameter {
        name: "lease",
        kind: Kind::Duration,
        default: "10s",
        meaning: "how long a grant or a renewal lasts",
        // Redis counts its TTL in milliseconds and refuses 0.
        allowed: from(MS, DURATION_MAX),
        drawn: Drawn::OncePerRun,
    },
    KnownParameter {
        name: "renewals",
        kind: Kind::Count,
        default: "3",
        meaning: "how often a client that renews does so in one lease",
        allowed: from(1, 1_000),
        drawn: Drawn::OncePerRun,
    },
    KnownParameter {
        name: "work",
        kind: Kind::Duration,
        default: "500ms..4s",
        meaning: "how long the work under the lock takes",
        allowed: from(0, DURATION_MAX),
        drawn: Drawn::AtEachUse,
    },
    KnownParameter {
        name: "retry",
        kind: Kind::Duration,
        default: "50ms..150ms",
        meaning: "how long a client waits before it tries to acquire again",
        // Two attempts at the same instant, for ever, would be a run that never ends.
        allowed: from(1_000, DURATION_MAX),
        drawn: Drawn::AtEachUse,
    },
    KnownParameter {
        name: "latency",
        kind: Kind::Duration,
        default: "100us..300us",
        meaning: "how long a message travels, one way",
        allowed: from(0, DURATION_MAX),
        drawn: Drawn::AtEachUse,
    },
    KnownParameter {
        name: "timeout",
        kind: Kind::Duration,
        default: "1s",
        meaning: "how long a client waits for the answer to a request",
        allowed: from(1_000, DURATION_MAX),
        drawn: Drawn::OncePerRun,
    },
    KnownParameter {
        name: "fsync",
        kind: Kind::Duration,
        default: "200us..1ms",
        meaning: "how long the ledger's disk takes to make a write durable",
        allowed: from(0, DURATION_MAX),
        drawn: Drawn::AtEachUse,
    },
    KnownParameter {
        name: "drift_ppm",
        kind: Kind::Integer,
        default: "0",
        meaning: "by how much the clocks of each node gain, in parts per million",
        allowed: from(-100_000, 100_000),
        drawn: Drawn::AtEachUse,
    },
    KnownParameter {
        name: "amount",
        kind: Kind::Count,
        default: "120",
        meaning: "what one job debits",
        allowed: from(1, 1_000_000_000),
        drawn: Drawn::OncePerRun,
    },
    KnownParameter {
        name: "balance",
        kind: Kind::Count,
        default: "100000",
        meaning: "what the account holds at the start",
        allowed: from(0, INTEGER_MAX),
        drawn: Drawn::OncePerRun,
    },
    KnownParameter {
        name: "limit",
        kind: Kind::Duration,
        default: "10min",
        meaning: "simulated time after which a run is cut off",
        allowed: from(MS, DURATION_MAX),
        drawn: Drawn::OncePerRun,
    },
];

/// The known parameter of this name.
pub fn known(name: &str) -> Option<&'static KnownParameter> {
    KNOWN.iter().find(|known| known.name == name)
}

/// Whether a known parameter can have this value; says why not.
pub(crate) fn check(known: &KnownParameter, span: Span) -> Result<(), String> {
    let KnownParameter { name, kind, allowed, .. } = known;
    if span.low < allowed.low {
        let least = kind.written(allowed.low);
        return Err(format!("`{}` is too small: `{name}` is at least {least}", kind.written(span.low)));
    }
    if span.high > allowed.high {
        let most = kind.written(allowed.high);
        return Err(format!("`{}` is too large: `{name}` is at most {most}", kind.written(span.high)));
    }
    Ok(())
}

/// One parameter of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What it counts.
    pub kind: Kind,
    /// The value as it was written: `8s..20s`.
    pub written: String,
    /// The value.
    pub span: Span,
    /// Who gave the value.
    pub origin: Origin,
}

impl Parameter {
    /// What every scenario means by it; `None` if it is the scenario's own.
    pub fn known(&self) -> Option<&'static KnownParameter> {
        known(&self.name)
    }
}

/// Who gave a parameter its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The scenario file.
    File,
    /// Nobody: it is the default.
    Default,
    /// Somebody, on the command line.
    Override,
}

/// All parameters of a scenario: first those of its file, in the order of the file, then the remaining known
/// ones with their defaults.
///
/// Serialised they are a map from names to values as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    entries: Vec<Parameter>,
}

impl Parameters {
    /// Completes what a file says by the defaults.
    pub(crate) fn completed(mut entries: Vec<Parameter>) -> Parameters {
        for known in KNOWN {
            if entries.iter().all(|entry| entry.name != known.name) {
                let span = crate::quantity::parse(known.kind, known.default);
                entries.push(Parameter {
                    name: known.name.to_owned(),
                    kind: known.kind,
                    written: known.default.to_owned(),
                    span: span.expect("a default is a value of its kind"),
                    origin: Origin::Default,
                });
            }
        }
        Parameters { entries }
    }

    /// The parameter of this name, known or the scenario's own.
    pub fn get(&self, name: &str) -> Option<&Parameter> {
        self.entries.iter().find(|parameter| parameter.name == name)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Parameter> {
        self.entries.iter()
    }

    /// Their names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|parameter| parameter.name.as_str())
    }

    /// Notes which values come from the command line.
    pub(crate) fn mark_overridden(&mut self, names: &[String]) {
        for entry in &mut self.entries {
            if names.contains(&entry.name) {
                entry.origin = Origin::Override;
            }
        }
    }

    /// Whether every parameter has the same value, however it is written and in whatever order.
    pub fn same_values(&self, other: &Parameters) -> bool {
        let covers = |some: &Parameters, all: &Parameters| {
            some.iter().all(|one| all.get(&one.name).is_some_and(|it| it.span == one.span))
        };
        covers(self, other) && covers(other, self)
    }

    fn of(&self, name: &'static str) -> Span {
        self.get(name).expect("every known parameter has a value").span
    }

    /// How many clients compete for the lock.
    pub fn clients(&self) -> Span {
        self.of("clients")
    }

    /// How many jobs each client does.
    pub fn jobs(&self) -> Span {
        self.of("jobs")
    }

    /// How long a grant or a renewal lasts.
    pub fn lease(&self) -> Span {
        self.of("lease")
    }

    /// How often a client that renews does so in one lease.
    pub fn renewals(&self) -> Span {
        self.of("renewals")
    }

    /// How long the work under the lock takes; drawn for each job.
    pub fn work(&self) -> Span {
        self.of("work")
    }

    /// How long a client waits between two attempts to acquire; drawn for each attempt.
    pub fn retry(&self) -> Span {
        self.of("retry")
    }

    /// How long a message travels, one way; drawn for each message.
    pub fn latency(&self) -> Span {
        self.of("latency")
    }

    /// How long a client waits for the answer to a request.
    pub fn timeout(&self) -> Span {
        self.of("timeout")
    }

    /// How long the ledger's disk takes to make a write durable; drawn for each one.
    pub fn fsync(&self) -> Span {
        self.of("fsync")
    }

    /// By how much the clocks of a node gain, in parts per million; drawn for each node.
    pub fn drift_ppm(&self) -> Span {
        self.of("drift_ppm")
    }

    /// What one job debits.
    pub fn amount(&self) -> Span {
        self.of("amount")
    }

    /// What the account holds at the start.
    pub fn balance(&self) -> Span {
        self.of("balance")
    }

    /// Simulated time after which a run is cut off.
    pub fn limit(&self) -> Span {
        self.of("limit")
    }
}

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|parameter| (&parameter.name, &parameter.written)))
    }
}
