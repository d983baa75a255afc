//! The `[[faults]]`: what × target × when × how long.

use fencepost_models::catalogue::{EVENTS, NODES, POINTS, ROLES};
use fencepost_sim::fault::{PauseCause, Target};
use toml::de::DeValue;

use super::numbers::{Scope, Wanted};
use super::section::{Entry, Piece, Reader, Section, tables};
use crate::diagnostic::{Problem, line_of};
use crate::fault_template::{FaultTemplate, Number, WhatTemplate, WhenTemplate};

/// The kinds of faults and the keys that each of them takes besides [`KEYS`].
const WHATS: &[(&str, &[&str])] = &[
    ("pause", &["cause"]),
    ("kill", &[]),
    ("power-off", &[]),
    ("clock-step", &["by"]),
    ("clock-rate", &["wall_ppm", "monotonic_ppm"]),
    ("hold-message", &["to"]),
    ("cut", &["to", "both_ways"]),
    ("isolate", &[]),
];

/// The keys that every fault takes.
const KEYS: &[&str] = &["what", "target", "at", "lasts"];

const CAUSES: &[(&str, PauseCause)] = &[
    ("gc", PauseCause::Gc),
    ("sigstop", PauseCause::Sigstop),
    ("page-fault", PauseCause::PageFault),
    ("vm-steal", PauseCause::VmSteal),
];

/// Points of servers and the node that passes them. All other points are passed by a client that holds the
/// lock.
const SERVER_POINTS: &[(&str, &str)] = &[("command", "redis")];

/// The keys of `at`, if it is a table: of a point, and of an event.
const AT_KEYS: &[&str] = &["point", "passing", "event", "occurrence", "after"];

/// What `at` may be.
const AT: &str =
    "a time such as \"2s\", \"first-grant + 50ms\", or { point = \"before-write\", passing = 1 }";

pub(super) fn read<'t>(
    reader: &mut Reader<'t>,
    scope: &mut Scope<'_>,
    entry: Option<&Entry<'t>>,
) -> Option<Vec<FaultTemplate>> {
    let all_keys: Vec<&'static str> =
        KEYS.iter().chain(WHATS.iter().flat_map(|(_, keys)| *keys)).copied().collect();
    let sections = tables(reader, entry, "a fault", &all_keys)?;
    let before = reader.problems.len();
    let faults = sections.into_iter().filter_map(|section| fault(reader, scope, section)).collect();
    (reader.problems.len() == before).then_some(faults)
}

fn fault<'t>(
    reader: &mut Reader<'t>,
    scope: &mut Scope<'_>,
    mut section: Section<'t>,
) -> Option<FaultTemplate> {
    let line = line_of(reader.text, section.at.start);
    let kinds: Vec<&str> = WHATS.iter().map(|(name, _)| *name).collect();
    let Some(kind) = section.require(reader, "what", "what = \"pause\"") else {
        report_unknown_keys(reader, section);
        return None;
    };
    let kind = reader.string(&kind, "the kind of the fault, such as \"pause\"")?;
    let Some((kind, own_keys)) = WHATS.iter().find(|(name, _)| *name == kind.text) else {
        reader.unknown(&kind, "fault", &kinds);
        return None;
    };

    let target = section.require(reader, "target", "target = \"holder\"");
    let target = target.and_then(|entry| target_of(reader, scope, &entry));
    let what = what(reader, scope, &mut section, kind, target.as_ref());
    let when = section.require(reader, "at", "at = { point = \"before-write\", passing = 1 }");
    let when = when.and_then(|entry| when_of(reader, scope, &entry, target.as_ref()));
    let lasts = match section.take("lasts") {
        Some(entry) => scope.number(reader, &entry, Wanted::DURATION).map(Some),
        None => Some(None),
    };

    keys_of_other_kinds(reader, &mut section, kind, own_keys);
    section.finish(reader);
    Some(FaultTemplate { what: what?, target: target?.target, when: when?, lasts: lasts?, line })
}

