//! Windows, pairs and times against a clock that looks at every millisecond.

use std::collections::BTreeSet;

use fencepost_checker::history::*;
use proptest::prelude::*;

use crate::story::*;

const END: u64 = 40;
/// Only intervals longer than this count as *over*; without a round trip it is the grain of the service's
/// time.
const TOLERANCE: u64 = 3;

/// An interval in milliseconds, half-open.
type Interval = (u64, u64);

/// A grant with the intervals in which it is owner, and in which its worker believes.
#[derive(Clone, Debug)]
struct Hold2 {
    worker: u32,
    owns: Vec<Interval>,
    believes: Vec<Interval>,
}

#[derive(Clone, Debug)]
struct Scene {
    holds: Vec<Hold2>,
    waits: Vec<Interval>,
    blocks: Vec<Interval>,
    /// For each worker's machine.
    stops: [Vec<Interval>; 3],
}

/// Intervals that do not touch.
fn intervals(most: usize) -> impl Strategy<Value = Vec<Interval>> {
    prop::collection::btree_set(0..END, 0..=2 * most).prop_map(|points| {
        let points: Vec<u64> = points.into_iter().collect();
        points.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
    })
}

fn scenes() -> impl Strategy<Value = Scene> {
    let hold = (0..3_u32, intervals(2), intervals(2)).prop_map(|(worker, owns, believes)| Hold2 {
        worker,
        owns,
        believes,
    });
    let stops = [intervals(2), intervals(2), intervals(2)];
    (prop::collection::vec(hold, 1..6), intervals(3), intervals(2), stops)
        .prop_map(|(holds, waits, blocks, stops)| Scene { holds, waits, blocks, stops })
}

fn has(intervals: &[Interval], t: u64) -> bool {
    intervals.iter().any(|&(from, to)| from <= t && t < to)
}

impl Scene {
    fn tell(&self) -> Story {
        let mut story = Story::new();
        story.lock().granularity_ns = TOLERANCE * MS;
        for (hold, scene) in (0..).zip(&self.holds) {
            for (n, &(from, to)) in scene.owns.iter().enumerate() {
                let tenure = Tenure {
                    server: SERVER,
                    lock: LOCK,
                    hold: Hold(hold),
                    token: None,
                    ttl_ns: None,
                    by: By::default(),
                };
                story.tell(from, if n == 0 { Event::Grant(tenure) } else { Event::Revive(tenure) });
                story.expires(to, hold);
            }
            for &(from, to) in &scene.believes {
                story.believes(from, WorkerId(scene.worker), hold);
                story.ceases(to, WorkerId(scene.worker), hold);
            }
        }
        for &(from, to) in &self.waits {
            let op = story.asks(from, C, 1_000 + from);
            story.tell(to, Event::Fail(op));
        }
        for &(from, to) in &self.blocks {
            for (t, blocked) in [(from, true), (to, false)] {
                story.tell(t, Event::Block(Block { server: SERVER, lock: LOCK, blocked }));
            }
        }
        for (worker, stops) in [A, B, C].into_iter().zip(&self.stops) {
            stops.iter().for_each(|&(from, to)| story.is_stopped(from, to, worker));
        }
        // The service says something, so that its view can be told.
        story.authority(0, 999, OTHER_SERVER, false);
        story
    }

    fn owners(&self, t: u64) -> Vec<&Hold2> {
        self.holds.iter().filter(|hold| has(&hold.owns, t)).collect()
    }

    fn believing_workers(&self, t: u64) -> usize {
        let believes = self.holds.iter().filter(|hold| has(&hold.believes, t));
        believes.map(|hold| hold.worker).collect::<BTreeSet<_>>().len()
    }

    fn is_stuck(&self, t: u64) -> bool {
        let owners = self.owners(t);
        let nobody_can = if owners.is_empty() {
            has(&self.blocks, t)
        } else {
            !owners.iter().any(|owner| has(&owner.believes, t))
        };
        has(&self.waits, t) && nobody_can
    }

    fn is_blocked(&self, t: u64) -> bool {
        let owners = self.owners(t);
        let mut believing = owners.iter().filter(|owner| has(&owner.believes, t)).peekable();
        has(&self.waits, t)
            && believing.peek().is_some()
            && believing.all(|owner| has(&self.stops[owner.worker as usize], t))
    }

