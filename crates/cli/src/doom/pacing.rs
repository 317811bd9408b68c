//! When steps begin and how many tics they have, so that 35 tics last a second.

use std::time::{Duration, Instant};

use super::meter::TICS_A_SECOND;

/// The largest number of tics of a step: at least 4 frames are drawn in a second of the game. More tics that are
/// due are left out: the game is slower instead.
const STEP_TICS_MAX: u32 = 8;

/// The clock of the game.
///
/// A step has all tics that are due when it begins. So it lasts as many tics as the step before has taken, which
/// is the time of its tics plus that of its frame, and of showing it. If a tic takes T seconds and a frame F, the
/// number n of tics settles at 35 (n T + F): then the game is never late, and all time that its tics leave is for
/// frames. Neither time has to be known, and if they change, the next steps have other numbers of tics.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// When tic 0 began, or would have begun without the time that was left out.
    begin: Instant,
    /// The number of tics since then.
    tics: u32,
    /// The number of tics of each step, if it does not depend on time.
    fixed: Option<u32>,
}

impl Pace {
    pub(super) const fn new(now: Instant, fixed: Option<u32>) -> Self {
        Self { begin: now, tics: 0, fixed }
    }

    /// Returns when the next tic is due.
    pub(super) fn due(&self) -> Instant {
        // Not a sum of rounded durations, which would drift.
        self.begin + duration(self.tics)
    }

    /// Returns the number of tics of a step that begins now: 0 if no tic is due.
    pub(super) fn step(&self, now: Instant) -> u32 {
        let Some(late) = now.checked_duration_since(self.due()) else { return 0 };
        self.fixed.unwrap_or_else(|| {
            let tics = late.as_nanos() * u128::from(TICS_A_SECOND) / Duration::from_secs(1).as_nanos();
            u32::try_from(tics).unwrap_or(u32::MAX).saturating_add(1).min(STEP_TICS_MAX)
        })
    }

    /// Notes that a step of some tics is done.
    pub(super) fn pass(&mut self, tics: u32, now: Instant) {
        self.tics += tics;
        // What a step cannot make up for.
        let most = duration(self.fixed.unwrap_or(STEP_TICS_MAX));
        if let Some(lost) = now.checked_duration_since(self.due() + most) {
            self.begin += lost;
        }
        // So that the products do not overflow.
        let seconds = self.tics / TICS_A_SECOND;
        self.begin += Duration::from_secs(seconds.into());
        self.tics %= TICS_A_SECOND;
    }
}

/// Returns how long some tics last.
fn duration(tics: u32) -> Duration {
    Duration::from_secs(1) * tics / TICS_A_SECOND
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Plays with an engine that takes as long for a tic and a frame, for ten seconds. Returns the numbers of tics of the steps, and the time.
    fn play(pace: &mut Pace, begin: Instant, (tic, frame): (Duration, Duration)) -> (Vec<u32>, Duration) {
        let (mut now, mut steps) = (begin.max(pace.due()), Vec::new());
        while now < begin + Duration::from_secs(10) {
            let tics = pace.step(now);
            assert!(tics > 0, "a tic is due");
            now += tic * tics + frame;
            pace.pass(tics, now);
            steps.push(tics);
            now = now.max(pace.due());
        }
        (steps, now - begin)
    }

    fn micros(range: std::ops::Range<u64>) -> impl Strategy<Value = Duration> {
        range.prop_map(Duration::from_micros)
    }

    /// Returns the number of tics of a step that takes as long as these tics last; infinity if there is none.
    fn settled((tic, frame): (Duration, Duration)) -> f64 {
        let rest = 1.0 - 35.0 * tic.as_secs_f64();
        if rest > 0.0 { 35.0 * frame.as_secs_f64() / rest } else { f64::INFINITY }
    }

    proptest! {
        #[test]
        fn a_game_is_in_real_time_if_it_can_be(tic in micros(0..40_000), frame in micros(0..200_000)) {
            let begin = Instant::now();
            let (steps, time) = play(&mut Pace::new(begin, None), begin, (tic, frame));
            let tics = f64::from(steps.iter().sum::<u32>());
            let (passed, frames) = (35.0 * time.as_secs_f64(), steps.len() as f64);
            let settled = settled((tic, frame));
            prop_assert!(steps.iter().all(|tics| (1..=STEP_TICS_MAX).contains(tics)));
            prop_assert!(tics < passed + 2.0, "it is not faster than real time");
            if settled < 0.9 {
                prop_assert!(steps.iter().all(|tics| *tics == 1), "each tic is drawn: {steps:?}");
            }
            if settled < f64::from(STEP_TICS_MAX) - 1.0 {
                prop_assert!(tics > passed - 9.0, "{tics} tics in the time of {passed}");
                // Frames get the time that tics leave.
                let most = passed / settled.max(1.0);
                prop_assert!(frames > 0.95 * most - 8.0, "{frames} frames of {most}");
            } else if settled > f64::from(STEP_TICS_MAX) + 1.0 {
                // Steps grow until they are as long as they may be; how fast depends on the engine.
                prop_assert!(steps.is_sorted(), "longer steps leave more time for tics: {steps:?}");
                let whole = steps.last() == Some(&STEP_TICS_MAX);
                prop_assert!(whole || tics > passed - 9.0, "{tics} tics in the time of {passed}: {steps:?}");
            }
        }

        #[test]
        fn all_frames_are_back_when_there_is_time(tic in micros(0..40_000), frame in micros(0..200_000)) {
            let begin = Instant::now();
            let mut pace = Pace::new(begin, None);
            let (_, time) = play(&mut pace, begin, (tic, frame));
            let fast = (Duration::from_millis(2), Duration::from_millis(4));
            let (steps, _) = play(&mut pace, begin + time, fast);
            prop_assert!(steps[2..].iter().all(|tics| *tics == 1), "{steps:?}");
        }

        #[test]
        fn fixed_steps_do_not_change(fixed in 1_u32..=35, tic in micros(0..40_000)) {
            let begin = Instant::now();
            let mut pace = Pace::new(begin, Some(fixed));
            let (steps, time) = play(&mut pace, begin, (tic, Duration::ZERO));
            prop_assert!(steps.iter().all(|tics| *tics == fixed));
            let tics = f64::from(steps.iter().sum::<u32>());
            prop_assert!(tics < 35.0 * time.as_secs_f64() + 36.0, "it is not faster than real time");
        }
    }

    #[test]
    fn thirty_five_tics_last_a_second_without_drift() {
        let begin = Instant::now();
        let mut pace = Pace::new(begin, None);
        for _ in 0..35 * 10_000 {
            assert_eq!(pace.step(pace.due()), 1);
            pace.pass(1, pace.due());
        }
        assert_eq!(pace.due(), begin + Duration::from_secs(10_000));
    }

    #[test]
    fn a_short_delay_is_made_up_for_and_a_long_one_is_not() {
        let begin = Instant::now();
        let mut pace = Pace::new(begin, None);
        assert_eq!(pace.step(begin), 1);
        let now = begin + Duration::from_millis(100);
        pace.pass(1, now);
        assert_eq!(pace.step(now), 3, "those that are due after 29, 58 and 86 ms");
        pace.pass(3, now);
        assert_eq!(pace.step(now), 0, "no tic is due");
        let late = begin + Duration::from_secs(5);
        assert_eq!(pace.step(late), STEP_TICS_MAX);
        pace.pass(1, late);
        pace.pass(pace.step(late), late);
        assert!(pace.step(late) <= 1, "five seconds are not played fast");
    }
}
