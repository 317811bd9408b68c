//! What can be wrong with weights.

use thiserror::Error;

/// Weights that are no network.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum WeightsError {
    /// There are too few or too many.
    #[error("a {network} network has {expected} weights, but {found} were given")]
    Count {
        /// Which network.
        network: &'static str,
        /// How many it has.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// One is NaN or infinite.
    #[error("weight {index} is {value}; all must be finite")]
    NotFinite {
        /// Its place in the flat layout.
        index: usize,
        /// What it is.
        value: f32,
    },
    /// One is no multiple of 2^-6, or too large, so sums would round.
    #[error("weight {index} is {value}, which is no multiple of 2^-6 below 2^9")]
    OffGrid {
        /// Its place in the flat layout.
        index: usize,
        /// What it is.
        value: f32,
    },
}

/// Checks number and values of flat weights.
pub(crate) fn check(network: &'static str, flat: &[f32], expected: usize) -> Result<(), WeightsError> {
    if flat.len() != expected {
        return Err(WeightsError::Count { network, expected, found: flat.len() });
    }
    match flat.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(WeightsError::NotFinite { index, value: flat[index] }),
        None => Ok(()),
    }
}
