//! Two workers that believe at once: newcomers, pairs and windows of one lock.

use rustc_hash::FxHashMap;

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
    /// Of those, the ones whose every overlap was dormant; known once all of them are judged.
    pub(crate) dormant: u64,
    /// How long each of them overlapped at the longest; known once all its overlaps are judged.
    pub(crate) longest_ns: Vec<u64>,
    pub(crate) windows: Vec<Window>,
    /// The largest number of workers that believed at once for some time.
    pub(crate) max_holders: u32,
    /// Overlapping grants with the moment at which they began to.
    pub(crate) pairs: Vec<(Moment, Hold, Hold)>,

    open: Vec<Open>,
    /// Overlaps that are over and not judged before the older belief ends, by the older grant.
    unjudged: FxHashMap<Slot, Unjudged>,
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
    /// Whether the older holder invoked something in the meantime.
    is_acting: bool,
}

/// An overlap that is over.
#[derive(Clone, Copy, Debug)]
struct Over {
    overlap: Overlap,
    newcomer: Option<usize>,
    /// Whether it lasted for some time, and is the first one of its two grants.
    is_finding: bool,
}

/// Overlaps of an older holder that still believes, in the order in which they were over.
#[derive(Clone, Debug, Default)]
struct Unjudged {
    all: Vec<Over>,
    /// How many of them were over at the older holder's last act: of those it is known whether it looked
    /// before it acted.
    decided: usize,
}

/// A double holder with overlaps that are not judged.
#[derive(Clone, Copy, Debug, Default)]
struct Newcomer {
    unjudged: u32,
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
    /// Whether the older holder invoked nothing in the meantime, nor afterwards before it had looked.
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
            unjudged: FxHashMap::default(),
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
            self.open.push(Open { older, newer, since: at, newcomer: None, is_acting: false });
        }
        let overlaps = &mut self.open[open_before..];
        if overlaps.is_empty() || grants[new.slot].is_double_holder {
            return;
        }
        grants[new.slot].is_double_holder = true;
        self.double_holders += 1;
        let unjudged = u32::try_from(overlaps.len()).unwrap_or(u32::MAX);
        let newcomer = Newcomer { unjudged, ..Newcomer::default() };
        let place = self.free_newcomers.pop().unwrap_or(self.newcomers.len());
        match self.newcomers.get_mut(place) {
            Some(free) => *free = newcomer,
            None => self.newcomers.push(newcomer),
        }
        for overlap in overlaps {
            overlap.newcomer = Some(place);
        }
    }

    /// The holder of a grant invokes a read, write or charge, and has last looked whether it still holds the
    /// lock at that moment: it acts in the overlaps in which it is the older one and that are not over, and in
    /// those that were over before without its having looked since.
    pub(crate) fn acts(&mut self, slot: Slot, last_check: Option<Moment>) {
        for open in self.open.iter_mut().filter(|open| open.older == slot) {
            open.is_acting = true;
        }
        let Some(Unjudged { all, decided }) = self.unjudged.get_mut(&slot) else { return };
        for Over { overlap, .. } in &mut all[*decided..] {
            overlap.dormant &= last_check.is_some_and(|checked| overlap.until < checked);
        }
        *decided = all.len();
    }

    /// A worker just ceased to believe. Returns the overlaps that can be judged now: those whose older belief
    /// is over, since only then is it known what that holder did when it woke up.
    pub(crate) fn end(
        &mut self,
        grants: &mut Grants,
        believers: &Believers,
        slot: Slot,
        at: Moment,
    ) -> Vec<Overlap> {
        self.count_workers(believers.workers(), at.time_ns);
        let mut over = self.unjudged.remove(&slot).unwrap_or_default().all;
        let mut position = 0;
        while let Some(&open) = self.open.get(position) {
            if open.older != slot && open.newer != slot {
                position += 1;
                continue;
            }
            // The order matters: pairs are reported in the order in which they began.
            self.open.remove(position);
            let closed = self.close(grants, open, at);
            if grants[open.older].believes {
                self.unjudged.entry(open.older).or_default().all.push(closed);
            } else {
                over.push(closed);
            }
        }
        over.into_iter().filter_map(|over| self.judge(over)).collect()
    }

    fn close(&mut self, grants: &mut Grants, open: Open, at: Moment) -> Over {
        let Open { older, newer, since, newcomer, is_acting } = open;
        let (older_hold, newer_hold) = (grants[older].hold, grants[newer].hold);
        // A belief may begin before its grant, and so be the older one only at first.
        let is_known =
            grants[older].overlapped.contains(&newer_hold) || grants[newer].overlapped.contains(&older_hold);
        let is_finding = since.time_ns < at.time_ns && !is_known;
        if is_finding {
            grants[older].overlapped.push(newer_hold);
            grants[newer].awaits_judgement += 1;
            self.pairs.push((since, older_hold, newer_hold));
        }
        let overlap = Overlap { older, newer, since, until: at, dormant: !is_acting };
        Over { overlap, newcomer, is_finding }
    }

    /// It is known how the older holder went on: counts the overlap for its newcomer, and returns it if it is
    /// a finding.
    fn judge(&mut self, over: Over) -> Option<Overlap> {
        let Over { overlap, newcomer, is_finding } = over;
        if let Some(place) = newcomer {
            let newcomer = &mut self.newcomers[place];
            newcomer.unjudged -= 1;
            newcomer.longest_ns = newcomer.longest_ns.max(overlap.until.time_ns - overlap.since.time_ns);
            newcomer.is_acting |= !overlap.dormant;
            if newcomer.unjudged == 0 {
                self.dormant += u64::from(!newcomer.is_acting);
                self.longest_ns.push(newcomer.longest_ns);
                self.free_newcomers.push(place);
            }
        }
        is_finding.then_some(overlap)
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
