//! What a lock service offers and what its client library does.
//!
//! A model implements [`Service`] and [`Lock`]; what a careful or careless *user* of the library does with
//! it – checks, renewals, giving up – is in [`crate::session`] and the same for all.

use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use fencepost_checker::history::{self, Decider, Hold, OpId, WorkerId};
use fencepost_sim::{Node, Notice, World};

use crate::config::RunConfig;
use crate::recorder::Recorder;
use crate::rpc::NoReply;

/// What a client asks for.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Where names for grants come from.
    pub recorder: Rc<Recorder>,
    /// Its first name for the grant: the random value of a Redis lock.
    pub hold: Hold,
    /// The operation, for the records of the service.
    pub op: OpId,
    /// How long the grant shall last.
    pub lease: Duration,
}

impl Ask {
    /// Another name: what was asked for under the first one may still be granted.
    pub fn another_hold(&self) -> Hold {
        self.recorder.next_hold()
    }
}

/// A grant, as its client knows it.
#[derive(Clone, Debug)]
pub struct Grant {
    /// Its name.
    pub hold: Hold,
    /// Its fencing token.
    pub token: Option<u64>,
    /// What the client's monotonic clock showed when the granted request was sent.
    pub sent_ns: u64,
    /// How many requests it took.
    pub attempts: u32,
    /// Who decided that the lock is granted.
    pub decided_by: Decider,
}

/// A renewal was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewed {
    /// The lease runs anew.
    Extended {
        /// What the client's monotonic clock showed when the request was sent.
        sent_ns: u64,
    },
    /// The lock is not the client's.
    NotOwner,
}

/// A client's library for one lock.
pub trait Lock: 'static {
    /// Waits until the lock is granted.
    fn acquire(&self, ask: &Ask) -> impl Future<Output = Grant>;

    /// Extends the lease.
    ///
    /// # Errors
    /// [`NoReply`]: whether it was extended is unknown.
    fn renew(&self, hold: Hold, op: OpId, lease: Duration) -> impl Future<Output = Result<Renewed, NoReply>>;

    /// Gives the lock back; says whether it was still the client's.
    ///
    /// # Errors
    /// [`NoReply`]: whether it was given back is unknown.
    fn release(&self, hold: Hold, op: OpId) -> impl Future<Output = Result<bool, NoReply>>;
}

/// A lock service in a simulated world.
pub trait Service: 'static {
    /// What its clients use.
    type Client: Lock;

    /// Adds its servers to the world.
    fn start(world: &mut World, recorder: &Rc<Recorder>, config: &RunConfig) -> Self;

    /// The library of a worker that runs on `node`.
    fn client(&self, node: &Node, worker: WorkerId, config: &RunConfig) -> Self::Client;

    /// What the service promises.
    fn declaration(&self, config: &RunConfig) -> history::Lock;

    /// A fault began or ended: what it did to grants is recorded at once, even if no code of a server runs.
    fn on_fault(&self, notice: &Notice);
}
