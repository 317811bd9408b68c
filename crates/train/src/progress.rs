//! The progress and the result of a training.

use thiserror::Error;

/// The progress of a training, as reported to the observer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The number of steps so far.
    pub step: u32,
    /// The largest number of steps.
    pub steps: u32,
    /// The number of inputs for which the network is wrong: tuples, with weights rounded to the grid; for the small
    /// network, top bytes.
    pub errors: u32,
    /// The least difference between the right logit and the largest other one, over all inputs; not positive if there
    /// are errors.
    pub margin: f32,
    /// The mean loss since the last report.
    pub loss: f32,
}

/// The result of a training.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedWeights {
    /// The weights in flat form.
    pub weights: Vec<f32>,
    /// The progress at the step that gave these weights.
    pub progress: Progress,
}

/// A training ended without an exact network. Contains the progress at the end.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("no network was exact within {} steps: {} answers are wrong at the end; try another seed", .0.step, .0.errors)]
pub struct NotExact(pub Progress);
