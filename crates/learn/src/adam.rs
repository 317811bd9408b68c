//! The optimizer: Adam (Kingma and Ba, 2015) with decoupled weight decay (Loshchilov and Hutter, 2019).

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.98;
const EPSILON: f32 = 1e-8;
/// The share of each weight that is removed in a step, times the rate.
const DECAY: f32 = 0.01;
/// The greatest length of a gradient. Longer ones are shortened.
const LENGTH_MAX: f32 = 1.0;

/// The state of the optimizer.
#[derive(Clone, Debug)]
pub struct Adam {
    mean: Vec<f32>,
    square: Vec<f32>,
    step: u32,
}

impl Adam {
    /// Returns the state before the first step, for a number of weights.
    #[must_use]
    pub fn new(parameters: usize) -> Self {
        Self { mean: vec![0.0; parameters], square: vec![0.0; parameters], step: 0 }
    }

    /// Changes the weights by one step against the gradient. Gradients longer than 1 are shortened to 1.
    pub fn step(&mut self, weights: &mut [f32], gradient: &[f32], rate: f32) {
        self.step += 1;
        let length =
            gradient.iter().map(|value| f64::from(*value) * f64::from(*value)).sum::<f64>().sqrt() as f32;
        let shorter = if length > LENGTH_MAX { LENGTH_MAX / length } else { 1.0 };
        let correction = |beta: f32| 1.0 / (1.0 - beta.powi(self.step as i32));
        let (scale1, scale2) = (correction(BETA1), correction(BETA2));
        let moments = self.mean.iter_mut().zip(&mut self.square);
        for ((weight, gradient), (mean, square)) in weights.iter_mut().zip(gradient).zip(moments) {
            let gradient = gradient * shorter;
            *mean = BETA1 * *mean + (1.0 - BETA1) * gradient;
            *square = BETA2 * *square + (1.0 - BETA2) * gradient * gradient;
            *weight -= rate * (*mean * scale1 / ((*square * scale2).sqrt() + EPSILON) + DECAY * *weight);
        }
    }
}
