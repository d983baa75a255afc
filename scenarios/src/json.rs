//! Results as JSON, schema 1.
//!
//! Fields are added, never renamed or reused. No wall time and nothing of the machine is in it: the same
//! scenario and seeds give equal bytes, whatever the thread count. `docs/scenario.schema.json` describes it.

use std::collections::BTreeMap;

use fencepost_checker::Digest;
use fencepost_checker::analysis::Contract;
use fencepost_checker::finding::Assumptions;
use fencepost_checker::history::{CheckDepth, RetryPolicy};
use serde::Serialize;

use crate::command_line;
use crate::exit::Exit;
use crate::expectation::{Count, Party};
use crate::interval::Interval;
use crate::judge::{Expecter, Failure};
use crate::parameters::Parameters;
use crate::row::{RowResult, Verdict};
use crate::runner::Results;
use crate::scenario::{Scenario, fence_name};

/// Name and version of the format.
pub const SCHEMA: &str = "fencepost.scenario/1";

/// The results of one scenario.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    engine: &'static str,
    scenario: Described<'a>,
    seeds: SeedRange,
    rows: Vec<RowDocument>,
    expectations: Expectations,
    exit_code: u8,
}

#[derive(Debug, Serialize)]
struct Described<'a> {
    name: &'a str,
    digest: Digest,
    parameters: &'a Parameters,
}

#[derive(Debug, Serialize)]
struct SeedRange {
    first: u64,
    count: u64,
}

#[derive(Debug, Serialize)]
struct RowDocument {
    lock: &'static str,
    fence: &'static str,
    workload: &'static str,
    client: Client,
    seeds: u64,
    violating_seeds: u64,
    first_violating_seed: Option<u64>,
    grants: u64,
    operations: u64,
    #[serde(flatten)]
    totals: BTreeMap<&'static str, u64>,
    double_holder_ms: u64,
    double_grant_ms: u64,
    max_holders: u32,
    acquire_ms: Quantiles,
    seeds_with: BTreeMap<&'static str, u64>,
    ci95: BTreeMap<&'static str, Interval>,
    contract: Contract,
    verdicts: Verdicts,
    blame: BTreeMap<&'static str, u64>,
    broken_assumptions: Assumptions,
    digest: Digest,
    reproduce: Option<String>,
}

#[derive(Debug, Serialize)]
struct Client {
    check: CheckDepth,
    renew: bool,
    retry: RetryPolicy,
}

#[derive(Debug, Serialize)]
struct Quantiles {
    p50: Option<f64>,
    p99: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Verdicts {
    exclusion: Verdict,
    data: Verdict,
    liveness: Verdict,
}

#[derive(Debug, Serialize)]
struct Expectations {
    judged: bool,
    failed: Vec<FailedDocument>,
}

#[derive(Debug, Serialize)]
struct FailedDocument {
    lock: &'static str,
    fence: &'static str,
    workload: &'static str,
    count: String,
    expected: String,
    found: String,
    required: bool,
}

/// The document of a scenario's results; `judged` says whether the file's expectations were judged.
pub fn document<'a>(
    scenario: &'a Scenario,
    results: &Results,
    judged: bool,
    failures: &[Failure],
    exit: Exit,
) -> Document<'a> {
    Document {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        engine: "native",
        scenario: Described {
            name: &scenario.name,
            digest: Digest::of(scenario.source_with_overrides().as_bytes()),
            parameters: &scenario.parameters,
        },
        seeds: SeedRange { first: results.first_seed, count: results.seeds() },
        rows: results.rows.iter().map(|row| row_document(scenario, row)).collect(),
        expectations: Expectations { judged, failed: failures.iter().map(failed_document).collect() },
        exit_code: exit.code(),
    }
}

impl Document<'_> {
    /// The text of the document, with a final line break.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data with string keys") + "\n"
    }
}

fn row_document(scenario: &Scenario, row: &RowResult) -> RowDocument {
    let counted = |value: &dyn Fn(Count) -> u64| {
        Count::ALL.iter().map(|count| (count.name(), value(*count))).collect::<BTreeMap<_, _>>()
    };
    let milliseconds = |quantile| row.acquire_quantile_ns(quantile).map(|ns| ns as f64 / 1e6);
    RowDocument {
        lock: row.row.lock.name,
        fence: fence_name(row.row.fence),
        workload: row.row.workload.name,
        client: Client { check: row.row.lock.check, renew: row.row.lock.renews, retry: RetryPolicy::Never },
        seeds: row.seeds,
        violating_seeds: row.violating_seeds,
        first_violating_seed: row.first_violating_seed,
        grants: row.grants,
        operations: row.operations,
        totals: counted(&|count| row.tally(count).total),
        double_holder_ms: row.double_holder_ns / 1_000_000,
        double_grant_ms: row.double_grant_ns / 1_000_000,
        max_holders: row.max_holders,
        acquire_ms: Quantiles { p50: milliseconds(0.50), p99: milliseconds(0.99) },
        seeds_with: counted(&|count| row.tally(count).seeds),
        ci95: Count::ALL.iter().map(|count| (count.name(), row.interval(*count))).collect(),
        contract: row.contract,
        verdicts: Verdicts { exclusion: row.exclusion(), data: row.data(), liveness: row.liveness() },
        blame: Party::ALL.iter().map(|party| (party.name(), row.blamed_seeds(*party))).collect(),
        broken_assumptions: row.assumptions,
        digest: row.digest(),
        reproduce: row.first_violating_seed.map(|seed| command_line::replay(scenario, row.row, seed)),
    }
}

fn failed_document(failure: &Failure) -> FailedDocument {
    FailedDocument {
        lock: failure.row.lock.name,
        fence: fence_name(failure.row.fence),
        workload: failure.row.workload.name,
        count: failure.key.clone(),
        expected: failure.expected.clone(),
        found: failure.found.clone(),
        required: failure.by == Expecter::Requirement,
    }
}
