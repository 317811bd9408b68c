//! The gradient of a loss with respect to the weights of a network, and how linear layers add to it.

use super::linear::Linear;
use super::rows::Rows;
use crate::Architecture;

/// The gradient of a loss, in the flat form of the weights.
#[derive(Debug)]
pub(crate) struct Gradient<'a> {
    architecture: Architecture,
    flat: &'a mut [f32],
}

/// The gradients of the two tensors of a layer.
#[derive(Debug)]
pub(crate) struct WeightAndBias<'a> {
    pub(crate) weight: &'a mut [f32],
    pub(crate) bias: &'a mut [f32],
}

impl<'a> Gradient<'a> {
    /// Returns the gradient of a network, given as many values as the architecture has parameters.
    pub(crate) fn new(architecture: Architecture, flat: &'a mut [f32]) -> Self {
        Self { architecture, flat }
    }

    /// Returns the gradients of two tensors, which must exist.
    pub(crate) fn tensors(&mut self, weight: &str, bias: &str) -> WeightAndBias<'_> {
        let architecture = self.architecture;
        let range = |name: &str| {
            let spec = architecture.tensor(name);
            let spec = spec.unwrap_or_else(|| panic!("{architecture} has no tensor `{name}`"));
            spec.offset..spec.offset + spec.len()
        };
        let both = self.flat.get_disjoint_mut([range(weight), range(bias)]);
        let [weight, bias] = both.unwrap_or_else(|_| panic!("`{weight}` and `{bias}` are the same tensor"));
        WeightAndBias { weight, bias }
    }

    /// Returns the gradients of the tensors of a layer.
    pub(crate) fn layer(&mut self, name: &str) -> WeightAndBias<'_> {
        self.tensors(&format!("{name}.weight"), &format!("{name}.bias"))
    }
}

/// Adds a multiple of `values` to `sums`.
pub(super) fn add_multiple(sums: &mut [f32], factor: f32, values: &[f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}

impl Linear<'_> {
    /// Adds to the gradient of the weights what follows from the gradient of the outputs, for the inputs of all rows.
    pub(crate) fn add_gradient(&self, inputs: &Rows, outputs: &Rows, of: WeightAndBias<'_>) {
        let weights = of.weight.chunks_exact_mut(inputs.width());
        for (index, (weights, bias)) in weights.zip(of.bias).enumerate() {
            for (input, outputs) in inputs.iter().zip(outputs.iter()) {
                let output = outputs[index];
                if output != 0.0 {
                    add_multiple(weights, output, input);
                    *bias += output;
                }
            }
        }
    }

    /// Adds the gradient of an input that follows from the gradient of its outputs.
    pub(crate) fn add_input_gradient(&self, outputs: &[f32], input: &mut [f32]) {
        for (output, weights) in outputs.iter().zip(self.weight.chunks_exact(input.len())) {
            if *output != 0.0 {
                add_multiple(input, *output, weights);
            }
        }
    }

    /// Adds to the gradient of the weights, and returns the gradient of the inputs.
    pub(crate) fn backward(&self, inputs: &Rows, outputs: &Rows, of: WeightAndBias<'_>) -> Rows {
        self.add_gradient(inputs, outputs, of);
        let mut of_inputs = Rows::zeros(inputs.count(), inputs.width());
        for (outputs, input) in outputs.iter().zip(of_inputs.iter_mut()) {
            self.add_input_gradient(outputs, input);
        }
        of_inputs
    }
}
