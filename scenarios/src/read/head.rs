//! The keys above the tables: format, title, story, locks, workloads, fences, seeds.

use fencepost_checker::history::FenceMode;
use fencepost_models::catalogue::{self, FENCES, LOCKS, LockInfo, WORKLOADS, WorkloadInfo};
use toml::de::DeValue;

use super::numbers::whole;
use super::section::{Entry, Piece, Reader, Section};
use crate::diagnostic::Problem;
use crate::scenario::{FORMAT, SEEDS_DEFAULT, SEEDS_MAX, Seeds, applies};

pub(super) struct Head {
    pub title: String,
    pub story: String,
    pub locks: Vec<&'static LockInfo>,
    pub workloads: Vec<&'static WorkloadInfo>,
    pub fences: Option<Vec<FenceMode>>,
    pub seeds: Seeds,
}

/// Takes the format; `None` if it is another one.
pub(super) fn format(reader: &mut Reader<'_>, file: &mut Section<'_>) -> Option<()> {
    let Some(entry) = file.take("format") else {
        reader.report(
            Problem::new(file.at.clone(), "a scenario file needs the key `format`")
                .label("`format` is missing")
                .help(format!("begin the file with `format = {FORMAT}`")),
        );
        // Most likely it was forgotten: what else is wrong can be said all the same.
        return Some(());
    };
    if let DeValue::Integer(number) = entry.value
        && whole(number) == Some(FORMAT)
    {
        return Some(());
    }
    reader.report(
        Problem::new(entry.at, "this format is not known")
            .label(format!("this version reads `format = {FORMAT}` only")),
    );
    None
}

pub(super) fn read<'t>(reader: &mut Reader<'t>, file: &mut Section<'t>) -> Option<Head> {
    let title = file.require(reader, "title", "title = \"A pause of the holder\"");
    let title = title.and_then(|entry| line(reader, &entry));
    let story = file.require(reader, "story", "story = \"\"\"what happens, in two or three sentences\"\"\"");
    let story = story.and_then(|entry| prose(reader, &entry));

    let lock_names: Vec<&str> = LOCKS.iter().map(|lock| lock.name).collect();
    let workload_names: Vec<&str> = WORKLOADS.iter().map(|workload| workload.name).collect();
    let fence_names: Vec<&str> = FENCES.iter().map(|(name, ..)| *name).collect();

    let locks = file.require(reader, "locks", "locks = [\"redis\", \"none\"]");
    let locks = locks.and_then(|entry| list(reader, &entry, "lock", &lock_names, catalogue::lock));
    let workloads = match file.take("workloads") {
        Some(entry) => list(reader, &entry, "workload", &workload_names, catalogue::workload),
        None => Some(WORKLOADS.iter().map(|workload| Named { value: workload, piece: None }).collect()),
    };
    let fences = match file.take("fences") {
        Some(entry) => list(reader, &entry, "fence", &fence_names, fence).map(Some),
        None => Some(None),
    };
    let seeds = match file.take("seeds") {
        Some(entry) => seeds(reader, &entry),
        None => Some(Seeds::all(SEEDS_DEFAULT)),
    };

    let (locks, workloads, fences) = (locks?, workloads?, fences?);
    let seeds = seeds.filter(|seeds| seeds_are_used(reader, seeds, &locks));
    each_has_a_row(reader, &locks, &workloads, fences.as_deref())?;
    Some(Head {
        title: title?,
        story: story?,
        locks: values(&locks),
        workloads: values(&workloads),
        fences: fences.map(|fences| values(&fences)),
        seeds: seeds?,
    })
}

/// The fence mode of this name.
pub(super) fn fence(name: &str) -> Option<FenceMode> {
    FENCES.iter().find(|(known, ..)| *known == name).map(|(_, mode, _)| *mode)
}

/// Something by its name, and where the file names it.
struct Named<'t, T> {
    value: T,
    piece: Option<Piece<'t>>,
}

fn values<T: Copy>(named: &[Named<'_, T>]) -> Vec<T> {
    named.iter().map(|one| one.value).collect()
}

fn list<'t, T>(
    reader: &mut Reader<'t>,
    entry: &Entry<'t>,
    what: &str,
    names: &[&str],
    find: impl Fn(&str) -> Option<T>,
) -> Option<Vec<Named<'t, T>>> {
    let pieces = reader.pieces(entry, &format!("a {what}, or a list of them"))?;
    if pieces.is_empty() {
        reader.report(
            Problem::new(entry.at.clone(), format!("`{}` is empty", entry.key))
                .label(format!("expected at least one {what}"))
                .help(format!("there are: {}", names.join(", "))),
        );
        return None;
    }
    let named = pieces.len();
    let mut found = Vec::new();
    for piece in pieces {
        match find(piece.text) {
            Some(value) => found.push(Named { value, piece: Some(piece) }),
            None => reader.unknown(&piece, what, names),
        }
    }
    (found.len() == named).then_some(found)
}