/// Reports keys that some other kind of fault takes: to call them unknown would send people astray.
fn keys_of_other_kinds(reader: &mut Reader<'_>, section: &mut Section<'_>, kind: &str, own_keys: &[&str]) {
    for (other, keys) in WHATS {
        for key in keys.iter().filter(|key| !own_keys.contains(key)) {
            if let Some(entry) = section.take(key) {
                reader.report(
                    Problem::new(entry.key_at, format!("a fault `{kind}` takes no `{key}`"))
                        .label(format!("this key is for `{other}`")),
                );
            }
        }
    }
    for (_, keys) in WHATS {
        let foreign: Vec<&str> = keys.iter().filter(|key| !own_keys.contains(key)).copied().collect();
        section.exclude(&foreign);
    }
}

/// Reports the keys that no fault takes, of a fault of which no more can be said.
fn report_unknown_keys<'t>(reader: &mut Reader<'t>, mut section: Section<'t>) {
    for key in KEYS.iter().chain(WHATS.iter().flat_map(|(_, keys)| *keys)) {
        section.take(key);
    }
    section.finish(reader);
}

fn what<'t>(
    reader: &mut Reader<'t>,
    scope: &mut Scope<'_>,
    section: &mut Section<'t>,
    kind: &str,
    target: Option<&Aimed>,
) -> Option<WhatTemplate> {
    match kind {
        "pause" => {
            let cause = match section.take("cause") {
                Some(entry) => cause(reader, &entry)?,
                None => PauseCause::Gc,
            };
            Some(WhatTemplate::Pause { cause })
        }
        "kill" => Some(WhatTemplate::Kill),
        "power-off" => Some(WhatTemplate::PowerOff),
        "clock-step" => {
            let by = section.require(reader, "by", "by = \"-31s\"")?;
            Some(WhatTemplate::ClockStep { by: scope.number(reader, &by, Wanted::SIGNED_DURATION)? })
        }
        "clock-rate" => clock_rate(reader, scope, section),
        "hold-message" => Some(WhatTemplate::HoldMessage { to: other_end(reader, scope, section, target)? }),
        "cut" => {
            let both_ways = match section.take("both_ways") {
                Some(entry) => reader.boolean(&entry),
                None => Some(true),
            };
            let to = other_end(reader, scope, section, target);
            Some(WhatTemplate::Cut { to: to?, both_ways: both_ways? })
        }
        "isolate" => Some(WhatTemplate::Isolate),
        other => unreachable!("`{other}` is one of the kinds of faults and is read nowhere"),
    }
}

fn cause<'t>(reader: &mut Reader<'t>, entry: &Entry<'t>) -> Option<PauseCause> {
    let piece = reader.string(entry, "the cause of a pause, such as \"gc\"")?;
    let found = CAUSES.iter().find(|(name, _)| *name == piece.text);
    if found.is_none() {
        let names: Vec<&str> = CAUSES.iter().map(|(name, _)| *name).collect();
        reader.unknown(&piece, "cause of a pause", &names);
    }
    found.map(|(_, cause)| *cause)
}

fn clock_rate<'t>(
    reader: &mut Reader<'t>,
    scope: &mut Scope<'_>,
    section: &mut Section<'t>,
) -> Option<WhatTemplate> {
    let (wall, monotonic) = (section.take("wall_ppm"), section.take("monotonic_ppm"));
    if wall.is_none() && monotonic.is_none() {
        reader.report(
            Problem::new(section.at.clone(), "a fault `clock-rate` needs a rate")
                .label("`wall_ppm` and `monotonic_ppm` are missing")
                .help("give one of them or both, for example: wall_ppm = 20000"),
        );
        return None;
    }
    let mut rate = |entry: Option<Entry<'t>>| match entry {
        Some(entry) => scope.number(reader, &entry, Wanted::PPM),
        None => Some(Number::exactly(0)),
    };
    let (wall_ppm, monotonic_ppm) = (rate(wall), rate(monotonic));
    Some(WhatTemplate::ClockRate { wall_ppm: wall_ppm?, monotonic_ppm: monotonic_ppm? })
}

