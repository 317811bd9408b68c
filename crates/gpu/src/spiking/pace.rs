//! The choice of a kernel and a number of batches for the next slice, from the measured times of earlier slices.

use std::time::Duration;

use super::kernels::Kernel;
use crate::device::logical::WAIT_LIMIT;

/// The time that a slice should take: short enough for the device to start working early and for displays to stay
/// usable.
const SLICE: Duration = Duration::from_millis(6);
/// The time that a slice should take if the CPU runs the shaders.
const SOFTWARE_SLICE: Duration = Duration::from_millis(100);
/// The maximum factor by which a slice is longer than the longest measured slice of its kernel.
const GROWTH: u32 = 8;
/// The number of batches in a slice of a kernel that has not been measured.
const FIRST_BATCHES: u32 = 8;
/// The maximum number of batches in a slice.
const BATCHES_MAX: u32 = 8192;
/// The number of slices of a kernel after which it is compared with others. The first slices are slower for each batch: the
/// driver may still prepare the kernel, the GPU may have lowered its clock while the host prepared buffers, and the fixed
/// cost of a slice is divided among few batches.
const TRIALS: u32 = 3;
/// The number of slices after which a kernel other than the best is measured again for the first time. The GPU may have
/// lowered its clock while the host prepared the last kernel, and raises it within some tenths of a second.
const TRIAL_INTERVAL_MIN: u32 = 16;
/// The maximum number of slices between two trials.
const TRIAL_INTERVAL_MAX: u32 = 4096;
/// The factor by which each interval is longer than the one before. Soon, trials take less than a hundredth of the time.
const TRIAL_INTERVAL_GROWTH: u32 = 4;
/// The number of slices of a trial. The first slice after a change of the kernel is not measured, as it was a millisecond
/// longer on an H200.
const TRIAL_SLICES: u32 = 2;

/// The maximum time that the host waits for a slice. It applies to kernels that have not been measured, as their first
/// use may compile them.
const WAIT_MAX: Duration = Duration::from_secs(120);
/// The host waits for a slice this many times as long as the slice is expected to take.
const WAIT_FACTOR: f64 = 100.0;
/// The minimum time that the host waits for a slice of a GPU. It does not apply if the CPU runs the shaders: other programs
/// can keep its cores busy for any time, so the time of earlier slices says nothing, and the host waits for [`WAIT_LIMIT`].
const WAIT_MIN: Duration = Duration::from_secs(20);

/// The measured speeds of the kernels of a network.
#[derive(Debug)]
pub(super) struct Pace {
    /// The time that a slice should take, in seconds.
    target: f64,
    /// Whether the CPU runs the shaders.
    is_software: bool,
    candidates: Vec<Candidate>,
    /// The number of slices before a kernel other than the best is tried.
    before_trial: u32,
    /// The number of slices between the last trial and the next one.
    interval: u32,
    /// The kernel that is being tried, and the number of slices that are left of its trial.
    trial: Option<(Kernel, u32)>,
    /// The kernel of the last slice that has ended.
    last: Option<Kernel>,
    /// The time of all slices together, in seconds.
    total: f64,
}

#[derive(Debug)]
struct Candidate {
    kernel: Kernel,
    /// The time of all slices after which it is tried, in seconds.
    delay: f64,
    /// The time of a batch in its last slice, in seconds; 0 before it was measured.
    batch: f64,
    /// The maximum number of batches in its next slice.
    most: u32,
    /// The number of its slices so far.
    slices: u32,
    /// The number of its slices that have ended.
    ended: u32,
}

impl Candidate {
    /// Returns the time of a batch by which kernels are compared. It is 0, less than any measured one, until the kernel has
    /// run long enough.
    const fn known_batch(&self) -> f64 {
        if self.ended < TRIALS { 0.0 } else { self.batch }
    }
}

impl Pace {
    /// Returns a pace that chooses among `kernels`, none of which has been measured.
    pub(super) fn new(is_software: bool, kernels: &[Kernel]) -> Self {
        let target = if is_software { SOFTWARE_SLICE } else { SLICE };
        let mut pace = Self {
            target: target.as_secs_f64(),
            is_software,
            candidates: Vec::new(),
            before_trial: TRIAL_INTERVAL_MIN,
            interval: TRIAL_INTERVAL_MIN,
            trial: None,
            last: None,
            total: 0.0,
        };
        pace.choose_among(kernels);
        pace
    }

    /// Chooses among `kernels` from now on. What has been measured of them is kept.
    pub(super) fn choose_among(&mut self, kernels: &[Kernel]) {
        self.candidates.retain(|candidate| kernels.contains(&candidate.kernel));
        kernels.iter().for_each(|kernel| self.add(*kernel));
    }

