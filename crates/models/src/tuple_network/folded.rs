//! A network with its embedding folded into the first layer, which evaluates all tuples faster.

use super::{EMBEDDING, HIDDEN, INPUTS, TupleNetwork, activation};
use crate::tuple::{FEATURE_BITS, Tuple};

/// The number of values of half of the features.
const HALF: usize = 1 << (FEATURE_BITS.len() / 2);

/// A network whose first layer is 32 sums per top byte and 32 weights per feature.
///
/// Each folded sum is a partial sum of the [`TupleNetwork`]. So if its sums are exact, the logits are the same bits.
/// If not, the logits may differ by rounding.
#[derive(Clone, Debug)]
pub struct Folded<const H: usize, const C: usize> {
    /// Bias plus the embedding's contribution to the first layer, indexed by top byte.
    pub first: Box<[[f32; HIDDEN]]>,
    /// Weights of each feature in the first layer, indexed by feature.
    pub features: [[f32; HIDDEN]; FEATURE_BITS.len()],
    /// Weights of the second layer, `[in][out]`.
    pub second: [[f32; H]; HIDDEN],
    /// Bias of the second layer.
    pub second_bias: [f32; H],
    /// Weights of the third layer, `[in][out]`.
    pub third: [[f32; C]; H],
    /// Bias of the third layer.
    pub third_bias: [f32; C],
}

impl<const H: usize, const C: usize> TupleNetwork<H, C> {
    /// Folds the embedding into the first layer.
    #[must_use]
    pub fn fold(&self) -> Folded<H, C> {
        let flat = self.flat();
        let fc1 = |input: usize| -> [f32; HIDDEN] {
            std::array::from_fn(|out| flat[Self::FC1_WEIGHTS + out * INPUTS + input])
        };
        let columns: Vec<[f32; HIDDEN]> = (0..EMBEDDING).map(fc1).collect();
        let first = flat[..Self::FC1_WEIGHTS].chunks_exact(EMBEDDING).map(|embedding| {
            let mut sums = [0.0; HIDDEN];
            sums.copy_from_slice(&flat[Self::FC1_BIAS..][..HIDDEN]);
            for (value, column) in embedding.iter().zip(&columns) {
                add_scaled(&mut sums, *value, column);
            }
            sums
        });
        Folded {
            first: first.collect(),
            features: std::array::from_fn(|feature| fc1(EMBEDDING + feature)),
            second: std::array::from_fn(|input| {
                std::array::from_fn(|out| flat[Self::FC2_WEIGHTS + out * HIDDEN + input])
            }),
            second_bias: std::array::from_fn(|out| flat[Self::FC2_BIAS + out]),
            third: std::array::from_fn(|input| {
                std::array::from_fn(|out| flat[Self::FC3_WEIGHTS + out * H + input])
            }),
            third_bias: std::array::from_fn(|out| flat[Self::FC3_BIAS + out]),
        }
    }
}

impl<const H: usize, const C: usize> Folded<H, C> {
    /// Calls `visit` with every tuple of a top byte and its logits, in the order of tuples.
    pub fn for_each(&self, top_byte: u8, mut visit: impl FnMut(Tuple, &[f32; C])) {
        // Each half of the features has only 64 values, so their sums are computed once and then combined.
        let half_sums = |start: &[f32; HIDDEN], features: &[[f32; HIDDEN]]| {
            let mut sums = vec![*start; HALF];
            for (subset, sum) in sums.iter_mut().enumerate() {
                for (feature, column) in features.iter().enumerate() {
                    if subset & (HALF >> 1 >> feature) != 0 {
                        add_scaled(sum, 1.0, column);
                    }
                }
            }
            sums
        };
        let (high, low) = self.features.split_at(FEATURE_BITS.len() / 2);
        let high = half_sums(&self.first[usize::from(top_byte)], high);
        let low = half_sums(&[0.0; HIDDEN], low);
        let mut tuple = u32::from(top_byte) << FEATURE_BITS.len();
        for high in &high {
            for low in &low {
                let mut sums = *high;
                add_scaled(&mut sums, 1.0, low);
                visit(Tuple::new(tuple), &self.rest(&sums));
                tuple += 1;
            }
        }
    }

    /// Computes logits from the sums of the first layer.
    #[inline]
    fn rest(&self, sums: &[f32; HIDDEN]) -> [f32; C] {
        let hidden = sums.map(activation);
        let mut sums = self.second_bias;
        for (value, column) in hidden.iter().zip(&self.second) {
            add_scaled(&mut sums, *value, column);
        }
        let hidden = sums.map(activation);
        let mut logits = self.third_bias;
        for (value, column) in hidden.iter().zip(&self.third) {
            add_scaled(&mut logits, *value, column);
        }
        logits
    }
}

#[inline]
fn add_scaled<const N: usize>(sums: &mut [f32; N], factor: f32, column: &[f32; N]) {
    for (sum, weight) in sums.iter_mut().zip(column) {
        *sum += factor * weight;
    }
}