fn other_end<'t>(
    reader: &mut Reader<'t>,
    scope: &Scope<'_>,
    section: &mut Section<'t>,
    target: Option<&Aimed>,
) -> Option<Target> {
    let entry = section.require(reader, "to", "to = \"ledger\"")?;
    let to = target_of(reader, scope, &entry)?;
    if target.is_some_and(|target| target.target == to.target) {
        reader.report(
            Problem::new(entry.at, "`to` is the target itself")
                .label("expected the other end of the connection"),
        );
        return None;
    }
    Some(to.target)
}

/// A target and how it was written.
struct Aimed {
    target: Target,
    name: String,
}

fn target_of<'t>(reader: &mut Reader<'t>, scope: &Scope<'_>, entry: &Entry<'t>) -> Option<Aimed> {
    let piece = reader.string(entry, "a role such as \"holder\", or a node such as \"redis\"")?;
    let name = piece.text;
    if ROLES.iter().any(|(role, _)| *role == name) {
        return Some(Aimed { target: Target::Role(name.to_owned()), name: name.to_owned() });
    }
    let clients = scope.parameters.clients();
    let number = name.strip_prefix("client-").and_then(|number| number.parse::<i64>().ok());
    if let Some(number) = number.filter(|number| name == format!("client-{number}")) {
        if number > clients.low || number < 1 {
            let all = match clients.low {
                1 => "the only client is `client-1`".to_owned(),
                low => format!("the clients are `client-1` to `client-{low}`"),
            };
            let in_every_run = if clients.is_single() { "" } else { " in every run" };
            reader.report(
                Problem::new(piece.at, format!("there is no `{name}`{in_every_run}"))
                    .label(all)
                    .help("the parameter `clients` says how many there are"),
            );
            return None;
        }
    } else if !NODES.iter().any(|(node, _)| *node == name) {
        // More clients than these would make the list of names long and no clearer.
        let some_clients: Vec<String> = (1..=clients.low.min(3)).map(|n| format!("client-{n}")).collect();
        let names: Vec<&str> = ROLES.iter().chain(NODES).map(|(name, _)| *name).collect();
        let names: Vec<&str> = names.into_iter().chain(some_clients.iter().map(String::as_str)).collect();
        reader.unknown(&piece, "role or node", &names);
        return None;
    }
    Some(Aimed { target: Target::Node(name.to_owned()), name: name.to_owned() })
}

fn when_of<'t>(
    reader: &mut Reader<'t>,
    scope: &mut Scope<'_>,
    entry: &Entry<'t>,
    target: Option<&Aimed>,
) -> Option<WhenTemplate> {
    match entry.value {
        DeValue::String(_) => {
            let piece = reader.string(entry, AT)?;
            let begin = piece.text.trim_start();
            if begin.starts_with(|c: char| c == '$' || c == '-' || c == '.' || c.is_ascii_digit()) {
                let number = scope.number_in(reader, &piece.part(0..piece.text.len()), Wanted::DURATION)?;
                return Some(WhenTemplate::Time(number));
            }
            first_event(reader, scope, &piece)
        }
        DeValue::Table(table) => {
            let mut section = Section::new("`at`", AT_KEYS.iter().copied(), table, entry.at.clone());
            match (section.take("point"), section.take("event")) {
                (Some(point), None) => point_of(reader, scope, section, &point, target),
                (None, Some(event)) => event_of(reader, scope, section, &event),
                (point, _) => {
                    let label = match point {
                        Some(_) => "`point` and `event` exclude each other".to_owned(),
                        None => format!("expected {AT}"),
                    };
                    reader.report(
                        Problem::new(entry.at.clone(), "`at` needs either a point or an event").label(label),
                    );
                    None
                }
            }
        }
        DeValue::Integer(_) | DeValue::Float(_) => {
            let number = scope.number(reader, entry, Wanted::DURATION)?;
            Some(WhenTemplate::Time(number))
        }
        _ => {
            reader.wrong_type(entry, AT);
            None
        }
    }
}

