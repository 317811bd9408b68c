//! The weights of a network as leaves of a graph, and the layers of `kvrm-models` on batches of bodies of the same length.

use std::collections::HashMap;

use burn::tensor::{Device, Gradients, Tensor, TensorData, activation};
use kvrm_models::Architecture;

/// Prevents division by zero, as in `kvrm-models`.
const EPSILON: f32 = 1e-5;

/// The weights of a network as leaves.
pub(crate) struct Graph {
    architecture: Architecture,
    pub(crate) device: Device,
    leaves: HashMap<&'static str, Tensor<1>>,
}

impl Graph {
    /// Makes leaves of flat weights.
    pub(crate) fn new(architecture: Architecture, flat: &[f32], device: &Device) -> Self {
        let leaf = |spec: &kvrm_models::TensorSpec| {
            let values = flat[spec.offset..][..spec.len()].to_vec();
            let tensor = Tensor::from_data(TensorData::new(values, [spec.len()]), device);
            (spec.name, tensor.require_grad())
        };
        Self {
            architecture,
            device: device.clone(),
            leaves: architecture.tensors().iter().map(leaf).collect(),
        }
    }

    /// Returns the gradients of the weights in flat form.
    pub(crate) fn flat_gradient(&self, gradients: &Gradients) -> Vec<f32> {
        let mut flat = vec![0.0; self.architecture.parameters()];
        for spec in self.architecture.tensors() {
            if let Some(gradient) = self.leaves[spec.name].grad(gradients) {
                let values = gradient.into_data().try_to_vec::<f32>().expect("gradients are f32");
                flat[spec.offset..][..spec.len()].copy_from_slice(&values);
            }
        }
        flat
    }

    /// Returns a tensor of rows.
    pub(crate) fn rows(&self, values: Vec<f32>, width: usize) -> Tensor<2> {
        let count = values.len() / width;
        Tensor::from_data(TensorData::new(values, [count, width]), &self.device)
    }

    pub(crate) fn vector(&self, name: &str) -> Tensor<1> {
        self.leaves[name].clone()
    }

    pub(crate) fn matrix(&self, name: &str) -> Tensor<2> {
        let spec = self.architecture.tensor(name).expect("the network has the tensor");
        self.vector(name).reshape([spec.dims[0], spec.dims[1]])
    }

    pub(crate) fn linear(&self, name: &str, x: Tensor<2>) -> Tensor<2> {
        self.product(&format!("{name}.weight"), &format!("{name}.bias"), x)
    }

    pub(crate) fn product(&self, weight: &str, bias: &str, x: Tensor<2>) -> Tensor<2> {
        x.matmul(self.matrix(weight).transpose()) + self.vector(bias).unsqueeze_dim::<2>(0)
    }

    pub(crate) fn norm(&self, name: &str, x: Tensor<2>) -> Tensor<2> {
        let row = |part: &str| self.vector(&format!("{name}.{part}")).unsqueeze_dim::<2>(0);
        let centred = x.clone() - x.mean_dim(1);
        let variance = centred.clone().powi_scalar(2).mean_dim(1);
        centred / (variance + EPSILON).sqrt() * row("weight") + row("bias")
    }

