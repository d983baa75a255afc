//! `fencepost list`: what can be named.

use clap::{Args, ValueEnum};
use fencepost_models::catalogue::{EVENTS, FENCES, LOCKS, NODES, POINTS, ROLES, WORKLOADS};
use fencepost_reports::listing::{Item, Listing};
use fencepost_scenarios::builtin;

use super::screen::Screen;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// What to list
    #[arg(value_enum)]
    what: Option<What>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Scenarios that are built in
    Scenarios,
    /// Locks, with the care that their clients take
    Locks,
    /// What a scenario file can let go wrong, where and when
    Faults,
    /// Workloads and the fence modes of their resource
    Fences,
}

/// What a scenario file can let go wrong.
const FAULTS: &[(&str, &str)] = &[
    ("pause", "stops all code of a node; its clocks go on (a garbage collection, SIGSTOP, a VM steal)"),
    ("kill", "ends a process; with `lasts` it restarts after that, with what its disk has"),
    ("power-off", "ends a host: peers get silence, and what was not synced is gone"),
    ("clock-step", "steps a wall clock by `by`, forward or back"),
    ("clock-rate", "lets the clocks of a node gain `wall_ppm` and `monotonic_ppm`"),
    ("hold-message", "delays the next message from the target to `to`, and what follows on its connection"),
    ("cut", "lets nothing through between the target and `to`; it arrives afterwards"),
    ("isolate", "cuts the target off from everybody"),
];

pub(super) fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<u8> {
    let mut listing = Listing::default();
    let wanted = |what| arguments.what.is_none_or(|it| it == what);
    if wanted(What::Scenarios) {
        let mut items = Vec::new();
        for builtin in builtin::all() {
            items.push(Item::new(builtin.name, builtin.scenario()?.title));
        }
        listing.add("Scenarios: fencepost scenario NAME", items);
    }
    if wanted(What::Locks) {
        let items = LOCKS.iter().map(|it| Item::new(it.name, it.summary)).collect();
        listing.add("Locks: --lock NAME, or FAMILY* for all of a family", items);
    }
    if wanted(What::Fences) {
        let items = WORKLOADS.iter().map(|it| Item::new(it.name, it.summary)).collect();
        listing.add("Workloads: --workload NAME", items);
        let items = FENCES.iter().map(|(name, _, meaning)| Item::new(*name, *meaning)).collect();
        listing.add("Fence modes of the resource: --fence NAME", items);
    }
    if wanted(What::Faults) {
        let items =
            |named: &[(&str, &str)]| named.iter().map(|(name, meaning)| Item::new(*name, *meaning)).collect();
        listing.add("Faults: what = \"NAME\" in a scenario file", items(FAULTS));
        listing.add("Targets: roles, resolved when the fault begins", items(ROLES));
        listing.add("Targets: nodes, and client-1, client-2, …", items(NODES));
        listing.add("Moments: at = { point = \"NAME\", passing = 1 }", items(POINTS));
        listing.add("Moments: at = \"first-NAME + 50ms\"", items(EVENTS));
    }
    screen.print(&listing.text(screen.width, screen.colour))?;
    Ok(0)
}