/// Every lock, workload and fence that is named must be in at least one row of the table.
fn each_has_a_row(
    reader: &mut Reader<'_>,
    locks: &[Named<'_, &'static LockInfo>],
    workloads: &[Named<'_, &'static WorkloadInfo>],
    fences: Option<&[Named<'_, FenceMode>]>,
) -> Option<()> {
    let Some(fences) = fences else {
        // Without fences every workload has the mode `off`, and every lock can do without a fence.
        return Some(());
    };
    let before = reader.problems.len();
    let wanted = values(fences);
    let in_table = |lock: &LockInfo, workload: &WorkloadInfo, fence: FenceMode| {
        workload.fences.contains(&fence) && applies(lock, fence) && wanted.contains(&fence)
    };
    let mut useless = |piece: &Option<Piece<'_>>, label: &str| {
        if let Some(piece) = piece {
            let message = format!("`{}` is in no row of the table", piece.text);
            reader.report(Problem::new(piece.at.clone(), message).label(label));
        }
    };
    for fence in fences {
        let has_workload = workloads.iter().any(|it| it.value.fences.contains(&fence.value));
        let has_row = workloads
            .iter()
            .any(|workload| locks.iter().any(|lock| in_table(lock.value, workload.value, fence.value)));
        if !has_workload {
            useless(&fence.piece, "none of the workloads has a resource with this fence");
        } else if !has_row {
            useless(&fence.piece, "it compares tokens, and none of the locks has any");
        }
    }
    for lock in locks {
        let rows =
            workloads.iter().any(|it| wanted.iter().any(|&fence| in_table(lock.value, it.value, fence)));
        if !rows {
            useless(&lock.piece, "none of the fences can be used with this lock");
        }
    }
    for workload in workloads {
        let rows =
            locks.iter().any(|it| wanted.iter().any(|&fence| in_table(it.value, workload.value, fence)));
        if !rows {
            useless(&workload.piece, "none of the fences can be used with this workload");
        }
    }
    (reader.problems.len() == before).then_some(())
}

/// `300`, or `{ default = 300, none = 100 }`.
fn seeds<'t>(reader: &mut Reader<'t>, entry: &Entry<'t>) -> Option<Seeds> {
    let DeValue::Table(table) = entry.value else { return seed_count(reader, entry).map(Seeds::all) };
    let names = LOCKS.iter().map(|lock| lock.name);
    let mut section = Section::new("`seeds`", names.chain(["default"]), table, entry.at.clone());
    let default = section.require(reader, "default", "default = 300");
    let default = default.and_then(|entry| seed_count(reader, &entry));
    let mut per_lock = Some(Vec::new());
    for lock in LOCKS {
        let Some(entry) = section.take(lock.name) else { continue };
        let count = seed_count(reader, &entry);
        per_lock = per_lock.zip(count).map(|(mut list, count)| {
            list.push((lock, count));
            list
        });
    }
    section.finish(reader);
    Some(Seeds { default: default?, per_lock: per_lock? })
}

/// A number of seeds for a lock that is not in the table would mean nothing.
fn seeds_are_used(reader: &mut Reader<'_>, seeds: &Seeds, locks: &[Named<'_, &'static LockInfo>]) -> bool {
    let unused = seeds.per_lock.iter().find(|(lock, _)| locks.iter().all(|it| it.value.name != lock.name));
    if let Some((lock, _)) = unused {
        let at = reader.text.find("seeds").map_or(0..0, |start| start..start + "seeds".len());
        reader.report(
            Problem::new(at, format!("`seeds` names `{}`, which is none of the locks", lock.name))
                .label("each lock that it names must be listed in `locks`"),
        );
    }
    unused.is_none()
}

fn seed_count<'t>(reader: &mut Reader<'t>, entry: &Entry<'t>) -> Option<u64> {
    let DeValue::Integer(number) = entry.value else {
        reader.wrong_type(entry, "the number of seeds, such as 300");
        return None;
    };
    let seeds = whole(number).and_then(|number| u64::try_from(number).ok());
    let seeds = seeds.filter(|seeds| (1..=SEEDS_MAX).contains(seeds));
    if seeds.is_none() {
        reader.report(
            Problem::new(entry.at.clone(), format!("`{number}` is no number of seeds"))
                .label(format!("expected 1 to {SEEDS_MAX}")),
        );
    }
    seeds
}

fn line<'t>(reader: &mut Reader<'t>, entry: &Entry<'t>) -> Option<String> {
    let text = prose(reader, entry)?;
    if text.contains('\n') {
        reader.report(
            Problem::new(entry.at.clone(), format!("`{}` has several lines", entry.key))
                .label("expected one line; more of them go into `story`"),
        );
        return None;
    }
    Some(text)
}

/// Text that is going to be shown to people, on terminals: it may not be empty, nor steer the terminal.
fn prose<'t>(reader: &mut Reader<'t>, entry: &Entry<'t>) -> Option<String> {
    let piece = reader.string(entry, "a string, in quotes")?;
    let text = piece.text.trim().replace("\r\n", "\n");
    if text.is_empty() {
        reader.report(
            Problem::new(entry.at.clone(), format!("`{}` is empty", entry.key)).label("expected a text"),
        );
        return None;
    }
    if let Some(control) = text.chars().find(|c| c.is_control() && *c != '\n') {
        reader.report(
            Problem::new(entry.at.clone(), format!("`{}` has a control character", entry.key))
                .label(format!("{} cannot be shown", control.escape_unicode())),
        );
        return None;
    }
    Some(text)
}
