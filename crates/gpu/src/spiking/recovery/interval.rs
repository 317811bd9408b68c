//! How often the state is copied to the host, and how many steps are made at once.

use std::time::Duration;

/// The part of a run's time that copies may take: one in so many.
const SHARE: u32 = 100;
/// The shortest time between two copies. What a loss costs is at most that, or `SHARE` times as long as a copy takes.
const SHORTEST: Duration = Duration::from_secs(1);
/// The most bytes of a journal: injections count.
const JOURNAL_BYTES: u64 = 256 << 20;
/// Bytes that are assumed to be copied in a second before it is known, and what a copy takes beside that.
const ASSUMED_SPEED: f64 = 1e9;
const ASSUMED_LATENCY: f64 = 1e-3;

/// How long the steps are to take that are made at once: so many that ending and beginning again costs next to nothing.
const CHUNK: Duration = Duration::from_millis(500);
/// How many there are as long as nothing is known, how many at most, and by which factor they grow at most.
const FIRST_STEPS: u64 = 256;
const MOST_STEPS: u64 = 1 << 20;
const GROWTH: u64 = 8;

/// Other limits than those for users, and a loss; for tests.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// The most bytes of a journal.
    pub journal_bytes: Option<u64>,
    /// How many steps are made at once.
    pub chunk_steps: Option<u64>,
    /// The call of wgpu at which the device is lost that is opened next.
    pub lost_again: Option<u32>,
}

/// When the next copy is due, and how long the next steps may be.
#[derive(Debug)]
pub(super) struct Interval {
    pub(super) bounds: Bounds,
    /// For how long steps have been made since the last copy.
    since: Duration,
    /// What a copy takes.
    cost: Duration,
    chunk: u64,
}

impl Interval {
    /// For states of so many bytes.
    pub(super) fn new(state_bytes: u64) -> Self {
        let cost = ASSUMED_LATENCY + state_bytes as f64 / ASSUMED_SPEED;
        Self {
            bounds: Bounds::default(),
            since: Duration::ZERO,
            cost: Duration::from_secs_f64(cost),
            chunk: FIRST_STEPS,
        }
    }

    /// How many steps are to be made at once.
    pub(super) fn chunk(&self) -> u64 {
        self.bounds.chunk_steps.unwrap_or(self.chunk).max(1)
    }

    /// So many steps took so long.
    pub(super) fn ran(&mut self, steps: u64, took: Duration) {
        self.since += took;
        let fitting = CHUNK.as_secs_f64() / took.as_secs_f64().max(1e-6) * steps as f64;
        // Powers of two, as buffers of other sizes would have to be made for other numbers.
        let fitting = 1 << (fitting.clamp(1.0, MOST_STEPS as f64) as u64).ilog2();
        // Of few steps most of the time may be that of the call.
        if steps >= self.chunk || fitting < self.chunk {
            self.chunk = fitting.min(self.chunk * GROWTH);
        }
    }

    /// Whether the state should be copied, with so many bytes in the journal.
    pub(super) fn is_due(&self, journal_bytes: u64) -> bool {
        self.since >= self.length() || journal_bytes > self.bounds.journal_bytes.unwrap_or(JOURNAL_BYTES)
    }

    /// Whether a state that is there anyway should be kept.
    pub(super) fn is_welcome(&self) -> bool {
        self.since >= self.length() / 4
    }

    fn length(&self) -> Duration {
        SHORTEST.max(self.cost * SHARE)
    }

    /// The state is on the host.
    pub(super) const fn copied(&mut self) {
        self.since = Duration::ZERO;
    }

    /// So long it took to copy it.
    pub(super) const fn took(&mut self, cost: Duration) {
        self.cost = cost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn copies_take_a_hundredth_of_the_time() {
        for (cost, runs) in [(MS, 1000), (20 * MS, 2000)] {
            let mut interval = Interval::new(0);
            interval.took(cost);
            for run in 0..runs {
                assert!(!interval.is_due(0), "{cost:?}: in run {run}");
                assert_eq!(interval.is_welcome(), run >= runs / 4, "{cost:?}: in run {run}");
                interval.ran(1, MS);
            }
            assert!(interval.is_due(0), "{cost:?}");
            interval.copied();
            assert!(!interval.is_due(JOURNAL_BYTES) && interval.is_due(JOURNAL_BYTES + 1), "by the journal");
        }
    }

    #[test]
    fn chunks_come_to_the_time_they_should_take() {
        for step in [1e-6, 3e-5, 2e-3, 0.3, 2.0] {
            let mut interval = Interval::new(0);
            for _ in 0..8 {
                let steps = interval.chunk();
                interval.ran(steps, Duration::from_secs_f64(step * steps as f64));
            }
            let took = step * interval.chunk() as f64;
            assert!((0.25..=0.5).contains(&took) || interval.chunk() == 1, "{step} s a step: {took} s");
            let before = interval.chunk();
            interval.ran(1, Duration::from_secs_f64(step));
            assert_eq!(interval.chunk(), before, "a single step says little");
        }
        let mut interval = Interval::new(0);
        interval.ran(256, 100 * MS);
        assert_eq!(interval.chunk(), 1024, "a power of two");
    }
}
