//! One run: a world, a lock, a resource, a workload and a fault schedule, from one seed.

use std::cell::Cell;
use std::rc::Rc;

use fencepost_checker::history::{Entry, Header, NodeId, Resource, RetryPolicy, SCHEMA, Worker, WorkerId};
use fencepost_sim::fault::{Fault, Target, What};
use fencepost_sim::{Concern, Latency, RunEnd, Stream, World};

use crate::config::RunConfig;
use crate::lock::Service;
use crate::none::NoService;
use crate::recorder::{Recorder, Scribe};
use crate::redis::Redis;
use crate::session::Session;
use crate::{downstream, ledger, workload};

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
    let names = world.node_names();
    let possible = config.faults.iter().filter(|fault| names_only(fault, &names));
    world.add_faults(&possible.cloned().collect::<Vec<_>>());
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

/// Whether all nodes that a fault names are there: without a lock service there is no server to hit.
fn names_only(fault: &Fault, names: &[String]) -> bool {
    let is_there = |target: &Target| match target {
        Target::Node(name) => names.contains(name),
        Target::Role(_) => true,
    };
    let other = match &fault.what {
        What::HoldMessage { to } | What::Cut { to, .. } => is_there(to),
        _ => true,
    };
    is_there(&fault.target) && other
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
