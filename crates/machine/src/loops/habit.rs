//! The decision of a lane whether to try to execute iterations at once when it visits a loop.

use std::time::{Duration, Instant};

/// After each attempt that gains little, twice as many visits pass without one, up to 2 to the power of this.
const SKIPS_MAX: u32 = 8;
/// One of so many visits, and more of the first ones, passes without an attempt, to measure how long steps take.
const MEASURED: u32 = 8;
/// The largest numbers of steps of an attempt whose speed is not known, and of one that takes time for each iteration.
const PROBE: u64 = 1 << 16;
const PIECE: u64 = 1 << 20;
/// The nanoseconds of a step below which iterations take no time each: their number does not matter.
const CLOSED_FORM: f64 = 0.05;

/// The experience of a lane with a loop.
#[derive(Debug, Default)]
pub(super) struct Habit {
    /// The number of attempts, one after the other, that gained little.
    failures: u32,
    /// The number of visits until the next attempt.
    skips: u32,
    visits: u32,
    /// The nanoseconds of a step, if it is stepped and if it is executed at once.
    stepped: Pace,
    at_once: Pace,
}

/// The recent time of a step in nanoseconds, if it is known.
#[derive(Clone, Copy, Debug, Default)]
struct Pace(Option<f64>);

impl Pace {
    fn add(&mut self, time: Duration, steps: u64) {
        let now = time.as_nanos() as f64 / steps.max(1) as f64;
        // An interruption of the thread says nothing about the pace.
        self.0 = Some(self.0.map_or(now, |before| f64::midpoint(before, now.min(4.0 * before))));
    }
}

impl Habit {
    /// Returns whether to try the loop at this visit. `measures` says whether times count.
    pub(super) const fn tries(&mut self, measures: bool) -> bool {
        self.visits = self.visits.wrapping_add(1);
        if self.skips > 0 {
            self.skips -= 1;
            return false;
        }
        // The host's code for a loop gets faster soon after the first visits.
        !(measures && (self.visits.is_power_of_two() || self.visits.is_multiple_of(MEASURED)))
    }

    /// Returns the largest number of steps of the next attempt, if times count.
    pub(super) fn piece(&self) -> u64 {
        match self.at_once {
            Pace(Some(pace)) if pace < CLOSED_FORM => u64::MAX,
            Pace(Some(_)) if self.pays() => PIECE,
            _ => PROBE,
        }
    }

    /// Notes how long some steps in the loop took.
    pub(super) fn note_stepped(&mut self, begin: Instant, steps: u64) {
        self.stepped.add(begin.elapsed(), steps);
    }

    /// Notes how long an attempt took, since `begin` if times count, and whether it gained many steps.
    pub(super) fn note_attempt(&mut self, begin: Option<Instant>, steps: u64, many: u64) {
        if let Some(begin) = begin.filter(|_| steps >= many) {
            self.at_once.add(begin.elapsed(), steps);
        }
        let is_slower =
            self.at_once.0.zip(self.stepped.0).is_some_and(|(at_once, stepped)| at_once > stepped);
        if steps >= many && !is_slower {
            self.failures = 0;
        } else {
            self.skips = 1 << self.failures;
            self.failures = (self.failures + 1).min(SKIPS_MAX);
        }
    }

    /// Returns whether the last attempt paid.
    pub(super) const fn pays(&self) -> bool {
        self.failures == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_that_gain_little_become_rare() {
        let mut habit = Habit::default();
        let mut attempts = 0;
        for _ in 0..10_000 {
            if habit.tries(false) {
                habit.note_attempt(None, 10, 4096);
                attempts += 1;
            }
        }
        assert!((SKIPS_MAX..60).contains(&attempts), "{attempts}");
        while !habit.tries(false) {}
        habit.note_attempt(None, 4096, 4096);
        assert!(habit.pays() && habit.tries(false), "many steps are worth the next attempt");
    }

    #[test]
    fn a_loop_that_is_faster_stepped_is_tried_rarely() {
        let mut habit = Habit::default();
        let long_ago = Instant::now().checked_sub(Duration::from_secs(1)).expect("the clock has run");
        habit.note_stepped(long_ago, 1 << 30);
        habit.note_attempt(Some(long_ago), 1 << 20, 4096);
        assert!(!habit.pays(), "a microsecond for each step");
        let tried = (0..8).filter(|_| habit.tries(true)).count();
        assert!(tried < 8, "some visits are for measurements");
        assert_eq!(habit.piece(), PROBE, "and attempts are short");
        for _ in 0..40 {
            habit.note_attempt(Some(Instant::now()), 1 << 40, 4096);
        }
        assert_eq!((habit.pays(), habit.piece()), (true, u64::MAX), "until they are fast");
    }
}
