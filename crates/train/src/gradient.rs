//! The gradient of the loss over a part of a batch.

use kvrm_models::{FEATURE_BITS, Folded, Tuple};

use crate::math::{exp, ln};

/// The number of units in the first hidden layer.
pub(crate) const HIDDEN: usize = 32;
/// The number of subsets of half of the features.
const HALF: usize = 1 << HALF_BITS;
/// Half of the number of features.
const HALF_BITS: usize = FEATURE_BITS.len() / 2;
/// The loss is computed with the right logit reduced by this, so that training continues until there is a margin.
const HANDICAP: f32 = 3.0;
/// The gradient of a sample is skipped if the probability of its label is at least 1 minus this. It would be lost in
/// rounding.
const NEGLIGIBLE: f32 = 1e-6;

/// The weights, in the layouts that the forward and backward passes need.
#[derive(Debug)]
pub(crate) struct PreparedWeights<const H: usize, const C: usize> {
    folded: Folded<H, C>,
    /// The sums of the first layer's weights by subset of features: of the first six features, and of the last six.
    halves: [Vec<[f32; HIDDEN]>; 2],
    /// The second layer as `[out][in]`; `folded` has `[in][out]`.
    second: [[f32; HIDDEN]; H],
    /// The third layer as `[out][in]`; `folded` has `[in][out]`.
    third: [[f32; H]; C],
}

impl<const H: usize, const C: usize> PreparedWeights<H, C> {
    /// Prepares the weights of a network whose embedding is folded into the first layer.
    pub(crate) fn new(folded: Folded<H, C>) -> Self {
        let half = |features: &[[f32; HIDDEN]]| {
            let mut sums = vec![[0.0; HIDDEN]; HALF];
            for subset in 1..HALF {
                let lowest = subset.trailing_zeros() as usize;
                sums[subset] = sums[subset & (subset - 1)];
                add(&mut sums[subset], 1.0, &features[HALF_BITS - 1 - lowest]);
            }
            sums
        };
        Self {
            halves: [half(&folded.features[..HALF_BITS]), half(&folded.features[HALF_BITS..])],
            second: std::array::from_fn(|out| std::array::from_fn(|input| folded.second[input][out])),
            third: std::array::from_fn(|out| std::array::from_fn(|input| folded.third[input][out])),
            folded,
        }
    }
}

/// The sum of the loss and of its gradients over samples. Layers are `[out][in]`.
///
/// A sample has one top byte and one subset in each half of the features, so it adds to one row each in `first` and in
/// the two tables of `halves`.
#[derive(Debug)]
pub(crate) struct Gradient<const H: usize, const C: usize> {
    /// The gradient of the first layer's units, by top byte.
    pub(crate) first: Vec<[f32; HIDDEN]>,
    /// The gradient of the first layer's units, by subset of the first six features and of the last six.
    halves: [Vec<[f32; HIDDEN]>; 2],
    pub(crate) second: [[f32; HIDDEN]; H],
    pub(crate) second_bias: [f32; H],
    pub(crate) third: [[f32; H]; C],
    pub(crate) third_bias: [f32; C],
    pub(crate) loss: f32,
}

impl<const H: usize, const C: usize> Gradient<H, C> {
    /// Returns sums that are zero.
    pub(crate) fn new() -> Self {
        let half = || vec![[0.0; HIDDEN]; HALF];
        Self {
            first: vec![[0.0; HIDDEN]; 256],
            halves: [half(), half()],
            second: [[0.0; HIDDEN]; H],
            second_bias: [0.0; H],
            third: [[0.0; H]; C],
            third_bias: [0.0; C],
            loss: 0.0,
        }
    }

    /// Sets all sums to zero.
    pub(crate) fn clear(&mut self) {
        self.first.fill([0.0; HIDDEN]);
        self.halves.iter_mut().for_each(|half| half.fill([0.0; HIDDEN]));
        self.second = [[0.0; HIDDEN]; H];
        self.second_bias = [0.0; H];
        self.third = [[0.0; H]; C];
        self.third_bias = [0.0; C];
        self.loss = 0.0;
    }

