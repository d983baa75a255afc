//! One run: a world, a lock, a resource, a workload and a fault schedule, from one seed.

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

use fencepost_checker::history::{
    Entry, FenceMode, Header, JobId, NodeId, Resource, RetryPolicy, SCHEMA, Worker, WorkerId,
};
use fencepost_sim::fault::Fault;
use fencepost_sim::{Concern, Latency, RunEnd, Stream, World};

use crate::catalogue::{LockInfo, WorkloadInfo};
use crate::fence::{self, Fence};
use crate::lock::Service;
use crate::none::NoService;
use crate::recorder::{Recorder, Scribe};
use crate::redis::Redis;
use crate::session::Session;
use crate::{downstream, ledger, workload};

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

/// What a run left.
#[derive(Clone, Debug)]
pub struct RunOutput {
    /// The header of its history.
    pub header: Header,
    /// Its history.
    pub entries: Vec<Entry>,
    /// Why it ended.
    pub end: RunEnd,
    /// A number made from every event of the engine.
    pub engine_digest: u64,
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
            limit: Duration::from_secs(1800),
            faults: Vec::new(),
            make_fence: fence::fence,
        }
    }

    /// How often the client renews its lease; never if it does not.
    pub fn renew_every(&self) -> Option<Duration> {
        self.lock.renews.then(|| self.lease / self.renewals)
    }

    /// The jobs of a client: its own debits to book, or the invoices that all clients go through.
    fn jobs_of(&self, client: u32) -> Vec<JobId> {
        let jobs = u64::from(self.jobs);
        let first = if self.workload.name == "invoice" { 1 } else { u64::from(client) * jobs + 1 };
        (first..first + jobs).map(JobId).collect()
    }
}

/// Runs.
pub fn run(config: &RunConfig) -> RunOutput {
    match config.lock.family {
        "redis" => run_with::<Redis>(config),
        "none" => run_with::<NoService>(config),
        family => unreachable!("no service is registered for the family {family:?}"),
    }
}

fn run_with<S: Service>(config: &RunConfig) -> RunOutput {
    let mut world = World::new(config.seed);
    world.set_latency(Latency::Uniform(config.latency.clone()));
    let recorder = Recorder::new(world.probe());
    let config = Rc::new(config.clone());
    let service = Rc::new(S::start(&mut world, &recorder, &config));
    ledger::start(&mut world, &recorder, &config);
    downstream::start(&mut world);
    let mut workers = Vec::new();
    for client in 0..config.clients {
        let node = add_client(&mut world, &recorder, &service, &config, client);
        workers.push(Worker {
            name: format!("client-{}", client + 1),
            node: NodeId(node.0),
            check: config.lock.check,
            renew_every_ns: config.renew_every().map(|every| every.as_nanos() as u64),
            retry: RetryPolicy::Never,
        });
    }
    set_clocks(&mut world, &config);
    world.add_faults(&config.faults);
    let (observed, told) = (recorder.clone(), service.clone());
    world.observe_faults(move |notice| {
        observed.nemesis(notice);
        told.on_fault(notice);
    });
    let end = world.run(config.limit);
    let header = Header {
        schema: SCHEMA.to_owned(),
        nodes: world.node_names(),
        workers,
        locks: vec![service.declaration(&config)],
        resources: vec![Resource { name: "ledger".to_owned(), fence: config.fence, balance: config.balance }],
    };
    RunOutput { header, entries: recorder.take(), end, engine_digest: world.digest() }
}

fn add_client<S: Service>(
    world: &mut World,
    recorder: &Rc<Recorder>,
    service: &Rc<S>,
    config: &Rc<RunConfig>,
    client: u32,
) -> fencepost_sim::NodeId {
    let (recorder, service, config) = (recorder.clone(), service.clone(), config.clone());
    let next = Rc::new(Cell::new(0));
    world.add_node(&format!("client-{}", client + 1), move |node| {
        let worker = WorkerId(client);
        let scribe = Scribe::new(&recorder, &node, worker);
        let lock = service.client(&node, worker, &config);
        let (lease, every, check) = (config.lease, config.renew_every(), config.lock.check);
        let session = Session::new(&node, &scribe, lock, lease, every, check);
        workload::run(node, scribe, session, config.clone(), config.jobs_of(client), next.clone())
    })
}

/// Each node's clocks gain a little, drawn for it; both of a node by the same.
fn set_clocks(world: &mut World, config: &RunConfig) {
    let mut stream = Stream::new(config.seed, Concern::Clocks, 0);
    for node in 0..world.node_names().len() as u32 {
        let gain_ppm = stream.between_signed(*config.drift_ppm.start(), *config.drift_ppm.end());
        world.set_clock(fencepost_sim::NodeId(node), 0, gain_ppm, gain_ppm);
    }
}
