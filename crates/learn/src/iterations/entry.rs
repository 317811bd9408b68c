//! Entries of loops, from which the iteration predictor learns.

use kvrm_models::inputs::ITERATION_INPUTS;

/// A loop that a lane is in, as the iteration predictor sees it, with the number of iterations that is proved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The input of the network, as [`iteration_input`](kvrm_models::inputs::iteration_input) returns it.
    pub input: [f32; ITERATION_INPUTS],
    /// The number of iterations that follow, with the one that leaves the loop; at least 1.
    pub iterations: u64,
}

impl Entry {
    /// Returns the decimal logarithm of the number of iterations.
    #[must_use]
    pub fn log10_iterations(&self) -> f32 {
        (self.iterations.max(1) as f64).log10() as f32
    }
}
