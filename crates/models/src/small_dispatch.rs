//! The small dispatch network, which guesses the class of a word from the top byte alone.

use kvrm_arm64::{Class, class_of};
use serde::{Deserialize, Serialize};

use crate::error::{WeightsError, check};
use crate::tanh::tanh;
use crate::tuple::Tuple;
use crate::tuple_network::{argmax, margin};

const INPUTS: usize = 8;
const HIDDEN: usize = 8;
const CLASSES: usize = 7;

/// A network that guesses the class of a word from its top byte; 135 parameters.
///
/// Eight bits of the top byte `[8]`, lowest first → Linear, tanh `[8]` → Linear `[7]` → argmax.
///
/// The top byte does not decide the class of every word, so no such network is exact. It is for modes in which the
/// table selects the class and the network is compared with it.
///
/// ```
/// use kvrm_models::SmallDispatchNetwork;
///
/// let untrained = SmallDispatchNetwork::from_flat(&[0.0; SmallDispatchNetwork::PARAMETERS])?;
/// assert_eq!(untrained.logits(0x91), [0.0; 7]);
/// # Ok::<(), kvrm_models::WeightsError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SmallDispatchNetwork {
    flat: [f32; Self::PARAMETERS],
}

impl SmallDispatchNetwork {
    /// Offset of the weights of the first layer, `[8][8]`.
    pub const W1: usize = 0;
    /// Offset of the bias of the first layer.
    pub const B1: usize = 64;
    /// Offset of the weights of the second layer, `[7][8]`.
    pub const W2: usize = 72;
    /// Offset of the bias of the second layer.
    pub const B2: usize = 128;
    /// The number of weights.
    pub const PARAMETERS: usize = 135;

    /// Builds a network from its flat weights.
    ///
    /// # Errors
    ///
    /// If there are not [`Self::PARAMETERS`] weights, or one is not finite.
    pub fn from_flat(flat: &[f32]) -> Result<Self, WeightsError> {
        check("small dispatch", flat, Self::PARAMETERS)?;
        Ok(Self { flat: std::array::from_fn(|index| flat[index]) })
    }

    /// Returns the flat weights.
    #[must_use]
    pub fn flat(&self) -> &[f32] {
        &self.flat
    }

    /// Returns the logits of a top byte.
    #[must_use]
    pub fn logits(&self, top_byte: u8) -> [f32; CLASSES] {
        let input: [f32; INPUTS] = std::array::from_fn(|bit| f32::from(top_byte >> bit & 1));
        let linear = |weights: usize, bias: usize, out: usize, input: &[f32]| {
            let row = &self.flat[weights + out * input.len()..];
            row.iter().zip(input).fold(self.flat[bias + out], |sum, (weight, value)| sum + weight * value)
        };
        let hidden: [f32; HIDDEN] = std::array::from_fn(|out| tanh(linear(Self::W1, Self::B1, out, &input)));
        std::array::from_fn(|out| linear(Self::W2, Self::B2, out, &hidden))
    }

    /// Returns the network's class of a word.
    #[must_use]
    pub fn class(&self, word: u32) -> Class {
        Class::ALL[argmax(&self.logits((word >> 24) as u8))]
    }

    /// Counts the tuples whose class the network gets right.
    #[must_use]
    pub fn agreement(&self) -> Agreement {
        let mut agreement = Agreement { tuples: 0, right: 0, ceiling: 0, lead: f32::INFINITY };
        for (byte, counts) in Agreement::counts().iter().enumerate() {
            let logits = self.logits(byte as u8);
            let class = argmax(&logits);
            agreement.tuples += counts.iter().sum::<u32>();
            agreement.right += counts[class];
            agreement.ceiling += counts.iter().max().copied().unwrap_or_default();
            agreement.lead = agreement.lead.min(margin(&logits, class));
        }
        agreement
    }
}

/// The number of tuples whose class a function of the top byte gets right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Agreement {
    /// The number of all tuples.
    pub tuples: u32,
    /// The number of tuples whose class the network gets right.
    pub right: u32,
    /// The greatest number that any function of the top byte can get right.
    pub ceiling: u32,
    /// The smallest difference between the greatest logit and the next, over all top bytes.
    pub lead: f32,
}

impl Agreement {
    /// Returns the number of tuples of each class, indexed by top byte and class.
    #[must_use]
    pub fn counts() -> Vec<[u32; CLASSES]> {
        let mut counts = vec![[0; CLASSES]; 256];
        for tuple in Tuple::all() {
            counts[tuple.top_byte()][class_of(tuple.first_word()) as usize] += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_byte_decides_91_percent_of_the_domain() -> Result<(), WeightsError> {
        let zero = SmallDispatchNetwork::from_flat(&[0.0; 135])?.agreement();
        assert_eq!((zero.tuples, zero.ceiling), (1 << 20, 954_062), "90.986 %");
        assert_eq!(zero.lead, 0.0, "all logits are the same");
        Ok(())
    }

    #[test]
    fn layers_read_their_own_weights() -> Result<(), WeightsError> {
        let mut flat = [0.0; 135];
        flat[SmallDispatchNetwork::W1 + 8 + 2] = 1.0; // Bit 2 to unit 1.
        flat[SmallDispatchNetwork::B1 + 1] = 0.5;
        flat[SmallDispatchNetwork::W2 + 3 * 8 + 1] = 2.0; // Unit 1 to class 3.
        flat[SmallDispatchNetwork::B2 + 3] = -1.0;
        let network = SmallDispatchNetwork::from_flat(&flat)?;
        assert_eq!(network.logits(0b100)[3], 2.0 * tanh(1.5) - 1.0, "with the bit");
        assert_eq!(network.logits(0b011)[3], 2.0 * tanh(0.5) - 1.0, "without");
        assert_eq!(network.class(0x04ff_ffff), Class::Branch, "from the top byte alone");
        Ok(())
    }
}
