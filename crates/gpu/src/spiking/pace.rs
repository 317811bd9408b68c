//! By which kernels the next steps are made, and how many at once: by what has been measured on the way.

use std::time::Duration;

use super::kernels::Kernel;

/// How long a slice should take: so short that the device has something to do soon, and displays stay usable.
const SLICE: Duration = Duration::from_millis(6);
/// The same where the CPU runs the shaders.
const SOFTWARE_SLICE: Duration = Duration::from_millis(100);
/// Slices grow by this factor at most from what was measured.
const GROWTH: u32 = 8;
/// Batches of a slice of a kernel that was not measured, and the most of any.
const FIRST: u32 = 8;
const MOST: u32 = 8192;
/// After so many slices another kernel is tried again, unless it was slower than the best by more than this.
const TRIAL: u32 = 128;
const HOPELESS: f64 = 8.0;

/// How long the host waits for a slice of a kernel that was not measured, whose first use may compile it.
const PATIENCE: Duration = Duration::from_secs(120);
/// How many times as long as expected it waits for another one, and how long at least.
const PATIENCE_FACTOR: f64 = 100.0;
const PATIENCE_MIN: Duration = Duration::from_secs(20);

/// What is known of each kernel.
#[derive(Debug)]
pub(super) struct Pace {
    target: f64,
    candidates: Vec<Candidate>,
    /// Slices since another than the best was tried.
    since_trial: u32,
}

#[derive(Debug)]
struct Candidate {
    kernel: Kernel,
    /// What a batch took, in seconds; 0 before it was measured.
    batch: f64,
    /// The most batches of its next slice.
    most: u32,
    /// How many slices it had.
    slices: u32,
}

impl Pace {
    /// Nothing is known of these kernels.
    pub(super) fn new(is_software: bool, kernels: &[Kernel]) -> Self {
        let target = if is_software { SOFTWARE_SLICE } else { SLICE };
        let mut pace = Self { target: target.as_secs_f64(), candidates: Vec::new(), since_trial: 0 };
        kernels.iter().for_each(|kernel| pace.add(*kernel));
        pace
    }

    /// Lets a kernel be chosen, too.
    pub(super) fn add(&mut self, kernel: Kernel) {
        if self.candidates.iter().all(|candidate| candidate.kernel != kernel) {
            self.candidates.push(Candidate { kernel, batch: 0.0, most: FIRST, slices: 0 });
        }
    }

    /// Lets a kernel be chosen no longer.
    pub(super) fn remove(&mut self, kernel: Kernel) {
        self.candidates.retain(|candidate| candidate.kernel != kernel);
    }

    /// The kernel for the next slice, and how many batches that has at most.
    pub(super) fn next(&mut self) -> (Kernel, u32) {
        let Some(mut chosen) = (0..self.candidates.len())
            .min_by(|a, b| self.candidates[*a].batch.total_cmp(&self.candidates[*b].batch))
        else {
            return (Kernel::Events, FIRST);
        };
        self.since_trial += 1;
        let mut target = self.target;
        if self.since_trial >= TRIAL {
            self.since_trial = 0;
            target /= f64::from(GROWTH);
            let limit = HOPELESS * self.candidates[chosen].batch;
            let is_worth = |&other: &usize| other != chosen && self.candidates[other].batch <= limit;
            let least_tried = (0..self.candidates.len()).filter(is_worth);
            chosen = least_tried.min_by_key(|other| self.candidates[*other].slices).unwrap_or(chosen);
        }
        let candidate = &mut self.candidates[chosen];
        candidate.slices += 1;
        let wanted = if candidate.batch > 0.0 { (target / candidate.batch) as u32 } else { FIRST };
        (candidate.kernel, wanted.clamp(1, candidate.most))
    }

    /// How long a slice of so many batches may take before the device counts as lost.
    pub(super) fn limit(&self, kernel: Kernel, batches: u32) -> Duration {
        let known =
            self.candidates.iter().find(|candidate| candidate.kernel == kernel && candidate.batch > 0.0);
        known.map_or(PATIENCE, |known| {
            let seconds = PATIENCE_FACTOR * known.batch * f64::from(batches);
            Duration::from_secs_f64(seconds.clamp(PATIENCE_MIN.as_secs_f64(), PATIENCE.as_secs_f64()))
        })
    }

    /// Learns from a slice of so many batches that took so long.
    pub(super) fn learn(&mut self, kernel: Kernel, batches: u32, took: Duration) {
        if let Some(candidate) = self.candidates.iter_mut().find(|candidate| candidate.kernel == kernel) {
            candidate.batch = (took.as_secs_f64() / f64::from(batches.max(1))).max(1e-9);
            candidate.most = candidate.most.max(batches.saturating_mul(GROWTH).min(MOST));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs so many slices with kernels that take so long a batch, and gives the last one.
    fn run(batches: &[(Kernel, f64)], slices: usize) -> (Kernel, u32) {
        let kernels: Vec<Kernel> = batches.iter().map(|(kernel, _)| *kernel).collect();
        let mut pace = Pace::new(false, &kernels);
        let mut last = pace.next();
        for _ in 1..slices {
            let batch = batches.iter().find(|(kernel, _)| *kernel == last.0).expect("it is one of them").1;
            pace.learn(last.0, last.1, Duration::from_secs_f64(batch * f64::from(last.1)));
            last = pace.next();
        }
        last
    }

    #[test]
    fn slices_come_to_the_time_they_should_take() {
        for batch in [1e-6, 1e-5, 1e-3] {
            let took = batch * f64::from(run(&[(Kernel::Events, batch)], 8).1);
            assert!((0.004..0.008).contains(&took), "{batch} s a batch: {took} s");
        }
        assert_eq!(run(&[(Kernel::Events, 10.0)], 8).1, 1, "a batch that takes too long is still one");
    }

    #[test]
    fn slices_that_take_a_hundred_times_as_long_as_expected_are_waited_for() {
        let mut pace = Pace::new(false, &[Kernel::Events]);
        assert_eq!(pace.limit(Kernel::Events, 8), PATIENCE, "nothing is known");
        assert_eq!(pace.limit(Kernel::Pull, 8), PATIENCE, "of one that is not chosen from either");
        for (batch, limit) in [(1e-3, PATIENCE_MIN), (0.05, Duration::from_secs(40)), (10.0, PATIENCE)] {
            pace.learn(Kernel::Events, 1, Duration::from_secs_f64(batch));
            let found = pace.limit(Kernel::Events, 8).as_secs_f64();
            assert!((found - limit.as_secs_f64()).abs() < 1e-6, "{batch} s a batch: {found} s");
        }
    }

    #[test]
    fn the_fastest_kernel_is_taken() {
        let kernels = [(Kernel::Events, 2e-5), (Kernel::Single, 1e-5), (Kernel::Partitions, 3e-5)];
        assert_eq!(run(&kernels, 10).0, Kernel::Single, "after all were tried");
        let mut pace = Pace::new(false, &[Kernel::Events]);
        let blind: Vec<u32> = (0..5).map(|_| pace.next().1).collect();
        assert_eq!(blind, [FIRST; 5], "slices do not grow before one has been measured");
        assert_ne!(run(&kernels, TRIAL as usize).0, Kernel::Single, "another one is tried now and then");
    }
}
