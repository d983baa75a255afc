//! What the runs of one row add up to.

use std::collections::BTreeSet;

use fencepost_checker::analysis::{Contract as Lines, Line};
use fencepost_checker::finding::{Assumption, Assumptions, Blame, Finding, Party as Blamed};
use fencepost_checker::{Analysis, Digest};
use fencepost_sim::RunEnd;
use hdrhistogram::Histogram;

use crate::expectation::{Count, Party};
use crate::interval::Interval;
use crate::scenario::Row;

/// What is kept of one run.
#[derive(Clone, Debug)]
pub struct SeedResult {
    /// Its seed.
    pub seed: u64,
    /// The digest of its history.
    pub digest: Digest,
    /// The digest of its engine's events.
    pub engine_digest: u64,
    /// Why it ended.
    pub end: RunEnd,
    /// What the checker found in its history.
    pub analysis: Analysis,
    /// The longest time that the lock may be stuck.
    pub stuck_allowed_ns: u64,
}

/// What the runs of one row add up to, in seed order.
#[derive(Clone, Debug)]
pub struct RowResult {
    /// Which row.
    pub row: Row,
    /// How many seeds were run.
    pub seeds: u64,
    /// How many of them broke something.
    pub violating_seeds: u64,
    /// The first of those.
    pub first_violating_seed: Option<u64>,
    /// Grants over all seeds.
    pub grants: u64,
    /// Acknowledged operations over all seeds.
    pub operations: u64,
    /// Each count over all seeds.
    tallies: [Tally; Count::ALL.len()],
    /// Time in which several workers believed that they hold the lock, in nanoseconds.
    pub double_holder_ns: u64,
    /// Time in which the service had several owners, in nanoseconds.
    pub double_grant_ns: u64,
    /// The largest number of workers that believed at once.
    pub max_holders: u32,
    /// Latency of acquires, in nanoseconds.
    acquire_ns: Histogram<u64>,
    /// The contract over all seeds.
    pub contract: Lines,
    /// Seeds in which the lock was stuck for too long, or somebody still waited at the end.
    pub liveness_failures: u64,
    /// For each party of [`Party::ALL`], the seeds in which it is blamed.
    blame: [u64; Party::ALL.len()],
    /// What the blamed did, in a few words each.
    pub reasons: BTreeSet<&'static str>,
    /// Different jobs that were begun, over all seeds.
    pub jobs: u64,
    /// Findings over all seeds.
    pub findings: u64,
    /// The first seed with a finding that no rule explains.
    pub first_unexplained_seed: Option<u64>,
    /// What was assumed and did not hold.
    pub assumptions: Assumptions,
    /// Simulated time over all seeds, in nanoseconds.
    pub simulated_ns: u64,
    digests: Vec<u8>,
}

/// What makes a ledger wrong in the end.
const HARM: [Count; 3] = [Count::LostDebits, Count::DoubleDebits, Count::PhantomDebits];

/// A count over seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The sum.
    pub total: u64,
    /// How many seeds have any.
    pub seeds: u64,
    /// The first of those.
    pub first_seed: Option<u64>,
}

/// Pass, fail, or not enough to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing was broken.
    Pass,
    /// Something was broken.
    Fail,
    /// Nothing happened that could break it.
    Unknown,
}

impl RowResult {
    pub(crate) fn new(row: Row) -> Self {
        let line = Line::NotApplicable;
        RowResult {
            row,
            seeds: 0,
            violating_seeds: 0,
            first_violating_seed: None,
            grants: 0,
            operations: 0,
            tallies: Default::default(),
            double_holder_ns: 0,
            double_grant_ns: 0,
            max_holders: 0,
            acquire_ns: Histogram::new(3).expect("three digits are within what a histogram can do"),
            contract: Lines {
                exclusion: line,
                tenure: line,
                truth: line,
                delay: line,
                tokens: line,
                resource: line,
            },
            liveness_failures: 0,
            blame: [0; Party::ALL.len()],
            reasons: BTreeSet::new(),
            jobs: 0,
            findings: 0,
            first_unexplained_seed: None,
            assumptions: Assumptions::default(),
            simulated_ns: 0,
            digests: Vec::new(),
        }
    }

