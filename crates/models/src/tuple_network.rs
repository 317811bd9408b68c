//! Networks over tuples: an embedding of the top byte and three linear layers.
//!
//! Embedding of the top byte `[32]` ++ features as 0 or 1 `[12]` → Linear, ReLU `[32]` → Linear, ReLU `[H]` →
//! Linear `[C]` → [`argmax`].
//!
//! Activations are rounded down to multiples of 2^-6 after each ReLU. If the weights are multiples of 2^-6, too, every
//! product and every sum is a multiple of 2^-12. If no sum reaches 2^24 such units, `f32` holds all of them exactly.
//! Logits are then the same bits in any order of additions, fused or not. [`IntegerNetwork`] does the same computation
//! in integers; the exactness part of a certificate proves the bound.

mod folded;
mod integer;

pub use self::folded::Folded;
pub(crate) use self::integer::EXACT_UNITS;
pub use self::integer::IntegerNetwork;

use crate::error::{WeightsError, check};
use crate::tuple::{FEATURE_BITS, Tuple};

/// Number of values in the embedding of a top byte.
pub(crate) const EMBEDDING: usize = 32;
/// Number of inputs of the first layer.
pub(crate) const INPUTS: usize = EMBEDDING + FEATURE_BITS.len();
/// Number of outputs of the first layer.
pub(crate) const HIDDEN: usize = 32;
/// The reciprocal of the grid of weights and activations: 2^6.
pub const GRID: f32 = 64.0;

/// A network with `H` units in the second hidden layer and `C` outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct TupleNetwork<const H: usize, const C: usize> {
    flat: Box<[f32]>,
}

impl<const H: usize, const C: usize> TupleNetwork<H, C> {
    const FC1_WEIGHTS: usize = 256 * EMBEDDING;
    const FC1_BIAS: usize = Self::FC1_WEIGHTS + HIDDEN * INPUTS;
    const FC2_WEIGHTS: usize = Self::FC1_BIAS + HIDDEN;
    const FC2_BIAS: usize = Self::FC2_WEIGHTS + H * HIDDEN;
    const FC3_WEIGHTS: usize = Self::FC2_BIAS + H;
    const FC3_BIAS: usize = Self::FC3_WEIGHTS + C * H;

    /// The offsets of the parts after the embedding, and the end of the last part.
    pub(crate) const LAYOUT: [usize; 7] = [
        Self::FC1_WEIGHTS,
        Self::FC1_BIAS,
        Self::FC2_WEIGHTS,
        Self::FC2_BIAS,
        Self::FC3_WEIGHTS,
        Self::FC3_BIAS,
        Self::PARAMETERS,
    ];

    /// The number of weights.
    pub const PARAMETERS: usize = Self::FC3_BIAS + C;

    /// Builds a network from its flat weights: the embedding, then weights `[out][in]` and bias of each layer.
    ///
    /// # Errors
    ///
    /// If there are not [`Self::PARAMETERS`] weights, or one is not finite.
    pub fn from_flat(flat: &[f32]) -> Result<Self, WeightsError> {
        check("tuple", flat, Self::PARAMETERS)?;
        Ok(Self { flat: flat.into() })
    }

    /// Returns the flat weights.
    #[must_use]
    pub fn flat(&self) -> &[f32] {
        &self.flat
    }

    /// Returns the logits of a tuple. This simple implementation is the reference for the others.
    #[must_use]
    pub fn logits(&self, tuple: Tuple) -> [f32; C] {
        let mut input = [0.0; INPUTS];
        let (embedding, features) = input.split_at_mut(EMBEDDING);
        embedding.copy_from_slice(&self.flat[tuple.top_byte() * EMBEDDING..][..EMBEDDING]);
        for (feature, value) in features.iter_mut().enumerate() {
            *value = f32::from(u8::from(tuple.has(feature)));
        }
        let hidden: [f32; HIDDEN] = self.linear(Self::FC1_WEIGHTS, Self::FC1_BIAS, &input);
        let hidden: [f32; H] = self.linear(Self::FC2_WEIGHTS, Self::FC2_BIAS, &hidden.map(activation));
        self.linear(Self::FC3_WEIGHTS, Self::FC3_BIAS, &hidden.map(activation))
    }

    /// Returns the index of the greatest logit of a tuple.
    #[must_use]
    pub fn output(&self, tuple: Tuple) -> usize {
        argmax(&self.logits(tuple))
    }

    fn linear<const O: usize>(&self, weights: usize, bias: usize, input: &[f32]) -> [f32; O] {
        let mut out = [0.0; O];
        out.copy_from_slice(&self.flat[bias..bias + O]);
        let rows = self.flat[weights..].chunks_exact(input.len());
        for (sum, row) in out.iter_mut().zip(rows) {
            for (weight, value) in row.iter().zip(input) {
                *sum += weight * value;
            }
        }
        out
    }
}

/// Applies ReLU and rounds down to a multiple of 2^-6.
#[must_use]
#[inline]
pub(crate) fn activation(x: f32) -> f32 {
    floor_to_grid(if x > 0.0 { x } else { 0.0 })
}

