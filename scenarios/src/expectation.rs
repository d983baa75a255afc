//! What a scenario file expects of a table's rows.

use std::fmt;

use fencepost_checker::history::FenceMode;
use fencepost_models::catalogue::{LockInfo, WorkloadInfo};

/// One `[[expect]]` of a scenario file: which rows, and what must hold for each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Which rows.
    pub selector: Selector,
    /// What must hold; never empty.
    pub checks: Vec<Check>,
    /// Its line in the file, from 1.
    pub line: usize,
}

impl Expectation {
    /// Whether it speaks of this row.
    pub fn matches(&self, lock: &LockInfo, fence: FenceMode, workload: &WorkloadInfo) -> bool {
        self.selector.matches(lock, fence, workload)
    }
}

/// Which rows an expectation speaks of. An empty list means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// These locks.
    pub locks: Vec<&'static LockInfo>,
    /// These fence modes.
    pub fences: Vec<FenceMode>,
    /// These workloads.
    pub workloads: Vec<&'static WorkloadInfo>,
}

impl Selector {
    /// Whether the row is one of them.
    pub fn matches(&self, lock: &LockInfo, fence: FenceMode, workload: &WorkloadInfo) -> bool {
        let lock_fits = self.locks.is_empty() || self.locks.iter().any(|it| it.name == lock.name);
        let fence_fits = self.fences.is_empty() || self.fences.contains(&fence);
        let workload_fits =
            self.workloads.is_empty() || self.workloads.iter().any(|it| it.name == workload.name);
        lock_fits && fence_fits && workload_fits
    }
}

/// One line of an expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// The sum over all seeds compares like this.
    Count(Count, Comparison),
    /// All who are blamed are among these; see [`blame_holds`].
    Blame(Vec<Party>),
    /// The contract, over all seeds.
    Contract(Contract),
}

impl Check {
    /// The key under which the file has it.
    pub fn key(&self) -> &'static str {
        match self {
            Check::Count(count, _) => count.name(),
            Check::Blame(_) => "blame",
            Check::Contract(_) => "contract",
        }
    }

    /// What breaks if it does not hold.
    pub fn property(&self) -> Property {
        match self {
            Check::Count(count, _) => count.property(),
            Check::Blame(_) | Check::Contract(_) => Property::Safety,
        }
    }

    /// What is expected, in the words of the file: `>0`, `holder`, `kept`.
    pub fn expected(&self) -> String {
        match self {
            Check::Count(_, comparison) => comparison.to_string(),
            Check::Blame(parties) if parties.is_empty() => "nobody".to_owned(),
            Check::Blame(parties) => parties.iter().map(|it| it.name()).collect::<Vec<_>>().join(", "),
            Check::Contract(contract) => contract.name().to_owned(),
        }
    }
}

/// Whether something bad must not happen, or something good must happen in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Property {
    /// Something bad never happens.
    Safety,
    /// Something good happens in the end.
    Liveness,
}

