//! What is counted, and printed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How often progress is printed.
const INTERVAL: Duration = Duration::from_secs(5);

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A device was lost.
    DeviceLost,
    /// A buffer was refused, as if memory were full; counted once a call.
    MemoryRefused,
    /// A lane found no frame, or a call failed for the lack of frames.
    OutOfFrames,
    /// A run of several slices, each of one step.
    OneStep,
}

impl Kind {
    /// All kinds, with what they are called.
    pub(crate) const ALL: [(Self, &str); 4] = [
        (Self::DeviceLost, "device lost"),
        (Self::MemoryRefused, "memory refused"),
        (Self::OutOfFrames, "out of frames"),
        (Self::OneStep, "slices of one step"),
    ];
}

/// What has happened so far.
#[derive(Debug)]
pub(crate) struct Tally {
    faults: BTreeMap<Kind, u64>,
    outcomes: BTreeMap<&'static str, u64>,
    begin: Instant,
    told: Instant,
}

impl Tally {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self { faults: BTreeMap::new(), outcomes: BTreeMap::new(), begin: now, told: now }
    }

    /// A fault has struck.
    pub(crate) fn fault(&mut self, kind: Kind) {
        *self.faults.entry(kind).or_default() += 1;
    }

    /// Something was found to be as it should.
    pub(crate) fn outcome(&mut self, outcome: &'static str) {
        *self.outcomes.entry(outcome).or_default() += 1;
    }

    /// How many faults have struck.
    pub(crate) fn faults(&self) -> u64 {
        self.faults.values().sum()
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// Prints a line now and then.
    pub(crate) fn progress(&mut self, line: impl FnOnce(&Self) -> String) {
        if self.told.elapsed() >= INTERVAL {
            self.told = Instant::now();
            println!("{:>6.1} s: {}", self.elapsed().as_secs_f64(), line(self));
        }
    }

    /// Faults by kind.
    pub(crate) fn kinds(&self) -> String {
        let count = |kind| self.faults.get(kind).copied().unwrap_or(0);
        Kind::ALL.iter().map(|(kind, name)| format!("{name} {}", count(kind))).collect::<Vec<_>>().join(", ")
    }

    /// Prints faults by kind, and what came of calls.
    pub(crate) fn print(&self) {
        println!("faults: {}", self.kinds());
        for (outcome, count) in &self.outcomes {
            println!("  {outcome}: {count}");
        }
    }
}
