//! What `kvrm bench prefetch` measures, and the results.

use kvrm::FrameMoves;
use kvrm::prefetch::Policy;

use super::workload::Workload;

/// What is measured.
pub(super) struct Case<'a> {
    pub(super) workload: &'a Workload,
    /// N for 1/N of the memory.
    pub(super) part: u32,
    /// The number of frames that the program needs.
    pub(super) needed: u32,
    /// The number of frames for which there is room on the GPU.
    pub(super) places: u32,
    pub(super) policy: Policy,
}

/// The runs of a measurement.
pub(super) struct Measured {
    /// The times of all repetitions in seconds, in order of length.
    pub(super) seconds: Vec<f64>,
    pub(super) steps: u64,
    pub(super) moves: FrameMoves,
}

impl Measured {
    /// Returns the median of the times, in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.seconds[self.seconds.len() / 2]
    }
}
