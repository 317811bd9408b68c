//! The pattern recogniser, which names well-known loops.

use crate::Architecture;
use crate::error::{WeightsError, check};
use crate::half_precision::rounded_to_half;
use crate::inputs::{is_body_length, word_bits, word_fields};
use crate::layers::{Parts, Rows, dot, relu};
use crate::tuple_network::argmax;

/// The number of values in a token, and in the embedding of a body.
const WIDTH: usize = 128;
/// The smallest length that a cosine divides by, as in PyTorch.
const LENGTH_MIN: f32 = 1e-8;

/// A network that compares the body of a loop with a prototype of each class; 508,161 parameters.
///
/// For a body of T words, in the names of the tensors:
///
/// | step | shape |
/// | --- | --- |
/// | token: `opcode_embedding` of the top byte + `position_embedding` of the index in the body + Linear (`feature_proj`) of [`word_bits`] ++ [`word_fields`] | T × 128 |
/// | sequence: LSTM of two layers (`lstm`) over the tokens | T × 128 |
/// | attention of 4 heads (`attention`) of the sequence to itself; the sequence is added | T × 128 |
/// | Linear, ReLU, Linear (`ffn`); its input is added | T × 128 |
/// | embedding: layer norm (`norm`) of the mean over the words | 128 |
/// | cosines of the embedding and each row of `prototypes` | 6 |
/// | logits: cosines × `temperature` | 6 |
///
/// Although it is called so, the temperature is a factor and no divisor. A cosine does not depend on the length of the
/// embedding, so a body that resembles no prototype has small cosines with all of them, and can be rejected.
///
/// The layer norm keeps the embedding in a range that the [`IterationPredictor`](crate::IterationPredictor) can rely on.
///
/// ```
/// use kvrm_models::{LoopPattern, PatternRecogniser};
///
/// let mut flat = vec![0.0; PatternRecogniser::PARAMETERS];
/// let end = flat.len();
/// flat[end - 128..].fill(1.0); // The bias of `norm`, and so every embedding.
/// flat[128..256].fill(0.5); // The prototype of MEMCPY.
/// flat[768] = 10.0; // The temperature.
/// let matched = PatternRecogniser::from_flat(&flat)?.recognise(&[0xd503_201f]).expect("one to 32 words");
/// assert_eq!((matched.pattern(), matched.embedding), (LoopPattern::Memcpy, [1.0; 128]));
/// assert!((matched.logits[1] - 10.0).abs() < 1e-5 && matched.logits[0] == 0.0);
/// # Ok::<(), kvrm_models::WeightsError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PatternRecogniser {
    flat: Box<[f32]>,
}

impl PatternRecogniser {
    /// The number of weights.
    pub const PARAMETERS: usize = Architecture::PatternRecogniser.parameters();
    /// The number of heads of the attention.
    pub const HEADS: usize = 4;

    /// Builds a network from its flat weights, in the order of [`Architecture::tensors`].
    ///
    /// # Errors
    ///
    /// If there are not [`Self::PARAMETERS`] weights, or one is not finite.
    pub fn from_flat(flat: &[f32]) -> Result<Self, WeightsError> {
        check("pattern recogniser", flat, Self::PARAMETERS)?;
        Ok(Self { flat: flat.into() })
    }

    /// Returns the flat weights.
    #[must_use]
    pub fn flat(&self) -> &[f32] {
        &self.flat
    }

    /// Returns the network with its weights rounded to half precision, as devices store them.
    ///
    /// # Errors
    ///
    /// If a weight is too large for half precision.
    pub fn rounded_to_half(&self) -> Result<Self, WeightsError> {
        Ok(Self { flat: rounded_to_half(&self.flat)?.into() })
    }

