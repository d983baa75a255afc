//! Harm that was done, who is to blame for it, and what had to go wrong first.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::history::{DebitId, EndCause, Hold, LockId, ResourceId, TokenOrigin, WorkerId};

/// One piece of harm with its root cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What kind of harm.
    pub kind: FindingKind,
    /// True time at which it was done.
    pub time_ns: u64,
    /// The entry that did it.
    pub index: u64,
    /// The lock that should have prevented it.
    pub lock: Option<LockId>,
    /// The resource that was harmed.
    pub resource: Option<ResourceId>,
    /// The earlier one of the two grants, in true grant order.
    pub older: Option<Hold>,
    /// The later one; absent if only one grant is involved.
    pub newer: Option<Hold>,
    /// The debit that was lost, doubled or made up, or that a destroyed version had booked.
    pub debit: Option<DebitId>,
    /// The first rule that holds, 1 to 9.
    pub rule: u8,
    /// Whom that rule blames.
    pub blame: Blame,
    /// Further rules that hold, and whom they blame.
    pub also: Vec<(u8, Blame)>,
    /// What the history did that was assumed not to happen.
    pub assumption: Option<Assumption>,
    /// Whether the older holder slept through an overlap, and did not act afterwards before it had looked.
    pub dormant: bool,
}

/// A kind of harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Two workers believed that they hold one lock.
    Overlap,
    /// A debit that was applied for certain is gone.
    LostDebit,
    /// A committed version was overwritten by a write computed from an older one.
    DestroyedUpdate,
    /// An invoice was charged again.
    DoubleDebit,
    /// A debit is in the ledger though nobody invoked it or it certainly failed.
    PhantomDebit,
    /// The balance is not what the debits in the ledger leave.
    SumMismatch,
}

/// Who caused a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "party", content = "fault", rename_all = "kebab-case")]
pub enum Blame {
    /// The code of a client is wrong.
    ClientBug {
        /// Whose.
        of: WorkerId,
        /// What it does wrong.
        bug: ClientBug,
    },
    /// The lock service broke a promise.
    Service(ServiceFault),
    /// The service's fencing tokens do not order its grants.
    Token(TokenFault),
    /// The resource broke a promise.
    Resource(ResourceFault),
    /// Nobody's code is wrong: a holder was stopped, its clock moved or its message was held.
    Holder,
    /// No rule holds.
    Unexplained,
}

/// What a client's code does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientBug {
    /// It ended a tenure that was not its own.
    EndedAnothersTenure,
    /// It extended a tenure that was not its own.
    ExtendedAnothersTenure,
    /// Its library concluded that it holds the lock when it never did.
    WrongConclusion,
    /// Its tokens do not order the grants: they are not minted with the grant.
    Token(TokenOrigin),
    /// It works without a lock.
    NoLock,
    /// It acted after it had given the lock back.
    ActedAfterRelease,
    /// It acted after it had learnt that the lock is lost.
    ActedAfterLoss,
    /// It wrote after its deadline and had not looked since it read.
    NoCheck,
    /// It wrote though its check had failed.
    IgnoredCheck,
    /// It looked, went on with something else, and wrote when the deadline had passed.
    CheckedTooEarly,
    /// Its code ran on past the deadline.
    Overstayed,
    /// It gave the lock back while a write of its own was still on its way.
    ReleasedWithOpenWrite,
    /// It sent a request of unknown outcome again, and the resource could not recognise it.
    RetriedWithoutIdempotence,
    /// It read the data before it had the lock.
    ReadBeforeLock,
    /// It wrote a record that does not follow from what it had read.
    WrongRecord,
}

/// Which promise a lock service broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServiceFault {
    /// Two grants were owner at once.
    DoubleGrant,
    /// It ended a tenure before its time, or forgot it.
    EarlyEnd(EndCause),
    /// It granted the lock again within the promised delay.
    BrokenDelay,
    /// It acknowledged what was not true.
    FalseOk,
}

/// What is wrong with the tokens of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenFault {
    /// Two grants have the same token.
    Repeated,
    /// The later grant has the smaller token.
    Falling,
    /// A grant has no token.
    Absent,
}

