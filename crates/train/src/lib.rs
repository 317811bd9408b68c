//! Trains the networks that name the class or category of a word, until they are exact.
//!
//! Training is deterministic: the same seed gives the same weights, bit for bit, on every host and with any number of
//! threads. All operations have a fixed order. Functions that platforms compute differently (exponential, logarithm,
//! cosine) are part of the crate. Batches are split into parts of a fixed size, whose gradients are added in a fixed
//! order.
//!
//! Labels come from the instruction table, partly through `kvrm-models`. The training of a network over tuples succeeds
//! if its weights, rounded to the grid, are right on all 2^20 tuples.
//!
//! ```no_run
//! use kvrm_models::DispatchNetwork;
//! use kvrm_train::train_dispatch;
//!
//! let trained = train_dispatch(1, &mut |progress| println!("{progress:?}"))?;
//! assert_eq!(trained.weights.len(), DispatchNetwork::PARAMETERS);
//! # Ok::<(), kvrm_train::NotExact>(())
//! ```

mod adam;
mod gradient;
pub mod loops;
mod math;
pub mod oracle;
mod progress;
mod small;
mod tuple;

pub use kvrm_learn::Random;
pub use progress::{NotExact, Progress, TrainedWeights};
pub use small::train_small_dispatch;
pub use tuple::{Recipe, train_tuples, tune_tuples};

use kvrm_arm64::class_of;
use kvrm_models::{Category, Tuple};

/// Trains the dispatch network. `observer` is called every 100 steps.
///
/// # Errors
/// [`NotExact`] if no evaluated network is exact within the steps of the recipe. Another seed may succeed.
pub fn train_dispatch(seed: u64, observer: &mut dyn FnMut(&Progress)) -> Result<TrainedWeights, NotExact> {
    train_tuples::<16, 7>(&Recipe::DISPATCH, &classes(), seed, observer)
}

/// Fine-tunes the weights of a dispatch network until they are exact. `observer` is called every 100 steps.
///
/// # Errors
/// [`NotExact`] if no evaluated network is exact within the steps of the recipe. Another seed may succeed.
pub fn tune_dispatch(
    weights: &[f32],
    seed: u64,
    observer: &mut dyn FnMut(&Progress),
) -> Result<TrainedWeights, NotExact> {
    tune_tuples::<16, 7>(&Recipe::TUNING, weights, &classes(), seed, observer)
}

/// Trains the decoder network. `observer` is called every 100 steps.
///
/// # Errors
/// [`NotExact`] if no evaluated network is exact within the steps of the recipe. Another seed may succeed.
pub fn train_decoder(seed: u64, observer: &mut dyn FnMut(&Progress)) -> Result<TrainedWeights, NotExact> {
    train_tuples::<24, 15>(&Recipe::DECODER, &categories(), seed, observer)
}

/// Fine-tunes the weights of a decoder network until they are exact. `observer` is called every 100 steps.
///
/// # Errors
/// [`NotExact`] if no evaluated network is exact within the steps of the recipe. Another seed may succeed.
pub fn tune_decoder(
    weights: &[f32],
    seed: u64,
    observer: &mut dyn FnMut(&Progress),
) -> Result<TrainedWeights, NotExact> {
    tune_tuples::<24, 15>(&Recipe::TUNING, weights, &categories(), seed, observer)
}

/// Returns the class of each tuple.
fn classes() -> Vec<u8> {
    Tuple::all().map(|tuple| class_of(tuple.first_word()) as u8).collect()
}

/// Returns the category of each tuple.
fn categories() -> Vec<u8> {
    Category::of_tuples().iter().map(|category| *category as u8).collect()
}

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
