//! The optimizer: Adam (Kingma and Ba, 2015) with cosine decay of the learning rate.

use std::f64::consts::PI;

use crate::math::cos;

/// The decay rate of the mean gradient.
const BETA1: f32 = 0.9;
/// The decay rate of the mean squared gradient. It is less than the usual 0.999 because gradients of rare tuples come
/// in bursts: if the average changed more slowly, the steps would be too large.
const BETA2: f32 = 0.99;
/// Prevents division by zero.
const EPSILON: f32 = 1e-8;

/// The state of the optimizer.
#[derive(Debug)]
pub(crate) struct Adam {
    /// The moving average of the gradient, by weight.
    mean: Vec<f32>,
    /// The moving average of the squared gradient, by weight.
    square: Vec<f32>,
    /// `BETA1` to the power of the number of steps, for the bias correction of `mean`.
    power1: f32,
    /// `BETA2` to the power of the number of steps, for the bias correction of `square`.
    power2: f32,
}

impl Adam {
    /// Returns the state before the first step, for a number of weights.
    pub(crate) fn new(parameters: usize) -> Self {
        Self { mean: vec![0.0; parameters], square: vec![0.0; parameters], power1: 1.0, power2: 1.0 }
    }

    /// Changes the weights by one step against the gradient.
    pub(crate) fn step(&mut self, weights: &mut [f32], gradient: &[f32], rate: f32) {
        self.power1 *= BETA1;
        self.power2 *= BETA2;
        let (scale1, scale2) = (1.0 / (1.0 - self.power1), 1.0 / (1.0 - self.power2));
        let moments = self.mean.iter_mut().zip(&mut self.square);
        for ((weight, gradient), (mean, square)) in weights.iter_mut().zip(gradient).zip(moments) {
            *mean = BETA1 * *mean + (1.0 - BETA1) * gradient;
            *square = BETA2 * *square + (1.0 - BETA2) * gradient * gradient;
            *weight -= rate * (*mean * scale1) / ((*square * scale2).sqrt() + EPSILON);
        }
    }
}

/// Returns the learning rate at `step` of `steps`. It falls from `peak` to 3 % of it along half a cosine wave.
pub(crate) fn rate(peak: f32, step: u32, steps: u32) -> f32 {
    let turn = cos(PI * f64::from(step) / f64::from(steps));
    peak * (0.03 + 0.97 * 0.5 * (1.0 + turn)) as f32
}
