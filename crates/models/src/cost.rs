//! The multiply-adds of an evaluation, which follow from the tensors of an architecture.

use crate::inputs::{BODY_WORDS_MAX, REGISTERS, WINDOW_ACCESSES_MAX};
use crate::{Architecture, TensorSpec};

/// The number of values in the embedding of a word in the loop detector.
const WORD_EMBEDDING: u64 = 128;
/// The number of values in the queries and keys of the loop detector.
const DETECTOR_WIDTH: u64 = 256;
/// The number of values in the queries and keys of the pattern recogniser.
const RECOGNISER_WIDTH: u64 = 128;

/// The number of multiply-adds of one evaluation of a network.
///
/// A multiply-add is the product of two numbers that is added to a sum. These are counted: matrices of weights times
/// vectors, and in attention also rows times rows. Biases, look-ups in embeddings, norms, activation functions and the
/// lengths of vectors are not counted: they take far fewer operations.
///
/// The input of some networks is a sequence of [`Tokens`]. Then [`Cost::of`] is the number for a sequence of a length.
///
/// ```
/// use kvrm_models::Architecture;
///
/// let dispatch = Architecture::Dispatch.cost();
/// assert_eq!((dispatch.tokens, dispatch.longest()), (None, 44 * 32 + 32 * 16 + 16 * 7));
///
/// let oracle = Architecture::MemoryOracle.cost();
/// assert_eq!(oracle.tokens.map(|tokens| (tokens.name, tokens.max)), Some(("access", 32)));
/// assert_eq!(oracle.of(2) - oracle.of(1), oracle.token);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// The multiply-adds that do not depend on the length of the sequence; all of them if the input is no sequence.
    pub fixed: u64,
    /// The multiply-adds for each token.
    pub token: u64,
    /// The multiply-adds for each pair of tokens, in both orders, and of each token with itself: attention.
    pub pair: u64,
    /// The tokens of the input; `None` if the input is no sequence.
    pub tokens: Option<Tokens>,
}

/// The tokens of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tokens {
    /// The name of one token: `word` in the body of a loop, or `access` in a window.
    pub name: &'static str,
    /// The length of the longest sequence.
    pub max: usize,
}

impl Cost {
    /// Returns the multiply-adds for a sequence of so many tokens. The number is ignored if the input is no sequence.
    #[must_use]
    pub const fn of(self, tokens: u64) -> u64 {
        self.fixed + tokens * self.token + tokens * tokens * self.pair
    }

    /// Returns the multiply-adds for the longest sequence, or those for the input if it is no sequence.
    #[must_use]
    pub const fn longest(self) -> u64 {
        match self.tokens {
            Some(tokens) => self.of(tokens.max as u64),
            None => self.fixed,
        }
    }
}

impl Architecture {
    /// Returns the multiply-adds of one evaluation.
    #[must_use]
    pub fn cost(self) -> Cost {
        let (mut fixed, mut token) = (0, 0);
        for matrix in self.tensors().iter().filter(|tensor| is_matrix(tensor)) {
            let (always, each) = self.of_matrix(matrix);
            fixed += always;
            token += each;
        }
        let registers = REGISTERS as u64;
        // Products without weights.
        let pair = match self {
            Self::LoopDetector => {
                // The instruction is added to the token of each register, and attends to each of them.
                token += registers * WORD_EMBEDDING + 2 * registers * DETECTOR_WIDTH;
                0
            }
            Self::PatternRecogniser => 2 * RECOGNISER_WIDTH,
            _ => 0,
        };
        Cost { fixed, token, pair, tokens: self.sequence() }
    }

    /// Returns the tokens of the input, if it is a sequence.
    const fn sequence(self) -> Option<Tokens> {
        match self {
            Self::LoopDetector | Self::PatternRecogniser => {
                Some(Tokens { name: "word", max: BODY_WORDS_MAX })
            }
            Self::MemoryOracle => Some(Tokens { name: "access", max: WINDOW_ACCESSES_MAX }),
            Self::Dispatch | Self::SmallDispatch | Self::Decoder | Self::IterationPredictor => None,
        }
    }

