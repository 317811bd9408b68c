//! The network in integers, and the largest sums it can form.

use super::{EMBEDDING, GRID, HIDDEN, INPUTS, TupleNetwork};
use crate::error::WeightsError;
use crate::tuple::{FEATURE_BITS, Tuple};

/// Bits of a grid step: weights and activations count 2^-6, sums 2^-12.
const GRID_BITS: u32 = 6;
/// Sums of fewer units of 2^-12 are exact in `f32`, whose significand has 24 bits.
pub(crate) const EXACT_UNITS: i64 = 1 << 24;
/// Weights are below 2^9, so that no sum of this network can leave 64 bits and conversions are exact.
const LIMIT: f32 = 512.0;

/// A network whose weights are integers, in units of 2^-6.
#[derive(Clone, Debug)]
pub struct IntegerNetwork<const H: usize, const C: usize> {
    /// By top byte: bias and embedding through the first layer, in units of 2^-12.
    first: Vec<[i64; HIDDEN]>,
    features: [[i64; HIDDEN]; FEATURE_BITS.len()],
    second: Vec<[i64; HIDDEN]>,
    second_bias: [i64; H],
    third: Vec<[i64; H]>,
    third_bias: [i64; C],
    /// By top byte: the sum of the magnitudes of what `first` adds up.
    first_magnitude: Vec<[i64; HIDDEN]>,
}

impl<const H: usize, const C: usize> TupleNetwork<H, C> {
    /// The same network in integers.
    ///
    /// # Errors
    /// A weight is off the grid, or so is negative zero, which could make a logit's sign depend on the order.
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
    /// The logits of a tuple, in units of 2^-12.
    #[must_use]
    pub fn logits(&self, tuple: Tuple) -> [i64; C] {
        self.evaluate(tuple).0
    }

    /// Logits, and the greatest sum of magnitudes of the terms that make up one value of a layer.
    ///
    /// No partial sum of these terms, in any order, is greater than that.
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

    /// Whether `f32` holds all sums there are exactly, so that logits are the same bits wherever they are computed.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        let fit = |sums: [i64; 3]| sums.into_iter().all(|sum| sum < EXACT_UNITS);
        fit(self.bounds()) || Tuple::all().all(|tuple| fit(self.evaluate(tuple).1))
    }

    /// The greatest sum of magnitudes of each layer, by interval arithmetic over all inputs: an upper bound.
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

/// ReLU; a sum in units of 2^-12 becomes a value in units of 2^-6, floored.
const fn activation(sum: i64) -> i64 {
    if sum > 0 { sum >> GRID_BITS } else { 0 }
}

/// The sums of a layer, and the greatest sum of magnitudes.
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
