//! The loop detector on batches.

use burn::tensor::{Device, Tensor, activation};
use kvrm_models::Architecture;
use kvrm_models::inputs::{REGISTERS, register_values, word_bits};

use crate::data::Sample;
use crate::graph::{Graph, cross_entropy, smooth};

/// The scale of the loss of iterations, in powers of ten.
const SCALE: f32 = 0.1;
/// The weight of the loss of iterations.
const ITERATIONS: f32 = 0.03;

/// The outputs for a batch.
pub(crate) struct Outputs {
    pub(crate) kinds: Tensor<2>,
    pub(crate) counters: Tensor<2>,
    pub(crate) iterations: Tensor<2>,
}

pub(crate) fn forward(graph: &Graph, batch: &[Sample]) -> Outputs {
    let (count, tokens) = (batch.len(), batch[0].words.len());
    let bits = batch.iter().flat_map(|sample| sample.words.iter().flat_map(|word| word_bits(*word)));
    let bits = graph.rows(bits.collect(), 32);
    let mut encodings = Vec::with_capacity(count * (REGISTERS + 1) * 2 * REGISTERS);
    for sample in batch {
        let encoding = register_values(&sample.registers);
        for register in 0..=REGISTERS {
            let is_seen = |index: usize| register == REGISTERS || index % REGISTERS == register;
            encodings
                .extend((0..2 * REGISTERS).map(|index| if is_seen(index) { encoding[index] } else { 0.0 }));
        }
    }
    let embed = |name: &str, x: Tensor<2>| {
        let hidden = graph.norm(&format!("{name}.1"), graph.linear(&format!("{name}.0"), x));
        graph.linear(&format!("{name}.3"), activation::relu(hidden))
    };
    let instructions: Tensor<3> = embed("inst_embed", bits.clone()).reshape([count, tokens, 128]);
    let registers: Tensor<3> =
        embed("reg_embed", graph.rows(encodings, 2 * REGISTERS)).reshape([count, REGISTERS + 1, 128]);
    let pointers = graph.linear("reg_field_extract", bits).reshape([count * tokens * 3, REGISTERS]);
    let pointers: Tensor<3> = activation::softmax(pointers, 1)
        .reshape([count, tokens, 3, REGISTERS])
        .sum_dim(2)
        .reshape([count, tokens, REGISTERS]);
    let uses = pointers.swap_dims(1, 2).matmul(instructions.clone());
    let keys = Tensor::cat(vec![registers.clone().narrow(1, 0, REGISTERS), uses], 2);
    let mut sequence = instructions;
    for layer in ["l0", "l1"] {
        let forward = graph.lstm("seq_encoder", layer, sequence.clone());
        let backward = graph.lstm("seq_encoder", &format!("{layer}_reverse"), sequence);
        sequence = Tensor::cat(vec![forward, backward], 2);
    }
    let attended = graph.attention("cross_attn", 4, sequence.clone(), keys);
    let body: Tensor<2> = (sequence + attended).mean_dim(1).reshape([count, 256]);
    let counters = graph.linear("counter_attn", body.clone());
    let all = registers.narrow(1, REGISTERS, 1).reshape([count, 128]);
    let summary = Tensor::cat(vec![body, all], 1);
    let kinds = graph.linear("type_head.3", activation::relu(graph.linear("type_head.0", summary.clone())));
    let with_counter = Tensor::cat(vec![summary, activation::softmax(counters.clone(), 1)], 1);
    let iterations = graph.linear("iter_head.2", activation::relu(graph.linear("iter_head.0", with_counter)));
    Outputs { kinds, counters, iterations }
}

pub(crate) fn loss(flat: &[f32], batch: &[Sample], device: &Device) -> (Graph, Tensor<1>) {
    let graph = Graph::new(Architecture::LoopDetector, flat, device);
    let out = forward(&graph, batch);
    let kinds: Vec<usize> = batch.iter().map(|sample| sample.labels.kind as usize).collect();
    let counters: Vec<usize> = batch.iter().map(|sample| sample.labels.counter.unwrap_or(0)).collect();
    let has_counter: Vec<f32> =
        batch.iter().map(|sample| f32::from(u8::from(sample.labels.counter.is_some()))).collect();
    let log10 = |sample: &Sample| sample.iterations.map_or(0.0, |count| (count as f64).log10() as f32);
    let iterations: Vec<f32> = batch.iter().map(log10).collect();
    let has_iterations: Vec<f32> =
        batch.iter().map(|sample| f32::from(u8::from(sample.iterations.is_some()))).collect();
    let loss = cross_entropy(out.kinds, &kinds, &vec![1.0; batch.len()], device)
        + cross_entropy(out.counters, &counters, &has_counter, device)
        + smooth(out.iterations, &iterations, &has_iterations, SCALE, device) * ITERATIONS;
    (graph, loss)
}
