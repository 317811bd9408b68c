//! Injection of failures of the host into the store of frames that are away, for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A failure of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum HostFault {
    /// The host has no memory for more frames.
    NoMemory,
    /// A write to the file fails.
    WriteFails,
    /// A write to the file fails after half of its bytes.
    WriteEnds,
    /// A read from the file fails.
    ReadFails,
    /// The file ends within the bytes that are read.
    ReadEnds,
    /// A bit of the bytes that are read has changed.
    ReadDamages,
}

impl HostFault {
    /// All failures.
    pub const ALL: [Self; 6] = [
        Self::NoMemory,
        Self::WriteFails,
        Self::WriteEnds,
        Self::ReadFails,
        Self::ReadEnds,
        Self::ReadDamages,
    ];
}

/// The operations until a failure, and the number of failures.
#[derive(Debug, Default)]
struct Counter {
    before: AtomicU32,
    left: AtomicU32,
    seen: AtomicU32,
}

/// The failures that a test has injected. Clones share them.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct HostFaults(Option<Arc<[Counter; HostFault::ALL.len()]>>);

impl HostFaults {
    /// No failures, ever.
    pub const NONE: Self = Self(None);

    /// Returns failures that can be injected.
    #[must_use]
    pub fn new() -> Self {
        Self(Some(Arc::default()))
    }

    /// After `before` more operations of its kind, lets `count` of them fail, and then no more.
    ///
    /// # Panics
    ///
    /// These are [`HostFaults::NONE`].
    pub fn inject(&self, fault: HostFault, before: u32, count: u32) {
        let counter = self.counter(fault).expect("these faults can be injected");
        counter.left.store(0, Relaxed);
        counter.before.store(before, Relaxed);
        counter.left.store(count, Relaxed);
    }

    /// Lets no more operations fail.
    ///
    /// # Panics
    ///
    /// As [`HostFaults::inject`].
    pub fn clear(&self) {
        HostFault::ALL.iter().for_each(|fault| self.inject(*fault, 0, 0));
    }

    /// Returns the number of operations that have failed.
    #[must_use]
    pub fn seen(&self, fault: HostFault) -> u32 {
        self.counter(fault).map_or(0, |counter| counter.seen.load(Relaxed))
    }

    /// Counts an operation, and returns whether it is to fail.
    pub(crate) fn strikes(&self, fault: HostFault) -> bool {
        let Some(counter) = self.counter(fault) else { return false };
        if counter.left.load(Relaxed) == 0 || count_down(&counter.before) {
            return false;
        }
        let strikes = count_down(&counter.left);
        counter.seen.fetch_add(strikes.into(), Relaxed);
        strikes
    }

    fn counter(&self, fault: HostFault) -> Option<&Counter> {
        Some(&self.0.as_ref()?[fault as usize])
    }
}

impl Default for HostFaults {
    fn default() -> Self {
        Self::NONE
    }
}

/// Decrements a number unless it is 0, and returns whether it did.
fn count_down(number: &AtomicU32) -> bool {
    number.fetch_update(Relaxed, Relaxed, |number| number.checked_sub(1)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_strike_after_some_operations_and_for_some() {
        let faults = HostFaults::new();
        faults.inject(HostFault::ReadFails, 2, 3);
        let strikes: Vec<bool> = (0..7).map(|_| faults.clone().strikes(HostFault::ReadFails)).collect();
        assert_eq!(strikes, [false, false, true, true, true, false, false], "the third to the fifth");
        assert_eq!(faults.seen(HostFault::ReadFails), 3, "they are counted");
        assert!(!faults.strikes(HostFault::WriteFails), "other operations do not fail");
        faults.inject(HostFault::WriteFails, 0, 1);
        faults.clear();
        assert!(!faults.strikes(HostFault::WriteFails), "no longer");
    }
}
