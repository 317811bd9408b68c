//! [`UnservedCalls`]: the system calls that failed because KVRM does not serve them.

use std::collections::BTreeMap;

/// A system call that KVRM did not serve, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnservedCall {
    /// KVRM does not know the call, or its operation.
    Unknown(u64),
    /// KVRM refuses the call.
    Refused(u64),
}

/// The system calls that KVRM did not serve: how often each was made, by call number.
#[derive(Debug, Default)]
pub(crate) struct UnservedCalls {
    /// The calls that KVRM does not know, and operations of known calls that it does not know.
    pub(crate) unknown: BTreeMap<u64, u64>,
    /// The calls that KVRM refuses.
    pub(crate) refused: BTreeMap<u64, u64>,
}

impl UnservedCalls {
    /// Adds other calls.
    pub(crate) fn append(&mut self, other: Self) {
        for (counts, others) in [(&mut self.unknown, other.unknown), (&mut self.refused, other.refused)] {
            for (number, count) in others {
                *counts.entry(number).or_default() += count;
            }
        }
    }

    pub(crate) fn count(&mut self, call: UnservedCall) {
        let (counts, number) = match call {
            UnservedCall::Unknown(number) => (&mut self.unknown, number),
            UnservedCall::Refused(number) => (&mut self.refused, number),
        };
        *counts.entry(number).or_default() += 1;
    }
}
