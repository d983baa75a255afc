//! Everything that one run depends on.

use std::ops::RangeInclusive;
use std::time::Duration;

use fencepost_checker::history::{FenceMode, JobId};
use fencepost_sim::fault::Fault;

use crate::catalogue::{LockInfo, WorkloadInfo};
use crate::fence::{self, Fence};

/// Everything that a run depends on.
#[derive(Clone, Debug)]
pub struct RunConfig {
    /// The seed of all randomness.
    pub seed: u64,
    /// The lock, and how its client uses it.
    pub lock: &'static LockInfo,
    /// What the ledger checks.
    pub fence: FenceMode,
    /// What the workers do.
    pub workload: &'static WorkloadInfo,
    /// How many clients there are: one worker each, on a machine of its own.
    pub clients: u32,
    /// How many jobs each of them does.
    pub jobs: u32,
    /// How long a grant lasts.
    pub lease: Duration,
    /// How often a client that renews does so within one lease.
    pub renewals: u32,
    /// How long the work of a job takes.
    pub work: RangeInclusive<Duration>,
    /// How long a client waits between attempts to acquire.
    pub retry: RangeInclusive<Duration>,
    /// Latency of every link, one way.
    pub latency: RangeInclusive<Duration>,
    /// How long a client waits for the reply to a request.
    pub timeout: Duration,
    /// How long the ledger's disk takes to make a change durable.
    pub fsync: RangeInclusive<Duration>,
    /// How much the clocks of each node gain, in parts per million.
    pub drift_ppm: RangeInclusive<i64>,
    /// What a job debits.
    pub amount: i64,
    /// What the ledger starts with.
    pub balance: i64,
    /// After how much simulated time a run is cut off.
    pub limit: Duration,
    /// What goes wrong.
    pub faults: Vec<Fault>,
    /// What makes the ledger's fence: [`fence::fence`], except in tests that plant a broken one.
    pub make_fence: fn(FenceMode) -> Box<dyn Fence>,
}

impl RunConfig {
    /// What a scenario file changes: three clients, a Redis lock, a calm world.
    pub fn new(
        seed: u64,
        lock: &'static LockInfo,
        workload: &'static WorkloadInfo,
        fence: FenceMode,
    ) -> Self {
        let (ms, us) = (Duration::from_millis, Duration::from_micros);
        RunConfig {
            seed,
            lock,
            fence,
            workload,
            clients: 3,
            jobs: 4,
            lease: Duration::from_secs(10),
            renewals: 3,
            work: ms(500)..=ms(4000),
            retry: ms(50)..=ms(150),
            latency: us(100)..=us(300),
            timeout: Duration::from_secs(1),
            fsync: us(200)..=ms(1),
            drift_ppm: 0..=0,
            amount: 120,
            balance: 100_000,
            limit: Duration::from_secs(600),
            faults: Vec::new(),
            make_fence: fence::fence,
        }
    }

    /// How often the client renews its lease; never if it does not.
    pub fn renew_every(&self) -> Option<Duration> {
        self.lock.renews.then(|| self.lease / self.renewals)
    }

    /// The jobs of a client: its own debits to book, or the invoices that all clients go through.
    pub(crate) fn jobs_of(&self, client: u32) -> Vec<JobId> {
        let jobs = u64::from(self.jobs);
        let first = if self.workload.name == "invoice" { 1 } else { u64::from(client) * jobs + 1 };
        (first..first + jobs).map(JobId).collect()
    }
}
