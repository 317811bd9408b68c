//! [`UnservedCalls`]: the system calls of a process that failed because KVRM does not serve them.

use std::collections::BTreeMap;

/// The system calls that KVRM did not serve: how often each was made, by call number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnservedCalls {
    /// The calls that KVRM does not know, and operations of known calls that it does not know.
    pub(crate) unknown: BTreeMap<u64, u64>,
    /// The calls that KVRM refuses.
    pub(crate) refused: BTreeMap<u64, u64>,
}

impl UnservedCalls {
    pub(super) fn count_unknown(&mut self, number: u64) {
        *self.unknown.entry(number).or_default() += 1;
    }

    pub(super) fn count_refused(&mut self, number: u64) {
        *self.refused.entry(number).or_default() += 1;
    }

    /// Adds the calls of another process.
    pub(crate) fn append(&mut self, other: Self) {
        for (counts, others) in [(&mut self.unknown, other.unknown), (&mut self.refused, other.refused)] {
            for (number, count) in others {
                *counts.entry(number).or_default() += count;
            }
        }
    }
}