    /// Adds another gradient.
    pub(crate) fn merge(&mut self, other: &Self) {
        let rows = |sums: &mut [[f32; HIDDEN]], more: &[[f32; HIDDEN]]| {
            sums.iter_mut().zip(more).for_each(|(sum, row)| add(sum, 1.0, row));
        };
        rows(&mut self.first, &other.first);
        for (sums, more) in self.halves.iter_mut().zip(&other.halves) {
            rows(sums, more);
        }
        rows(&mut self.second, &other.second);
        add(&mut self.second_bias, 1.0, &other.second_bias);
        self.third.iter_mut().zip(&other.third).for_each(|(sum, row)| add(sum, 1.0, row));
        add(&mut self.third_bias, 1.0, &other.third_bias);
        self.loss += other.loss;
    }

    /// Returns the gradient of the weights from a feature to the first layer.
    pub(crate) fn feature(&self, feature: usize) -> [f32; HIDDEN] {
        let mut sum = [0.0; HIDDEN];
        let bit = HALF >> 1 >> (feature % HALF_BITS);
        for (subset, row) in self.halves[feature / HALF_BITS].iter().enumerate() {
            if subset & bit != 0 {
                add(&mut sum, 1.0, row);
            }
        }
        sum
    }

    /// Adds a sample: forward pass, loss, and backward pass.
    pub(crate) fn add_sample(&mut self, weights: &PreparedWeights<H, C>, tuple: Tuple, label: usize) {
        let folded = &weights.folded;
        let subsets = [tuple.features() / HALF, tuple.features() % HALF];

        let mut hidden1 = folded.first[tuple.top_byte()];
        add(&mut hidden1, 1.0, &weights.halves[0][subsets[0]]);
        add(&mut hidden1, 1.0, &weights.halves[1][subsets[1]]);
        let hidden1 = hidden1.map(relu);
        let mut hidden2 = folded.second_bias;
        for (value, column) in hidden1.iter().zip(&folded.second) {
            add(&mut hidden2, *value, column);
        }
        let hidden2 = hidden2.map(relu);
        let mut logits = folded.third_bias;
        for (value, column) in hidden2.iter().zip(&folded.third) {
            add(&mut logits, *value, column);
        }

        logits[label] -= HANDICAP;
        let top = logits.iter().fold(f32::NEG_INFINITY, |top, logit| if *logit > top { *logit } else { top });
        let powers = logits.map(|logit| exp(logit - top));
        let sum: f32 = powers.iter().sum();
        let mut d_logits = powers.map(|power| power / sum);
        let right = d_logits[label];
        // This is -ln(right), computed so that it does not underflow.
        self.loss += ln(sum) - (logits[label] - top);
        if right > 1.0 - NEGLIGIBLE {
            return;
        }
        d_logits[label] -= 1.0;

        let mut d_hidden2 = [0.0; H];
        for (out, d) in d_logits.iter().enumerate() {
            add(&mut self.third[out], *d, &hidden2);
            add(&mut d_hidden2, *d, &weights.third[out]);
        }
        add(&mut self.third_bias, 1.0, &d_logits);
        let mut d_hidden1 = [0.0; HIDDEN];
        for out in 0..H {
            if hidden2[out] > 0.0 {
                let d = d_hidden2[out];
                self.second_bias[out] += d;
                add(&mut self.second[out], d, &hidden1);
                add(&mut d_hidden1, d, &weights.second[out]);
            }
        }
        for (d, value) in d_hidden1.iter_mut().zip(&hidden1) {
            *d = if *value > 0.0 { *d } else { 0.0 };
        }
        add(&mut self.first[tuple.top_byte()], 1.0, &d_hidden1);
        add(&mut self.halves[0][subsets[0]], 1.0, &d_hidden1);
        add(&mut self.halves[1][subsets[1]], 1.0, &d_hidden1);
    }
}

/// Adds `factor` times a row to sums.
#[inline]
pub(crate) fn add<const N: usize>(sums: &mut [f32; N], factor: f32, row: &[f32; N]) {
    for (sum, value) in sums.iter_mut().zip(row) {
        *sum += factor * value;
    }
}

#[inline]
fn relu(x: f32) -> f32 {
    if x > 0.0 { x } else { 0.0 }
}
