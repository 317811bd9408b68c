//! The state of the acceleration of loops.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use kvrm_arm64::Features;
use kvrm_arm64::lowering::lower;
use kvrm_loops::Proof;
use kvrm_machine::{LoopHandle, Loops};

/// The number of steps of the first slice after which lanes are looked at, and of those between two successes.
const SLICE_MIN: u32 = 1 << 8;
/// How many times the steps that lanes could have retired in the meantime have to be executed at once, so that it pays.
const GAIN_MIN: f64 = 2.0;
/// The largest number of addresses whose loops are remembered.
const KNOWN_MAX: usize = 1 << 12;

/// The acceleration of loops of a machine.
#[derive(Debug)]
pub(super) struct Accelerator {
    pub(super) loops: Loops,
    /// The loops around addresses at which lanes were found.
    known: HashMap<u64, Option<KnownLoop>>,
    /// The largest number of steps of the next slice, if lanes do not approach a place.
    slice: u32,
    /// The number of steps after which lanes are expected where iterations can begin.
    approach: Option<u32>,
    /// The most steps of all lanes in a second, of any slice.
    pace: f64,
}

/// A loop around an address.
#[derive(Clone, Debug)]
pub(super) struct KnownLoop {
    pub(super) handle: LoopHandle,
    /// The loop with iterations that begin at the address, if they can be executed at once; or else the number of steps to the next
    /// address for which this is so, if there is one. They are there when the loop is proved.
    found: OnceCell<(Option<Arc<Proof>>, Option<u32>)>,
}

impl KnownLoop {
    pub(super) const fn new(handle: LoopHandle) -> Self {
        Self { handle, found: OnceCell::new() }
    }

    /// Returns the loop with iterations that begin at `pc`, if they can be executed at once, or else the number of steps to the next
    /// address for which this is so. Returns `None` if nothing is proved.
    pub(super) fn found(&self, pc: u64, features: Features) -> Option<&(Option<Arc<Proof>>, Option<u32>)> {
        if !self.handle.is_proved(features) {
            return None;
        }
        Some(self.found.get_or_init(|| {
            let (head, words) = (self.handle.head(), self.handle.words());
            let length = words.len() as u64;
            let fetch = |pc: u64| Some(lower(*words.get(pc.wrapping_sub(head) as usize / 4)?, features));
            let find = |steps: u64| {
                let entry = head + (pc.wrapping_sub(head) + 4 * steps) % (4 * length);
                Proof::find_from(head + 4 * (length - 1), entry, fetch).ok()
            };
            match find(0) {
                Some(found) => (Some(Arc::new(found)), None),
                None => (None, (1..length).find(|steps| find(*steps).is_some()).map(|steps| steps as u32)),
            }
        }))
    }
}

impl Accelerator {
    pub(super) fn new(loops: Loops) -> Self {
        Self { loops, known: HashMap::new(), slice: SLICE_MIN, approach: None, pace: 0.0 }
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

    /// Returns the largest number of steps of the next slice.
    pub(super) fn next_slice(&self) -> u32 {
        self.approach.unwrap_or(self.slice)
    }

    /// Notes that a slice of so many steps of all lanes took some time.
    pub(super) fn note_slice(&mut self, steps: u64, took: Duration) {
        // The time of a short slice is mostly that of the dispatch.
        self.pace = self.pace.max(steps as f64 / took.as_secs_f64().max(1e-9));
    }

    /// Notes how many steps of all lanes were executed at once after the last slice, in some time, or else how far lanes are from
    /// where that is possible. Looks become rare if they do not save more time than they take.
    pub(super) fn note(&mut self, credited: u64, took: Duration, approach: Option<u32>) {
        let pays = credited as f64 > GAIN_MIN * self.pace * took.as_secs_f64();
        self.approach = if credited > 0 || self.approach.is_some() { None } else { approach };
        if pays {
            self.slice = SLICE_MIN;
        } else if self.approach.is_none() {
            self.slice = self.slice.saturating_mul(2);
        }
    }
}
