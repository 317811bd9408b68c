//! The lanes that wait for places of frames, and what their waiting costs.

use std::time::Duration;

/// The least number of places for each lane that runs with others: an instruction may need several frames.
const FRAMES_OF_LANE: u32 = 16;
/// The part of the earlier times that counts when those of a slice are added.
const KEPT: f64 = 0.8;
/// The time in which the least time of a step grows by half, in seconds, because lanes may get to slower code.
const FORGOTTEN: f64 = 1.0;
/// Half of the lanes have to be faster than all of them by this factor.
const GAIN: f64 = 1.1;

/// A slice at whose end lanes needed frames, and the exchange after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// The number of lanes that have run.
    pub(super) lanes: u32,
    /// Whether some lane ran to the end of the slice.
    pub(super) is_whole: bool,
    /// The largest number of steps of a lane, and the steps of all lanes together.
    pub(super) limit: u32,
    pub(super) steps: u64,
    /// The time of the slice, and that of the exchange.
    pub(super) took: Duration,
    pub(super) exchange: Duration,
}

/// The lanes that wait in a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    /// The number of lanes that wait.
    pub(super) lanes: usize,
    /// The number of lanes that may run together, if there is a limit.
    pub(super) most: Option<usize>,
    /// Whether lanes that run have given up frames in the last exchange.
    pub(super) is_crowded: bool,
    /// Whether running lanes have given up frames in this run.
    has_been_crowded: bool,
    /// The least time of a step of all lanes in the last slices, in seconds, if it is known. Slices that are short take longer for
    /// each step.
    step: Option<f64>,
    /// The seconds in which lanes have run, and those in which they have waited, in the last crowded rounds.
    ran: f64,
    waited: f64,
}

impl Waiting {
    /// Adds a round. Returns the steps of the lane that ran longest, and the time in which lanes have waited for it, on average.
    pub(super) fn add(&mut self, round: Round) -> (u32, Duration) {
        let Round { lanes, is_whole, limit, steps, took, exchange } = round;
        let mean = steps as f64 / f64::from(lanes.max(1));
        let seconds = took.as_secs_f64();
        if is_whole {
            self.note_step(limit, took);
        }
        let longest = match self.step {
            Some(step) if !is_whole && step > 0.0 => (seconds / step).min(f64::from(limit)),
            Some(_) => f64::from(limit),
            None => mean,
        };
        if self.is_crowded {
            self.has_been_crowded = true;
            let all = seconds + exchange.as_secs_f64();
            let ran = self.step.map_or(seconds, |step| (mean * step).min(seconds));
            self.ran = KEPT * self.ran + ran;
            self.waited = KEPT * self.waited + all - ran;
        }
        (longest.round() as u32, took.mul_f64((1.0 - mean / longest.max(1.0)).clamp(0.0, 1.0)))
    }

    /// Notes the time of a slice in which some lane took all of the `limit` steps.
    pub(super) fn note_step(&mut self, limit: u32, took: Duration) {
        let seconds = took.as_secs_f64();
        let step = seconds / f64::from(limit.max(1));
        self.step = Some(self.step.map_or(step, |least| step.min(least * (1.0 + 0.5 * seconds / FORGOTTEN))));
    }

    /// Begins another run. If lanes have had room in the last one, more of `all` lanes may run together.
    pub(super) fn begin_run(&mut self, all: usize) {
        (self.lanes, self.is_crowded) = (0, false);
        if !std::mem::take(&mut self.has_been_crowded) {
            self.most = self.most.map(|most| 2 * most).filter(|most| *most < all);
        }
    }

    /// Returns whether fewer of `lanes` lanes should run together, on a device that runs `width` lanes in the time of one, with so
    /// many places of frames.
    ///
    /// Half of the lanes would have room for all of their frames, and would not wait. They are faster than all lanes together if
    /// these wait for more than half of the time, or if the device runs half of the lanes in less time than all of them.
    pub(super) fn are_too_many(&self, lanes: usize, width: u32, places: u32) -> bool {
        let turns = |lanes: f64| (lanes / f64::from(width.max(1))).max(1.0);
        let shorter = turns(lanes as f64) / turns(lanes as f64 / 2.0);
        let share = self.ran / (self.ran + self.waited).max(1e-9);
        let is_known = self.ran + self.waited > 0.0;
        is_known && share * 2.0 * GAIN < shorter
            || u64::from(places) < u64::from(FRAMES_OF_LANE) * lanes as u64
    }

    /// Limits the number of lanes that run together. The times so far were those of more lanes.
    pub(super) const fn limit(&mut self, most: usize) {
        (self.most, self.has_been_crowded) = (Some(most), true);
        (self.ran, self.waited, self.step) = (0.0, 0.0, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(is_whole: bool, steps: u64, took: u64, exchange: u64) -> Round {
        let [took, exchange] = [took, exchange].map(Duration::from_millis);
        Round { lanes: 4, is_whole, limit: 1000, steps, took, exchange }
    }

    #[test]
    fn lanes_wait_for_the_one_that_runs_longest() {
        let mut waiting = Waiting::default();
        let mut idle = |round| {
            let (longest, idle) = waiting.add(round);
            (longest, idle.as_millis())
        };
        assert_eq!(idle(round(false, 400, 10, 0)), (100, 0), "nothing is known of the longest lane");
        assert_eq!(idle(round(true, 2000, 10, 0)), (1000, 5), "the mean lane took half of the steps");
        assert_eq!(idle(round(false, 1000, 5, 0)), (500, 2), "the mean lane took half of 500 steps");
        assert_eq!(idle(round(true, 4000, 10, 0)), (1000, 0), "all took all steps");
    }

    #[test]
    fn fewer_lanes_run_only_if_that_is_faster() {
        let after = |ran, exchange| {
            let mut waiting = Waiting { is_crowded: true, ..Waiting::default() };
            waiting.add(round(true, 4000, ran, exchange));
            [(8, 2), (8, 6), (8, 8)].map(|(lanes, width)| waiting.are_too_many(lanes, width, 1000))
        };
        assert_eq!(after(10, 0), [false; 3], "no lane waits");
        assert_eq!(after(10, 2), [true, false, false], "of eight lanes, two run in the time of one");
        assert_eq!(after(10, 7), [true, true, false], "half of the lanes need three quarters of the time");
        assert_eq!(after(10, 20), [true; 3], "most of the time is lost");
        let mut waiting = Waiting { is_crowded: true, ..Waiting::default() };
        waiting.add(round(true, 4000, 10, 0));
        assert!(!waiting.are_too_many(8, 8, 1000), "no lane waits");
        for _ in 0..20 {
            waiting.add(Round { limit: 10, ..round(true, 40, 1, 0) });
        }
        assert!(
            waiting.are_too_many(8, 8, 1000),
            "slices are so short that dispatches take most of the time"
        );
        let unknown = Waiting::default();
        assert!(!unknown.are_too_many(8, 2, 1000), "nothing was measured");
        assert!(unknown.are_too_many(8, 2, 127), "lanes would take each other's last frames");
    }
}