/// Rounds `x` down to a multiple of 2^-6. `x` must not be negative.
#[must_use]
#[inline]
pub fn floor_to_grid(x: f32) -> f32 {
    // Adding 2^23 leaves no bits for a fraction. Unlike `floor`, this is basic arithmetic, for which every target has
    // vector instructions.
    const NO_FRACTION: f32 = 8_388_608.0;
    let scaled = x * GRID;
    let nearest = (scaled + NO_FRACTION) - NO_FRACTION;
    let floor = if nearest > scaled { nearest - 1.0 } else { nearest };
    (if scaled < NO_FRACTION { floor } else { scaled }) / GRID
}

/// Returns the index of the greatest value, or of the first of several equal ones.
#[must_use]
#[inline]
pub fn argmax(values: &[f32]) -> usize {
    let mut best = 0;
    for (index, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = index;
        }
    }
    best
}

/// Returns the difference between the logit at index `right` and the greatest of the others. If it is positive, `right`
/// is the [`argmax`].
#[must_use]
#[inline]
pub fn margin<const C: usize>(logits: &[f32; C], right: usize) -> f32 {
    let mut rival = f32::NEG_INFINITY;
    for (index, logit) in logits.iter().enumerate() {
        if index != right && *logit > rival {
            rival = *logit;
        }
    }
    logits[right] - rival
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn floors_are_those_of_the_standard_library(x in prop_oneof![0f32..8.0, 0f32..1e9, Just(131_072.0)]) {
            prop_assert_eq!(floor_to_grid(x), (x * 64.0).floor() / 64.0, "of {}", x);
        }
    }

    /// A small network with odd dimensions.
    type Tiny = TupleNetwork<5, 3>;

    /// Weights so small that no sum reaches 2^24 units of 2^-12, whatever their signs: the last layer's sums are at most
    /// 5 × 0.75 × 667 + 0.75 = 2^11.3, which is 2^23.3 units.
    fn weights() -> impl Strategy<Value = Vec<f32>> {
        proptest::collection::vec((-48i16..=48).prop_map(|units| f32::from(units) / GRID), Tiny::PARAMETERS)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]
        #[test]
        fn on_the_grid_all_ways_to_compute_give_the_same_bits(flat in weights(), byte: u8) {
            let network = Tiny::from_flat(&flat).expect("weights are finite");
            let integers = network.to_integers().expect("weights are on the grid");
            let bounds = integers.bounds();
            let mut tuples = 0;
            network.fold().for_each(byte, |tuple, folded| {
                let (exact, largest) = integers.evaluate(tuple);
                let bits = exact.map(|units| (units as f32 / 4_096.0).to_bits());
                assert_eq!(network.logits(tuple).map(f32::to_bits), bits, "plain, at {tuple:?}");
                assert_eq!(folded.map(f32::to_bits), bits, "folded, at {tuple:?}");
                for layer in 0..3 {
                    assert!(largest[layer] <= bounds[layer] && bounds[layer] < 1 << 24, "at {tuple:?}");
                }
                assert_eq!((tuple.top_byte(), tuple.features()), (usize::from(byte), tuples), "in order");
                tuples += 1;
            });
            prop_assert_eq!(tuples, 4_096, "all of a top byte");
        }

        #[test]
        fn a_weight_off_the_grid_is_found(mut flat in weights(), index in 0..Tiny::PARAMETERS, by in 1i32..64) {
            let nearby = f32::from_bits((flat[index] + 4.0).to_bits() ^ by as u32) - 4.0;
            for value in [nearby, 512.0, -0.0] {
                flat[index] = value;
                let network = Tiny::from_flat(&flat).expect("weights are finite");
                let found = network.to_integers().map(|_| ()).map_err(|error| match error {
                    WeightsError::OffGrid { index, value } => (index, value.to_bits()),
                    _ => (usize::MAX, 0),
                });
                prop_assert_eq!(found, Err((index, value.to_bits())));
            }
        }
    }

    #[test]
    fn weights_that_are_no_network_are_refused() {
        let mut flat = vec![0.0; Tiny::PARAMETERS];
        flat[7] = f32::NAN;
        let refused = |flat: &[f32]| Tiny::from_flat(flat).map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(refused(&flat), Err("weight 7 is NaN; all must be finite".to_owned()), "not a number");
        let found = refused(&flat[1..]);
        assert!(found.is_err_and(|error| error.contains(&format!("has {} weights", flat.len()))), "too few");
    }

    #[test]
    fn argmax_returns_the_first_of_equal_values() {
        assert_eq!(argmax(&[1.0, 3.0, 3.0, 2.0]), 1, "a tie");
        assert_eq!(margin(&[1.0, 3.0, 3.0, 2.0], 1), 0.0, "is no margin");
        assert_eq!(margin(&[1.0, 3.0, 2.5, 2.0], 1), 0.5, "of the second");
    }
}