    /// Adds a kernel to choose from.
    pub(super) fn add(&mut self, kernel: Kernel) {
        if self.candidates.iter().all(|candidate| candidate.kernel != kernel) {
            self.candidates.push(Candidate {
                kernel,
                delay: 0.0,
                batch: 0.0,
                most: FIRST_BATCHES,
                slices: 0,
                ended: 0,
            });
        }
    }

    /// Lets a kernel be tried only when slices have run for another `delay`.
    pub(super) fn delay(&mut self, kernel: Kernel, delay: Duration) {
        let total = self.total;
        if let Some(candidate) = self.candidates.iter_mut().find(|candidate| candidate.kernel == kernel) {
            candidate.delay = total + delay.as_secs_f64();
        }
    }

    /// Removes a kernel from the choice.
    pub(super) fn remove(&mut self, kernel: Kernel) {
        self.candidates.retain(|candidate| candidate.kernel != kernel);
    }

    /// Chooses the kernel of the next slice. Returns it with the maximum number of batches.
    pub(super) fn next_slice(&mut self) -> (Kernel, u32) {
        let Some(best) = self.best() else { return (Kernel::Events, FIRST_BATCHES) };
        let chosen = if self.candidates[best].known_batch() == 0.0 {
            (self.before_trial, self.interval) = (TRIAL_INTERVAL_MIN, TRIAL_INTERVAL_MIN);
            best
        } else {
            self.tried(best).unwrap_or(best)
        };
        let candidate = &mut self.candidates[chosen];
        candidate.slices += 1;
        let wanted =
            if candidate.batch > 0.0 { (self.target / candidate.batch) as u32 } else { FIRST_BATCHES };
        (candidate.kernel, wanted.clamp(1, candidate.most))
    }

    /// Returns the indices of the candidates that may be tried by now.
    fn due(&self) -> impl Iterator<Item = usize> {
        (0..self.candidates.len()).filter(|&index| self.candidates[index].delay <= self.total)
    }

    /// Returns the index of the best candidate: one that is not known yet, or the fastest.
    fn best(&self) -> Option<usize> {
        let known = |index: &usize| self.candidates[*index].known_batch();
        self.due().min_by(|a, b| known(a).total_cmp(&known(b)))
    }

    /// Returns the index of the candidate to try in the next slice, or `None` if that slice is not part of a trial. `best` is the
    /// index of the best candidate, which is not tried.
    fn tried(&mut self, best: usize) -> Option<usize> {
        if let Some((kernel, left)) = self.trial.take() {
            self.trial = Some((kernel, left - 1)).filter(|(_, left)| *left > 0);
            return self.candidates.iter().position(|candidate| candidate.kernel == kernel);
        }
        self.before_trial = self.before_trial.saturating_sub(1);
        if self.before_trial > 0 {
            return None;
        }
        self.interval = (TRIAL_INTERVAL_GROWTH * self.interval).min(TRIAL_INTERVAL_MAX);
        self.before_trial = self.interval;
        let others = self.due().filter(|&other| other != best);
        let least_tried = others.min_by_key(|other| self.candidates[*other].slices)?;
        self.trial = Some((self.candidates[least_tried].kernel, TRIAL_SLICES - 1));
        Some(least_tried)
    }

    /// Returns the time of a batch of a kernel in seconds, or `None` if it has not run for long enough to be compared.
    pub(super) fn batch_time(&self, kernel: Kernel) -> Option<f64> {
        let candidate = self.candidates.iter().find(|candidate| candidate.kernel == kernel)?;
        (candidate.known_batch() > 0.0).then_some(candidate.batch)
    }

    /// Returns the time that a slice of `batches` batches may take before the device counts as lost.
    pub(super) fn wait_limit(&self, kernel: Kernel, batches: u32) -> Duration {
        if self.is_software {
            return WAIT_LIMIT;
        }
        let known =
            self.candidates.iter().find(|candidate| candidate.kernel == kernel && candidate.batch > 0.0);
        known.map_or(WAIT_MAX, |known| {
            let seconds = WAIT_FACTOR * known.batch * f64::from(batches);
            Duration::from_secs_f64(seconds.clamp(WAIT_MIN.as_secs_f64(), WAIT_MAX.as_secs_f64()))
        })
    }