    /// Returns the multiply-adds with a matrix: those that do not depend on the length of the sequence, and those for each
    /// token.
    fn of_matrix(self, matrix: &TensorSpec) -> (u64, u64) {
        let (size, registers) = (matrix.len() as u64, REGISTERS as u64);
        let begins = |parts: &[&str]| parts.iter().any(|part| matrix.name.starts_with(part));
        match self {
            // The encoding of each register alone, and of all together.
            Self::LoopDetector if begins(&["reg_embed."]) => ((registers + 1) * size, 0),
            // A third makes the queries from the words, and the others make keys and values from the registers.
            Self::LoopDetector if matrix.name == "cross_attn.in_proj_weight" => {
                (registers * (size - size / 3), size / 3)
            }
            Self::LoopDetector
                if begins(&["inst_embed.", "reg_field_extract.", "seq_encoder.", "cross_attn."]) =>
            {
                (0, size)
            }
            Self::MemoryOracle if begins(&["feature_encoder.", "lstm."]) => (0, size),
            Self::PatternRecogniser if begins(&["feature_proj.", "lstm.", "attention.", "ffn."]) => (0, size),
            _ => (size, 0),
        }
    }
}

/// Returns whether a tensor is multiplied with vectors. Vectors of weights are biases and factors of norms.
fn is_matrix(tensor: &TensorSpec) -> bool {
    tensor.dims.len() == 2 && !tensor.name.ends_with("embedding.weight")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of the sizes of all matrices.
    fn matrices(architecture: Architecture) -> u64 {
        architecture
            .tensors()
            .iter()
            .filter(|tensor| is_matrix(tensor))
            .map(|tensor| tensor.len() as u64)
            .sum()
    }

    #[test]
    fn a_network_without_a_sequence_uses_each_weight_of_a_matrix_once() {
        for (architecture, expected) in [
            (Architecture::Dispatch, 44 * 32 + 32 * 16 + 16 * 7),
            (Architecture::SmallDispatch, 8 * 8 + 8 * 7),
            (Architecture::Decoder, 44 * 32 + 32 * 24 + 24 * 15),
            (Architecture::IterationPredictor, 131 * 128 + 128 * 64 + 64),
        ] {
            let cost = architecture.cost();
            assert_eq!((cost.fixed, cost.token, cost.pair), (expected, 0, 0), "{architecture}");
            assert_eq!((cost.longest(), matrices(architecture)), (expected, expected), "{architecture}");
        }
    }

    /// For a single token each matrix is used once, but for those that the detector applies to each register.
    #[test]
    fn a_single_token_uses_each_weight_of_a_matrix_once() {
        let oracle = Architecture::MemoryOracle;
        assert_eq!(oracle.cost().of(1), matrices(oracle), "memory oracle");

        let recogniser = Architecture::PatternRecogniser;
        let attention = 2 * 128; // One score, and one row of values.
        assert_eq!(recogniser.cost().of(1), matrices(recogniser) + attention, "pattern recogniser");

        let detector = Architecture::LoopDetector;
        let registers = 32 * (64 * 128 + 128 * 128) + 31 * 2 * 256 * 256;
        let attention = 32 * 128 + 32 * 2 * 256;
        assert_eq!(detector.cost().of(1), matrices(detector) + registers + attention, "loop detector");
    }

    #[test]
    fn long_sequences_cost_what_their_layers_take() {
        // Two layers of an LSTM with four gates, and two linear layers before them.
        let access = 10 * 64 + 64 * 64 + 4 * 128 * (64 + 3 * 128);
        let heads = (128 * 128 + 128 * 8) + (128 * 64 + 64 * 8) + (128 * 64 + 64 * 4);
        assert_eq!(Architecture::MemoryOracle.cost().longest(), 32 * access + heads, "memory oracle");

        let word = 64 * 128 + 4 * 4 * 128 * 128 + 4 * 128 * 128 + 2 * 128 * 512;
        let recogniser = Architecture::PatternRecogniser.cost();
        assert_eq!(recogniser.of(5), 5 * word + 25 * 2 * 128 + 6 * 128, "pattern recogniser");

        let detector = Architecture::LoopDetector.cost();
        let layers = 2 * 4 * 128 * (128 + 128) + 2 * 4 * 128 * (256 + 128);
        let word = 32 * 128 + 128 * 128 + 32 * 96 + layers + 2 * 256 * 256 + 32 * 128 + 2 * 32 * 256;
        assert_eq!(detector.token, word, "loop detector");
        assert_eq!(detector.pair, 0, "words attend to registers only");
    }
}
