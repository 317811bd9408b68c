//! The dispatches that evaluate the networks that look at loops, one for each layer.

use kvrm_models::inputs::{FIELDS, REGISTERS};
use kvrm_models::{LoopDetector, PatternRecogniser};
use kvrm_shaders::interface::networks::{
    AttentionGroup, AttentionLayer, CosineLayer, CosinesGroup, InputLayer, InputsGroup, MeanGroup, MeanLayer,
    NormGroup, NormLayer, ProbabilitiesGroup, ProbabilityLayer, RegisterLayer, RegisterTokensGroup,
};
use kvrm_shaders::layout;

use super::batch::InputBuffers;
use super::kernels::Kernels;
use super::packing::{Detector, Embedding, PackedNetworks, Predictor, Recogniser};
use crate::device::Device;
use crate::device::error::Error;
use crate::layers::arena::{Arena, Matrix, Rows, SEQUENCES, Size, TOKENS, per_sequence, per_token};
use crate::layers::kernels::{Stage, WORKGROUP};
use crate::layers::packing::{Norm, Recurrent};
use crate::layers::plan::{Extent, Pass, Plan, Planner};

/// The number of vectors of the bits, and of the fields, of a word.
const FIELD_VECTORS: u32 = FIELDS as u32 / 4;
/// The number of vectors of a token, an instruction or an embedding.
const TOKEN: u32 = 32;
/// The number of registers of a body.
const REGISTER_ROWS: u32 = REGISTERS as u32;

/// The columns of the results of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Results {
    pub(super) kind_logits: Matrix,
    pub(super) counter_logits: Matrix,
    pub(super) log10_iterations: Matrix,
    pub(super) pattern_logits: Matrix,
    pub(super) cosines: Matrix,
    /// The embedding, and behind it a vector of the numbers of the iteration predictor.
    pub(super) embedding: Matrix,
    pub(super) predicted: Matrix,
    /// All of these.
    pub(super) row: Matrix,
}

impl Results {
    fn place(arena: &mut Arena) -> Self {
        let row = arena.place(SEQUENCES, 48);
        Self {
            kind_logits: row.columns(0, 1),
            counter_logits: row.columns(1, 8),
            log10_iterations: row.columns(9, 1),
            pattern_logits: row.columns(10, 2),
            cosines: row.columns(12, 2),
            embedding: row.columns(14, TOKEN + 1),
            predicted: row.columns(47, 1),
            row,
        }
    }
}

/// The places of inputs and results in the buffer of values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    pub(super) results: Results,
    /// The fields of words, which the host writes.
    pub(super) fields: Matrix,
}

/// Plans all dispatches for batches up to a size.
pub(super) fn plan(
    device: &Device,
    kernels: &Kernels,
    packed: &PackedNetworks,
    inputs: &InputBuffers,
    size: Size,
) -> Result<(Plan, Places), Error> {
    let mut arena = Arena::new(size);
    let results = Results::place(&mut arena);
    let fields = arena.place(TOKENS, FIELD_VECTORS);
    let features = arena.place(TOKENS, 2 * FIELD_VECTORS);
    let layers = Planner::new(device, &kernels.layers, arena);
    let mut planner = LoopPlanner { layers, kernels, inputs, results, features };
    let layer = InputLayer {
        fields: fields.at,
        features: features.at,
        iteration: results.embedding.at + TOKEN,
        iteration_stride: results.embedding.stride,
        ..InputLayer::default()
    };
    planner.input(&kernels.word_features, layer, per_token(FIELD_VECTORS))?;
    // The networks run one after the other, so they share the room of their intermediate values.
    let mark = planner.layers.arena.mark();
    if let Some(detector) = &packed.detector {
        planner.detector(detector, layer)?;
        planner.layers.arena.reuse(mark);
    }
    if let Some(recogniser) = &packed.recogniser {
        planner.recogniser(recogniser, layer)?;
        planner.layers.arena.reuse(mark);
    }
    if let Some(predictor) = &packed.predictor {
        planner.predictor(predictor, layer)?;
    }
    Ok((planner.layers.finish(), Places { results, fields }))
}

