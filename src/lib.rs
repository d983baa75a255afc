//! Fencepost shows, before production does, when a distributed lock lets two holders in and what that costs.
//!
//! This crate is the public face of the workspace; the parts have their own documentation:
//! - [`sim`]: a deterministic world of nodes, clocks, connections, disks, and faults as data;
//! - [`checker`]: histories, and what is counted, promised and blamed in them;
//! - [`models`]: lock services and their clients, resources and their fences, workloads;
//! - [`scenarios`]: scenario files, and running them over seeds;
//! - [`reports`]: tables and the telling of one run.

pub use fencepost_checker as checker;
pub use fencepost_models as models;
pub use fencepost_reports as reports;
pub use fencepost_scenarios as scenarios;
pub use fencepost_sim as sim;
