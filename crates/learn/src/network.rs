//! A network that can learn while a program runs.

use std::fmt::Debug;

use kvrm_models::{Architecture, WeightsError};

use crate::score::Score;

/// A network that can learn while a program runs, and how it does.
pub(crate) trait Network: Debug + Send + Sync + Sized + 'static {
    /// An input with what the network should have said.
    type Sample: Debug + Send + Sync + 'static;
    /// The measure of how right it is.
    type Score: Score;

    const ARCHITECTURE: Architecture;
    /// The number of new samples with which a round begins.
    const ROUND: usize;
    /// The number of samples of a step of the optimizer.
    const BATCH: usize;
    /// The learning rate.
    const RATE: f32;

    /// Builds the network from its flat weights.
    fn of_flat(flat: &[f32]) -> Result<Self, WeightsError>;

    /// Builds the network from its flat weights, rounded to half precision as devices store them.
    fn of_rounded(flat: &[f32]) -> Result<Self, WeightsError>;

    /// Returns the flat weights.
    fn flat(&self) -> &[f32];

    /// Measures the network on a sample.
    fn score(&self, sample: &Self::Sample) -> Self::Score;

    /// Adds the gradient of the loss on samples, in flat form.
    fn add_gradient(&self, samples: &[&Self::Sample], gradient: &mut [f32]);
}
