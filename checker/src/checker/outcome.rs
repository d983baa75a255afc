//! The end of a history.

use super::Checker;
use crate::analysis::{Analysis, Contract, Line, Times};
use crate::blame::Court;
use crate::history::{Hold, WorkerId};
use crate::moment::Moment;

impl Checker {
    pub(super) fn conclude(mut self, end: Moment) -> Analysis {
        let waiting_at_end = self.waiting_workers();
        self.end_all_beliefs(end);
        let Checker { header, grants, faults, data, findings, .. } = &mut self;
        data.finish(end, Court { header, grants, faults }, findings);
        findings.sort();
        self.close_all_meters(end.time_ns);
        let times = self.times();
        let contract = self.contract();
        self.add_counts(times.round_trip_ns);
        Analysis {
            end_ns: end.time_ns,
            counts: self.counts,
            times,
            windows: self.locks.iter().flat_map(|views| &views.overlaps.windows).copied().collect(),
            pairs: self.pairs(),
            contract,
            findings: self.findings.kept,
            findings_total: self.findings.total,
            blame: self.findings.blame,
            assumptions: self.findings.assumptions,
            acquire_ns: self.acquire_ns,
            waiting_at_end,
        }
    }

    fn waiting_workers(&self) -> u64 {
        let mut workers: Vec<WorkerId> =
            self.locks.iter().flat_map(|views| views.waiting.workers()).collect();
        workers.sort_unstable();
        workers.dedup();
        workers.len() as u64
    }

    /// What is believed at the end is believed until the end; stale belief is measured first.
    fn end_all_beliefs(&mut self, end: Moment) {
        for lock in 0..self.locks.len() {
            let views = &mut self.locks[lock];
            views.waiting.finish(end.time_ns);
            views.owners.finish(end.time_ns);
            let believers: Vec<_> = views.believers.current().to_vec();
            for believer in believers {
                self.end_belief(believer.slot, end);
            }
        }
    }

    fn close_all_meters(&mut self, end_ns: u64) {
        for grant in self.grants.iter_mut() {
            if let Some(lock) = grant.lock {
                let views = &mut self.locks[lock.0 as usize];
                grant.stale_belief.finish(end_ns, &mut views.stale_belief);
                grant.ghost_owner.finish(end_ns, &mut views.ghost_owner);
            }
        }
    }

    fn times(&self) -> Times {
        let round_trip_ns = self.round_trip_ns;
        let mut times = Times { round_trip_ns, tolerance_ns: round_trip_ns, ..Times::default() };
        for (views, lock) in self.locks.iter().zip(&self.header.locks) {
            let tolerance_ns = round_trip_ns.saturating_add(lock.granularity_ns);
            times.tolerance_ns = times.tolerance_ns.max(tolerance_ns);
            times.max_holders = times.max_holders.max(views.overlaps.max_holders);
            times.double_holder_ns +=
                views.overlaps.windows.iter().map(|window| window.to_ns - window.from_ns).sum::<u64>();
            if !views.has_owner_view(lock) {
                continue;
            }
            let (stuck, blocked) = (&views.waiting.stuck, &views.waiting.blocked);
            times.double_grant_ns += views.owners.double_grant.total_ns;
            times.stale_belief_ns += views.stale_belief.total_ns;
            times.ghost_owner_ns += views.ghost_owner.total_ns;
            times.stuck_ns += stuck.total_ns;
            times.blocked_ns += blocked.total_ns;
            times.stale_belief_over_ns += views.stale_belief.over_ns(tolerance_ns);
            times.ghost_owner_over_ns += views.ghost_owner.over_ns(tolerance_ns);
            times.stuck_over_ns += stuck.over_ns(tolerance_ns);
            times.blocked_over_ns += blocked.over_ns(tolerance_ns);
            if times.longest_stuck_ns < stuck.longest_ns {
                times.longest_stuck_ns = stuck.longest_ns;
                times.longest_stuck_from_ns = stuck.longest_from_ns;
            }
            let first = [times.stuck_from_ns, stuck.from_ns].into_iter().flatten().min();
            times.stuck_from_ns = first;
            times.stuck_to_ns = times.stuck_to_ns.max(stuck.to_ns);
        }
        times
    }

    fn contract(&self) -> Contract {
        let nobody = Line::NotApplicable;
        let mut all = Contract {
            exclusion: nobody,
            tenure: nobody,
            truth: nobody,
            delay: nobody,
            tokens: nobody,
            resource: self.data.line(),
        };
        for (views, lock) in self.locks.iter().zip(&self.header.locks) {
            let one = views.contract(lock);
            all.exclusion = all.exclusion.and(one.exclusion);
            all.tenure = all.tenure.and(one.tenure);
            all.truth = all.truth.and(one.truth);
            all.delay = all.delay.and(one.delay);
            all.tokens = all.tokens.and(one.tokens);
        }
        all
    }

    fn add_counts(&mut self, round_trip_ns: u64) {
        let counts = &mut self.counts;
        for (views, lock) in self.locks.iter().zip(&self.header.locks) {
            let overlaps = &views.overlaps;
            counts.double_holders += overlaps.double_holders;
            counts.double_holders_dormant += overlaps.dormant;
            counts.double_holders_short +=
                overlaps.longest_ns.iter().filter(|&&longest_ns| longest_ns < round_trip_ns).count() as u64;
            if lock.service {
                counts.grants += views.owners.grants;
                counts.double_grants += views.owners.double_grants;
                counts.token_faults += views.tokens.faults;
            }
        }
        let harms = self.data.harms;
        counts.lost_debits = harms.lost;
        counts.destroyed_updates = harms.destroyed;
        counts.double_debits = harms.doubled;
        counts.phantom_debits = harms.phantom;
    }

    /// Overlapping pairs in the order in which they began to overlap.
    fn pairs(&self) -> Vec<(Hold, Hold)> {
        let mut pairs: Vec<_> = self.locks.iter().flat_map(|views| &views.overlaps.pairs).collect();
        pairs.sort_by_key(|(since, older, newer)| (*since, *older, *newer));
        pairs.into_iter().map(|&(_, older, newer)| (older, newer)).collect()
    }
}
