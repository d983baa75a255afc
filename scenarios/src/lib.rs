//! Scenario files: schema, runner, suite.
//!
//! A [`Scenario`] says in one file which locks and workloads meet which faults, and what is expected of them:
//!
//! ```
//! use fencepost_scenarios::Scenario;
//!
//! let text = r#"
//!     format = 1
//!     title = "A pause of the holder"
//!     story = "The holder is stopped between its check and its write."
//!     locks = ["redis", "none"]
//!     workloads = ["ledger"]             # both, if left out
//!     fences = ["off", "read-write"]     # all that apply, if left out
//!     seeds = 300
//!
//!     [parameters]                       # see `parameters::KNOWN` for those that every scenario has
//!     clients = 3
//!     lease = "10s"
//!     pause = "8s..20s"                  # its own: a value is drawn for each run
//!
//!     [[faults]]                         # what, to whom, when, how long
//!     what = "pause"
//!     target = "holder"
//!     at = { point = "before-write", passing = "1..3" }
//!     lasts = "$pause"
//!
//!     [[expect]]                         # of which rows, and what
//!     lock = "redis"
//!     fence = "read-write"
//!     double_holders = ">0"
//!     lost_debits = 0
//!     blame = ["holder"]
//! "#;
//! let mut scenario = Scenario::parse("pause", "pause.toml", text)?;
//! assert_eq!(scenario.rows().len(), 3, "a fence that compares tokens cannot be used without a lock");
//!
//! scenario.set("pause=6.3s")?;
//! assert!(scenario.is_modified());
//! assert!(scenario.source_with_overrides().contains("pause = \"6.3s\""));
//!
//! let error = Scenario::parse("pause", "pause.toml", &text.replace("holder", "holdr")).unwrap_err();
//! assert!(error.to_string().contains("did you mean `holder`?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod builtin;
pub mod command_line;
pub mod expectation;
pub mod fault_template;
pub mod json;
pub mod judge;
pub mod nearest;
pub mod parameters;
pub mod quantity;
pub mod runner;
pub mod saved;
pub mod selection;
pub mod suite;

mod diagnostic;
mod draw;
mod exit;
mod interval;
mod overrides;
mod read;
mod row;
mod scenario;

pub use diagnostic::{Problem, ScenarioError};
pub use exit::Exit;
pub use expectation::{Check, Expectation};
pub use fault_template::{FaultTemplate, Number};
pub use interval::Interval;
pub use overrides::SetError;
pub use parameters::Parameters;
pub use quantity::Span;
pub use row::{RowResult, SeedResult, Tally, Verdict};
pub use runner::Results;
pub use scenario::{FORMAT, Row, SEEDS_DEFAULT, SEEDS_MAX, Scenario, Seeds, applies, fence_name};
