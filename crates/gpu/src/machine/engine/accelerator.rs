//! The state of the acceleration of loops.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use kvrm_arm64::Features;
use kvrm_arm64::lowering::lower;
use kvrm_loops::Proof;
use kvrm_machine::{LoopHandle, LoopListener, Loops};

/// The number of steps of the first slice after which the host looks at lanes, and of the slices between two successes.
const SLICE_MIN: u32 = 1 << 8;
/// The factor by which slices grow after a look at lanes that loses time. It is 2 after others that do not pay.
const GROWTH: u32 = 4;
/// A look pays if it executes this many times the steps that lanes could have retired in the meantime.
const GAIN_MIN: f64 = 2.0;
/// A look loses time if fewer than this part of these steps were executed at once. Lanes at different places of a pass of a bubble sort
/// take turns, so a look that neither pays nor loses time may be followed by others that pay.
const LOSS_MAX: f64 = 0.5;
/// After each try of a loop that loses time, twice as many looks skip the loop, up to 2 to the power of this.
const SKIPS_MAX: u32 = 3;
/// The largest number of addresses whose loops are remembered.
const KNOWN_MAX: usize = 1 << 12;

/// The acceleration of loops of a machine.
#[derive(Debug)]
pub(super) struct Accelerator {
    pub(super) loops: Loops,
    /// The listener who hears of the loops of these lanes, if they are those of whose loops an advisor hears.
    pub(super) listener: Option<LoopListener>,
    /// The loops around addresses at which lanes were found.
    known: HashMap<u64, Option<KnownLoop>>,
    /// The addresses at which a lane had other code than that of the loop around them.
    changed: HashSet<u64>,
    /// The tries of loops, by their heads.
    tries: HashMap<u64, Tries>,
    /// The largest number of steps of the next slice, if lanes do not approach a place.
    slice: u32,
    /// The number of steps after which lanes are expected where iterations can begin.
    approach: Option<u32>,
    /// The most steps of all lanes in a second, of any slice.
    pace: f64,
}

/// The outcome of a look at lanes.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// The number of steps of all lanes in iterations that were executed at once.
    pub(super) credited: u64,
    /// The heads of the loops of which iterations were planned.
    pub(super) tried: BTreeSet<u64>,
    /// Whether more iterations are certain to follow, which can be executed at once right away.
    pub(super) is_clipped: bool,
    /// How many steps lanes are from where iterations could be executed at once.
    pub(super) approach: Option<u32>,
}

/// A loop around an address.
#[derive(Clone, Debug)]
pub(super) struct KnownLoop {
    pub(super) handle: LoopHandle,
    /// The loop with iterations that begin at the address, if they can be executed at once; or else the number of steps to the next
    /// address for which they can, if there is one. It is set when the loop is proved.
    found: OnceCell<(Option<Arc<Proof>>, Option<u32>)>,
}

impl KnownLoop {
    pub(super) const fn new(handle: LoopHandle) -> Self {
        Self { handle, found: OnceCell::new() }
    }

    /// Returns the loop with iterations that begin at `pc`, if they can be executed at once, or else the number of steps to the next
    /// address for which they can. Returns `None` if nothing is proved.
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

/// The tries to execute iterations of a loop at once.
#[derive(Clone, Copy, Debug, Default)]
struct Tries {
    /// The number of tries, one after the other, that have lost time.
    failures: u32,
    /// The number of looks that pass before the next try.
    skips: u32,
}

impl Accelerator {
    pub(super) fn new(loops: Loops) -> Self {
        Self {
            listener: loops.listen(),
            loops,
            known: HashMap::new(),
            changed: HashSet::new(),
            tries: HashMap::new(),
            slice: SLICE_MIN,
            approach: None,
            pace: 0.0,
        }
    }

    /// Returns what is known about an address, if it was looked at.
    pub(super) fn known(&self, pc: u64) -> Option<&Option<KnownLoop>> {
        self.known.get(&pc)
    }

    /// Remembers the loop around an address.
    pub(super) fn remember(&mut self, pc: u64, known: Option<KnownLoop>) {
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
            self.changed.clear();
            self.tries.clear();
        }
        self.known.insert(pc, known);
    }

