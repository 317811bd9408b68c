//! Trains the networks that choose kernels, until they are exact.
//!
//! Everything is written by hand and of one definite order: the same seed gives the same weights, bit for bit,
//! on every host and with any number of threads. Functions that platforms compute differently (exponential,
//! logarithm, cosine) are the crate's own, and what threads compute is cut into pieces and added up the same
//! way always.
//!
//! Labels are what the instruction table says, by way of `kvrm-models`; a network is done when its weights,
//! rounded to the grid, are right on all 2^20 tuples.

mod adam;
mod gradient;
mod math;
mod progress;
mod random;
mod small;
mod tuple;

pub use progress::{NotExact, Progress, Trained};
pub use small::train_small_dispatch;
pub use tuple::{Recipe, train_tuples};

use kvrm_arm64::class_of;
use kvrm_models::{Category, Tuple};

/// Trains the dispatch network.
///
/// # Errors
/// It is not exact after the steps of the recipe.
pub fn train_dispatch(seed: u64, observer: &mut dyn FnMut(&Progress)) -> Result<Trained, NotExact> {
    let labels: Vec<u8> = Tuple::all().map(|tuple| class_of(tuple.first_word()) as u8).collect();
    train_tuples::<16, 7>(&Recipe::DISPATCH, &labels, seed, observer)
}

/// Trains the decoder network.
///
/// # Errors
/// It is not exact after the steps of the recipe.
pub fn train_decoder(seed: u64, observer: &mut dyn FnMut(&Progress)) -> Result<Trained, NotExact> {
    let labels: Vec<u8> = Category::of_tuples().iter().map(|category| *category as u8).collect();
    train_tuples::<24, 15>(&Recipe::DECODER, &labels, seed, observer)
}
