//! Counters of faults and outcomes, and their output.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The time between two lines of progress.
const INTERVAL: Duration = Duration::from_secs(5);

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FaultKind {
    /// A device was lost.
    DeviceLost,
    /// A buffer was refused, as if memory were full; counted once a call.
    MemoryRefused,
    /// A lane stopped, or a call failed, because all frames were in use.
    OutOfFrames,
    /// A run of several slices, each of one step.
    OneStep,
}

impl FaultKind {
    /// All kinds with their names.
    pub(crate) const ALL: [(Self, &str); 4] = [
        (Self::DeviceLost, "device lost"),
        (Self::MemoryRefused, "memory refused"),
        (Self::OutOfFrames, "out of frames"),
        (Self::OneStep, "slices of one step"),
    ];
}

/// The end of a script that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScriptEnd {
    /// The whole script was played.
    Played,
    /// The state was lost for a legitimate reason, and the rest of the script was skipped.
    StateLost,
}

/// The faults and outcomes so far.
#[derive(Debug)]
pub(crate) struct Tally {
    faults: BTreeMap<FaultKind, u64>,
    outcomes: BTreeMap<&'static str, u64>,
    begin: Instant,
    printed: Instant,
}

impl Tally {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self { faults: BTreeMap::new(), outcomes: BTreeMap::new(), begin: now, printed: now }
    }

    /// Counts a fault that has happened.
    pub(crate) fn fault(&mut self, kind: FaultKind) {
        *self.faults.entry(kind).or_default() += 1;
    }

    /// Counts a correct outcome.
    pub(crate) fn outcome(&mut self, outcome: &'static str) {
        *self.outcomes.entry(outcome).or_default() += 1;
    }

    /// Returns the number of faults that have happened.
    pub(crate) fn faults(&self) -> u64 {
        self.faults.values().sum()
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// Prints a line of progress if the last one was long enough ago.
    pub(crate) fn progress(&mut self, line: impl FnOnce(&Self) -> String) {
        if self.printed.elapsed() >= INTERVAL {
            self.printed = Instant::now();
            println!("{:>6.1} s: {}", self.elapsed().as_secs_f64(), line(self));
        }
    }

    /// Returns the numbers of faults by kind.
    pub(crate) fn kinds(&self) -> String {
        let count = |kind| self.faults.get(kind).copied().unwrap_or(0);
        FaultKind::ALL
            .iter()
            .map(|(kind, name)| format!("{name} {}", count(kind)))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Prints the numbers of faults and of outcomes.
    pub(crate) fn print(&self) {
        println!("faults: {}", self.kinds());
        for (outcome, count) in &self.outcomes {
            println!("  {outcome}: {count}");
        }
    }
}
