//! The lock client of the Redis documentation.
//!
//! Source: "Distributed Locks with Redis", *Correct Implementation with a Single Instance*:
//! `SET resource_name my_random_value NX PX 30000`, and a release that deletes the key only if it still
//! holds `my_random_value`. The grant comes with a fencing token, as in Redisson's `RFencedLock`: a counter
//! that the same script increments.

use std::ops::RangeInclusive;
use std::time::Duration;

use fencepost_checker::history::{Decider, Hold, OpId, WorkerId};
use fencepost_sim::{Node, NodeId};

use super::random_value::random_value;
use super::{Command, LOCK_KEY, Reply, SERVICE, Script, TOKEN_KEY, Text};
use crate::config::RunConfig;
use crate::lock::{Ask, Grant, Lock, Renewed};
use crate::rpc::{NoReply, Rpc, Traced};

/// A client's lock.
#[derive(Debug)]
pub struct RedisLock {
    node: Node,
    worker: WorkerId,
    redis: Rpc<Traced<Command>, Reply>,
    /// Renewals run beside the work, on a connection of their own.
    watchdog: Rpc<Traced<Command>, Reply>,
    resource_name: Text,
    counter: Text,
    retry_delay: RangeInclusive<Duration>,
}

impl RedisLock {
    pub(super) fn new(node: &Node, worker: WorkerId, server: NodeId, config: &RunConfig) -> Self {
        let connection = || Rpc::new(node, server, SERVICE, Some(config.timeout));
        RedisLock {
            node: node.clone(),
            worker,
            redis: connection(),
            watchdog: connection(),
            resource_name: LOCK_KEY.into(),
            counter: TOKEN_KEY.into(),
            retry_delay: config.retry.clone(),
        }
    }

    /// `SET resource_name my_random_value NX PX lease`, with the token in the same step.
    fn set_nx_px(&self, hold: Hold, lease: Duration) -> Command {
        Command::Eval(Script::Acquire {
            key: self.resource_name.clone(),
            value: random_value(hold),
            px: milliseconds(lease),
            counter: self.counter.clone(),
        })
    }

    fn traced(&self, op: OpId, hold: Hold, request: Command) -> Traced<Command> {
        Traced { op, worker: self.worker, hold: Some(hold), request }
    }
}

impl Lock for RedisLock {
    async fn acquire(&self, ask: &Ask) -> Grant {
        let mut hold = ask.hold;
        let mut set = self.set_nx_px(hold, ask.lease);
        let mut attempts = 0;
        loop {
            attempts += 1;
            let sent_ns = self.node.monotonic_ns();
            match self.redis.call(self.traced(ask.op, hold, set.clone())).await {
                Ok(Reply::Integer(token)) => {
                    let token = Some(token.unsigned_abs());
                    return Grant { hold, token, sent_ns, attempts, decided_by: Decider::Server };
                }
                Ok(_) => {}
                // The key may be there now, or be set later: it is given back, and asked for under another
                // value, so that what arrives late ends nothing but what arrived late.
                Err(_) => {
                    let _ = self.release(hold, ask.op).await;
                    hold = ask.another_hold();
                    set = self.set_nx_px(hold, ask.lease);
                }
            }
            self.node.sleep(self.node.draw_duration(self.retry_delay.clone())).await;
        }
    }

    async fn renew(&self, hold: Hold, op: OpId, lease: Duration) -> Result<Renewed, NoReply> {
        let extend = Command::Eval(Script::CompareAndExtend {
            key: self.resource_name.clone(),
            value: random_value(hold),
            px: milliseconds(lease),
        });
        let sent_ns = self.node.monotonic_ns();
        match self.watchdog.call(self.traced(op, hold, extend)).await? {
            Reply::Integer(1) => Ok(Renewed::Extended { sent_ns }),
            _ => Ok(Renewed::NotOwner),
        }
    }

    async fn release(&self, hold: Hold, op: OpId) -> Result<bool, NoReply> {
        let value = random_value(hold);
        let delex = Command::DelexIfeq { key: self.resource_name.clone(), value };
        Ok(self.redis.call(self.traced(op, hold, delex)).await? == Reply::Integer(1))
    }
}

fn milliseconds(lease: Duration) -> i64 {
    i64::try_from(lease.as_millis()).unwrap_or(i64::MAX)
}
