//! The pattern recogniser on batches.

use burn::tensor::{Device, Int, Tensor, TensorData, activation};
use kvrm_models::Architecture;
use kvrm_models::inputs::{word_bits, word_fields};

use crate::data::Sample;
use crate::graph::{Graph, cross_entropy};

/// The smallest square of a length that a cosine divides by.
const SQUARE_MIN: f32 = 1e-12;

/// Returns the logits for a batch.
pub(crate) fn forward(graph: &Graph, batch: &[Sample]) -> Tensor<2> {
    let (count, tokens) = (batch.len(), batch[0].words.len());
    let words = || batch.iter().flat_map(|sample| sample.words.iter().copied());
    let features = words().flat_map(|word| word_bits(word).into_iter().chain(word_fields(word)));
    let indices = |values: Vec<i64>| {
        let count = values.len();
        Tensor::<1, Int>::from_data(TensorData::new(values, [count]), &graph.device)
    };
    let opcodes = indices(words().map(|word| i64::from(word >> 24)).collect());
    let positions = indices((0..count * tokens).map(|index| (index % tokens) as i64).collect());
    let tokens_of_words = graph.linear("feature_proj", graph.rows(features.collect(), 64))
        + graph.matrix("opcode_embedding.weight").select(0, opcodes)
        + graph.matrix("position_embedding.weight").select(0, positions);
    let mut sequence: Tensor<3> = tokens_of_words.reshape([count, tokens, 128]);
    for layer in ["l0", "l1"] {
        sequence = graph.lstm("lstm", layer, sequence);
    }
    let sequence = sequence.clone() + graph.attention("attention", 4, sequence.clone(), sequence);
    let rows: Tensor<2> = sequence.reshape([count * tokens, 128]);
    let rows = rows.clone() + graph.linear("ffn.2", activation::relu(graph.linear("ffn.0", rows)));
    let mean: Tensor<2> = rows.reshape([count, tokens, 128]).mean_dim(1).reshape([count, 128]);
    let embedding = graph.norm("norm", mean);
    let unit = |rows: Tensor<2>| {
        let length = (rows.clone().powi_scalar(2).sum_dim(1) + SQUARE_MIN).sqrt();
        rows / length
    };
    let cosines = unit(embedding).matmul(unit(graph.matrix("prototypes")).transpose());
    cosines * graph.vector("temperature").unsqueeze_dim::<2>(0)
}

pub(crate) fn loss(flat: &[f32], batch: &[Sample], device: &Device) -> (Graph, Tensor<1>) {
    let graph = Graph::new(Architecture::PatternRecogniser, flat, device);
    let labels: Vec<usize> = batch.iter().map(|sample| sample.labels.pattern as usize).collect();
    let loss = cross_entropy(forward(&graph, batch), &labels, &vec![1.0; batch.len()], device);
    (graph, loss)
}
