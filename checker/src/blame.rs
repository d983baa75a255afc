//! Whose fault a finding is: the first of eight rules that holds, tested in true time.
//!
//! A finding is about an older grant *A* and a newer grant *B*. Only safety is blamed. Each rule is one
//! function, and says in its documentation what the rule's line in the table says.

mod holder;
mod resource;
mod service;

use crate::acting::{Act, Holder};
use crate::faults::Faults;
use crate::finding::{Assumption, Blame, Finding, FindingKind};
use crate::grants::{Grant, Grants, Slot};
use crate::history::{CheckDepth, DebitId, FenceMode, Header, Lock, NodeId, ResourceId, WorkerId};
use crate::moment::Moment;
use crate::overlap::Overlap;

/// The rules in the order in which they are tried; the first one that holds is the root cause.
const RULES: [fn(&Case<'_>) -> Option<Ruling>; 8] = [
    service::tenure_was_tampered_with,
    service::lock_was_granted_twice,
    service::tenure_ended_early,
    service::acknowledgement_was_not_true,
    resource::tokens_do_not_order_the_grants,
    resource::resource_broke_its_promise,
    holder::client_acted_against_the_rules,
    holder::holder_was_delayed,
];

/// The rule of a finding that no rule explains.
const UNEXPLAINED: u8 = 9;

/// What a rule says about a case for which it holds.
#[derive(Clone, Copy, Debug)]
struct Ruling {
    blame: Blame,
    assumption: Option<Assumption>,
}

impl Ruling {
    fn blames(blame: Blame) -> Self {
        Ruling { blame, assumption: None }
    }
}

/// A finding before it is judged.
#[derive(Clone, Copy, Debug)]
struct Case<'a> {
    court: Court<'a>,
    harm: Harm,
    /// When it is judged: nothing later counts.
    at: Moment,
    older: Party<'a>,
    newer: Party<'a>,
}

/// One side of a case.
#[derive(Clone, Copy, Debug, Default)]
struct Party<'a> {
    grant: Option<&'a Grant>,
    /// What it did to the data.
    act: Option<&'a Act>,
}

/// What kind of harm a case is about.
#[derive(Clone, Copy, Debug)]
enum Harm {
    /// Two believed, from one moment to another.
    Overlap { since: Moment, until: Moment },
    /// A resource behind this fence was harmed.
    Data { fence: FenceMode, kind: FindingKind },
}

impl Party<'_> {
    fn worker(&self) -> Option<WorkerId> {
        self.grant.and_then(|grant| grant.worker).or(self.act.map(|act| act.worker))
    }

    /// The token that it showed, or that it could have shown.
    fn token(&self) -> Option<u64> {
        self.act.map_or_else(|| self.grant.and_then(|grant| grant.token), |act| act.token)
    }

    fn rank(&self) -> (u64, Option<Moment>) {
        let act = self.act.and_then(|act| act.applied);
        let rank = self.grant.map(Grant::rank).or(act.map(|act| act.index)).unwrap_or(u64::MAX);
        (rank, act)
    }
}

/// What is needed to judge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Court<'a> {
    pub(crate) header: &'a Header,
    pub(crate) grants: &'a Grants,
    pub(crate) faults: &'a Faults,
}

impl<'a> Court<'a> {
    /// Judges an overlap of two beliefs, when the older one has ended.
    pub(crate) fn overlap(self, overlap: Overlap, at: Moment) -> Finding {
        let Overlap { older, newer, since, until, dormant } = overlap;
        let party = |slot: Slot| Party { grant: Some(&self.grants[slot]), act: None };
        let (older, newer) = (party(older), party(newer));
        let case = Case { court: self, harm: Harm::Overlap { since, until }, at, older, newer };
        Finding { dormant, ..case.judge(FindingKind::Overlap, since) }
    }

    /// Judges harm that one or two requests did to a resource.
    pub(crate) fn data(
        self,
        kind: FindingKind,
        at: Moment,
        resource: (ResourceId, FenceMode),
        debit: Option<DebitId>,
        acts: (Option<&'a Act>, Option<&'a Act>),
    ) -> Finding {
        let party = |act: Option<&'a Act>| Party {
            grant: act.and_then(|act| act.slot).map(|slot| &self.grants[slot]),
            act,
        };
        let (one, other) = (party(acts.0), party(acts.1));
        let is_in_order = acts.1.is_none() || one.rank() <= other.rank();
        let (older, newer) = if is_in_order { (one, other) } else { (other, one) };
        let harm = Harm::Data { fence: resource.1, kind };
        let case = Case { court: self, harm, at, older, newer };
        Finding { resource: Some(resource.0), debit, ..case.judge(kind, at) }
    }
}

impl Case<'_> {
    fn judge(&self, kind: FindingKind, made: Moment) -> Finding {
        let mut rulings =
            (1..).zip(RULES).filter_map(|(rule, holds)| holds(self).map(|ruling| (rule, ruling)));
        let (rule, root) = rulings.next().unwrap_or((UNEXPLAINED, Ruling::blames(Blame::Unexplained)));
        let also = rulings.map(|(rule, ruling)| (rule, ruling.blame)).collect();
        let (older, newer) = (self.older.grant, self.newer.grant);
        let hold = |grant: Option<&Grant>| grant.map(|grant| grant.hold);
        Finding {
            kind,
            time_ns: made.time_ns,
            index: made.index,
            lock: older.and_then(|grant| grant.lock).or(newer.and_then(|grant| grant.lock)),
            resource: None,
            older: hold(older),
            newer: hold(newer).filter(|_| hold(newer) != hold(older)),
            debit: None,
            rule,
            blame: root.blame,
            also,
            assumption: root.assumption,
            dormant: false,
        }
    }

    /// The two grants, if there are two.
    fn two_grants(&self) -> Option<(&Grant, &Grant)> {
        let (older, newer) = (self.older.grant?, self.newer.grant?);
        (older.hold != newer.hold).then_some((older, newer))
    }

    fn lock(&self, grant: &Grant) -> Option<&Lock> {
        grant.lock.and_then(|lock| self.court.header.locks.get(lock.0 as usize))
    }

    /// Whether a grant is of a lock that a service grants.
    fn has_service(&self, grant: &Grant) -> bool {
        self.lock(grant).is_some_and(|lock| lock.service)
    }

    fn holder(&self, worker: WorkerId) -> Option<Holder<'_>> {
        holder(self.court.header, self.court.faults, worker)
    }
}

/// The machine and the habits of a worker, as the header tells them.
pub(crate) fn holder<'a>(header: &Header, faults: &'a Faults, worker: WorkerId) -> Option<Holder<'a>> {
    let worker = header.workers.get(worker.0 as usize)?;
    Some(Holder { node: worker.node, check: worker.check, renews: worker.renew_every_ns.is_some(), faults })
}

/// A worker that the header does not list: it never stops and never checks.
pub(crate) fn stranger(faults: &Faults) -> Holder<'_> {
    Holder { node: NodeId(u32::MAX), check: CheckDepth::None, renews: false, faults }
}
