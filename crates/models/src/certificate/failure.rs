//! The reasons for which a proof fails.

use serde::{Deserialize, Serialize};

use super::names::{self, Name};

/// A reason for which a certificate does not hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Failure {
    /// The weights do not have the expected SHA-256.
    Digest {
        /// The expected SHA-256.
        expected: String,
        /// The SHA-256 of the weights.
        found: String,
    },
    /// The network gives a wrong answer. From the sweep, `word` is the lowest wrong word; from the domain, it is the
    /// lowest word of the first wrong tuple.
    Word {
        /// The word.
        word: u32,
        /// The right class or category.
        #[serde(deserialize_with = "names::answer")]
        expected: Name,
        /// The network's answer.
        #[serde(deserialize_with = "names::answer")]
        found: Name,
        /// The number of wrong words (sweep) or wrong tuples (domain).
        count: u64,
    },
    /// The label of a tuple disagrees with the instruction table: an error of this program.
    Label {
        /// The first word for which they disagree.
        word: u32,
        /// The class or category in the table.
        #[serde(deserialize_with = "names::answer")]
        expected: Name,
        /// The label of the word's tuple.
        #[serde(deserialize_with = "names::answer")]
        found: Name,
        /// The number of such words.
        count: u64,
    },
    /// A tuple's greatest logit is not unique, or is NaN.
    Tie {
        /// The lowest word of the first such tuple.
        word: u32,
    },
    /// A weight is not on the grid of 2^-6, so sums may round.
    Grid {
        /// The index in the flat weights.
        index: usize,
        /// The value of the weight.
        value: f32,
    },
    /// A sum may need more bits than the significand of `f32` has.
    Bits {
        /// The greatest sum of magnitudes, in units of 2^-12.
        largest_sum: i64,
    },
    /// The logits in integers and in floating point differ.
    Logits {
        /// The lowest word of the first such tuple.
        word: u32,
    },
}