/// Which promise a resource broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResourceFault {
    /// It accepted what its fence forbids.
    BrokenFence,
    /// It lost a write that it had acknowledged.
    LostWrite,
    /// It holds what nobody asked for, or what it had refused.
    MadeUp,
}

impl Blame {
    /// The fault in a few words.
    pub fn phrase(self) -> &'static str {
        match self {
            Blame::ClientBug { bug, .. } => bug.phrase(),
            Blame::Service(fault) => fault.phrase(),
            Blame::Token(fault) => fault.phrase(),
            Blame::Resource(fault) => fault.phrase(),
            Blame::Holder => "it outlived its lease",
            Blame::Unexplained => "unexplained",
        }
    }

    /// The party that is at fault.
    pub fn party(self) -> Party {
        match self {
            Blame::ClientBug { .. } => Party::Client,
            Blame::Service(_) => Party::Service,
            Blame::Token(_) => Party::Token,
            Blame::Resource(_) => Party::Resource,
            Blame::Holder => Party::Holder,
            Blame::Unexplained => Party::Unexplained,
        }
    }
}

impl ClientBug {
    /// The bug in a few words.
    pub fn phrase(self) -> &'static str {
        match self {
            ClientBug::EndedAnothersTenure => "ended somebody else's tenure",
            ClientBug::ExtendedAnothersTenure => "extended somebody else's tenure",
            ClientBug::WrongConclusion => "its library concluded that it holds a lock that it does not hold",
            ClientBug::Token(TokenOrigin::Clock) => "takes its tokens from a clock",
            ClientBug::Token(TokenOrigin::Shared) => "shares one token between several grants",
            ClientBug::Token(TokenOrigin::None) => "has no token to show",
            ClientBug::Token(_) => "takes its token apart from the grant",
            ClientBug::NoLock => "no lock",
            ClientBug::ActedAfterRelease => "acted after it had released the lock",
            ClientBug::ActedAfterLoss => "acted after it had learnt of the loss",
            ClientBug::NoCheck => "wrote after its deadline without a check",
            ClientBug::IgnoredCheck => "wrote though its check had failed",
            ClientBug::CheckedTooEarly => "wrote long after its check",
            ClientBug::Overstayed => "ran on past its deadline",
            ClientBug::ReleasedWithOpenWrite => "released the lock with a write still on its way",
            ClientBug::RetriedWithoutIdempotence => "retried without idempotence",
            ClientBug::ReadBeforeLock => "read the data before it had the lock",
            ClientBug::WrongRecord => "wrote a record that does not follow from what it read",
        }
    }
}

impl ServiceFault {
    /// The fault in a few words.
    pub fn phrase(self) -> &'static str {
        match self {
            ServiceFault::DoubleGrant => "granted the lock twice",
            ServiceFault::EarlyEnd(EndCause::Forgotten) => "forgot a grant",
            ServiceFault::EarlyEnd(EndCause::Clock) => "its clock jumped over the end of a lease",
            ServiceFault::EarlyEnd(EndCause::Evicted) => "evicted a grant or killed its session",
            ServiceFault::EarlyEnd(_) => "ended a tenure early",
            ServiceFault::BrokenDelay => "granted the lock within the promised lock-delay",
            ServiceFault::FalseOk => "acknowledged a lock that the client never owned",
        }
    }
}

impl TokenFault {
    /// The fault in a few words.
    pub fn phrase(self) -> &'static str {
        match self {
            TokenFault::Repeated => "gave two grants the same token",
            TokenFault::Falling => "gave a later grant a smaller token",
            TokenFault::Absent => "gave a grant no token",
        }
    }
}

impl ResourceFault {
    /// The fault in a few words.
    pub fn phrase(self) -> &'static str {
        match self {
            ResourceFault::BrokenFence => "accepted what its fence forbids",
            ResourceFault::LostWrite => "lost a write that it had acknowledged",
            ResourceFault::MadeUp => "holds what nobody asked for",
        }
    }
}

