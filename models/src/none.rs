//! No lock at all: the baseline. Everybody may always enter.

use std::rc::Rc;
use std::time::Duration;

use fencepost_checker::history::{self, Decider, Hold, OpId, TokenOrigin, WorkerId};
use fencepost_sim::{Node, Notice, World};

use crate::config::RunConfig;
use crate::lock::{Ask, Grant, Lock, Renewed, Service};
use crate::recorder::Recorder;
use crate::rpc::NoReply;

/// The service that is not there.
#[derive(Debug)]
pub struct NoService;

/// A client that does not lock.
#[derive(Debug)]
pub struct NoLock {
    node: Node,
}

impl Service for NoService {
    type Client = NoLock;

    fn start(_: &mut World, _: &Rc<Recorder>, _: &RunConfig) -> Self {
        NoService
    }

    fn client(&self, node: &Node, _: WorkerId, _: &RunConfig) -> NoLock {
        NoLock { node: node.clone() }
    }

    fn declaration(&self, config: &RunConfig) -> history::Lock {
        history::Lock {
            name: config.lock.name.to_owned(),
            service: false,
            ttl_ns: 0,
            clock_rate_bound_ppm: 0,
            granularity_ns: 0,
            lock_delay_ns: 0,
            tokens: TokenOrigin::None,
        }
    }

    fn on_fault(&self, _: &Notice) {}
}

impl Lock for NoLock {
    async fn acquire(&self, ask: &Ask) -> Grant {
        Grant {
            hold: ask.hold,
            token: None,
            sent_ns: self.node.monotonic_ns(),
            attempts: 0,
            decided_by: Decider::Client,
        }
    }

    async fn renew(&self, _: Hold, _: OpId, _: Duration) -> Result<Renewed, NoReply> {
        Ok(Renewed::Extended { sent_ns: self.node.monotonic_ns() })
    }

    async fn release(&self, _: Hold, _: OpId) -> Result<bool, NoReply> {
        Ok(true)
    }
}
