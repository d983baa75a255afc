//! What a command tells its caller.

/// Exit codes, documented in README. If several apply: 70, 2, 1, 3, 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// 0: everything is as expected.
    AsExpected = 0,
    /// 1: a safety expectation or a requirement is broken.
    Safety = 1,
    /// 2: what was asked for cannot be understood.
    BadInput = 2,
    /// 3: only liveness expectations are broken.
    Liveness = 3,
    /// 5: nothing can be concluded.
    Inconclusive = 5,
    /// 70: our own fault: two runs of one seed differ, or a finding that no rule explains.
    OurFault = 70,
}

impl Exit {
    /// The one that counts if both apply.
    #[must_use]
    pub fn and(self, other: Exit) -> Exit {
        let rank = |exit: Exit| match exit {
            Exit::OurFault => 0,
            Exit::BadInput => 1,
            Exit::Safety => 2,
            Exit::Liveness => 3,
            Exit::Inconclusive => 4,
            Exit::AsExpected => 5,
        };
        if rank(self) <= rank(other) { self } else { other }
    }

    /// Its number.
    pub fn code(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::Exit::*;

    #[test]
    fn the_worst_counts() {
        let all = [OurFault, BadInput, Safety, Liveness, Inconclusive, AsExpected];
        for (place, worse) in all.iter().enumerate() {
            for better in &all[place..] {
                assert_eq!(worse.and(*better), *worse);
                assert_eq!(better.and(*worse), *worse);
            }
        }
        assert_eq!(all.map(|exit| exit.code()), [70, 2, 1, 3, 5, 0]);
    }
}