/// What a system relies on without being able to enforce it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assumption {
    /// A process is never stopped for long.
    BoundedPause,
    /// A message never takes long.
    BoundedDelay,
    /// Clocks do not jump, and run at about the right rate.
    ClockDoesNotJump,
    /// What was granted is not forgotten.
    DurableGrant,
    /// Somebody notices when a peer is dead.
    DeadPeersNoticed,
    /// The resource checks what it is asked to do.
    ResourceCooperates,
}

impl Assumption {
    /// All of them, in the order in which sets list them.
    pub const ALL: [Assumption; 6] = [
        Assumption::BoundedPause,
        Assumption::BoundedDelay,
        Assumption::ClockDoesNotJump,
        Assumption::DurableGrant,
        Assumption::DeadPeersNoticed,
        Assumption::ResourceCooperates,
    ];

    /// The assumption in a few words.
    pub fn phrase(self) -> &'static str {
        match self {
            Assumption::BoundedPause => "bounded pause",
            Assumption::BoundedDelay => "bounded network delay",
            Assumption::ClockDoesNotJump => "clock that does not jump",
            Assumption::DurableGrant => "durable grant",
            Assumption::DeadPeersNoticed => "dead peers are noticed",
            Assumption::ResourceCooperates => "resource cooperates",
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of broken [`Assumption`]s; serialised as a list.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "Vec<Assumption>", from = "Vec<Assumption>")]
pub struct Assumptions(u8);

impl Assumptions {
    /// Adds an assumption.
    pub fn insert(&mut self, assumption: Assumption) {
        self.0 |= assumption.bit();
    }

    /// Adds all assumptions of another set.
    pub fn extend(&mut self, others: Assumptions) {
        self.0 |= others.0;
    }

    /// Whether an assumption is in the set.
    pub fn contains(self, assumption: Assumption) -> bool {
        self.0 & assumption.bit() != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its assumptions in the order of [`Assumption::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Assumption> {
        Assumption::ALL.into_iter().filter(move |&assumption| self.contains(assumption))
    }
}

impl From<Assumptions> for Vec<Assumption> {
    fn from(set: Assumptions) -> Self {
        set.iter().collect()
    }
}

impl From<Vec<Assumption>> for Assumptions {
    fn from(list: Vec<Assumption>) -> Self {
        list.into_iter().collect()
    }
}

impl FromIterator<Assumption> for Assumptions {
    fn from_iter<I: IntoIterator<Item = Assumption>>(list: I) -> Self {
        let mut set = Assumptions::default();
        for assumption in list {
            set.insert(assumption);
        }
        set
    }
}

impl fmt::Debug for Assumptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// A party that can be blamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Party {
    /// The lock service.
    Service,
    /// Its tokens.
    Token,
    /// The resource.
    Resource,
    /// The code of a client.
    Client,
    /// Nobody's code: the holder was stopped, its clock moved or its message was held.
    Holder,
    /// Nobody that we know of.
    Unexplained,
}

/// Which parties are blamed by at least one finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BlameSet {
    /// The lock service.
    pub service: bool,
    /// Its tokens.
    pub token: bool,
    /// The resource.
    pub resource: bool,
    /// The code of a client.
    pub client: bool,
    /// The holder, through no fault of its code.
    pub holder: bool,
    /// No rule explains a finding: the fault is ours.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unexplained: bool,
}

impl BlameSet {
    /// Adds the party that a finding blames.
    pub fn insert(&mut self, blame: Blame) {
        match blame.party() {
            Party::Service => self.service = true,
            Party::Token => self.token = true,
            Party::Resource => self.resource = true,
            Party::Client => self.client = true,
            Party::Holder => self.holder = true,
            Party::Unexplained => self.unexplained = true,
        }
    }

    /// The parties in the set, in the order of [`Party`].
    pub fn iter(self) -> impl Iterator<Item = Party> {
        let blamed = [
            (self.service, Party::Service),
            (self.token, Party::Token),
            (self.resource, Party::Resource),
            (self.client, Party::Client),
            (self.holder, Party::Holder),
            (self.unexplained, Party::Unexplained),
        ];
        blamed.into_iter().filter(|(is_blamed, _)| *is_blamed).map(|(_, party)| party)
    }

    /// Whether nobody is blamed.
    pub fn is_empty(self) -> bool {
        self == BlameSet::default()
    }
}
