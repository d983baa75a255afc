//! Two workers that believe at once: newcomers, pairs and windows of one lock.

use crate::analysis::Window;
use crate::belief::{Believer, Believers};
use crate::grants::{Grants, Slot};
use crate::history::{Hold, LockId};
use crate::moment::Moment;

/// Overlapping beliefs of one lock.
#[derive(Debug)]
pub(crate) struct Overlaps {
    lock: LockId,
    /// Grants whose belief began while another worker believed.
    pub(crate) double_holders: u64,
    /// Of those, the ones whose every overlap was dormant.
    pub(crate) dormant: u64,
    /// How long each of them overlapped at the longest.
    pub(crate) longest_ns: Vec<u64>,
    pub(crate) windows: Vec<Window>,
    /// The largest number of workers that believed at once for some time.
    pub(crate) max_holders: u32,
    /// Overlapping grants with the moment at which they began to.
    pub(crate) pairs: Vec<(Moment, Hold, Hold)>,

    open: Vec<Open>,
    newcomers: Vec<Newcomer>,
    free_newcomers: Vec<usize>,
    workers: u32,
    since_ns: u64,
}

/// Two grants whose beliefs overlap now.
#[derive(Clone, Copy, Debug)]
struct Open {
    older: Slot,
    newer: Slot,
    since: Moment,
    /// The double holder that it counts for, if its belief was not counted before.
    newcomer: Option<usize>,
}

/// A double holder with overlaps that are not over.
#[derive(Clone, Copy, Debug, Default)]
struct Newcomer {
    open: u32,
    longest_ns: u64,
    is_acting: bool,
}

/// Two grants whose beliefs overlapped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overlap {
    pub(crate) older: Slot,
    pub(crate) newer: Slot,
    pub(crate) since: Moment,
    pub(crate) until: Moment,
    /// Whether the older holder invoked nothing in the meantime.
    pub(crate) dormant: bool,
}

impl Overlaps {
    pub(crate) fn new(lock: LockId) -> Self {
        Overlaps {
            lock,
            double_holders: 0,
            dormant: 0,
            longest_ns: Vec::new(),
            windows: Vec::new(),
            max_holders: 0,
            pairs: Vec::new(),
            open: Vec::new(),
            newcomers: Vec::new(),
            free_newcomers: Vec::new(),
            workers: 0,
            since_ns: 0,
        }
    }

    /// A worker just began to believe.
    pub(crate) fn begin(&mut self, grants: &mut Grants, believers: &Believers, new: Believer, at: Moment) {
        self.count_workers(believers.workers(), at.time_ns);
        let others = believers.current().iter().filter(|other| other.worker != new.worker);
        let open_before = self.open.len();
        for other in others {
            let is_older = |a: Slot, b: Slot| (grants[a].rank(), a) < (grants[b].rank(), b);
            let (older, newer) =
                if is_older(other.slot, new.slot) { (other.slot, new.slot) } else { (new.slot, other.slot) };
            self.open.push(Open { older, newer, since: at, newcomer: None });
        }
        let overlaps = &mut self.open[open_before..];
        if overlaps.is_empty() || grants[new.slot].is_double_holder {
            return;
        }
        grants[new.slot].is_double_holder = true;
        self.double_holders += 1;
        let newcomer =
            Newcomer { open: u32::try_from(overlaps.len()).unwrap_or(u32::MAX), ..Newcomer::default() };
        let place = self.free_newcomers.pop().unwrap_or(self.newcomers.len());
        match self.newcomers.get_mut(place) {
            Some(free) => *free = newcomer,
            None => self.newcomers.push(newcomer),
        }
        for overlap in overlaps {
            overlap.newcomer = Some(place);
        }
    }

    /// A worker just ceased to believe; returns the pairs that overlapped for the first time.
    pub(crate) fn end(
        &mut self,
        grants: &mut Grants,
        believers: &Believers,
        slot: Slot,
        at: Moment,
    ) -> Vec<Overlap> {
        self.count_workers(believers.workers(), at.time_ns);
        let mut over = Vec::new();
        let mut position = 0;
        while let Some(&open) = self.open.get(position) {
            if open.older == slot || open.newer == slot {
                // The order matters: pairs are reported in the order in which they began.
                self.open.remove(position);
                over.extend(self.close(grants, open, at));
            } else {
                position += 1;
            }
        }
        over
    }

    fn close(&mut self, grants: &mut Grants, open: Open, at: Moment) -> Option<Overlap> {
        let Open { older, newer, since, newcomer } = open;
        let dormant = grants[older].last_act.is_none_or(|act| act < since);
        let length_ns = at.time_ns - since.time_ns;
        if let Some(place) = newcomer {
            let newcomer = &mut self.newcomers[place];
            newcomer.open -= 1;
            newcomer.longest_ns = newcomer.longest_ns.max(length_ns);
            newcomer.is_acting |= !dormant;
            if newcomer.open == 0 {
                self.dormant += u64::from(!newcomer.is_acting);
                self.longest_ns.push(newcomer.longest_ns);
                self.free_newcomers.push(place);
            }
        }
        let (older_hold, newer_hold) = (grants[older].hold, grants[newer].hold);
        // A belief may begin before its grant, and so be the older one only at first.
        let is_known =
            grants[older].overlapped.contains(&newer_hold) || grants[newer].overlapped.contains(&older_hold);
        if length_ns == 0 || is_known {
            return None;
        }
        grants[older].overlapped.push(newer_hold);
        self.pairs.push((since, older_hold, newer_hold));
        Some(Overlap { older, newer, since, until: at, dormant })
    }

    fn count_workers(&mut self, workers: u32, now_ns: u64) {
        if self.since_ns < now_ns {
            self.max_holders = self.max_holders.max(self.workers);
            if self.workers > 1 {
                self.add_window(now_ns);
            }
        }
        self.workers = workers;
        self.since_ns = now_ns;
    }

    fn add_window(&mut self, to_ns: u64) {
        let (lock, from_ns, holders) = (self.lock, self.since_ns, self.workers);
        match self.windows.last_mut() {
            Some(last) if last.to_ns == from_ns => {
                last.to_ns = to_ns;
                last.holders = last.holders.max(holders);
            }
            _ => self.windows.push(Window { lock, from_ns, to_ns, holders }),
        }
    }
}
