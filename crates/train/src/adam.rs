//! Adam (Kingma and Ba, 2015), with a rate that falls as a cosine does.

use std::f64::consts::PI;

use crate::math::cos;

const BETA1: f32 = 0.9;
/// Less than the usual 0.999: gradients of rare tuples come in bursts, and a long memory takes too large steps.
const BETA2: f32 = 0.99;
const EPSILON: f32 = 1e-8;

#[derive(Debug)]
pub(crate) struct Adam {
    mean: Vec<f32>,
    square: Vec<f32>,
    /// 1 - beta^t, which makes up for the averages' start at 0.
    power1: f32,
    power2: f32,
}

impl Adam {
    pub(crate) fn new(parameters: usize) -> Self {
        Self { mean: vec![0.0; parameters], square: vec![0.0; parameters], power1: 1.0, power2: 1.0 }
    }

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

/// The rate at `step` of `steps`: from `peak` down to 3 % of it.
pub(crate) fn rate(peak: f32, step: u32, steps: u32) -> f32 {
    let turn = cos(PI * f64::from(step) / f64::from(steps));
    peak * (0.03 + 0.97 * 0.5 * (1.0 + turn)) as f32
}
