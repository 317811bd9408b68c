//! How fast the game runs.

use std::fmt;
use std::time::{Duration, Instant};

use super::session::Cost;

/// The tics of a second in real time.
pub(super) const TICS_A_SECOND: u32 = 35;

/// The counts of some tics.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) tics: u64,
    /// The number of frames, which is that of steps.
    pub(super) frames: u64,
    pub(super) instructions: u64,
    /// The time of the steps: from the input to the frame.
    pub(super) busy: Duration,
    /// All time, also that between steps.
    pub(super) elapsed: Duration,
}

/// The share of the time from which on the engine is what limits the speed.
const FULL: f64 = 0.95;

impl Counts {
    fn add(&mut self, tics: u32, cost: Cost) {
        self.tics += u64::from(tics);
        self.frames += 1;
        self.instructions += cost.instructions;
        self.busy += cost.time;
    }

    pub(super) fn tics_a_second(&self) -> f64 {
        ratio(self.tics as f64, self.elapsed.as_secs_f64())
    }

    pub(super) fn frames_a_second(&self) -> f64 {
        ratio(self.frames as f64, self.elapsed.as_secs_f64())
    }

    /// Returns the millions of instructions in a second of busy time.
    pub(super) fn mips(&self) -> f64 {
        ratio(self.instructions as f64 / 1e6, self.busy.as_secs_f64())
    }

    pub(super) fn busy_share(&self) -> f64 {
        ratio(self.busy.as_secs_f64(), self.elapsed.as_secs_f64())
    }

    /// Returns whether the engine is too slow for real time.
    pub(super) fn is_slow(&self) -> bool {
        self.busy_share() >= FULL && self.tics_a_second() < 0.98 * f64::from(TICS_A_SECOND)
    }
}

fn ratio(value: f64, of: f64) -> f64 {
    if of > 0.0 { value / of } else { 0.0 }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} tics in {:.1} s: {:.1} tics/s, {:.1} frames/s, {:.0} MIPS, {:.0} k instructions/tic; \
             steps took {:.1} % of the time",
            self.tics,
            self.elapsed.as_secs_f64(),
            self.tics_a_second(),
            self.frames_a_second(),
            self.mips(),
            ratio(self.instructions as f64 / 1e3, self.tics as f64),
            100.0 * self.busy_share()
        )
    }
}

/// The counts of all tics, and those of about the last second.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    begin: Instant,
    all: Counts,
    /// When the present period began.
    period_begin: Instant,
    period: Counts,
    /// The period before it.
    last: Counts,
}

/// The length of a period.
const PERIOD: Duration = Duration::from_secs(1);

impl Meter {
    pub(super) fn new(now: Instant) -> Self {
        let none = Counts::default();
        Self { begin: now, all: none, period_begin: now, period: none, last: none }
    }

    /// Counts a step of some tics, which has ended now.
    pub(super) fn add(&mut self, tics: u32, cost: Cost, now: Instant) {
        self.all.add(tics, cost);
        self.all.elapsed = now - self.begin;
        self.period.add(tics, cost);
        self.period.elapsed = now - self.period_begin;
        if self.period.elapsed >= PERIOD {
            self.last = self.period;
            (self.period, self.period_begin) = (Counts::default(), now);
        }
    }

    pub(super) const fn all(&self) -> &Counts {
        &self.all
    }

    /// Returns the counts of about a second.
    #[cfg(any(feature = "window", feature = "terminal"))]
    pub(super) const fn recent(&self) -> &Counts {
        if self.last.tics > 0 { &self.last } else { &self.period }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_counted() {
        let begin = Instant::now();
        let mut meter = Meter::new(begin);
        let cost = Cost { instructions: 4_000_000, time: Duration::from_millis(20) };
        for step in 1..=35 {
            meter.add(2, cost, begin + Duration::from_secs(2) * step / 35);
        }
        let all = meter.all();
        assert!((all.tics_a_second() - 35.0).abs() < 0.1, "{all}");
        assert!((all.mips() - 200.0).abs() < 0.1, "of the time of steps: {all}");
        assert!((all.busy_share() - 0.35).abs() < 0.001 && !all.is_slow(), "{all}");
        let text = "70 tics in 2.0 s: 35.0 tics/s, 17.5 frames/s, 200 MIPS, 2000 k instructions/tic; \
                    steps took 35.0 % of the time";
        assert_eq!(all.to_string(), text);
    }

    #[cfg(any(feature = "window", feature = "terminal"))]
    #[test]
    fn recent_counts_follow_the_speed() {
        let mut now = Instant::now();
        let mut meter = Meter::new(now);
        let mut run = |tics: u32, each: Duration| {
            for _ in 0..tics {
                now += each;
                meter.add(1, Cost { instructions: 1000, time: each }, now);
            }
            meter.recent().tics_a_second()
        };
        assert!((run(1, Duration::from_millis(20)) - 50.0).abs() < 0.1, "before a period has passed");
        assert!((run(100, Duration::from_millis(20)) - 50.0).abs() < 0.1);
        assert!((run(20, Duration::from_millis(100)) - 10.0).abs() < 0.5, "not of the whole run");
        assert!(meter.recent().is_slow());
    }

    #[test]
    fn no_tics_have_no_speed() {
        let counts = Counts::default();
        assert_eq!((counts.tics_a_second(), counts.frames_a_second()), (0.0, 0.0));
        assert_eq!((counts.mips(), counts.busy_share()), (0.0, 0.0));
    }
}
