//! A network in integer arithmetic, with the largest sums that it can form.

use super::{EMBEDDING, GRID, HIDDEN, INPUTS, TupleNetwork};
use crate::error::WeightsError;
use crate::tuple::{FEATURE_BITS, Tuple};

/// Fraction bits of weights and activations, whose unit is 2^-6. The unit of sums is 2^-12.
const GRID_BITS: u32 = 6;
/// The limit, in units of 2^-12, below which sums are exact in `f32`, whose significand has 24 bits.
pub(crate) const EXACT_UNITS: i64 = 1 << 24;
/// The exclusive limit of the magnitude of a weight. It keeps conversions exact and all sums within 64 bits.
const LIMIT: f32 = 512.0;

/// A [`TupleNetwork`] whose weights are integers, in units of 2^-6.
#[derive(Clone, Debug)]
pub struct IntegerNetwork<const H: usize, const C: usize> {
    /// Bias plus the embedding's contribution to the first layer, in units of 2^-12, indexed by top byte.
    first: Vec<[i64; HIDDEN]>,
    features: [[i64; HIDDEN]; FEATURE_BITS.len()],
    second: Vec<[i64; HIDDEN]>,
    second_bias: [i64; H],
    third: Vec<[i64; H]>,
    third_bias: [i64; C],
    /// The sums of the magnitudes of the terms in `first`, indexed by top byte.
    first_magnitude: Vec<[i64; HIDDEN]>,
}

impl<const H: usize, const C: usize> TupleNetwork<H, C> {
    /// Converts the network to integers.
    ///
    /// # Errors
    ///
    /// [`WeightsError::OffGrid`] if a weight is not a multiple of 2^-6 below 2^9, or is negative zero, with which the
    /// sign of a logit could depend on the order of additions.
    pub fn to_integers(&self) -> Result<IntegerNetwork<H, C>, WeightsError> {
        let mut units = Vec::with_capacity(Self::PARAMETERS);
        for (index, &value) in self.flat().iter().enumerate() {
            let scaled = value * GRID;
            let negative_zero = value == 0.0 && value.is_sign_negative();
            if scaled.fract() != 0.0 || value.abs() >= LIMIT || negative_zero {
                return Err(WeightsError::OffGrid { index, value });
            }
            units.push(scaled as i64);
        }
        let fc1 = |out: usize, input: usize| units[Self::FC1_WEIGHTS + out * INPUTS + input];
        let bias = |at: usize| units[at] << GRID_BITS;
        let first = |value_of: fn(i64) -> i64| {
            let of_byte = |byte: usize| -> [i64; HIDDEN] {
                std::array::from_fn(|out| {
                    let embedding = &units[byte * EMBEDDING..][..EMBEDDING];
                    let products = embedding.iter().enumerate().map(|(i, e)| value_of(e * fc1(out, i)));
                    value_of(bias(Self::FC1_BIAS + out)) + products.sum::<i64>()
                })
            };
            (0..256).map(of_byte).collect::<Vec<_>>()
        };
        Ok(IntegerNetwork {
            first: first(|product| product),
            first_magnitude: first(i64::abs),
            features: std::array::from_fn(|feature| {
                std::array::from_fn(|out| fc1(out, EMBEDDING + feature) << GRID_BITS)
            }),
            second: rows(&units[Self::FC2_WEIGHTS..Self::FC2_BIAS]),
            second_bias: std::array::from_fn(|out| bias(Self::FC2_BIAS + out)),
            third: rows(&units[Self::FC3_WEIGHTS..Self::FC3_BIAS]),
            third_bias: std::array::from_fn(|out| bias(Self::FC3_BIAS + out)),
        })
    }
}

fn rows<const N: usize>(weights: &[i64]) -> Vec<[i64; N]> {
    weights.as_chunks::<N>().0.to_vec()
}

impl<const H: usize, const C: usize> IntegerNetwork<H, C> {
    /// Returns the logits of a tuple, in units of 2^-12.
    #[must_use]
    pub fn logits(&self, tuple: Tuple) -> [i64; C] {
        self.evaluate(tuple).0
    }

    /// Returns the logits in units of 2^-12, and for each layer the greatest sum of the magnitudes of a value's terms.
    ///
    /// No partial sum of these terms is greater, whatever their order.
    #[must_use]
    pub fn evaluate(&self, tuple: Tuple) -> ([i64; C], [i64; 3]) {
        let mut sums = self.first[tuple.top_byte()];
        let mut magnitudes = self.first_magnitude[tuple.top_byte()];
        for (feature, column) in self.features.iter().enumerate() {
            if tuple.has(feature) {
                for out in 0..HIDDEN {
                    sums[out] += column[out];
                    magnitudes[out] += column[out].abs();
                }
            }
        }
        let hidden = sums.map(activation);
        let (sums, second) = layer(&self.second, &self.second_bias, &hidden);
        let (logits, third) = layer(&self.third, &self.third_bias, &sums.map(activation));
        (logits, [greatest(&magnitudes), second, third])
    }

    /// Returns whether `f32` holds all sums exactly, so that logits are the same bits on every device.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        let fit = |sums: [i64; 3]| sums.into_iter().all(|sum| sum < EXACT_UNITS);
        fit(self.bounds()) || Tuple::all().all(|tuple| fit(self.evaluate(tuple).1))
    }

    /// Returns an upper bound of the greatest sum of magnitudes of each layer, by interval arithmetic over all inputs.
    #[must_use]
    pub fn bounds(&self) -> [i64; 3] {
        let mut magnitude = 0;
        let mut hidden = [0; HIDDEN];
        for out in 0..HIDDEN {
            let column = self.features.iter().map(|column| column[out]);
            let all: i64 = column.clone().map(i64::abs).sum();
            let positive: i64 = column.filter(|weight| *weight > 0).sum();
            for byte in 0..256 {
                magnitude = magnitude.max(self.first_magnitude[byte][out] + all);
                hidden[out] = hidden[out].max(activation(self.first[byte][out] + positive));
            }
        }
        let upper: [i64; H] = std::array::from_fn(|out| {
            let terms = self.second[out].iter().zip(&hidden).map(|(weight, value)| weight.max(&0) * value);
            activation(self.second_bias[out] + terms.sum::<i64>())
        });
        [
            magnitude,
            layer(&self.second, &self.second_bias, &hidden).1,
            layer(&self.third, &self.third_bias, &upper).1,
        ]
    }
}

/// Applies ReLU to a sum in units of 2^-12 and rounds down to units of 2^-6.
const fn activation(sum: i64) -> i64 {
    if sum > 0 { sum >> GRID_BITS } else { 0 }
}

/// Returns the sums of a layer, and the greatest sum of magnitudes.
fn layer<const I: usize, const O: usize>(
    weights: &[[i64; I]],
    bias: &[i64; O],
    input: &[i64; I],
) -> ([i64; O], i64) {
    let mut sums = *bias;
    let mut magnitudes = bias.map(i64::abs);
    for (out, row) in weights.iter().enumerate() {
        for (weight, value) in row.iter().zip(input) {
            let product = weight * value;
            sums[out] += product;
            magnitudes[out] += product.abs();
        }
    }
    (sums, greatest(&magnitudes))
}

fn greatest(values: &[i64]) -> i64 {
    values.iter().copied().max().unwrap_or_default()
}
