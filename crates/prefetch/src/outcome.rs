//! What a replay counts, and the measures that follow from it.

/// The counters of a replay, and measures that follow from them.
///
/// The measures are those of the literature: accuracy and lateness as S. Srinath, O. Mutlu, H. Kim and Y. N. Patt define
/// them ("Feedback directed prefetching", HPCA 2007), coverage as D. Joseph and D. Grunwald do (ISCA 1997).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The number of accesses of the stream.
    pub accesses: u64,
    /// The number of steps from the first access to the last one.
    pub steps: u64,
    /// The number of accesses that the prefetcher heard of. A network infers once for each.
    pub triggers: u64,
    /// The number of accesses to pages that were away and not on their way. Each waits for the whole latency.
    pub misses: u64,
    /// The number of pages that an access made, without a fetch. It is 0 if all pages are away in the beginning.
    pub created: u64,
    /// The number of pages that were prefetched.
    pub issued: u64,
    /// The number of prefetched pages that were used before they left the pool again.
    pub used: u64,
    /// The number of these that were still on their way at their first use.
    pub late: u64,
    /// The number of candidates that were there already, or on their way.
    pub redundant: u64,
    /// The number of other candidates that were not fetched, because too many pages were on their way, because no page could leave
    /// the pool, or because they do not exist yet.
    pub dropped: u64,
    /// The number of pages that left the pool and had been written since they came.
    pub moved_out: u64,
    /// The number of steps for which the lane waited for pages.
    pub stall: u64,
}

impl Outcome {
    /// Returns the accuracy: the share of the prefetched pages that were used.
    #[must_use]
    pub fn accuracy(&self) -> Option<f64> {
        share(self.used, self.issued)
    }

    /// Returns the coverage: the share of the accesses to pages that would be away for which a prefetch had been issued.
    #[must_use]
    pub fn coverage(&self) -> Option<f64> {
        share(self.used, self.used + self.misses)
    }

    /// Returns the timeliness: the share of the used pages that had arrived at their first use.
    #[must_use]
    pub fn timeliness(&self) -> Option<f64> {
        share(self.used - self.late, self.used)
    }

    /// Returns the number of accesses that the prefetcher heard of, for each 1,000 steps.
    #[must_use]
    pub fn triggers_per_1000_steps(&self) -> Option<f64> {
        share(1000 * self.triggers, self.steps)
    }

    /// Returns the number of pages that were moved in: those of misses and of prefetches.
    #[must_use]
    pub const fn moved_in(&self) -> u64 {
        self.misses + self.issued
    }
}

/// Returns a quotient, unless the divisor is 0.
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_shares() {
        let outcome = Outcome {
            steps: 4000,
            triggers: 10,
            misses: 6,
            issued: 8,
            used: 4,
            late: 1,
            ..Outcome::default()
        };
        assert_eq!(outcome.accuracy(), Some(0.5), "4 of 8");
        assert_eq!(outcome.coverage(), Some(0.4), "4 of 10");
        assert_eq!(outcome.timeliness(), Some(0.75), "3 of 4");
        assert_eq!(outcome.triggers_per_1000_steps(), Some(2.5), "10 in 4000 steps");
        assert_eq!(outcome.moved_in(), 14, "6 and 8");
    }

    #[test]
    fn there_are_no_measures_of_nothing() {
        let nothing = Outcome::default();
        let measures =
            [nothing.accuracy(), nothing.coverage(), nothing.timeliness(), nothing.triggers_per_1000_steps()];
        assert_eq!(measures, [None; 4], "no quotient with 0");
    }
}