    /// Adds a run. Runs are added in seed order.
    pub(crate) fn add(&mut self, run: &SeedResult) {
        let analysis = &run.analysis;
        self.seeds += 1;
        self.grants += analysis.counts.grants;
        self.operations += analysis.counts.operations;
        for (tally, count) in self.tallies.iter_mut().zip(Count::ALL) {
            tally.add(run.seed, count.of(analysis));
        }
        self.double_holder_ns += analysis.times.double_holder_ns;
        self.double_grant_ns += analysis.times.double_grant_ns;
        self.max_holders = self.max_holders.max(analysis.times.max_holders);
        for latency in &analysis.acquire_ns {
            self.acquire_ns.record(*latency).expect("a histogram grows with what it records");
        }
        let (mine, its) = (&mut self.contract, analysis.contract);
        mine.exclusion = mine.exclusion.and(its.exclusion);
        mine.tenure = mine.tenure.and(its.tenure);
        mine.truth = mine.truth.and(its.truth);
        mine.delay = mine.delay.and(its.delay);
        mine.tokens = mine.tokens.and(its.tokens);
        mine.resource = mine.resource.and(its.resource);
        for (seeds, party) in self.blame.iter_mut().zip(Party::ALL) {
            *seeds += u64::from(is_blamed(*party, analysis));
        }
        let explained = analysis.findings.iter().filter(|finding| finding.blame != Blame::Unexplained);
        self.reasons.extend(explained.map(reason));
        self.jobs += analysis.counts.jobs;
        self.findings += analysis.findings_total;
        if analysis.blame.unexplained {
            self.first_unexplained_seed.get_or_insert(run.seed);
        }
        self.assumptions.extend(analysis.assumptions);
        self.simulated_ns += analysis.end_ns;
        self.digests.extend_from_slice(run.digest.as_bytes());

        let stuck = run.is_stuck();
        self.liveness_failures += u64::from(stuck);
        let harmless = [Count::StaleRejected, Count::Conflicts];
        let harmful = Count::ALL.iter().filter(|count| count.is_safety() && !harmless.contains(count));
        if stuck || harmful.into_iter().any(|count| count.of(analysis) > 0) {
            self.violating_seeds += 1;
            self.first_violating_seed.get_or_insert(run.seed);
        }
    }

    /// A count over all seeds.
    pub fn tally(&self, count: Count) -> Tally {
        self.tallies[count as usize]
    }

    /// The rate of seeds with any of it, with its 95 % interval.
    pub fn interval(&self, count: Count) -> Interval {
        Interval::wilson(self.tally(count).seeds, self.seeds)
    }

    /// In how many seeds a party is blamed.
    pub fn blamed_seeds(&self, party: Party) -> u64 {
        self.blame[party as usize]
    }

    /// The parties that are blamed in any seed.
    pub fn blamed(&self) -> Vec<Party> {
        Party::ALL.iter().copied().filter(|party| self.blamed_seeds(*party) > 0).collect()
    }

    /// A quantile of the latency of acquires, in nanoseconds; nothing if none was acknowledged.
    pub fn acquire_quantile_ns(&self, quantile: f64) -> Option<u64> {
        (!self.acquire_ns.is_empty()).then(|| self.acquire_ns.value_at_quantile(quantile))
    }

    /// Whether the lock kept two workers apart.
    pub fn exclusion(&self) -> Verdict {
        self.verdict(&[Count::DoubleHolders, Count::DoubleGrants])
    }

    /// Whether the ledger is right in the end. A destroyed update whose debit was never confirmed is none.
    pub fn data(&self) -> Verdict {
        self.verdict(&HARM)
    }