/// `first-grant`, `first-grant + 50ms`
fn first_event(reader: &mut Reader<'_>, scope: &mut Scope<'_>, piece: &Piece<'_>) -> Option<WhenTemplate> {
    let plus = piece.text.find('+');
    let event = piece.part(0..plus.unwrap_or(piece.text.len()));
    let found = EVENTS.iter().find(|(name, _)| event.text.strip_prefix("first-") == Some(name));
    let Some((name, _)) = found else {
        let known: Vec<String> = EVENTS.iter().map(|(name, _)| format!("first-{name}")).collect();
        let help = if EVENTS.iter().any(|(name, _)| *name == event.text) {
            Some(format!("did you mean `first-{}`?", event.text))
        } else {
            crate::nearest::did_you_mean(event.text, known.iter().map(String::as_str))
        };
        let help = help.map(|question| question + " ").unwrap_or_default();
        let message = format!("`{}` is not understood", event.text);
        reader.report(
            Problem::new(event.at, message)
                .label(format!("expected {AT}"))
                .help(format!("{help}events by name: {}", known.join(", "))),
        );
        return None;
    };
    let after = match plus {
        Some(plus) => scope.number_in(reader, &piece.part(plus + 1..piece.text.len()), Wanted::DURATION)?,
        None => Number::exactly(0),
    };
    Some(WhenTemplate::Event { name: (*name).to_owned(), occurrence: Number::exactly(1), after })
}

fn point_of<'t>(
    reader: &mut Reader<'t>,
    scope: &mut Scope<'_>,
    mut section: Section<'t>,
    entry: &Entry<'t>,
    target: Option<&Aimed>,
) -> Option<WhenTemplate> {
    let passing = ordinal(reader, scope, &mut section, "passing");
    section.exclude(&["event", "occurrence", "after"]);
    section.finish(reader);
    let piece = reader.string(entry, "the name of a point, such as \"before-write\"")?;
    let Some((name, _)) = POINTS.iter().find(|(name, _)| *name == piece.text) else {
        let names: Vec<&str> = POINTS.iter().map(|(name, _)| *name).collect();
        reader.unknown(&piece, "point", &names);
        return None;
    };
    if let Some(target) = target {
        let server = SERVER_POINTS.iter().find(|(point, _)| point == name).map(|(_, node)| *node);
        let can_pass = match server {
            Some(node) => target.name == node,
            None => target.name == "holder" || target.name.starts_with("client-"),
        };
        if !can_pass {
            let who = server.map_or("a client that holds the lock".to_owned(), |node| format!("`{node}`"));
            reader.report(
                Problem::new(piece.at, format!("`{}` never passes the point `{name}`", target.name))
                    .label(format!("only {who} does")),
            );
            return None;
        }
    }
    Some(WhenTemplate::Point { name: (*name).to_owned(), passing: passing? })
}

fn event_of<'t>(
    reader: &mut Reader<'t>,
    scope: &mut Scope<'_>,
    mut section: Section<'t>,
    entry: &Entry<'t>,
) -> Option<WhenTemplate> {
    let occurrence = ordinal(reader, scope, &mut section, "occurrence");
    let after = match section.take("after") {
        Some(entry) => scope.number(reader, &entry, Wanted::DURATION),
        None => Some(Number::exactly(0)),
    };
    section.exclude(&["point", "passing"]);
    section.finish(reader);
    let piece = reader.string(entry, "the name of an event, such as \"grant\"")?;
    if !EVENTS.iter().any(|(name, _)| *name == piece.text) {
        let names: Vec<&str> = EVENTS.iter().map(|(name, _)| *name).collect();
        reader.unknown(&piece, "event", &names);
        return None;
    }
    Some(WhenTemplate::Event { name: piece.text.to_owned(), occurrence: occurrence?, after: after? })
}

/// Which one; the first if the file does not say.
fn ordinal<'t>(
    reader: &mut Reader<'t>,
    scope: &mut Scope<'_>,
    section: &mut Section<'t>,
    key: &str,
) -> Option<Number> {
    match section.take(key) {
        Some(entry) => scope.number(reader, &entry, Wanted::ORDINAL),
        None => Some(Number::exactly(1)),
    }
}
