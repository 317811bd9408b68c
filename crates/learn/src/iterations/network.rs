//! The iteration predictor as a network that learns.

use kvrm_models::{Architecture, IterationPredictor, WeightsError};

use super::entry::Entry;
use super::errors::Errors;
use super::loss::loss_gradient;
use crate::network::Network;

impl Network for IterationPredictor {
    type Sample = Entry;
    type Score = Errors;

    const ARCHITECTURE: Architecture = Architecture::IterationPredictor;
    const ROUND: usize = 32;
    const BATCH: usize = 64;
    /// The last rate of the training. A larger one makes good predictions worse before it makes them better.
    const RATE: f32 = 1.5e-4;

    /// Rounds the weights, as the training does: the answers depend on small differences.
    fn of_flat(flat: &[f32]) -> Result<Self, WeightsError> {
        Self::of_rounded(flat)
    }

    fn of_rounded(flat: &[f32]) -> Result<Self, WeightsError> {
        Self::from_flat(flat)?.rounded_to_half()
    }

    fn flat(&self) -> &[f32] {
        self.flat()
    }

    fn score(&self, entry: &Entry) -> Errors {
        Errors::of(self, entry)
    }

    fn add_gradient(&self, entries: &[&Entry], gradient: &mut [f32]) {
        let _ = loss_gradient(self, entries, gradient);
    }
}
