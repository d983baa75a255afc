//! Runs a scenario over its seeds, on all cores.
//!
//! Threads exist only here, outside of the simulations: each run is a world of its own on one thread, and
//! results are put together in seed order. So the thread count and the order of the work change nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fencepost_checker::history::FenceMode;
use fencepost_checker::{Digest, analyse, digest};
use fencepost_models::config::RunConfig;
use fencepost_models::fence::{self, Fence};
use fencepost_models::run::{self, RunOutput};
use fencepost_sim::{Concern, Stream};
use rayon::prelude::*;

use crate::row::{RowResult, SeedResult};
use crate::scenario::Scenario;
use crate::selection::Selection;

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads; as many as there are processors if 0.
    pub threads: usize,
    /// Work through the runs in an order drawn from this seed, instead of one after the other: it must
    /// change nothing, and tests prove that.
    pub shuffle: Option<u64>,
    /// What makes the fences; tests plant broken ones here.
    pub make_fence: fn(FenceMode) -> Box<dyn Fence>,
    /// Begin no further run once this is set; what was finished is put together.
    pub stop: Option<&'static AtomicBool>,
}

impl Default for Options {
    fn default() -> Self {
        Options { threads: 0, shuffle: None, make_fence: fence::fence, stop: None }
    }
}

/// What a scenario's runs add up to.
#[derive(Clone, Debug)]
pub struct Results {
    /// The rows, in table order.
    pub rows: Vec<RowResult>,
    /// The first seed.
    pub first_seed: u64,
}

/// The threads cannot be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start {threads} threads: {source}")]
pub struct ThreadsError {
    threads: usize,
    source: rayon::ThreadPoolBuildError,
}

/// How many runs are under way before their results are put together: bounds the memory.
const BATCH: usize = 16_384;

/// Runs all rows of a selection over its seeds; `progress` is told of each finished run.
///
/// # Errors
/// [`ThreadsError`].
pub fn run_scenario(
    scenario: &Scenario,
    selection: &Selection,
    options: &Options,
    progress: &(dyn Fn() + Sync),
) -> Result<Results, ThreadsError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
    let pool = pool.map_err(|source| ThreadsError { threads: options.threads, source })?;
    let mut rows: Vec<RowResult> = selection.rows.iter().map(|(row, _)| RowResult::new(*row)).collect();
    let first = selection.first_seed;
    let all = selection.rows.iter().enumerate();
    let all = all.flat_map(|(row, (_, seeds))| (first..first + seeds).map(move |seed| (row, seed)));
    let mut all = all.peekable();
    while all.peek().is_some() {
        let batch: Vec<(usize, u64)> = all.by_ref().take(BATCH).collect();
        let mut order: Vec<usize> = (0..batch.len()).collect();
        if let Some(seed) = options.shuffle {
            Stream::new(seed, Concern::Schedule, 0).shuffle(&mut order);
        }
        let run_one = |place: &usize| {
            if options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return None;
            }
            let (row, seed) = batch[*place];
            let mut config = scenario.run_config(selection.rows[row].0, seed);
            config.make_fence = options.make_fence;
            let result = run_seed(&config);
            progress();
            Some((*place, result))
        };
        let mut results: Vec<(usize, SeedResult)> =
            pool.install(|| order.par_iter().filter_map(run_one).collect());
        results.sort_by_key(|(place, _)| *place);
        for (place, result) in results {
            rows[batch[place].0].add(&result);
        }
    }
    Ok(Results { rows, first_seed: selection.first_seed })
}

/// Runs once and checks the history.
pub fn run_seed(config: &RunConfig) -> SeedResult {
    let output = run::run(config);
    judge(config, &output)
}

/// Checks the history of a run.
pub fn judge(config: &RunConfig, output: &RunOutput) -> SeedResult {
    // A dead holder's lease, and the request that notices its end.
    let stuck_allowed: Duration = config.lease + config.timeout + *config.retry.end();
    SeedResult {
        seed: config.seed,
        digest: digest(&output.header, &output.entries),
        engine_digest: output.engine_digest,
        end: output.end,
        analysis: analyse(&output.header, &output.entries),
        stuck_allowed_ns: u64::try_from(stuck_allowed.as_nanos()).unwrap_or(u64::MAX),
    }
}

impl Results {
    /// A digest over the digests of all rows, in table order.
    pub fn digest(&self) -> Digest {
        let bytes: Vec<u8> = self.rows.iter().flat_map(|row| *row.digest().as_bytes()).collect();
        Digest::of(&bytes)
    }

    /// Simulated time over all runs, in nanoseconds.
    pub fn simulated_ns(&self) -> u64 {
        self.rows.iter().map(|row| row.simulated_ns).sum()
    }

    /// The largest number of seeds of any row.
    pub fn seeds(&self) -> u64 {
        self.rows.iter().map(|row| row.seeds).max().unwrap_or(0)
    }

    /// How many runs there were.
    pub fn runs(&self) -> u64 {
        self.rows.iter().map(|row| row.seeds).sum()
    }
}
