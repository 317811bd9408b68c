//! Why a proof fails.

use serde::Serialize;

/// Why a certificate does not hold.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Failure {
    /// The weights are not those that were expected.
    Digest {
        /// The SHA-256 that was expected.
        expected: String,
        /// The SHA-256 of the weights.
        found: String,
    },
    /// A word gets the wrong answer. It is the first of all, or, from the domain, of its tuple.
    Word {
        /// The word.
        word: u32,
        /// Its class or category.
        expected: &'static str,
        /// What the network says.
        found: &'static str,
        /// How many are wrong, of words or tuples.
        count: u64,
    },
    /// The labels of the domain are not those the table gives words: an error of this program.
    Label {
        /// The first such word.
        word: u32,
        /// What the table says.
        expected: &'static str,
        /// What the label of its tuple is.
        found: &'static str,
        /// How many words.
        count: u64,
    },
    /// Two logits of a tuple are equally great.
    Tie {
        /// The first word of the tuple.
        word: u32,
    },
    /// A weight is off the grid, so sums may round.
    Grid {
        /// Its place in the flat weights.
        index: usize,
        /// What it is.
        value: f32,
    },
    /// A sum may need more bits than `f32` has.
    Bits {
        /// The greatest sum, in units of 2^-12.
        largest_sum: i64,
    },
    /// The network in integers and in floating point gives different logits.
    Logits {
        /// The first word of the first such tuple.
        word: u32,
    },
}