    /// Forgets the loop around an address, because a lane has other code there.
    pub(super) fn forget(&mut self, pc: u64) {
        self.known.remove(&pc);
        self.changed.insert(pc);
    }

    /// Returns whether a lane had other code at an address than that of the loop around it.
    pub(super) fn has_changed(&self, pc: u64) -> bool {
        self.changed.contains(&pc)
    }

    /// Returns whether to try the loop with this head now.
    pub(super) fn is_due(&self, head: u64) -> bool {
        self.tries.get(&head).is_none_or(|tries| tries.skips == 0)
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

    /// Notes the outcome of the look after the last slice, and the time that it took. The host looks less often, and tries a loop less
    /// often, if that does not save more time than it takes.
    pub(super) fn note(&mut self, outcome: &Outcome, took: Duration) {
        let gain = outcome.credited as f64 / (self.pace * took.as_secs_f64());
        let (pays, loses) = (gain > GAIN_MIN, gain < LOSS_MAX);
        for tries in self.tries.values_mut() {
            tries.skips = tries.skips.saturating_sub(1);
        }
        for head in &outcome.tried {
            let failures = self.tries.get(head).map_or(0, |tries| tries.failures);
            let tries = Tries { failures: (failures + 1).min(SKIPS_MAX), skips: 1 << failures };
            self.tries.insert(*head, if loses { tries } else { Tries::default() });
        }
        self.approach = if outcome.credited > 0 || self.approach.is_some() { None } else { outcome.approach };
        if pays {
            self.slice = SLICE_MIN;
        } else if self.approach.is_none() {
            self.slice = self.slice.saturating_mul(if loses { GROWTH } else { 2 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: u64 = 0x40_0000;

    /// Returns an accelerator of lanes that take a billion steps in a second.
    fn accelerator() -> Accelerator {
        let mut accelerator = Accelerator::new(Loops::checker());
        accelerator.note_slice(1 << 30, Duration::from_secs(1));
        accelerator
    }

    /// Notes a try that gave so many steps in a millisecond.
    fn note_try(accelerator: &mut Accelerator, credited: u64) {
        let outcome = Outcome { credited, tried: [HEAD].into(), ..Outcome::default() };
        accelerator.note(&outcome, Duration::from_millis(1));
    }

    #[test]
    fn tries_that_lose_time_become_rare() {
        let mut accelerator = accelerator();
        let mut tries = 0;
        for _ in 0..80 {
            if accelerator.is_due(HEAD) {
                // A millisecond is worth a million steps.
                note_try(&mut accelerator, 1 << 18);
                tries += 1;
            } else {
                accelerator.note(&Outcome::default(), Duration::from_millis(1));
            }
        }
        assert!((10..20).contains(&tries), "{tries} of 80 looks");
        assert_eq!(accelerator.next_slice(), u32::MAX, "looks are as rare as they can be");
        note_try(&mut accelerator, 1 << 22);
        assert_eq!(
            (accelerator.is_due(HEAD), accelerator.next_slice()),
            (true, SLICE_MIN),
            "after one that pays"
        );
    }

    #[test]
    fn tries_that_neither_pay_nor_lose_time_go_on() {
        let mut accelerator = accelerator();
        for looks in 1..4 {
            note_try(&mut accelerator, 1 << 20);
            assert!(accelerator.is_due(HEAD));
            assert_eq!(accelerator.next_slice(), SLICE_MIN << looks, "but looks become rarer");
        }
    }

    #[test]
    fn lanes_that_approach_an_iteration_are_looked_at_once_more() {
        let mut accelerator = accelerator();
        let approach = Outcome { approach: Some(3), ..Outcome::default() };
        accelerator.note(&approach, Duration::from_millis(1));
        assert_eq!(accelerator.next_slice(), 3, "they are there after three steps");
        accelerator.note(&approach, Duration::from_millis(1));
        assert_eq!(accelerator.next_slice(), GROWTH * SLICE_MIN, "they were not");
    }

    #[test]
    fn code_that_a_lane_has_changed_is_known() {
        let mut accelerator = accelerator();
        accelerator.remember(HEAD, None);
        accelerator.forget(HEAD);
        assert!(
            accelerator.known(HEAD).is_none() && accelerator.has_changed(HEAD),
            "it is read from the device"
        );
    }
}