    /// Whether everybody got on.
    pub fn liveness(&self) -> Verdict {
        match self.liveness_failures {
            0 if self.operations == 0 => Verdict::Unknown,
            0 => Verdict::Pass,
            _ => Verdict::Fail,
        }
    }

    fn verdict(&self, counts: &[Count]) -> Verdict {
        if counts.iter().any(|count| self.tally(*count).total > 0) {
            Verdict::Fail
        } else if self.operations == 0 {
            Verdict::Unknown
        } else {
            Verdict::Pass
        }
    }

    /// The first seed whose data are wrong.
    pub fn first_harmed_seed(&self) -> Option<u64> {
        HARM.iter().filter_map(|count| self.tally(*count).first_seed).min()
    }

    /// A seed to look at: the first whose data are wrong, else the first in which anything is.
    pub fn first_example_seed(&self) -> Option<u64> {
        self.first_harmed_seed().or(self.first_violating_seed)
    }

    /// A digest over the digests of all seeds, in seed order.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.digests)
    }
}

impl SeedResult {
    /// Whether the lock was stuck for longer than a lease and its detection take, or somebody still waited
    /// when the run ended.
    pub fn is_stuck(&self) -> bool {
        self.end == RunEnd::TimeLimit
            || self.analysis.waiting_at_end > 0
            || self.analysis.times.longest_stuck_ns > self.stuck_allowed_ns
    }
}

impl Tally {
    fn add(&mut self, seed: u64, count: u64) {
        self.total += count;
        if count > 0 {
            self.seeds += 1;
            self.first_seed.get_or_insert(seed);
        }
    }
}

impl Count {
    /// The count in one history.
    pub fn of(self, analysis: &Analysis) -> u64 {
        let (counts, times) = (&analysis.counts, &analysis.times);
        match self {
            Count::DoubleHolders => counts.double_holders,
            Count::DoubleHoldersActing => counts.double_holders - counts.double_holders_dormant,
            Count::DoubleGrants => counts.double_grants,
            Count::DuplicateRuns => counts.duplicate_runs,
            Count::StaleAccepted => counts.stale_accepted,
            Count::StaleRejected => counts.stale_rejected,
            Count::Conflicts => counts.conflicts,
            Count::LostDebits => counts.lost_debits,
            Count::DestroyedUpdates => counts.destroyed_updates,
            Count::DoubleDebits => counts.double_debits,
            Count::PhantomDebits => counts.phantom_debits,
            Count::TokenFaults => counts.token_faults,
            Count::Unfinished => analysis.waiting_at_end,
            Count::StuckMs => times.stuck_over_ns / 1_000_000,
            Count::BlockedMs => times.blocked_over_ns / 1_000_000,
        }
    }

    fn is_safety(self) -> bool {
        self.property() == crate::expectation::Property::Safety
    }
}

/// What the blamed did; of a holder that did nothing wrong, what befell it.
fn reason(finding: &Finding) -> &'static str {
    match (finding.blame, finding.assumption) {
        (Blame::Holder, Some(Assumption::BoundedPause)) => {
            "it was stopped after its last check, for longer than its lease"
        }
        (Blame::Holder, Some(Assumption::BoundedDelay)) => {
            "its message was on its way for longer than its lease"
        }
        (Blame::Holder, Some(Assumption::ClockDoesNotJump)) => "its clock was wrong",
        (blame, _) => blame.phrase(),
    }
}

fn is_blamed(party: Party, analysis: &Analysis) -> bool {
    let blamed = |party| analysis.blame.iter().any(|it| it == party);
    match party {
        Party::Service => blamed(Blamed::Service),
        Party::Token => blamed(Blamed::Token),
        Party::Resource => blamed(Blamed::Resource),
        Party::Client => blamed(Blamed::Client),
        Party::Holder => blamed(Blamed::Holder),
    }
}
