//! The state of the acceleration of loops.

use std::collections::HashMap;
use std::sync::Arc;

use kvrm_loops::Loop;
use kvrm_machine::{LoopHandle, Loops};

/// The number of steps of the first slice after which lanes are looked at, and of those between two successes.
pub(super) const SLICE_MIN: u32 = 1 << 10;
/// The largest number of addresses whose loops are remembered.
const KNOWN_MAX: usize = 1 << 12;

/// The acceleration of loops of a machine.
#[derive(Debug)]
pub(super) struct Accelerator {
    pub(super) loops: Loops,
    /// The loops around addresses at which lanes were found.
    known: HashMap<u64, Option<KnownLoop>>,
    /// The largest number of steps of the next slice.
    pub(super) slice: u32,
}

/// A loop around an address.
#[derive(Clone, Debug)]
pub(super) struct KnownLoop {
    pub(super) handle: LoopHandle,
    /// The loop with iterations that begin at the address, if it can be executed at once.
    pub(super) found: Option<Arc<Loop>>,
}

impl Accelerator {
    pub(super) fn new(loops: Loops) -> Self {
        Self { loops, known: HashMap::new(), slice: SLICE_MIN }
    }

    /// Returns what is known about an address, if it was looked at.
    pub(super) fn known(&self, pc: u64) -> Option<&Option<KnownLoop>> {
        self.known.get(&pc)
    }

    /// Remembers the loop around an address.
    pub(super) fn remember(&mut self, pc: u64, known: Option<KnownLoop>) {
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        self.known.insert(pc, known);
    }

    /// Forgets the loop around an address, because a lane has other code there.
    pub(super) fn forget(&mut self, pc: u64) {
        self.known.remove(&pc);
    }

    /// Notes whether lanes gained anything after the last slice. Looks become rare if they do not.
    pub(super) fn note(&mut self, gains: bool) {
        self.slice = if gains { SLICE_MIN } else { self.slice.saturating_mul(2) };
    }
}
