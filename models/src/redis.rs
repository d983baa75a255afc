//! Redis, one primary in memory, and its lock client.
//!
//! The server executes one command at a time, each with one sample of its wall clock. A command takes no time
//! of its own: Redis does some 10⁵ of them a second, a tenth of what a message travels. It keeps nothing on
//! disk: a restarted server has forgotten all grants. Persistence and replication are not modelled yet.

mod client;
mod keyspace;
mod random_value;
mod tenures;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use fencepost_checker::history::{self, TokenOrigin, WorkerId};
use fencepost_sim::{Incoming, Message, Node, Notice, World};

pub use client::RedisLock;
pub use keyspace::{Change, Command, Deletion, Keyspace, Reply, Script, Text};

use crate::config::RunConfig;
use crate::lock::Service;
use crate::recorder::Recorder;
use crate::rpc::Traced;
use tenures::Tenures;

/// The name under which clients find the server.
const SERVICE: &str = "redis";
/// The key of the lock.
const LOCK_KEY: &str = "lock:account-1";
/// The counter that fencing tokens come from.
const TOKEN_KEY: &str = "token:account-1";
/// `hz 10`: how often the active expire cycle runs.
const CYCLE: Duration = Duration::from_millis(100);

impl Message for Reply {}

/// A Redis server.
#[derive(Debug)]
pub struct Redis {
    tenures: Rc<Tenures>,
}

impl Service for Redis {
    type Client = RedisLock;

    fn start(world: &mut World, recorder: &Rc<Recorder>, _: &RunConfig) -> Self {
        let tenures = Rc::new(Tenures::new(recorder, LOCK_KEY));
        let server = tenures.clone();
        let node = world.add_node("redis", move |node| serve(node, server.clone()));
        tenures.set_server(node);
        Redis { tenures }
    }

    fn client(&self, node: &Node, worker: WorkerId, config: &RunConfig) -> RedisLock {
        RedisLock::new(node, worker, self.tenures.server(), config)
    }

    fn declaration(&self, config: &RunConfig) -> history::Lock {
        history::Lock {
            name: LOCK_KEY.to_owned(),
            service: true,
            ttl_ns: config.lease.as_nanos() as u64,
            // What an NTP daemon slews at most.
            clock_rate_bound_ppm: 500,
            // A deadline is a whole millisecond of the wall clock.
            granularity_ns: 1_000_000,
            lock_delay_ns: 0,
            tokens: TokenOrigin::WithGrant,
        }
    }

    fn on_fault(&self, notice: &Notice) {
        self.tenures.on_fault(notice);
    }
}

/// The server's process: its keys live and die with it.
async fn serve(node: Node, tenures: Rc<Tenures>) {
    let keys = Rc::new(RefCell::new(Keyspace::default()));
    tenures.server_started(&keys);
    let cycle =
        ExpireCycle { node: node.clone(), keys: keys.clone(), tenures: tenures.clone(), on: Rc::default() };
    let inbox = node.bind::<Traced<Command>, Reply>(SERVICE);
    let mut changes = Vec::new();
    loop {
        let (client, incoming) = inbox.recv().await;
        let Incoming::Message(traced) = incoming else { continue };
        node.point("command").await;
        let reply = keys.borrow_mut().execute(node.wall_ms(), &traced.request, &mut changes);
        tenures.record(&traced, &reply, &changes);
        if changes.drain(..).any(|change| matches!(change, Change::Stored { deadline_ms: Some(_), .. })) {
            cycle.run();
        }
        client.send(reply);
    }
}

/// The active expire cycle. It is only simulated while there is something that can expire.
#[derive(Clone)]
struct ExpireCycle {
    node: Node,
    keys: Rc<RefCell<Keyspace>>,
    tenures: Rc<Tenures>,
    on: Rc<Cell<bool>>,
}

impl ExpireCycle {
    fn run(&self) {
        if self.on.replace(true) {
            return;
        }
        let this = self.clone();
        self.node.spawn(async move {
            loop {
                let Some(deadline_ms) = this.keys.borrow().next_deadline_ms() else { break };
                this.node.sleep_until_wall(deadline_ms * 1_000_000).await;
                let into_cycle = this.node.monotonic_ns() % CYCLE.as_nanos() as u64;
                this.node.sleep(CYCLE - Duration::from_nanos(into_cycle)).await;
                let mut changes = Vec::new();
                this.keys.borrow_mut().expire_cycle(this.node.wall_ms(), &mut changes);
                this.tenures.record_expired(&changes);
            }
            this.on.set(false);
        });
    }
}
