//! How a training goes, and what it gives.

use thiserror::Error;

/// How far a training has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Steps done.
    pub step: u32,
    /// The most steps there will be.
    pub steps: u32,
    /// Tuples, or top bytes, that the rounded network gets wrong.
    pub errors: u32,
    /// Least margin of a right answer over its rivals; negative while there are errors.
    pub margin: f32,
    /// Mean loss of the last batches.
    pub loss: f32,
}

/// What a training gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    /// The flat weights.
    pub weights: Vec<f32>,
    /// Where the training stopped.
    pub progress: Progress,
}

/// A training used up its steps.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("no network was exact in {} steps ({} answers are wrong at the end); try another seed", .0.step, .0.errors)]
pub struct NotExact(pub Progress);
