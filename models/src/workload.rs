//! What workers do with the lock, and what an overlap costs them.

mod invoice;
mod ledger;

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

use fencepost_checker::history::{CeaseReason, Event, F, JobId, LossReason, Op, RefuseReason};
use fencepost_sim::Node;

use crate::config::RunConfig;
use crate::downstream::{self, Finished, Task};
use crate::ledger::{LedgerClient, Refusal};
use crate::lock::Lock;
use crate::recorder::Scribe;
use crate::rpc::{NoReply, Rpc, Traced};
use crate::session::{Held, Session};

/// How long a few lines of code take: the least time at a work point.
const A_FEW_LINES: Duration = Duration::from_micros(20);

/// What became of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It is done, by this worker or another one.
    Done,
    /// It is certainly not done, and may be tried again under another grant.
    Again,
    /// Nobody knows whether it is done, so it is not tried again.
    Unknown,
}

/// A workload's critical section.
trait Workload {
    /// Does a job under a lock. On [`Outcome::Again`] and [`Outcome::Unknown`] the worker may have stopped
    /// acting on the lock already.
    async fn perform<L: Lock>(&self, held: &Held<L>, desk: &Desk, job: JobId) -> Outcome;
}

/// What a worker works with.
struct Desk {
    node: Node,
    scribe: Scribe,
    ledger: LedgerClient,
    downstream: Rpc<Traced<Task>, Finished>,
    work: RangeInclusive<Duration>,
    amount: i64,
}

impl Desk {
    fn new(node: &Node, scribe: &Scribe, config: &RunConfig) -> Self {
        Desk {
            node: node.clone(),
            scribe: scribe.clone(),
            ledger: LedgerClient::new(node, scribe, config),
            downstream: Rpc::new(node, node.lookup("downstream"), downstream::SERVICE, None),
            work: config.work.clone(),
            amount: config.amount,
        }
    }

    /// Calls the slow service, for a job, and waits as long as it takes.
    async fn call_downstream<L: Lock>(
        &self,
        held: &Held<L>,
        job: JobId,
        takes: Duration,
    ) -> Result<Finished, NoReply> {
        let (hold, worker) = (Some(held.hold()), self.scribe.worker());
        let op = Op { hold, job: Some(job), ..self.scribe.operation(F::Call) };
        self.scribe.record(Event::Invoke(op.clone()));
        let outcome = self.downstream.call(Traced { op: op.op, worker, hold, request: Task { takes } }).await;
        let completion = self.scribe.completion(&op);
        self.scribe.record(match outcome {
            Ok(Finished) => Event::Ok(completion),
            Err(error) => Event::Info(Op { error: Some(error.message().to_owned()), ..completion }),
        });
        outcome
    }

    /// Passes the points at which real code could be stopped between its work and its write, with the check
    /// between them. Nothing comes out if the worker must stop.
    async fn pass_check<L: Lock>(&self, held: &Held<L>) -> Option<()> {
        held.guard(self.node.work("before-check", A_FEW_LINES)).await?;
        if !held.check() {
            return None;
        }
        // No time passes here unless somebody makes it pass: the write is the very next thing.
        held.guard(self.node.point("before-write")).await
    }
}

/// The worker's program: its jobs one after the other, each under the lock, until it is done or nobody can
/// know whether it is. `next` is kept outside of the process: a restarted worker goes on where it was.
pub(crate) async fn run<L: Lock>(
    node: Node,
    scribe: Scribe,
    session: Session<L>,
    config: Rc<RunConfig>,
    jobs: Vec<JobId>,
    next: Rc<Cell<usize>>,
) {
    let desk = Desk::new(&node, &scribe, &config);
    while let Some(job) = jobs.get(next.get()).copied() {
        // Between jobs, as between attempts: others get their turn.
        node.sleep(node.draw_duration(config.retry.clone())).await;
        let held = session.acquire(job).await;
        let outcome = match config.workload.name {
            "invoice" => invoice::Invoice.perform(&held, &desk, job).await,
            _ => ledger::Ledger.perform(&held, &desk, job).await,
        };
        match outcome {
            // The lock must run out: what was sent under it may still arrive.
            Outcome::Unknown => held.cease(CeaseReason::UnknownOutcome),
            Outcome::Done | Outcome::Again if held.is_over() => {}
            Outcome::Done | Outcome::Again => held.release().await,
        }
        if outcome != Outcome::Again {
            next.set(next.get() + 1);
        }
    }
}

/// What a refusal means for the job: a stale token is news about the lock, too.
fn after_refusal<L: Lock>(held: &Held<L>, refusal: Refusal, is_write: bool) -> Outcome {
    match refusal {
        Refusal::Refused(RefuseReason::StaleToken) => {
            held.learn_loss(LossReason::StaleToken);
            Outcome::Again
        }
        Refusal::Refused(RefuseReason::DuplicateKey) => Outcome::Done,
        Refusal::Refused(_) => Outcome::Again,
        Refusal::Unknown(NoReply::NotSent) => Outcome::Again,
        Refusal::Unknown(_) if is_write => Outcome::Unknown,
        Refusal::Unknown(_) => Outcome::Again,
    }
}
