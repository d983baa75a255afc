//! The `[[expect]]`: which rows, and what must hold for each of them.

use fencepost_models::catalogue::{self, FENCES, LOCKS, LockInfo, WORKLOADS};
use toml::de::DeValue;

use super::head::{self, Head};
use super::numbers::whole;
use super::section::{Entry, Piece, Reader, Section, tables};
use crate::diagnostic::{Problem, line_of};
use crate::expectation::{Check, Comparison, Contract, Count, Expectation, Party, Relation, Selector};
use crate::scenario::{Row, fence_name};

/// The keys that select rows.
const SELECTING: &[&str] = &["lock", "fence", "workload"];

/// The keys that judge rows.
fn judged_keys() -> impl Iterator<Item = &'static str> {
    Count::ALL.iter().map(|count| count.name()).chain(["blame", "contract"])
}

pub(super) fn read<'t>(
    reader: &mut Reader<'t>,
    head: &Head,
    rows: &[Row],
    entry: Option<&Entry<'t>>,
) -> Option<Vec<Expectation>> {
    let all_keys: Vec<&'static str> = SELECTING.iter().copied().chain(judged_keys()).collect();
    let sections = tables(reader, entry, "an expectation", &all_keys)?;
    let before = reader.problems.len();
    let expectations = sections.into_iter().filter_map(|it| expectation(reader, head, rows, it)).collect();
    (reader.problems.len() == before).then_some(expectations)
}

fn expectation<'t>(
    reader: &mut Reader<'t>,
    head: &Head,
    rows: &[Row],
    mut section: Section<'t>,
) -> Option<Expectation> {
    let before = reader.problems.len();
    let at = section.at.clone();
    let selector = selector(reader, head, rows, &mut section);

    let mut checks = Vec::new();
    for count in Count::ALL {
        if let Some(entry) = section.take(count.name()) {
            checks.extend(comparison(reader, &entry).map(|it| (entry, Check::Count(*count, it))));
        }
    }
    if let Some(entry) = section.take("blame") {
        checks.extend(blame(reader, &entry).map(|parties| (entry, Check::Blame(parties))));
    }
    if let Some(entry) = section.take("contract") {
        checks.extend(contract(reader, &entry).map(|contract| (entry, Check::Contract(contract))));
    }
    section.finish(reader);
    if reader.problems.len() > before {
        return None;
    }
    if checks.is_empty() {
        reader.report(
            Problem::new(at, "this expectation expects nothing")
                .label("add something to judge, such as `lost_debits = 0`")
                .help(format!("what can be judged: {}", judged_keys().collect::<Vec<_>>().join(", "))),
        );
        return None;
    }
    // In the order of the file: that is how its author tells the story.
    checks.sort_by_key(|(entry, _)| entry.key_at.start);
    let checks = checks.into_iter().map(|(_, check)| check).collect();
    Some(Expectation { selector: selector?, checks, line: line_of(reader.text, at.start) })
}

fn selector<'t>(
    reader: &mut Reader<'t>,
    head: &Head,
    rows: &[Row],
    section: &mut Section<'t>,
) -> Option<Selector> {
    let mut selector = Selector::default();
    let before = reader.problems.len();
    let at = section.at.clone();

    for piece in selected(reader, section, "lock") {
        let locks = locks_named(piece.text);
        let here: Vec<&'static LockInfo> =
            head.locks.iter().copied().filter(|lock| locks.contains(lock)).collect();
        if locks.is_empty() {
            let all: Vec<&str> = LOCKS.iter().map(|lock| lock.name).collect();
            reader.unknown(&piece, "lock", &all);
        } else if here.is_empty() {
            not_run(reader, &piece, "locks", &head.locks.iter().map(|it| it.name).collect::<Vec<_>>());
        }
        for lock in here {
            if !selector.locks.contains(&lock) {
                selector.locks.push(lock);
            }
        }
    }
    for piece in selected(reader, section, "fence") {
        let all: Vec<&str> = FENCES.iter().map(|(name, ..)| *name).collect();
        match head::fence(piece.text) {
            None => reader.unknown(&piece, "fence", &all),
            Some(fence) if rows.iter().all(|row| row.fence != fence) => {
                let here: Vec<&str> = FENCES
                    .iter()
                    .filter(|(_, mode, _)| rows.iter().any(|row| row.fence == *mode))
                    .map(|(name, ..)| *name)
                    .collect();
                not_run(reader, &piece, "fences", &here);
            }
            Some(fence) => selector.fences.push(fence),
        }
    }
    for piece in selected(reader, section, "workload") {
        match catalogue::workload(piece.text) {
            None => {
                let all: Vec<&str> = WORKLOADS.iter().map(|it| it.name).collect();
                reader.unknown(&piece, "workload", &all);
            }
            Some(workload) if !head.workloads.contains(&workload) => {
                let here: Vec<&str> = head.workloads.iter().map(|it| it.name).collect();
                not_run(reader, &piece, "workloads", &here);
            }
            Some(workload) => selector.workloads.push(workload),
        }
    }

    if reader.problems.len() > before {
        return None;
    }
    if !rows.iter().any(|row| selector.matches(row.lock, row.fence, row.workload)) {
        reader.report(
            Problem::new(at, "this expectation selects no row of the table")
                .label("no row has this lock, fence and workload together")
                .maybe_help(possible_fences(rows, &selector)),
        );
        return None;
    }
    Some(selector)
}

