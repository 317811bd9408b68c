//! The memory oracle as a network that learns.

use kvrm_models::{Architecture, MemoryOracle, WeightsError};

use super::accuracy::Accuracy;
use super::loss::loss_gradient;
use super::sample::Sample;
use crate::network::Network;

impl Network for MemoryOracle {
    type Sample = Sample;
    type Score = Accuracy;

    const ARCHITECTURE: Architecture = Architecture::MemoryOracle;
    const ROUND: usize = 64;
    const BATCH: usize = 16;
    /// A quarter of the largest rate of the training.
    const RATE: f32 = 5e-4;

    fn of_flat(flat: &[f32]) -> Result<Self, WeightsError> {
        Self::from_flat(flat)
    }

    fn of_rounded(flat: &[f32]) -> Result<Self, WeightsError> {
        Self::from_flat(flat)?.rounded_to_half()
    }

    fn flat(&self) -> &[f32] {
        self.flat()
    }

    fn score(&self, sample: &Sample) -> Accuracy {
        Accuracy::of(self, sample)
    }

    fn add_gradient(&self, samples: &[&Sample], gradient: &mut [f32]) {
        let _ = loss_gradient(self, samples, gradient);
    }
}
