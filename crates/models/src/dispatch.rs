//! The dispatch network: the kernel class of every word.

use kvrm_arm64::Class;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::tuple::{TUPLES, Tuple};
use crate::tuple_network::{TupleNetwork, argmax};

/// Gives the kernel class of every word; 10,279 parameters, of the shape [`TupleNetwork`] tells.
pub type DispatchNetwork = TupleNetwork<16, 7>;

/// Where the parts lie in the flat weights: the format in which they are exchanged.
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
    /// All of them.
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
    /// The class the network gives a word.
    #[must_use]
    pub fn class(&self, word: u32) -> Class {
        Class::ALL[self.output(Tuple::of(word))]
    }

    /// The number of the class the network gives each tuple, in their order: in a fraction of the time that logits
    /// take, with the embedding folded.
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

    /// Whether `f32` holds all sums of the network exactly, so that logits are the same bits wherever they are
    /// computed.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.to_integers().is_ok_and(|integers| integers.is_exact())
    }

    /// The logits of all tuples, in their order.
    #[must_use]
    pub fn logits_of_all(&self) -> Vec<[f32; 7]> {
        Tuple::all().map(|tuple| self.logits(tuple)).collect()
    }
}
