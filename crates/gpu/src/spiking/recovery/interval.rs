//! The time between two checkpoints, and the number of steps in a part of a run.

use std::time::Duration;

/// Runs take at least this many times as long as the checkpoints between them.
const RUN_TO_COPY_RATIO: u32 = 100;
/// The minimum time of runs between two checkpoints. A replay after a loss takes at most as long as that, or
/// `RUN_TO_COPY_RATIO` times as long as a checkpoint.
const INTERVAL_MIN: Duration = Duration::from_secs(1);
/// The maximum size of a journal, injections included.
const JOURNAL_BYTES: u64 = 256 << 20;
/// The assumed speed of a checkpoint in bytes a second, before one was measured.
const ASSUMED_SPEED: f64 = 1e9;
/// The assumed latency of a checkpoint in seconds, before one was measured.
const ASSUMED_LATENCY: f64 = 1e-3;

/// The time that a part of a run should take: long enough for the cost of beginning a new one to be negligible.
const PART_TIME: Duration = Duration::from_millis(500);
/// The number of steps in the first part.
const FIRST_STEPS: u64 = 256;
/// The maximum number of steps in a part.
const STEPS_MAX: u64 = 1 << 20;
/// The maximum factor by which a part has more steps than the one before.
const GROWTH: u64 = 8;

/// Limits that tests set instead of the built-in ones, and a loss that they inject.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// The maximum size of a journal in bytes.
    pub journal_bytes: Option<u64>,
    /// The number of steps in a part of a run.
    pub part_steps: Option<u64>,
    /// The number of the wgpu call at which the next device that is opened is lost.
    pub lost_again: Option<u32>,
}

/// The times from which the next checkpoint and the length of the next part follow.
#[derive(Debug)]
pub(super) struct Interval {
    pub(super) bounds: Bounds,
    /// The time of runs since the last checkpoint.
    since: Duration,
    /// The time of a checkpoint.
    cost: Duration,
    /// The number of steps in the next part.
    steps: u64,
}

impl Interval {
    /// Returns an interval for states of this size, which assumes how long a checkpoint takes.
    pub(super) fn new(state_bytes: u64) -> Self {
        let cost = ASSUMED_LATENCY + state_bytes as f64 / ASSUMED_SPEED;
        Self {
            bounds: Bounds::default(),
            since: Duration::ZERO,
            cost: Duration::from_secs_f64(cost),
            steps: FIRST_STEPS,
        }
    }

    /// Returns the number of steps in the next part.
    pub(super) fn part_steps(&self) -> u64 {
        self.bounds.part_steps.unwrap_or(self.steps).max(1)
    }

    /// Records the time of a part of `steps` steps.
    pub(super) fn record_run(&mut self, steps: u64, took: Duration) {
        self.since += took;
        let fitting = PART_TIME.as_secs_f64() / took.as_secs_f64().max(1e-6) * steps as f64;
        // A power of two, so that parts of similar length use the same buffers.
        let fitting = 1 << (fitting.clamp(1.0, STEPS_MAX as f64) as u64).ilog2();
        // If there are fewer steps than planned, most of the time may be overhead of the call; so they do not make
        // parts longer.
        if steps >= self.steps || fitting < self.steps {
            self.steps = fitting.min(self.steps * GROWTH);
        }
    }

    /// Returns whether a checkpoint is due, with a journal of this size.
    pub(super) fn is_due(&self, journal_bytes: u64) -> bool {
        self.since >= self.period() || journal_bytes > self.bounds.journal_bytes.unwrap_or(JOURNAL_BYTES)
    }

    /// Returns whether a state that has been downloaded for another reason should become a checkpoint.
    pub(super) fn is_worthwhile(&self) -> bool {
        self.since >= self.period() / 4
    }

    fn period(&self) -> Duration {
        INTERVAL_MIN.max(self.cost * RUN_TO_COPY_RATIO)
    }

    /// Begins a new interval, as the state has been copied.
    pub(super) const fn restart(&mut self) {
        self.since = Duration::ZERO;
    }

    /// Records the time of a checkpoint.
    pub(super) const fn record_copy(&mut self, cost: Duration) {
        self.cost = cost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn checkpoints_take_a_hundredth_of_the_time() {
        for (cost, runs) in [(MS, 1000), (20 * MS, 2000)] {
            let mut interval = Interval::new(0);
            interval.record_copy(cost);
            for run in 0..runs {
                assert!(!interval.is_due(0), "{cost:?}: in run {run}");
                assert_eq!(interval.is_worthwhile(), run >= runs / 4, "{cost:?}: in run {run}");
                interval.record_run(1, MS);
            }
            assert!(interval.is_due(0), "{cost:?}");
            interval.restart();
            assert!(
                !interval.is_due(JOURNAL_BYTES) && interval.is_due(JOURNAL_BYTES + 1),
                "by the size of the journal"
            );
        }
    }

    #[test]
    fn parts_approach_the_time_that_they_should_take() {
        for step in [1e-6, 3e-5, 2e-3, 0.3, 2.0] {
            let mut interval = Interval::new(0);
            for _ in 0..8 {
                let steps = interval.part_steps();
                interval.record_run(steps, Duration::from_secs_f64(step * steps as f64));
            }
            let took = step * interval.part_steps() as f64;
            assert!((0.25..=0.5).contains(&took) || interval.part_steps() == 1, "{step} s a step: {took} s");
            let before = interval.part_steps();
            interval.record_run(1, Duration::from_secs_f64(step));
            assert_eq!(interval.part_steps(), before, "a single step is too short to decide");
        }
        let mut interval = Interval::new(0);
        interval.record_run(256, 100 * MS);
        assert_eq!(interval.part_steps(), 1024, "a power of two");
    }
}