/// The names under a key that selects; none if it is absent, for all.
fn selected<'t>(reader: &mut Reader<'t>, section: &mut Section<'t>, key: &str) -> Vec<Piece<'t>> {
    let Some(entry) = section.take(key) else {
        return Vec::new();
    };
    let Some(pieces) = reader.pieces(&entry, &format!("a {key}, or a list of them")) else {
        return Vec::new();
    };
    if pieces.is_empty() {
        reader.report(
            Problem::new(entry.at, format!("`{key}` is empty, so it selects nothing"))
                .label(format!("leave `{key}` out to select all")),
        );
    }
    pieces
}

/// The lock of this name or, if there is none or the name ends in `*`, all locks of the family: `redis` is
/// one lock, `redis*` is the family.
fn locks_named(name: &str) -> Vec<&'static LockInfo> {
    if let Some(lock) = catalogue::lock(name) {
        return vec![lock];
    }
    let family = name.strip_suffix('*').unwrap_or(name);
    LOCKS.iter().filter(|lock| lock.family == family).collect()
}

fn not_run(reader: &mut Reader<'_>, piece: &Piece<'_>, key: &str, here: &[&str]) {
    reader.report(
        Problem::new(piece.at.clone(), format!("this scenario does not run `{}`", piece.text))
            .label(format!("its {key} are: {}", here.join(", "))),
    );
}

/// The fences that would go with the selected locks and workloads.
fn possible_fences(rows: &[Row], selector: &Selector) -> Option<String> {
    let any_fence = Selector { fences: Vec::new(), ..selector.clone() };
    let mut names: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| any_fence.matches(row.lock, row.fence, row.workload)) {
        if !names.contains(&fence_name(row.fence)) {
            names.push(fence_name(row.fence));
        }
    }
    (!names.is_empty()).then(|| format!("there, the fences are: {}", names.join(", ")))
}

/// `0`, `">0"`, `">=3"`
fn comparison<'t>(reader: &mut Reader<'t>, entry: &Entry<'t>) -> Option<Comparison> {
    const EXPECTED: &str = "a number such as 0, or a comparison such as \">0\", \">=3\", \"<10\"";
    let problem = match entry.value {
        DeValue::Integer(number) => {
            let count = whole(number).and_then(|number| u64::try_from(number).ok());
            match count {
                Some(number) => return Some(Comparison { relation: Relation::Equal, number }),
                None => Problem::new(entry.at.clone(), format!("no count is ever `{number}`"))
                    .label(format!("expected {EXPECTED}")),
            }
        }
        DeValue::String(_) => {
            let piece = reader.string(entry, EXPECTED)?;
            match Comparison::parse(piece.text) {
                Ok(comparison) => return Some(comparison),
                Err((message, help)) => {
                    Problem::new(piece.at, message).label(format!("expected {EXPECTED}")).maybe_help(help)
                }
            }
        }
        _ => {
            reader.wrong_type(entry, EXPECTED);
            return None;
        }
    };
    reader.report(problem);
    None
}

fn blame<'t>(reader: &mut Reader<'t>, entry: &Entry<'t>) -> Option<Vec<Party>> {
    let all: Vec<&str> = Party::ALL.iter().map(|party| party.name()).collect();
    let pieces = reader.pieces(entry, &format!("a list of: {}", all.join(", ")))?;
    let mut parties = Vec::new();
    for piece in &pieces {
        match Party::named(piece.text) {
            Some(party) => parties.push(party),
            None => reader.unknown(piece, "party to blame", &all),
        }
    }
    (parties.len() == pieces.len()).then_some(parties)
}

fn contract<'t>(reader: &mut Reader<'t>, entry: &Entry<'t>) -> Option<Contract> {
    let piece = reader.string(entry, "\"kept\" or \"broken\"")?;
    let contract = Contract::named(piece.text);
    if contract.is_none() {
        let all: Vec<&str> = Contract::ALL.iter().map(|it| it.name()).collect();
        reader.unknown(&piece, "state of the contract", &all);
    }
    contract
}
