//! Fencing tokens of one lock: what was granted, what was returned, and whether it orders the grants.

use std::collections::BTreeSet;

use crate::history::{Hold, OpId};

/// How many tokens that were learnt out of grant order are kept apart; older ones are folded into one.
const APART: usize = 256;

/// The tokens of one lock.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    /// Grants whose token is not larger than one of an earlier grant.
    pub(crate) faults: u64,
    /// Whether a returned token repeats, or is not larger than one returned before its acquire was invoked.
    pub(crate) is_broken: bool,
    /// How many tokens were returned.
    pub(crate) returned: u64,

    /// The highest token among the grants whose token is settled.
    highest_granted: Option<u64>,
    /// Grants whose token is not known yet, by rank: it comes with the reply.
    unknown: Vec<(u64, Hold)>,
    /// Tokens that came with a reply while a grant of lower rank had none yet.
    apart: Vec<(u64, u64)>,

    /// Open acquires, and the highest token that had been returned when they were invoked.
    open: Vec<(OpId, Option<u64>)>,
    highest_returned: Option<u64>,
    /// Returned tokens above what some open acquire must exceed: only these can be returned again unseen.
    recent: BTreeSet<u64>,
}

impl Tokens {
    /// The service granted the lock, and minted a token with it, or did not.
    pub(crate) fn granted(&mut self, hold: Hold, rank: u64, token: Option<u64>) {
        match token {
            Some(token) => self.place(rank, token),
            None => self.unknown.push((rank, hold)),
        }
    }

    /// No more will be heard of a grant.
    pub(crate) fn forget(&mut self, hold: Hold) {
        self.unknown.retain(|&(_, other)| other != hold);
        self.settle();
    }

    /// An acquire was invoked.
    pub(crate) fn asked(&mut self, op: OpId) {
        self.open.push((op, self.highest_returned));
    }

    /// An acquire is over; an acknowledged one returned a token, or none.
    pub(crate) fn answered(&mut self, op: OpId, hold: Option<Hold>, token: Option<u64>) {
        let floor =
            self.open.iter().position(|&(other, _)| other == op).map(|at| self.open.swap_remove(at).1);
        if let (Some(token), Some(floor)) = (token, floor) {
            self.returned += 1;
            self.is_broken |= floor.is_some_and(|floor| token <= floor) || self.recent.contains(&token);
            self.highest_returned = self.highest_returned.max(Some(token));
            self.recent.insert(token);
        }
        let unknown = self.unknown.iter().position(|&(_, other)| Some(other) == hold);
        if let Some(at) = unknown {
            // Without a token in the reply there will be none.
            let (rank, _) = self.unknown.swap_remove(at);
            if let Some(token) = token {
                self.place(rank, token);
            }
            self.settle();
        }
        match self.open.iter().map(|&(_, floor)| floor).min() {
            None => self.recent.clear(),
            Some(None) => {}
            Some(Some(floor)) => {
                while self.recent.first().is_some_and(|&lowest| lowest <= floor) {
                    self.recent.pop_first();
                }
            }
        }
    }

    /// Compares a token with those of earlier and of later grants.
    fn place(&mut self, rank: u64, token: u64) {
        let is_fault = self.highest_granted.is_some_and(|highest| token <= highest)
            || self.apart.iter().any(
                |&(other_rank, other)| {
                    if other_rank < rank { token <= other } else { token >= other }
                },
            );
        self.faults += u64::from(is_fault);
        if self.unknown.is_empty() && self.apart.is_empty() {
            self.highest_granted = self.highest_granted.max(Some(token));
        } else {
            self.apart.push((rank, token));
            self.settle();
        }
    }

    /// Folds the tokens that no grant of lower rank can be compared with any more.
    fn settle(&mut self) {
        if self.apart.is_empty() {
            return;
        }
        let mut first_unknown = self.unknown.iter().map(|&(rank, _)| rank).min().unwrap_or(u64::MAX);
        if self.apart.len() > APART {
            first_unknown = u64::MAX;
        }
        for &(rank, token) in &self.apart {
            if rank < first_unknown {
                self.highest_granted = self.highest_granted.max(Some(token));
            }
        }
        self.apart.retain(|&(rank, _)| rank >= first_unknown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn falling_and_equal_tokens_are_faults() {
        let mut tokens = Tokens::default();
        for (rank, token) in [1, 2, 1, 2, 3].into_iter().enumerate() {
            tokens.granted(Hold(rank as u64), rank as u64, Some(token));
        }
        assert_eq!(tokens.faults, 2);
    }

    #[test]
    fn a_token_that_is_fetched_late_is_compared_in_grant_order() {
        let mut tokens = Tokens::default();
        tokens.granted(Hold(1), 1, None);
        tokens.granted(Hold(2), 2, None);
        tokens.asked(OpId(1));
        tokens.asked(OpId(2));
        tokens.answered(OpId(2), Some(Hold(2)), Some(10));
        tokens.answered(OpId(1), Some(Hold(1)), Some(11));
        assert_eq!(tokens.faults, 1, "the older grant has the larger token");
        assert!(!tokens.is_broken, "they were asked for at the same time");
    }

    #[test]
    fn a_returned_token_must_exceed_what_was_returned_before_it_was_asked_for() {
        let mut tokens = Tokens::default();
        tokens.asked(OpId(1));
        tokens.answered(OpId(1), Some(Hold(1)), Some(5));
        tokens.asked(OpId(2));
        tokens.answered(OpId(2), Some(Hold(2)), Some(5));
        assert!(tokens.is_broken);
    }

    #[test]
    fn a_token_returned_twice_at_the_same_time_is_broken() {
        let mut tokens = Tokens::default();
        tokens.asked(OpId(1));
        tokens.asked(OpId(2));
        tokens.answered(OpId(1), Some(Hold(1)), Some(5));
        tokens.answered(OpId(2), Some(Hold(2)), Some(5));
        assert!(tokens.is_broken);
    }
}
