//! The table of a scenario: one for each workload, a row for each lock and fence mode.

use comfy_table::{Cell, CellAlignment, Table, presets};
use fencepost_checker::history::FenceMode;
use fencepost_models::catalogue::WorkloadInfo;
use fencepost_scenarios::expectation::Count;
use fencepost_scenarios::{RowResult, Verdict, fence_name};

use crate::numbers::{grouped, rate};
use crate::paint::Paint;

/// From this width on the table shows what is nice to know, too.
const WIDE: usize = 112;

/// What the ledger's state says about a row, in a word or two.
/// The worse, the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Claim {
    /// Nothing was lost or doubled.
    Held,
    /// Nothing was charged twice, but only an idempotency key promises that.
    NotGuaranteed,
    /// Nothing happened.
    Unknown,
    /// Nothing was lost or doubled, but by luck: two held the lock at once, and the resource checks nothing.
    ByLuck,
    /// Something was lost or doubled.
    Failed,
}

impl Claim {
    pub(crate) fn of(row: &RowResult) -> Claim {
        let overlapped = row.exclusion() == Verdict::Fail;
        let is_invoice = row.row.workload.name == "invoice";
        match row.data() {
            Verdict::Fail => Claim::Failed,
            Verdict::Unknown => Claim::Unknown,
            Verdict::Pass if overlapped && row.row.fence == FenceMode::Off => Claim::ByLuck,
            Verdict::Pass if is_invoice && row.row.fence != FenceMode::Idempotency => Claim::NotGuaranteed,
            Verdict::Pass => Claim::Held,
        }
    }

    fn painted(self, paint: Paint) -> String {
        match self {
            Claim::Failed => paint.harm("FAILED HERE"),
            Claim::Held => paint.good("held here"),
            Claim::ByLuck => paint.doubt("no claim [1]"),
            Claim::NotGuaranteed => paint.doubt("held here [2]"),
            Claim::Unknown => paint.doubt("unknown"),
        }
    }

    /// The note that the table's mark points to.
    pub(crate) fn note(self) -> Option<&'static str> {
        match self {
            Claim::ByLuck => Some(
                "[1] nothing was lost here, but two workers held the lock at once and this resource checks \
                 nothing: luck, not safety",
            ),
            Claim::NotGuaranteed => Some(
                "[2] not guaranteed: no invoice was charged twice here, but only an idempotency key stored \
                 with the charge promises that (a reply can be lost, and the client ask again)",
            ),
            _ => None,
        }
    }
}

/// The table of one workload: the rows of a lock below its name.
pub(crate) fn table(workload: &WorkloadInfo, rows: &[&RowResult], width: usize, paint: Paint) -> String {
    let wide = width >= WIDE;
    let harm = harm(workload);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut header = vec!["  fence", "double holders", harm_title(harm), "verdict", "fault of"];
    if wide {
        header.splice(3..3, ["late taken", "late refused"]);
    }
    table.set_header(header.iter().map(|title| Cell::new(paint.strong(title))));
    for row in rows {
        table.add_row(cells(row, harm, wide, paint));
    }
    let columns = table.column_count();
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index + 1 == columns { 0 } else { 3 }));
    }
    // Cells are never wrapped, so that each row is one line: the columns fit 80 as they are.
    let mut lines = table.lines().map(|line| line.trim_end().to_owned());
    let mut text = lines.next().unwrap_or_default() + "\n";
    let mut last_lock = "";
    for (line, row) in lines.zip(rows) {
        let lock = row.row.lock.name;
        if lock != last_lock {
            let seeds =
                if row.seeds == 1 { "1 seed".to_owned() } else { format!("{} seeds", grouped(row.seeds)) };
            text += &format!("{}, {seeds}\n", paint.strong(lock));
        }
        text += &format!("{line}\n");
        last_lock = lock;
    }
    text
}

fn cells(row: &RowResult, harm: Count, wide: bool, paint: Paint) -> Vec<Cell> {
    let mut cells = vec![
        Cell::new(format!("  {}", fence_name(row.row.fence))),
        Cell::new(seeds_with(row, Count::DoubleHolders)),
        Cell::new(seeds_with(row, harm)),
        Cell::new(Claim::of(row).painted(paint)),
        Cell::new(faults(row)),
    ];
    if wide {
        let number = |count| Cell::new(grouped(row.tally(count).total)).set_alignment(CellAlignment::Right);
        cells.splice(3..3, [number(Count::StaleAccepted), number(Count::StaleRejected)]);
    }
    cells
}

/// What an overlap costs in a workload.
pub(crate) fn harm(workload: &WorkloadInfo) -> Count {
    if workload.name == "invoice" { Count::DoubleDebits } else { Count::LostDebits }
}

fn harm_title(harm: Count) -> &'static str {
    if harm == Count::DoubleDebits { "double debits" } else { "lost debits" }
}

fn seeds_with(row: &RowResult, count: Count) -> String {
    rate(row.tally(count).seeds, row.seeds)
}

fn faults(row: &RowResult) -> String {
    let blamed = row.blamed();
    if blamed.is_empty() {
        return "-".to_owned();
    }
    blamed.iter().map(|party| party.name()).collect::<Vec<_>>().join(", ")
}
