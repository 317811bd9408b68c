//! The gradient of an iteration predictor, with which it learns.

use super::IterationPredictor;
use crate::Architecture;
use crate::elementary::{erf, exp, gelu};
use crate::inputs::ITERATION_INPUTS;
use crate::layers::{Gradient, Rows};

/// What an [`IterationPredictor`] has computed for an input, which its gradient needs.
///
/// ```
/// use kvrm_models::IterationPredictor;
///
/// let network = IterationPredictor::from_flat(&vec![0.01; IterationPredictor::PARAMETERS])?;
/// let trace = network.trace(&[0.25; 131]);
/// assert_eq!(trace.log10_iterations(), network.log10_iterations(&[0.25; 131]));
/// let mut gradient = vec![0.0; IterationPredictor::PARAMETERS];
/// trace.add_gradient(1.0, &mut gradient);
/// assert_eq!(gradient[IterationPredictor::PARAMETERS - 1], 1.0, "the bias of `fc3`");
/// # Ok::<(), kvrm_models::WeightsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct IterationTrace<'a> {
    network: &'a IterationPredictor,
    input: Rows,
    /// The outputs of `fc1`, of the norm, and of `fc2`.
    first: Vec<f32>,
    normal: Vec<f32>,
    second: Vec<f32>,
    log10: f32,
}

impl IterationPredictor {
    /// Predicts, and keeps what the gradient needs.
    #[must_use]
    pub fn trace(&self, input: &[f32; ITERATION_INPUTS]) -> IterationTrace<'_> {
        let parts = self.parts();
        let first = parts.linear("fc1").of(input);
        let mut normal = first.clone();
        parts.norm("norm").apply(&mut normal);
        let second = parts.linear("fc2").of(&activated(&normal));
        let mut out = [0.0];
        parts.linear("fc3").apply(&activated(&second), &mut out);
        IterationTrace { network: self, input: Rows::of([*input]), first, normal, second, log10: out[0] }
    }
}

impl IterationTrace<'_> {
    /// Returns the decimal logarithm of the number of iterations.
    #[must_use]
    pub const fn log10_iterations(&self) -> f32 {
        self.log10
    }

    /// Adds the gradient of a loss with respect to the weights, in flat form, given that with respect to the logarithm.
    ///
    /// # Panics
    ///
    /// There are not [`IterationPredictor::PARAMETERS`] values.
    pub fn add_gradient(&self, of_log10: f32, gradient: &mut [f32]) {
        assert_eq!(gradient.len(), IterationPredictor::PARAMETERS, "one value for each weight");
        let parts = self.network.parts();
        let mut gradient = Gradient::new(Architecture::IterationPredictor, gradient);
        let mut backward = |name: &str, inputs: &[f32], outputs: Vec<f32>| {
            let (inputs, outputs) = (row(inputs), row(&outputs));
            parts.linear(name).backward(&inputs, &outputs, gradient.layer(name)).row(0).to_vec()
        };
        let mut of_second = backward("fc3", &activated(&self.second), vec![of_log10]);
        scale_by_slopes(&mut of_second, &self.second);
        let mut of_normal = backward("fc2", &activated(&self.normal), of_second);
        scale_by_slopes(&mut of_normal, &self.normal);
        let of_first = parts.norm("norm").backward(&self.first, &of_normal, gradient.layer("norm"));
        parts.linear("fc1").add_gradient(&self.input, &row(&of_first), gradient.layer("fc1"));
    }
}

/// Returns a matrix of one row.
fn row(values: &[f32]) -> Rows {
    let mut rows = Rows::zeros(1, values.len());
    rows.row_mut(0).copy_from_slice(values);
    rows
}

fn activated(values: &[f32]) -> Vec<f32> {
    values.iter().copied().map(gelu).collect()
}

/// Multiplies each value with the slope of GELU at `inputs`: the normal distribution's integral, plus x times its density.
fn scale_by_slopes(values: &mut [f32], inputs: &[f32]) {
    const DENSITY: f32 = 0.398_942_3; // 1 / sqrt(2 pi)
    for (value, x) in values.iter_mut().zip(inputs) {
        let integral = 0.5 * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2));
        *value *= integral + x * DENSITY * exp(-0.5 * x * x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gradient_check::check_gradient;

    #[test]
    fn the_gradient_is_the_slope_of_the_loss_in_every_tensor() {
        let value = |index: usize| ((index * 7919 + 13) % 1000) as f32 / 1000.0 - 0.45;
        let flat: Vec<f32> = (0..IterationPredictor::PARAMETERS).map(value).collect();
        let input = std::array::from_fn(|index| value(3 * index));
        let network = |flat: &[f32]| IterationPredictor::from_flat(flat).expect("as many weights as it has");
        let mut gradient = vec![0.0; flat.len()];
        network(&flat).trace(&input).add_gradient(1.0, &mut gradient);
        let loss = |flat: &[f32]| f64::from(network(flat).log10_iterations(&input));
        check_gradient(Architecture::IterationPredictor, &flat, &gradient, loss);
    }
}