    /// Records the measured time of a slice of `batches` batches. Slices are recorded in the order in which they end.
    pub(super) fn record_slice(&mut self, kernel: Kernel, batches: u32, took: Duration) {
        self.total += took.as_secs_f64();
        let is_first = self.last.replace(kernel).is_some_and(|last| last != kernel);
        if let Some(candidate) = self.candidates.iter_mut().find(|candidate| candidate.kernel == kernel) {
            candidate.ended += 1;
            if !is_first || candidate.batch == 0.0 {
                candidate.batch = (took.as_secs_f64() / f64::from(batches.max(1))).max(1e-9);
            }
            candidate.most = candidate.most.max(batches.saturating_mul(GROWTH).min(BATCHES_MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Simulates slices of kernels with the given seconds a batch, and returns the last slice.
    fn run(batches: &[(Kernel, f64)], slices: usize) -> (Kernel, u32) {
        let kernels: Vec<Kernel> = batches.iter().map(|(kernel, _)| *kernel).collect();
        let mut pace = Pace::new(false, &kernels);
        let mut last = pace.next_slice();
        for _ in 1..slices {
            let batch =
                batches.iter().find(|(kernel, _)| *kernel == last.0).expect("the kernel is a candidate").1;
            pace.record_slice(last.0, last.1, Duration::from_secs_f64(batch * f64::from(last.1)));
            last = pace.next_slice();
        }
        last
    }

    #[test]
    fn slices_approach_the_time_that_they_should_take() {
        for batch in [1e-6, 1e-5, 1e-3] {
            let took = batch * f64::from(run(&[(Kernel::Events, batch)], 8).1);
            assert!((0.004..0.008).contains(&took), "{batch} s a batch: {took} s");
        }
        assert_eq!(run(&[(Kernel::Events, 10.0)], 8).1, 1, "a batch that takes too long is still one");
    }

    #[test]
    fn kernels_that_stay_keep_their_times() {
        let mut pace = Pace::new(false, &[Kernel::Events, Kernel::Fused]);
        for kernel in [Kernel::Events, Kernel::Fused] {
            for _ in 0..TRIALS {
                pace.record_slice(kernel, 8, Duration::from_millis(8));
            }
        }
        pace.choose_among(&[Kernel::Events, Kernel::Single]);
        let times = Kernel::ALL.map(|kernel| pace.batch_time(kernel));
        assert_eq!(times, [Some(1e-3), None, None]);
        assert_eq!(
            pace.next_slice().0,
            Kernel::Single,
            "the new kernel is tried, and the removed one is not"
        );
    }

    #[test]
    fn the_wait_for_a_slice_is_a_hundred_times_its_expected_time() {
        let mut pace = Pace::new(false, &[Kernel::Events]);
        assert_eq!(pace.wait_limit(Kernel::Events, 8), WAIT_MAX, "not measured yet");
        assert_eq!(pace.wait_limit(Kernel::Single, 8), WAIT_MAX, "a kernel that is not a candidate");
        for (batch, limit) in [(1e-3, WAIT_MIN), (0.05, Duration::from_secs(40)), (10.0, WAIT_MAX)] {
            pace.record_slice(Kernel::Events, 1, Duration::from_secs_f64(batch));
            let found = pace.wait_limit(Kernel::Events, 8).as_secs_f64();
            assert!((found - limit.as_secs_f64()).abs() < 1e-6, "{batch} s a batch: {found} s");
        }
    }

    #[test]
    fn software_has_minutes_for_a_slice_however_fast_it_was_before() {
        let mut pace = Pace::new(true, &[Kernel::Events]);
        pace.record_slice(Kernel::Events, 8, Duration::from_millis(1));
        assert_eq!(pace.wait_limit(Kernel::Events, 8), WAIT_LIMIT, "its cores may be busy now");
    }

    #[test]
    fn kernels_are_compared_by_slices_that_are_long_enough() {
        // A kernel that was faster for each batch, but not for each slice, was not chosen: its first slice took so long
        // that it was not tried again, or it was tried in slices of a few batches.
        for first in [0.001, 0.05, 10.0] {
            let seconds = |kernel, slice: usize, batches: u32| match kernel {
                Kernel::Fused if slice == 0 => first,
                Kernel::Fused => 3e-4 + 52e-6 * f64::from(batches),
                _ => 5e-5 + 75e-6 * f64::from(batches),
            };
            let mut pace = Pace::new(false, &[Kernel::Events, Kernel::Fused]);
            let mut slices = [0; 2];
            for _ in 0..4 * TRIAL_INTERVAL_MIN {
                let (kernel, batches) = pace.next_slice();
                let slice = &mut slices[usize::from(kernel == Kernel::Fused)];
                let took = Duration::from_secs_f64(seconds(kernel, *slice, batches));
                *slice += 1;
                pace.record_slice(kernel, batches, took);
            }
            assert_eq!(pace.next_slice().0, Kernel::Fused, "after a first slice of {first} s: {slices:?}");
        }
    }

    #[test]
    fn a_delayed_kernel_is_tried_when_the_others_have_run_for_long_enough() {
        let mut pace = Pace::new(false, &[Kernel::Events, Kernel::Fused]);
        pace.delay(Kernel::Fused, Duration::from_millis(50));
        let mut total = 0.0;
        for _ in 0..100 {
            let (kernel, batches) = pace.next_slice();
            if kernel == Kernel::Fused {
                break;
            }
            let took = 1e-5 * f64::from(batches);
            pace.record_slice(kernel, batches, Duration::from_secs_f64(took));
            total += took;
        }
        assert!((0.05..0.06).contains(&total), "tried after {total} s");
    }

    #[test]
    fn the_fastest_kernel_is_chosen() {
        let kernels = [(Kernel::Events, 2e-5), (Kernel::Single, 1e-5), (Kernel::Fused, 3e-5)];
        assert_eq!(run(&kernels, 10).0, Kernel::Single, "after all were tried");
        let mut pace = Pace::new(false, &[Kernel::Events]);
        let blind: Vec<u32> = (0..5).map(|_| pace.next_slice().1).collect();
        assert_eq!(blind, [FIRST_BATCHES; 5], "slices do not grow before one has been measured");
        let others = (0..500).filter(|slices| run(&kernels, 10 + slices).0 != Kernel::Single).count();
        assert!((4..20).contains(&others), "another one is tried now and then: {others} of 500 slices");
    }

    #[test]
    fn a_kernel_that_was_slow_in_its_first_slices_is_tried_again_soon() {
        // A kernel that was more than eight times slower was never tried again, and others only after 128 slices.
        for slowness in [5.0, 100.0] {
            let mut pace = Pace::new(false, &[Kernel::Events, Kernel::Fused]);
            let mut fused = 0;
            for _ in 0..40 {
                let (kernel, batches) = pace.next_slice();
                fused += u32::from(kernel == Kernel::Fused);
                let batch = match kernel {
                    Kernel::Fused if fused <= TRIALS => 50e-6 * slowness,
                    Kernel::Fused => 50e-6,
                    _ => 73e-6,
                };
                pace.record_slice(kernel, batches, Duration::from_secs_f64(batch * f64::from(batches)));
            }
            assert_eq!(
                pace.next_slice().0,
                Kernel::Fused,
                "after {fused} slices, {slowness} times slower first"
            );
        }
    }

    #[test]
    fn the_first_slice_after_a_change_of_the_kernel_is_not_measured() {
        let mut pace = Pace::new(false, &[Kernel::Events, Kernel::Fused]);
        let mut record = |kernel, millis| {
            pace.record_slice(kernel, 10, Duration::from_millis(millis));
            pace.batch_time(kernel)
        };
        for kernel in [Kernel::Fused, Kernel::Events] {
            for _ in 0..TRIALS {
                record(kernel, 1);
            }
        }
        assert_eq!(record(Kernel::Fused, 70), Some(1e-4), "the first slice");
        assert_eq!(record(Kernel::Fused, 2), Some(2e-4), "the second slice");
    }

    #[test]
    fn a_kernel_that_was_tried_at_a_low_clock_is_tried_again_soon() {
        // As on an H200: the clock is low for some tenths of a second after the synapses have been sorted for `fused`, and
        // the first slice after a change of the kernel takes longer. The first run ends while `fused` is being tried.
        let events = 73e-6;
        for (fused, low) in
            [50e-6, 100e-6].into_iter().flat_map(|fused| [0.1, 0.23, 0.5].map(|low| (fused, low)))
        {
            let mut pace = Pace::new(false, &[Kernel::Events, Kernel::Fused]);
            let (mut left, mut under_way) = (60, VecDeque::new());
            let (mut time, mut sorted, mut last) = (0.0, f64::INFINITY, Kernel::Events);
            let mut chosen = Vec::new();
            while time < 3.0 {
                while under_way.len() < 4 && left > 0 {
                    let (kernel, batches) = pace.next_slice();
                    let batches = batches.min(left);
                    left -= batches;
                    under_way.push_back((kernel, batches));
                    if kernel == Kernel::Fused {
                        sorted = f64::min(sorted, time);
                    }
                }
                let Some((kernel, batches)) = under_way.pop_front() else {
                    left = u32::MAX;
                    continue;
                };
                let slowness = if sorted <= time && time < sorted + low { 5.0 } else { 1.0 };
                let batch = if kernel == Kernel::Fused { fused } else { events };
                let change = if kernel == last { 0.0 } else { 1.3e-3 };
                let took = slowness * (5e-4 + batch * f64::from(batches) + change);
                (time, last) = (time + took, kernel);
                pace.record_slice(kernel, batches, Duration::from_secs_f64(took));
                if time > low + 0.5 {
                    chosen.push(kernel);
                }
            }
            let best = if fused < events { Kernel::Fused } else { Kernel::Events };
            let others = chosen.iter().filter(|kernel| **kernel != best).count();
            assert!(
                others <= 3 * TRIAL_SLICES as usize,
                "{fused} s, {low} s: {others} of {} slices",
                chosen.len()
            );
        }
    }
}
