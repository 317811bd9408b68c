//! The dispatch network, which names the class of a word.

use kvrm_arm64::Class;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::tuple::{TUPLES, Tuple};
use crate::tuple_network::{TupleNetwork, argmax};

/// The network that names the class of a word: a [`TupleNetwork`] with 10,279 parameters.
///
/// ```
/// use kvrm_arm64::Class;
/// use kvrm_models::{Architecture, DispatchNetwork, Weights};
///
/// let (weights, _) = Weights::builtin(Architecture::Dispatch)?.expect("the crate has them");
/// let network = DispatchNetwork::from_flat(weights.values())?;
/// assert_eq!(network.class(0x1400_0000), Class::Branch); // b .
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type DispatchNetwork = TupleNetwork<16, 7>;

/// Offsets of the layers in the flat weights, which are an interchange format.
pub mod layout {
    use super::DispatchNetwork;

    /// Embedding of the top byte, `[256][32]`.
    pub const EMBEDDING: usize = 0;
    /// Weights of the first layer, `[32][44]`.
    pub const FC1_WEIGHTS: usize = 8_192;
    /// Bias of the first layer.
    pub const FC1_BIAS: usize = 9_600;
    /// Weights of the second layer, `[16][32]`.
    pub const FC2_WEIGHTS: usize = 9_632;
    /// Bias of the second layer.
    pub const FC2_BIAS: usize = 10_144;
    /// Weights of the third layer, `[7][16]`.
    pub const FC3_WEIGHTS: usize = 10_160;
    /// Bias of the third layer.
    pub const FC3_BIAS: usize = 10_272;
    /// The number of weights.
    pub const PARAMETERS: usize = 10_279;

    const _: () = {
        let stated = [FC1_WEIGHTS, FC1_BIAS, FC2_WEIGHTS, FC2_BIAS, FC3_WEIGHTS, FC3_BIAS, PARAMETERS];
        let followed = DispatchNetwork::LAYOUT;
        let mut part = 0;
        while part < stated.len() {
            assert!(stated[part] == followed[part], "the layout follows from the shape");
            part += 1;
        }
    };
}

impl DispatchNetwork {
    /// Returns the network's class of a word.
    #[must_use]
    pub fn class(&self, word: u32) -> Class {
        Class::ALL[self.output(Tuple::of(word))]
    }

    /// Returns the number of the network's class of each tuple, indexed by tuple. With the embedding folded, this takes
    /// a fraction of the time of [`Self::logits_of_all`].
    #[must_use]
    pub fn classes_of_all(&self) -> Vec<u8> {
        let folded = self.fold();
        let of_byte = |byte: u8| {
            let mut classes = Vec::with_capacity(TUPLES / 256);
            folded.for_each(byte, |_, logits| classes.push(argmax(logits) as u8));
            classes
        };
        (0..=u8::MAX).into_par_iter().flat_map_iter(of_byte).collect()
    }

    /// Returns whether `f32` holds all sums of the network exactly, so that logits are the same bits on every device.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.to_integers().is_ok_and(|integers| integers.is_exact())
    }

    /// Returns the logits of all tuples, indexed by tuple.
    #[must_use]
    pub fn logits_of_all(&self) -> Vec<[f32; 7]> {
        Tuple::all().map(|tuple| self.logits(tuple)).collect()
    }
}