    /// One direction of a layer of an LSTM over sequences `[batch][token][value]`.
    pub(crate) fn lstm(&self, name: &str, suffix: &str, x: Tensor<3>) -> Tensor<3> {
        let [batch, tokens, width] = x.dims();
        let part = |part: &str| format!("{name}.{part}_{suffix}");
        let hidden = self.matrix(&part("weight_hh")).transpose();
        let units = hidden.dims()[0];
        let bias = self.vector(&part("bias_ih")) + self.vector(&part("bias_hh"));
        let projected =
            x.reshape([batch * tokens, width]).matmul(self.matrix(&part("weight_ih")).transpose());
        let projected = (projected + bias.unsqueeze_dim::<2>(0)).reshape([batch, tokens, 4 * units]);
        let is_reverse = suffix.ends_with("reverse");
        let mut state: Option<(Tensor<2>, Tensor<2>)> = None;
        let mut outputs = Vec::with_capacity(tokens);
        for step in 0..tokens {
            let token = if is_reverse { tokens - 1 - step } else { step };
            let mut gates: Tensor<2> = projected.clone().narrow(1, token, 1).reshape([batch, 4 * units]);
            if let Some((output, _)) = &state {
                gates = gates + output.clone().matmul(hidden.clone());
            }
            let input_and_forget = activation::sigmoid(gates.clone().narrow(1, 0, 2 * units));
            let candidate = gates.clone().narrow(1, 2 * units, units).tanh();
            let open = activation::sigmoid(gates.narrow(1, 3 * units, units));
            let mut cell = input_and_forget.clone().narrow(1, 0, units) * candidate;
            if let Some((_, before)) = state {
                cell = cell + input_and_forget.narrow(1, units, units) * before;
            }
            let output = open * cell.clone().tanh();
            outputs.push(output.clone());
            state = Some((output, cell));
        }
        if is_reverse {
            outputs.reverse();
        }
        Tensor::stack(outputs, 1)
    }

    /// Multi-head attention of sequences to tokens, both `[batch][token][width]`.
    pub(crate) fn attention(
        &self,
        name: &str,
        heads: usize,
        queries: Tensor<3>,
        tokens: Tensor<3>,
    ) -> Tensor<3> {
        let [batch, count, width] = queries.dims();
        let of_head = width / heads;
        let weight = self.matrix(&format!("{name}.in_proj_weight"));
        let bias = self.vector(&format!("{name}.in_proj_bias"));
        let project = |x: Tensor<3>, part: usize| {
            let [batch, count, _] = x.dims();
            let weight = weight.clone().narrow(0, part * width, width).transpose();
            let bias = bias.clone().narrow(0, part * width, width).unsqueeze_dim::<2>(0);
            let rows = x.reshape([batch * count, width]).matmul(weight) + bias;
            rows.reshape([batch, count, heads, of_head]).swap_dims(1, 2)
        };
        let query = project(queries, 0);
        let key: Tensor<4> = project(tokens.clone(), 1);
        let value: Tensor<4> = project(tokens, 2);
        let scores = query.matmul(key.swap_dims(2, 3)) * (1.0 / (of_head as f32).sqrt());
        let mixed =
            activation::softmax(scores, 3).matmul(value).swap_dims(1, 2).reshape([batch * count, width]);
        self.linear(&format!("{name}.out_proj"), mixed).reshape([batch, count, width])
    }
}

/// The mean cross-entropy of logits, each sample with a weight. A sample with weight 0 needs no label.
pub(crate) fn cross_entropy(
    logits: Tensor<2>,
    labels: &[usize],
    weights: &[f32],
    device: &Device,
) -> Tensor<1> {
    let [count, classes] = logits.dims();
    let mut chosen = vec![0.0; count * classes];
    for (index, (label, weight)) in labels.iter().zip(weights).enumerate() {
        chosen[index * classes + label] = *weight / weights.iter().sum::<f32>().max(1.0);
    }
    let chosen = Tensor::<2>::from_data(TensorData::new(chosen, [count, classes]), device);
    -(activation::log_softmax(logits, 1) * chosen).sum()
}

/// A loss of numbers that grows with the square of small errors, and in proportion to larger ones: sqrt(1 + (error /
/// scale)^2) - 1.
pub(crate) fn smooth(
    predicted: Tensor<2>,
    labels: &[f32],
    weights: &[f32],
    scale: f32,
    device: &Device,
) -> Tensor<1> {
    let column = |values: Vec<f32>| {
        let count = values.len();
        Tensor::<2>::from_data(TensorData::new(values, [count, 1]), device)
    };
    let total = weights.iter().sum::<f32>().max(1.0);
    let weights = column(weights.iter().map(|weight| weight / total).collect());
    let error = (predicted - column(labels.to_vec())) * (1.0 / scale);
    (((error.powi_scalar(2) + 1.0).sqrt() - 1.0) * weights).sum()
}
