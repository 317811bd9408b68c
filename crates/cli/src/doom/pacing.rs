//! When tics begin, so that 35 of them last a second.

use std::time::{Duration, Instant};

use super::meter::TICS_A_SECOND;

/// The number of tics that may be made up for. What is missing beyond them is left out: the game is slower
/// instead.
const LATE_TICS_MAX: u32 = 4;

/// The clock of the game.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// When tic 0 began, or would have begun without the time that was left out.
    begin: Instant,
    /// The number of tics since then.
    tics: u32,
}

impl Pace {
    pub(super) const fn new(now: Instant) -> Self {
        Self { begin: now, tics: 0 }
    }

    /// Returns when the next tic is due.
    pub(super) fn due(&self) -> Instant {
        // Not a sum of rounded durations, which would drift.
        self.begin + Duration::from_secs(1) * self.tics / TICS_A_SECOND
    }

    /// Notes that a tic is done.
    pub(super) fn pass(&mut self, now: Instant) {
        self.tics += 1;
        if now > self.due() + Duration::from_secs(1) * LATE_TICS_MAX / TICS_A_SECOND {
            (self.begin, self.tics) = (now, 0);
        }
        // So that the products above do not overflow.
        if self.tics == 1000 * TICS_A_SECOND {
            (self.begin, self.tics) = (self.due(), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_five_tics_last_a_second_without_drift() {
        let begin = Instant::now();
        let mut pace = Pace::new(begin);
        for _ in 0..35 * 10_000 {
            pace.pass(pace.due());
        }
        assert_eq!(pace.due(), begin + Duration::from_secs(10_000));
    }

    #[test]
    fn a_short_delay_is_made_up_for_and_a_long_one_is_not() {
        let begin = Instant::now();
        let mut pace = Pace::new(begin);
        pace.pass(begin + Duration::from_millis(100));
        assert!(pace.due() < begin + Duration::from_millis(30), "the next tics come at once");
        let late = begin + Duration::from_secs(5);
        pace.pass(late);
        assert_eq!(pace.due(), late, "five seconds are not played fast");
    }
}
