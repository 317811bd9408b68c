//! When code is sampled again: when lanes take a much smaller share of their steps in regions than before.

use std::time::Duration;

/// The time over which a share is measured.
const WINDOW: Duration = Duration::from_millis(500);
/// Lanes have got to other code if they take less than this part of the best share in regions.
const FALLEN: f64 = 0.5;
/// The time from the first sampling to the next. Each further pause is twice as long, so the cost of samplings falls.
const PAUSE: Duration = Duration::from_secs(20);
/// A pause is at least so many times as long as the sampling before it. So samplings take less than 1 % of the time.
const PAUSE_PER_COST: u32 = 100;

/// The share of steps in regions, and when code may be sampled again.
///
/// Shares are in parts of the share of samples that the regions cover. So they can be compared if ways with different
/// regions take turns.
#[derive(Debug)]
pub(super) struct Drift {
    window: Duration,
    /// The shortest pause, if samplings pause at all.
    pause: Duration,
    /// The time before which code is not sampled again.
    next: Duration,
    /// The largest share so far.
    best: f64,
    /// The share in the last complete window.
    last: f64,
    /// The time of the current window, the steps in regions that it should have by their samples, and those it has.
    time: Duration,
    expected: f64,
    translated: f64,
}

impl Drift {
    /// Code is sampled again after pauses.
    pub(super) const fn new() -> Self {
        Self::with(WINDOW, PAUSE)
    }

    /// Code may be sampled again at any time. Each share is measured over a window.
    pub(super) const fn without_pauses(window: Duration) -> Self {
        Self::with(window, Duration::ZERO)
    }

    const fn with(window: Duration, pause: Duration) -> Self {
        Self {
            window,
            pause,
            next: Duration::ZERO,
            best: 1.0,
            last: 1.0,
            time: Duration::ZERO,
            expected: 0.0,
            translated: 0.0,
        }
    }

    /// Adds a slice with regions that cover a share of the samples: all steps of lanes, and those in regions.
    pub(super) fn add(&mut self, covered: f64, [steps, translated]: [u64; 2], took: Duration) {
        self.time += took;
        self.expected += covered * steps as f64;
        self.translated += translated as f64;
        if self.time >= self.window && self.expected > 0.0 {
            self.note(self.translated / self.expected);
        }
    }

    /// Notes the share of a whole window.
    pub(super) const fn note(&mut self, share: f64) {
        self.last = share;
        self.best = self.best.max(share);
        self.begin_window();
    }

    /// Whether lanes have got to other code, as far as is known.
    pub(super) fn has_fallen(&self) -> bool {
        self.last < FALLEN * self.best
    }

    /// Whether code may be sampled again.
    pub(super) fn is_rested(&self, now: Duration) -> bool {
        now >= self.next
    }

    /// Notes that code was sampled, which took `cost`, and whether there are other regions now. If not, the share in regions
    /// cannot be better.
    pub(super) fn sampled(&mut self, now: Duration, cost: Duration, is_new: bool) {
        if !self.pause.is_zero() {
            self.next = now + self.pause.max(PAUSE_PER_COST * cost);
            self.pause *= 2;
        }
        if is_new {
            self.begin_again();
        } else {
            self.best = self.last;
            self.begin_window();
        }
    }

    /// Forgets all shares, because lanes run in another way.
    pub(super) const fn begin_again(&mut self) {
        (self.best, self.last) = (1.0, 1.0);
        self.begin_window();
    }

    const fn begin_window(&mut self) {
        (self.time, self.expected, self.translated) = (Duration::ZERO, 0.0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE: Duration = Duration::from_millis(100);

    /// Adds slices with so many translated steps of a hundred, and regions that cover 80 % of the samples. Returns the
    /// number of slices after which the share has fallen.
    fn slices_to_fall(drift: &mut Drift, slices: usize, translated: u64) -> Option<usize> {
        (1..=slices).find(|_| {
            drift.add(0.8, [100, translated], SLICE);
            drift.has_fallen()
        })
    }

    #[test]
    fn a_share_falls_if_it_is_below_half_of_the_best_for_a_window() {
        let mut drift = Drift::new();
        assert_eq!(slices_to_fall(&mut drift, 100, 41), None, "just above half of what samples say");
        assert_eq!(slices_to_fall(&mut drift, 4, 0), None, "for less than a window");
        assert_eq!(slices_to_fall(&mut drift, 100, 39), Some(1), "the window ends");
        (0..5).for_each(|_| drift.add(0.8, [100, 80], SLICE));
        assert!(!drift.has_fallen(), "the share is high again");
        let mut drift = Drift::new();
        slices_to_fall(&mut drift, 5, 100);
        assert_eq!(slices_to_fall(&mut drift, 100, 49), Some(5), "less than half of the best");
    }

    #[test]
    fn short_slices_have_little_weight() {
        let mut drift = Drift::without_pauses(2 * SLICE);
        drift.add(0.8, [1_000, 800], SLICE);
        drift.add(0.8, [1_000, 0], SLICE);
        assert!(!drift.has_fallen(), "half of the steps are in regions");
        drift.add(0.8, [1_000, 0], SLICE);
        drift.add(0.8, [10, 8], SLICE);
        assert!(drift.has_fallen(), "few steps are");
        drift.add(0.8, [0, 0], 10 * SLICE);
        drift.add(0.8, [1_000, 800], SLICE);
        assert!(!drift.has_fallen(), "a window without steps says nothing");
    }

    #[test]
    fn regions_that_cover_less_are_expected_to_run_less() {
        let mut drift = Drift::without_pauses(Duration::ZERO);
        for (covered, translated) in [(0.9, 90), (0.2, 20), (0.9, 80)] {
            drift.add(covered, [100, translated], SLICE);
            assert!(!drift.has_fallen(), "{translated} % of the steps, {covered} of the samples");
        }
    }

    #[test]
    fn samplings_that_find_the_same_regions_are_not_repeated() {
        let mut drift = Drift::without_pauses(SLICE);
        assert_eq!(slices_to_fall(&mut drift, 1, 10), Some(1), "regions are hardly used");
        drift.sampled(Duration::ZERO, SLICE, false);
        assert_eq!(slices_to_fall(&mut drift, 10, 10), None, "that is as good as it gets");
        assert_eq!(slices_to_fall(&mut drift, 10, 4), Some(1), "it can get worse");
        drift.sampled(Duration::ZERO, SLICE, true);
        assert_eq!(slices_to_fall(&mut drift, 10, 30), Some(1), "other regions should be used as sampled");
    }

    #[test]
    fn pauses_grow_and_are_long_after_long_samplings() {
        let mut drift = Drift::new();
        let (mut now, mut pauses) = (Duration::ZERO, Vec::new());
        for cost in [1, 1, 1, 3_000] {
            drift.sampled(now, Duration::from_millis(cost), true);
            let begin = now;
            while !drift.is_rested(now) {
                now += Duration::from_secs(1);
            }
            pauses.push((now - begin).as_secs());
        }
        assert_eq!(pauses, [20, 40, 80, 300], "seconds");
    }
}
