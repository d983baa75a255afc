//! What is known of a history once it was read to its end.

use serde::{Deserialize, Serialize};

use crate::finding::{Assumptions, BlameSet, Finding};
use crate::history::{Hold, LockId};

/// Everything that a [`Checker`](crate::Checker) found out about one history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysis {
    /// True time at which the history ends: every open interval ends here.
    pub end_ns: u64,
    /// How often each thing happened.
    pub counts: Counts,
    /// How long each thing lasted.
    pub times: Times,
    /// Maximal intervals in which two or more workers believed that they hold one lock, by lock and time.
    pub windows: Vec<Window>,
    /// Pairs of grants whose beliefs overlapped for some time, each once, the older grant first.
    pub pairs: Vec<(Hold, Hold)>,
    /// Which promises were kept.
    pub contract: Contract,
    /// Details of the first findings, in order of time; [`Analysis::findings_total`] counts all of them.
    pub findings: Vec<Finding>,
    /// How many findings there are.
    pub findings_total: u64,
    /// Who is blamed by at least one finding.
    pub blame: BlameSet,
    /// What the history did that was assumed not to happen, over all findings.
    pub assumptions: Assumptions,
    /// Latency of each acknowledged acquire, from its invocation to its return, in order of the returns.
    pub acquire_ns: Vec<u64>,
    /// Workers that were still inside an acquire when the history ended.
    pub waiting_at_end: u64,
}

/// How often each thing happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Operations that were acknowledged.
    pub operations: u64,
    /// Grants by a service; of a lock without one, acknowledged acquires.
    pub grants: u64,
    /// Grants whose belief began while another worker believed.
    pub double_holders: u64,
    /// Of those, the ones during which every older holder slept: it invoked nothing while they overlapped, and
    /// nothing afterwards before it had looked whether it still holds the lock.
    pub double_holders_dormant: u64,
    /// Of those, the ones that lasted less than one round trip.
    pub double_holders_short: u64,
    /// Grants that began while another grant was owner.
    pub double_grants: u64,
    /// Different jobs that were begun.
    pub jobs: u64,
    /// Jobs begun again, each time beyond the first.
    pub duplicate_runs: u64,
    /// Writes and charges accepted under a grant that was not the latest.
    pub stale_accepted: u64,
    /// Writes and charges refused under a grant that was not the latest.
    pub stale_rejected: u64,
    /// Of both, the ones whose token is absent or not smaller than the latest one: no fence can see them.
    pub stale_undetectable: u64,
    /// Refused requests of the latest grant.
    pub conflicts: u64,
    /// Refused reads.
    pub reads_refused: u64,
    /// Accepted writes and charges.
    pub writes_applied: u64,
    /// Refused writes and charges.
    pub writes_refused: u64,
    /// Debits that were applied for certain and are not in the final ledger.
    pub lost_debits: u64,
    /// Committed versions overwritten by a write that was computed from an older one.
    pub destroyed_updates: u64,
    /// Debits beyond the first of their invoice.
    pub double_debits: u64,
    /// Debits in the final ledger that nobody invoked or that certainly failed, and ledgers whose balance is
    /// not what their debits leave.
    pub phantom_debits: u64,
    /// Grants whose token is not larger than one of an earlier grant.
    pub token_faults: u64,
}

/// How long each thing lasted, in nanoseconds of true time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// Two or more workers believed.
    pub double_holder_ns: u64,
    /// Two or more grants were owner.
    pub double_grant_ns: u64,
    /// A worker believed under a grant that was not owner, summed over grants.
    pub stale_belief_ns: u64,
    /// A grant was owner and nobody believed under it, summed over grants.
    pub ghost_owner_ns: u64,
    /// Somebody waited though no owner believed, or though nobody owned and nobody could acquire.
    pub stuck_ns: u64,
    /// Somebody waited while every owner that believed was stopped.
    pub blocked_ns: u64,
    /// Of [`Times::stale_belief_ns`], the intervals longer than the tolerance, at full length.
    pub stale_belief_over_ns: u64,
    /// Of [`Times::ghost_owner_ns`], the intervals longer than the tolerance, at full length.
    pub ghost_owner_over_ns: u64,
    /// Of [`Times::stuck_ns`], the intervals longer than the tolerance, at full length.
    pub stuck_over_ns: u64,
    /// Of [`Times::blocked_ns`], the intervals longer than the tolerance, at full length.
    pub blocked_over_ns: u64,
    /// The longest interval in which a lock was stuck.
    pub longest_stuck_ns: u64,
    /// When that interval began.
    pub longest_stuck_from_ns: Option<u64>,
    /// When a lock was stuck for the first time.
    pub stuck_from_ns: Option<u64>,
    /// When a lock was last stuck.
    pub stuck_to_ns: Option<u64>,
    /// The largest number of workers that believed at once.
    pub max_holders: u32,
    /// What a healthy system shows of every interval: the largest round trip and one turn of the server.
    pub tolerance_ns: u64,
    /// The largest round trip of an operation that no fault touched.
    pub round_trip_ns: u64,
}

/// A maximal interval in which two or more workers believed that they hold one lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Which lock.
    pub lock: LockId,
    /// From when.
    pub from_ns: u64,
    /// To when, exclusive.
    pub to_ns: u64,
    /// The largest number at once.
    pub holders: u32,
}

/// Which promises were kept: four of the service, one about tokens, one of the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    /// 1a: at every instant at most one owner.
    pub exclusion: Line,
    /// 1b: no tenure ends early, except by its own holder's release.
    pub tenure: Line,
    /// 1c: an acknowledged acquire or renewal was true at some instant between its invocation and its return.
    pub truth: Line,
    /// 1d: a promised lock-delay is kept.
    pub delay: Line,
    /// 2: tokens are distinct, and larger than every token returned before their acquire was invoked.
    pub tokens: Line,
    /// 3: the resource did what its fence mode promises.
    pub resource: Line,
}

/// How a promise fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// It was kept as far as the history goes.
    Kept,
    /// It was broken at least once.
    Broken,
    /// The history does not record what it takes to tell.
    Unknown,
    /// Nobody made this promise.
    #[serde(rename = "n/a")]
    NotApplicable,
}

impl Line {
    /// The line of two promisers together: broken if one broke it, unknown if one is unknown.
    #[must_use]
    pub fn and(self, other: Line) -> Line {
        use Line::{Broken, Kept, NotApplicable, Unknown};
        match (self, other) {
            (Broken, _) | (_, Broken) => Broken,
            (Unknown, _) | (_, Unknown) => Unknown,
            (Kept, _) | (_, Kept) => Kept,
            (NotApplicable, NotApplicable) => NotApplicable,
        }
    }
}