/// The plan while it is made.
struct LoopPlanner<'a> {
    layers: Planner<'a>,
    kernels: &'a Kernels,
    inputs: &'a InputBuffers,
    results: Results,
    /// The bits of words, then their fields.
    features: Matrix,
}

impl LoopPlanner<'_> {
    /// Computes inputs; each row is an invocation.
    fn input(&mut self, stage: &Stage, layer: InputLayer, rows: Rows) -> Result<(), Error> {
        let buffer = self.layers.parameters(layer)?;
        let extents = [Extent::rows(rows, WORKGROUP), Extent::constant(1, 1)];
        let InputBuffers { words, numbers } = self.inputs;
        let group = InputsGroup { input_layer: &buffer, loop_words: words, loop_numbers: numbers };
        self.layers.push(stage, group, extents)
    }

    fn norm(&mut self, norm: Norm, pass: Pass) -> Result<(), Error> {
        let Pass { rows, input, output, activation, .. } = pass;
        let buffer = self.layers.parameters(NormLayer {
            input: input.at,
            input_stride: input.stride,
            output: output.at,
            output_stride: output.stride,
            factors: norm.factors,
            bias: norm.bias,
            activation,
        })?;
        let extents = [Extent::rows(rows, 1), Extent::constant(1, 1)];
        self.layers.push(&self.kernels.norm, NormGroup { norm_layer: &buffer }, extents)
    }

    /// Applies an embedding: Linear, layer norm, ReLU, Linear.
    fn embedding(&mut self, of: Embedding, rows: Rows, input: Matrix, output: Matrix) -> Result<(), Error> {
        let hidden = self.layers.arena.place(rows, TOKEN);
        self.layers.linear(of.first, Pass::new(rows, input, hidden))?;
        self.norm(of.norm, Pass::new(rows, hidden, hidden).relu())?;
        self.layers.linear(of.second, Pass::new(rows, hidden, output))
    }

    /// Takes all bodies through the layers of an LSTM. `projected` has room for the gates of all directions.
    fn sequence(
        &mut self,
        layers: [Recurrent; 2],
        projected: Matrix,
        input: Matrix,
    ) -> Result<Matrix, Error> {
        let mut outputs = input;
        for layer in layers {
            let inputs = outputs;
            outputs = self.layers.arena.place(TOKENS, layer.directions * TOKEN);
            self.layers.lstm(layer, projected, Pass::new(TOKENS, inputs, outputs))?;
        }
        Ok(outputs)
    }

    /// Plans the part of an attention between its products, of queries, keys and values. If `keys_per_sequence` is 0, each word
    /// has a key.
    fn attention(
        &mut self,
        heads: usize,
        [query, key, value]: [Matrix; 3],
        keys_per_sequence: u32,
        output: Matrix,
    ) -> Result<(), Error> {
        let head_vectors = query.width / heads as u32;
        let buffer = self.layers.parameters(AttentionLayer {
            query: query.at,
            query_stride: query.stride,
            key: key.at,
            value: value.at,
            key_stride: key.stride,
            keys_per_sequence,
            output: output.at,
            output_stride: output.stride,
            head_vectors,
            scale: 1.0 / (4.0 * head_vectors as f32).sqrt(),
        })?;
        let extents = [Extent::rows(SEQUENCES, 1), Extent::constant(heads as u32, 1)];
        self.layers.push(&self.kernels.attention, AttentionGroup { attention_layer: &buffer }, extents)
    }

    fn mean(&mut self, input: Matrix, output: Matrix) -> Result<(), Error> {
        let buffer = self.layers.parameters(MeanLayer {
            input: input.at,
            input_stride: input.stride,
            output: output.at,
            output_stride: output.stride,
            width: input.width,
        })?;
        let extents = [Extent::rows(SEQUENCES, 1), Extent::constant(input.width, WORKGROUP)];
        self.layers.push(&self.kernels.mean, MeanGroup { mean_layer: &buffer }, extents)
    }

    fn probabilities(&mut self, input: Matrix, output: Matrix) -> Result<(), Error> {
        let buffer = self.layers.parameters(ProbabilityLayer {
            input: input.at,
            input_stride: input.stride,
            output: output.at,
            output_stride: output.stride,
        })?;
        let extents = [Extent::rows(SEQUENCES, WORKGROUP), Extent::constant(1, 1)];
        self.layers.push(
            &self.kernels.probabilities,
            ProbabilitiesGroup { probability_layer: &buffer },
            extents,
        )
    }

    /// Plans what `LoopDetector::propose` computes.
    fn detector(&mut self, detector: &Detector, inputs: InputLayer) -> Result<(), Error> {
        let results = self.results;
        let registers = per_sequence(REGISTER_ROWS);
        let encoding = 2 * FIELD_VECTORS;
        let (single, all) =
            (self.layers.arena.place(registers, encoding), self.layers.arena.place(SEQUENCES, encoding));
        let inputs = InputLayer { single: single.at, registers: all.at, ..inputs };
        self.input(&self.kernels.register_features, inputs, per_sequence(FIELD_VECTORS))?;

        // The summary of a body: the mean of its words, the registers, and the probabilities of counters.
        let summary = self.layers.arena.place(SEQUENCES, 2 * TOKEN + TOKEN + FIELD_VECTORS);
        let (body, counter) = (summary.columns(0, 2 * TOKEN), summary.columns(3 * TOKEN, FIELD_VECTORS));
        self.embedding(detector.registers, SEQUENCES, all, summary.columns(2 * TOKEN, TOKEN))?;
        let tokens = self.layers.arena.place(registers, 2 * TOKEN);
        self.embedding(detector.registers, registers, single, tokens.columns(0, TOKEN))?;

        let bits = self.features.columns(0, FIELD_VECTORS);
        let instructions = self.layers.arena.place(TOKENS, TOKEN);
        self.embedding(detector.instructions, TOKENS, bits, instructions)?;
        let pointers = self.layers.arena.place(TOKENS, detector.pointers.outputs);
        self.layers.linear(detector.pointers, Pass::new(TOKENS, bits, pointers))?;
        self.register_tokens(pointers, instructions, tokens.columns(TOKEN, TOKEN))?;

        let projected = self.layers.arena.place(TOKENS, detector.sequence[0].input.outputs);
        let sequence = self.sequence(detector.sequence, projected, instructions)?;
        // The gates are not needed any more.
        let (query, mixed) = (projected.columns(0, 2 * TOKEN), projected.columns(2 * TOKEN, 2 * TOKEN));
        let keys = self.layers.arena.place(registers, 4 * TOKEN);
        self.layers.linear(detector.queries, Pass::new(TOKENS, sequence, query))?;
        self.layers.linear(detector.keys, Pass::new(registers, tokens, keys))?;
        let inputs = [query, keys.columns(0, 2 * TOKEN), keys.columns(2 * TOKEN, 2 * TOKEN)];
        self.attention(LoopDetector::HEADS, inputs, REGISTER_ROWS, mixed)?;
        // The mean of the outputs is the output of the mean, so the last product of the attention takes one row a body.
        let mean = self.layers.arena.place(SEQUENCES, 2 * TOKEN);
        self.mean(mixed, mean)?;
        self.mean(sequence, body)?;
        self.layers.linear(detector.mixed, Pass::new(SEQUENCES, mean, body).adds())?;

        self.layers.linear(detector.counter, Pass::new(SEQUENCES, body, results.counter_logits))?;
        self.probabilities(results.counter_logits, counter)?;
        let hidden = self.layers.arena.place(SEQUENCES, TOKEN);
        self.layers
            .linear(detector.kind[0], Pass::new(SEQUENCES, summary.columns(0, 3 * TOKEN), hidden).relu())?;
        self.layers.linear(detector.kind[1], Pass::new(SEQUENCES, hidden, results.kind_logits))?;
        self.layers.linear(detector.iterations[0], Pass::new(SEQUENCES, summary, hidden).relu())?;
        self.layers.linear(detector.iterations[1], Pass::new(SEQUENCES, hidden, results.log10_iterations))
    }

    fn register_tokens(
        &mut self,
        pointers: Matrix,
        instructions: Matrix,
        output: Matrix,
    ) -> Result<(), Error> {
        let buffer = self.layers.parameters(RegisterLayer {
            pointers: pointers.at,
            pointers_stride: pointers.stride,
            instructions: instructions.at,
            instructions_stride: instructions.stride,
            output: output.at,
            output_stride: output.stride,
        })?;
        let extents = [Extent::rows(SEQUENCES, 1), Extent::constant(REGISTER_ROWS, 4)];
        self.layers.push(
            &self.kernels.register_tokens,
            RegisterTokensGroup { register_layer: &buffer },
            extents,
        )
    }

    /// Plans what `PatternRecogniser::recognise` computes.
    fn recogniser(&mut self, recogniser: &Recogniser, inputs: InputLayer) -> Result<(), Error> {
        let results = self.results;
        let tokens = self.layers.arena.place(TOKENS, TOKEN);
        let inputs = InputLayer {
            tokens: tokens.at,
            opcodes: recogniser.opcodes,
            positions: recogniser.positions,
            ..inputs
        };
        self.input(&self.kernels.word_embeddings, inputs, per_token(TOKEN / 2))?;
        self.layers.linear(recogniser.features, Pass::new(TOKENS, self.features, tokens).adds())?;
        let projected = self.layers.arena.place(TOKENS, recogniser.sequence[0].input.outputs);
        let sequence = self.sequence(recogniser.sequence, projected, tokens)?;
        // The gates are not needed any more.
        let queries = projected.columns(0, 3 * TOKEN);
        let mixed = projected.columns(3 * TOKEN, TOKEN);
        self.layers.linear(recogniser.queries, Pass::new(TOKENS, sequence, queries))?;
        let inputs = [0, 1, 2].map(|part| queries.columns(part * TOKEN, TOKEN));
        self.attention(PatternRecogniser::HEADS, inputs, 0, mixed)?;
        self.layers.linear(recogniser.mixed, Pass::new(TOKENS, mixed, sequence).adds())?;
        let hidden = projected;
        self.layers.linear(recogniser.feed_forward[0], Pass::new(TOKENS, sequence, hidden).relu())?;
        self.layers.linear(recogniser.feed_forward[1], Pass::new(TOKENS, hidden, sequence).adds())?;
        let mean = self.layers.arena.place(SEQUENCES, TOKEN);
        self.mean(sequence, mean)?;
        self.norm(recogniser.norm, Pass::new(SEQUENCES, mean, results.embedding.columns(0, TOKEN)))?;
        let buffer = self.layers.parameters(CosineLayer {
            embedding: results.embedding.at,
            logits: results.pattern_logits.at,
            cosines: results.cosines.at,
            stride: results.row.stride,
            prototypes: recogniser.prototypes,
            temperature: recogniser.temperature,
        })?;
        let extents = [Extent::rows(per_sequence(layout::LOOP_PATTERNS), WORKGROUP), Extent::constant(1, 1)];
        self.layers.push(&self.kernels.cosines, CosinesGroup { cosine_layer: &buffer }, extents)
    }

    /// Plans what `IterationPredictor::log10_iterations` computes.
    fn predictor(&mut self, predictor: &Predictor, inputs: InputLayer) -> Result<(), Error> {
        let results = self.results;
        self.input(&self.kernels.iteration_features, inputs, SEQUENCES)?;
        let first = self.layers.arena.place(SEQUENCES, TOKEN);
        let second = self.layers.arena.place(SEQUENCES, TOKEN / 2);
        self.layers.linear(predictor.first, Pass::new(SEQUENCES, results.embedding, first))?;
        self.norm(predictor.norm, Pass::new(SEQUENCES, first, first).gelu())?;
        self.layers.linear(predictor.second, Pass::new(SEQUENCES, first, second).gelu())?;
        self.layers.linear(predictor.third, Pass::new(SEQUENCES, second, results.predicted))
    }
}