macro_rules! names {
    ($(#[$doc:meta])* $type:ident { $($variant:ident $name:literal $meaning:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $(#[doc = $meaning] $variant,)+
        }

        impl $type {
            /// All of them, in order.
            pub const ALL: &[$type] = &[$($type::$variant,)+];

            /// Its name in files.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $name,)+ }
            }

            /// What it means, in one line.
            pub const fn meaning(self) -> &'static str {
                match self { $($type::$variant => $meaning,)+ }
            }

            /// The one of this name.
            pub fn named(name: &str) -> Option<$type> {
                $type::ALL.iter().copied().find(|it| it.name() == name)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

names! {
    /// What is counted over all seeds of a row.
    Count {
        DoubleHolders "double_holders" "grants told to a worker while another one believes it holds the lock",
        DoubleHoldersActing "double_holders_acting" "those in which the old holder acted before it looked again",
        DoubleGrants "double_grants" "grants while the service itself had another owner",
        DuplicateRuns "duplicate_runs" "jobs that were begun twice",
        StaleAccepted "stale_accepted" "writes under an old grant that the resource took",
        StaleRejected "stale_rejected" "writes under an old grant that the resource refused",
        Conflicts "conflicts" "refusals of the latest grant",
        LostDebits "lost_debits" "debits that were certain once and are missing in the end",
        DestroyedUpdates "destroyed_updates" "versions that a write from an older read overwrote",
        DoubleDebits "double_debits" "invoices charged more than once",
        PhantomDebits "phantom_debits" "debits that nobody made or that were refused",
        TokenFaults "token_faults" "grants with an equal or smaller token than an earlier one",
        Unfinished "unfinished" "workers that still wait for the lock at the end of the run",
        StuckMs "stuck_ms" "time in which somebody waits for a lock that nobody uses, above the tolerance, in milliseconds",
        BlockedMs "blocked_ms" "time in which somebody waits for a holder that is stopped, above the tolerance, in milliseconds",
    }
}

impl Count {
    /// Whether it counts harm done or time and work lost.
    pub const fn property(self) -> Property {
        match self {
            Count::Unfinished | Count::StuckMs | Count::BlockedMs => Property::Liveness,
            _ => Property::Safety,
        }
    }
}

names! {
    /// Whose fault a finding is.
    Party {
        Service "service" "the lock service broke its contract",
        Token "token" "the fencing tokens are equal or fall",
        Resource "resource" "the resource broke what its fence mode promises",
        Client "client" "the client's code has a bug",
        Holder "holder" "the holder was stopped, or its clock or its message was, after its last check",
    }
}

names! {
    /// What became of the contract.
    Contract {
        Kept "kept" "every line of the contract was kept, or does not apply",
        Broken "broken" "at least one line of the contract was broken",
    }
}

/// Whether those who are blamed are as expected.
///
/// Everybody who is blamed must be among the expected. If somebody is expected and there are findings, at
/// least one of them must be blamed: findings that blame nobody are not as expected.
pub fn blame_holds(expected: &[Party], blamed: &[Party], findings: u64) -> bool {
    let nobody_else = blamed.iter().all(|party| expected.contains(party));
    nobody_else && (expected.is_empty() || findings == 0 || !blamed.is_empty())
}

/// How a count must compare with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// How.
    pub relation: Relation,
    /// With what.
    pub number: u64,
}

impl Comparison {
    /// Reads `0`, `>0`, `>=3`, `<10`.
    ///
    /// # Errors
    /// What is wrong, and what to write instead if that is known.
    pub fn parse(text: &str) -> Result<Comparison, (String, Option<String>)> {
        let text = text.trim();
        let digits_at = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
        let (sign, digits) = text.split_at(digits_at);
        let number = match digits.parse::<u64>() {
            Ok(number) if digits.bytes().all(|b| b.is_ascii_digit()) => number,
            _ => return Err((format!("`{text}` is not understood"), None)),
        };
        let relation = match sign.trim() {
            "" | "=" => Relation::Equal,
            ">" => Relation::Above,
            ">=" => Relation::AtLeast,
            "<" => Relation::Below,
            "<=" => Relation::AtMost,
            "==" => return Err((format!("`{text}` is not understood"), Some(format!("write `{digits}`")))),
            "!=" | "<>" if number == 0 => {
                return Err((format!("`{text}` is not understood"), Some("write `>0`".to_owned())));
            }
            _ => return Err((format!("`{text}` is not understood"), None)),
        };
        match (relation, number) {
            (Relation::Below, 0) => Err(("no count is below 0".to_owned(), None)),
            (Relation::AtLeast, 0) => {
                Err(("every count is at least 0, so this expects nothing".to_owned(), None))
            }
            _ => Ok(Comparison { relation, number }),
        }
    }

    /// Whether the count is as expected.
    pub const fn holds(self, count: u64) -> bool {
        match self.relation {
            Relation::Equal => count == self.number,
            Relation::Above => count > self.number,
            Relation::AtLeast => count >= self.number,
            Relation::Below => count < self.number,
            Relation::AtMost => count <= self.number,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.relation {
            Relation::Equal => "",
            Relation::Above => ">",
            Relation::AtLeast => ">=",
            Relation::Below => "<",
            Relation::AtMost => "<=",
        };
        write!(f, "{sign}{}", self.number)
    }
}

/// A relation of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `=`
    Equal,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}
