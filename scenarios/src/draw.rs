//! Draws the numbers of one run from its seed.
//!
//! A run = seed + parameters + fault schedule. The schedule is generated here and then executed as data.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use fencepost_models::config::RunConfig;
use fencepost_sim::{Concern, Stream};

use crate::fault_template::Number;
use crate::parameters::{Drawn, KNOWN};
use crate::quantity::Span;
use crate::scenario::{Row, Scenario};

/// The stream of the parameters lies beside those of the nodes.
const PARAMETERS: u32 = u32::MAX;

impl Scenario {
    /// Everything that the run of a row with a seed depends on.
    pub fn run_config(&self, row: Row, seed: u64) -> RunConfig {
        let drawn = self.drawn_parameters(seed);
        let once = |name: &str| drawn[name];
        let count = |name: &str| u32::try_from(once(name)).expect("the schema bounds counts");
        let parameters = &self.parameters;
        let mut config = RunConfig::new(seed, row.lock, row.workload, row.fence);
        config.clients = count("clients");
        config.jobs = count("jobs");
        config.renewals = count("renewals");
        config.lease = duration(once("lease"));
        config.timeout = duration(once("timeout"));
        config.limit = duration(once("limit"));
        config.amount = once("amount");
        config.balance = once("balance");
        config.work = durations(parameters.work());
        config.retry = durations(parameters.retry());
        config.latency = durations(parameters.latency());
        config.fsync = durations(parameters.fsync());
        config.drift_ppm = parameters.drift_ppm().low..=parameters.drift_ppm().high;
        config.faults = self.schedule(seed, drawn);
        config
    }

    fn drawn_parameters(&self, seed: u64) -> BTreeMap<String, i64> {
        let mut stream = Stream::new(seed, Concern::Workload, PARAMETERS);
        let once = KNOWN.iter().filter(|known| known.drawn == Drawn::OncePerRun);
        let spans = once.filter_map(|known| self.parameters.get(known.name));
        spans.map(|it| (it.name.clone(), draw(&mut stream, it.span))).collect()
    }

    /// The fault schedule. A parameter has one value in one run: two numbers that name it agree.
    fn schedule(&self, seed: u64, mut drawn: BTreeMap<String, i64>) -> Vec<fencepost_sim::fault::Fault> {
        let mut stream = Stream::new(seed, Concern::Faults, 0);
        let mut number = |number: &Number| match &number.parameter {
            None => draw(&mut stream, number.span),
            Some(name) => *drawn.entry(name.clone()).or_insert_with(|| draw(&mut stream, number.span)),
        };
        self.faults.iter().map(|template| template.drawn(&mut number)).collect()
    }
}

fn draw(stream: &mut Stream, span: Span) -> i64 {
    stream.between_signed(span.low, span.high)
}

fn duration(ns: i64) -> Duration {
    Duration::from_nanos(u64::try_from(ns).expect("the schema lets no negative duration through here"))
}

fn durations(span: Span) -> RangeInclusive<Duration> {
    duration(span.low)..=duration(span.high)
}
