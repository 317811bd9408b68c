//! A measure of how right a network is.

use std::fmt::Debug;
use std::iter::Sum;

/// A measure of how right a network is on samples. Measures of several samples are added.
pub trait Score: Copy + Debug + Default + Sum + Send + Sync + 'static {
    /// The name of what a learner hears of, in the plural and in lower case.
    const HEARD: &'static str;
    /// The name of [`Self::value`] in the metadata of weights.
    const METRIC: &'static str;

    /// Returns whether a network with this measure is better than one with another measure on the same samples.
    fn is_better_than(&self, other: &Self) -> bool;

    /// Returns the measure as one number.
    fn value(&self) -> f64;

    /// Returns a sentence without its full stop, about this measure of networks that have learned, and that without learning.
    fn compared_with(&self, without_learning: &Self) -> String;
}