    /// Returns the comparison of a body with all prototypes.
    ///
    /// Returns `None` if the body has no words, or more than [`BODY_WORDS_MAX`](crate::inputs::BODY_WORDS_MAX).
    #[must_use]
    pub fn recognise(&self, body: &[u32]) -> Option<PatternMatch> {
        if !is_body_length(body.len()) {
            return None;
        }
        let parts = Parts::new(Architecture::PatternRecogniser, &self.flat);
        let tokens = tokens(parts, body);
        let mut sequence = parts.lstm("lstm").of_rows(&tokens);
        let attended = parts.attention("attention", Self::HEADS).of_rows(&sequence, &sequence);
        sequence.add(&attended);
        let mut hidden = parts.linear("ffn.0").of_rows(&sequence);
        relu(hidden.values_mut());
        sequence.add(&parts.linear("ffn.2").of_rows(&hidden));

        let mut embedding = [0.0; WIDTH];
        embedding.copy_from_slice(&sequence.mean());
        parts.norm("norm").apply(&mut embedding);
        let length = |vector: &[f32]| dot(vector, vector).sqrt().max(LENGTH_MIN);
        let (prototypes, scale) = (parts.tensor("prototypes"), 1.0 / length(&embedding));
        let cosines = std::array::from_fn(|class| {
            let prototype = &prototypes[class * WIDTH..][..WIDTH];
            dot(&embedding, prototype) * scale / length(prototype)
        });
        let temperature = parts.tensor("temperature")[0];
        Some(PatternMatch::new(cosines.map(|cosine| cosine * temperature), cosines, embedding))
    }
}

/// Returns the tokens of a body.
fn tokens(parts: Parts<'_>, body: &[u32]) -> Rows {
    let inputs = body.iter().map(|word| {
        let (bits, fields) = (word_bits(*word), word_fields(*word));
        let mut input = [0.0; 64];
        input[..bits.len()].copy_from_slice(&bits);
        input[bits.len()..].copy_from_slice(&fields);
        input
    });
    let mut tokens = parts.linear("feature_proj").of_rows(&Rows::of(inputs));
    let (opcodes, positions) =
        (parts.tensor("opcode_embedding.weight"), parts.tensor("position_embedding.weight"));
    for (index, (token, word)) in tokens.iter_mut().zip(body).enumerate() {
        let opcode = &opcodes[(word >> 24) as usize * WIDTH..][..WIDTH];
        let position = &positions[index * WIDTH..][..WIDTH];
        for ((value, opcode), position) in token.iter_mut().zip(opcode).zip(position) {
            *value += opcode + position;
        }
    }
    tokens
}

/// A well-known loop, in the order of the recogniser's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum LoopPattern {
    /// Fills memory with a value.
    Memset,
    /// Copies memory.
    Memcpy,
    /// Searches memory for a value.
    Strlen,
    /// Waits for a location in memory to change.
    Polling,
    /// Is the inner pass of a bubble sort.
    BubbleSort,
    /// Is none of these.
    Unknown,
}

impl LoopPattern {
    /// All patterns, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Memset, Self::Memcpy, Self::Strlen, Self::Polling, Self::BubbleSort, Self::Unknown];

    /// Returns the name used in documents and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memset => "MEMSET",
            Self::Memcpy => "MEMCPY",
            Self::Strlen => "STRLEN",
            Self::Polling => "POLLING",
            Self::BubbleSort => "BUBBLE_SORT",
            Self::Unknown => "UNKNOWN",
        }
    }
}

/// The outputs of a [`PatternRecogniser`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PatternMatch {
    /// The cosines multiplied with the temperature, in the order of [`LoopPattern::ALL`].
    pub logits: [f32; 6],
    /// The cosine of the embedding and each prototype.
    pub cosines: [f32; 6],
    /// The embedding of the body.
    pub embedding: [f32; WIDTH],
}

impl PatternMatch {
    /// Returns the match with these outputs of a recogniser.
    #[must_use]
    pub const fn new(logits: [f32; 6], cosines: [f32; 6], embedding: [f32; WIDTH]) -> Self {
        Self { logits, cosines, embedding }
    }

    /// Returns the pattern with the greatest logit.
    #[must_use]
    pub fn pattern(&self) -> LoopPattern {
        LoopPattern::ALL[argmax(&self.logits)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_in_the_order_of_their_numbers() {
        assert_eq!(
            LoopPattern::ALL.map(|pattern| LoopPattern::ALL[pattern as usize]),
            LoopPattern::ALL,
            "all"
        );
    }

    #[test]
    fn zero_weights_match_nothing() -> Result<(), WeightsError> {
        let network = PatternRecogniser::from_flat(&vec![0.0; PatternRecogniser::PARAMETERS])?;
        let matched = network.recognise(&[0; 32]);
        assert!(
            matched.is_some_and(|matched| matched.logits == [0.0; 6]),
            "no length is no division by zero"
        );
        Ok(())
    }
}