    fn pairs(&self) -> BTreeSet<(u64, u64)> {
        let mut pairs = BTreeSet::new();
        for (i, one) in (0..).zip(&self.holds) {
            for (j, other) in (0..i).zip(&self.holds) {
                let overlap = (0..END).any(|t| has(&one.believes, t) && has(&other.believes, t));
                if overlap && one.worker != other.worker {
                    pairs.insert((j, i));
                }
            }
        }
        pairs
    }
}

/// The maximal runs of milliseconds in which something holds.
fn runs(holds: impl Fn(u64) -> bool) -> Vec<Interval> {
    let mut runs: Vec<Interval> = Vec::new();
    for t in (0..END).filter(|&t| holds(t)) {
        match runs.last_mut() {
            Some((_, to)) if *to == t => *to = t + 1,
            _ => runs.push((t, t + 1)),
        }
    }
    runs
}

/// The sum of some runs, and of those longer than the tolerance.
fn sums(runs: &[Interval]) -> (u64, u64) {
    let lengths = runs.iter().map(|(from, to)| to - from);
    let over = lengths.clone().filter(|&length| length > TOLERANCE).sum::<u64>();
    (lengths.sum::<u64>() * MS, over * MS)
}

proptest! {
    #[test]
    fn beliefs_are_swept_as_by_a_slow_clock(scene in scenes()) {
        let analysis = scene.tell().analyse();
        let windows: Vec<_> = runs(|t| scene.believing_workers(t) > 1);
        let found: Vec<_> = analysis.windows.iter().map(|w| (w.from_ns / MS, w.to_ns / MS)).collect();
        prop_assert_eq!(&found, &windows);
        for window in &analysis.windows {
            let most = (window.from_ns / MS..window.to_ns / MS).map(|t| scene.believing_workers(t)).max();
            prop_assert_eq!(Some(window.holders as usize), most);
        }
        prop_assert_eq!(analysis.times.double_holder_ns, sums(&windows).0);
        let most = (0..END).map(|t| scene.believing_workers(t)).max().unwrap_or(0);
        prop_assert_eq!(analysis.times.max_holders as usize, most);
        let found: BTreeSet<_> =
            analysis.pairs.iter().map(|(a, b)| (a.0.min(b.0), a.0.max(b.0))).collect();
        prop_assert_eq!(found.len(), analysis.pairs.len(), "each pair once");
        prop_assert_eq!(found, scene.pairs());
    }

    #[test]
    fn views_are_compared_as_by_a_slow_clock(scene in scenes()) {
        let times = scene.tell().analyse().times;
        let (mut stale, mut ghost) = ((0, 0), (0, 0));
        for hold in &scene.holds {
            let add = |sum: &mut (u64, u64), (all, over): (u64, u64)| { sum.0 += all; sum.1 += over; };
            add(&mut stale, sums(&runs(|t| has(&hold.believes, t) && !has(&hold.owns, t))));
            add(&mut ghost, sums(&runs(|t| has(&hold.owns, t) && !has(&hold.believes, t))));
        }
        prop_assert_eq!((times.stale_belief_ns, times.stale_belief_over_ns), stale);
        prop_assert_eq!((times.ghost_owner_ns, times.ghost_owner_over_ns), ghost);
        prop_assert_eq!(times.double_grant_ns, sums(&runs(|t| scene.owners(t).len() > 1)).0);
    }

    #[test]
    fn waiting_is_judged_as_by_a_slow_clock(scene in scenes()) {
        let times = scene.tell().analyse().times;
        let (stuck, blocked) = (runs(|t| scene.is_stuck(t)), runs(|t| scene.is_blocked(t)));
        prop_assert_eq!((times.stuck_ns, times.stuck_over_ns), sums(&stuck));
        prop_assert_eq!((times.blocked_ns, times.blocked_over_ns), sums(&blocked));
        prop_assert_eq!(times.stuck_from_ns, stuck.first().map(|(from, _)| from * MS));
        prop_assert_eq!(times.stuck_to_ns, stuck.last().map(|(_, to)| to * MS));
        let longest = stuck.iter().map(|(from, to)| to - from).max().unwrap_or(0);
        prop_assert_eq!(times.longest_stuck_ns, longest * MS);
    }

    #[test]
    fn every_finding_of_a_pair_is_explained_or_said_not_to_be(scene in scenes()) {
        let analysis = scene.tell().analyse();
        prop_assert_eq!(analysis.findings_total as usize, analysis.pairs.len());
        for finding in &analysis.findings {
            prop_assert!((1..=9).contains(&finding.rule));
            prop_assert!(finding.also.iter().all(|(rule, _)| *rule > finding.rule));
        }
    }
}
