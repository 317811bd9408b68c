//! The iteration predictor on batches.

use burn::tensor::{Device, Tensor, activation};
use kvrm_learn::iterations::LOG10_SCALE;
use kvrm_models::Architecture;
use kvrm_models::inputs::ITERATION_INPUTS;

use crate::graph::{Graph, smooth};

/// An input of the network, with its label.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) input: [f32; ITERATION_INPUTS],
    /// The decimal logarithm of the number of iterations.
    pub(crate) log10: f32,
    /// The weight of the sample in the loss.
    pub(crate) weight: f32,
}

/// Returns the predictions for a batch.
pub(crate) fn forward(graph: &Graph, batch: &[Pair]) -> Tensor<2> {
    let inputs = batch.iter().flat_map(|pair| pair.input).collect();
    let first = graph.norm("norm", graph.linear("fc1", graph.rows(inputs, ITERATION_INPUTS)));
    let second = activation::gelu(graph.linear("fc2", activation::gelu(first)));
    graph.linear("fc3", second)
}

pub(crate) fn loss(flat: &[f32], batch: &[Pair], device: &Device) -> (Graph, Tensor<1>) {
    let graph = Graph::new(Architecture::IterationPredictor, flat, device);
    let labels: Vec<f32> = batch.iter().map(|pair| pair.log10).collect();
    let weights: Vec<f32> = batch.iter().map(|pair| pair.weight).collect();
    let loss = smooth(forward(&graph, batch), &labels, &weights, LOG10_SCALE, device);
    (graph, loss)
}
