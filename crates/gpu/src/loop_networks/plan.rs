//! The dispatches that evaluate the networks on a batch, one for each layer.

use kvrm_models::inputs::{FIELDS, REGISTERS};
use kvrm_models::{LoopDetector, PatternRecogniser};
use kvrm_shaders::interface::networks::{
    AttentionGroup, AttentionLayer, CosineLayer, CosinesGroup, InputLayer, InputsGroup, LinearGroup,
    LinearLayer, LstmGroup, LstmLayer, MeanGroup, MeanLayer, NormGroup, NormLayer, ProbabilitiesGroup,
    ProbabilityLayer, RegisterLayer, RegisterTokensGroup,
};
use kvrm_shaders::kernel::Group;
use kvrm_shaders::layout;

use super::arena::{Arena, BODIES, Matrix, Rows, Size, WORDS, bodies};
use super::kernels::{Kernels, Stage, WORKGROUP};
use super::packing::{Dense, Detector, Embedding, Norm, PackedNetworks, Predictor, Recogniser, Recurrent};
use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;

/// The number of vectors of the bits, and of the fields, of a word.
const FIELD_VECTORS: u32 = FIELDS as u32 / 4;
/// The number of vectors of a token, an instruction or an embedding.
const TOKEN: u32 = 32;
/// The number of registers of a body.
const REGISTER_ROWS: u32 = REGISTERS as u32;

/// The number of workgroups in a dimension: so many rows, or a constant, divided by the rows of a workgroup.
#[derive(Clone, Copy, Debug)]
struct Extent {
    rows: Rows,
    constant: u32,
    divisor: u32,
}

impl Extent {
    const fn rows(rows: Rows, divisor: u32) -> Self {
        Self { rows, constant: 0, divisor }
    }

    const fn constant(constant: u32, divisor: u32) -> Self {
        Self { rows: bodies(0), constant, divisor }
    }

    const fn of(self, size: Size) -> u32 {
        (self.rows.of(size) + self.constant).div_ceil(self.divisor)
    }
}

/// A dispatch.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) pipeline: wgpu::ComputePipeline,
    /// The number of the group with the parameters of the layer, and the group.
    pub(super) layer: (u32, wgpu::BindGroup),
    extents: [Extent; 2],
}

impl Step {
    /// Returns the numbers of workgroups for a batch.
    pub(super) fn workgroups(&self, size: Size) -> [u32; 2] {
        self.extents.map(|extent| extent.of(size))
    }
}

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
        let row = arena.place(BODIES, 48);
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

/// All dispatches for batches up to a size, and the division of the buffer of values.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) results: Results,
    /// The fields of words, which the host writes.
    pub(super) fields: Matrix,
    /// The number of vectors of the buffer of values.
    pub(super) vectors: u32,
}

impl Plan {
    pub(super) fn new(
        device: &Device,
        kernels: &Kernels,
        packed: &PackedNetworks,
        size: Size,
    ) -> Result<Self, Error> {
        let mut arena = Arena::new(size);
        let results = Results::place(&mut arena);
        let fields = arena.place(WORDS, FIELD_VECTORS);
        let features = arena.place(WORDS, 2 * FIELD_VECTORS);
        let mut planner = Planner { device, kernels, arena, steps: Vec::new(), results, features };
        let inputs = InputLayer {
            fields: fields.at,
            features: features.at,
            iteration: results.embedding.at + TOKEN,
            iteration_stride: results.embedding.stride,
            ..InputLayer::default()
        };
        planner.input(&kernels.word_features, inputs, Rows { per_body: 0, per_word: FIELD_VECTORS })?;
        // The networks run one after the other, so they share the room of their intermediate values.
        let mark = planner.arena.mark();
        if let Some(detector) = &packed.detector {
            planner.detector(detector, inputs)?;
            planner.arena.reuse(mark);
        }
        if let Some(recogniser) = &packed.recogniser {
            planner.recogniser(recogniser, inputs)?;
            planner.arena.reuse(mark);
        }
        if let Some(predictor) = &packed.predictor {
            planner.predictor(predictor, inputs)?;
        }
        Ok(Self { steps: planner.steps, results, fields, vectors: planner.arena.vectors() })
    }
}

/// The plan while it is made.
struct Planner<'a> {
    device: &'a Device,
    kernels: &'a Kernels,
    arena: Arena,
    steps: Vec<Step>,
    results: Results,
    /// The bits of words, then their fields.
    features: Matrix,
}

/// An input and an output of a layer.
#[derive(Clone, Copy, Debug)]
struct Pass {
    rows: Rows,
    input: Matrix,
    output: Matrix,
    /// The activation, one of `ACTIVATION_*`.
    activation: u32,
    /// Whether the result is added to the output.
    adds: bool,
}

impl Pass {
    const fn new(rows: Rows, input: Matrix, output: Matrix) -> Self {
        Self { rows, input, output, activation: layout::ACTIVATION_NONE, adds: false }
    }

    const fn relu(self) -> Self {
        Self { activation: layout::ACTIVATION_RELU, ..self }
    }

    const fn gelu(self) -> Self {
        Self { activation: layout::ACTIVATION_GELU, ..self }
    }

    const fn adds(self) -> Self {
        Self { adds: true, ..self }
    }
}

impl Planner<'_> {
    /// Uploads the parameters of a layer.
    fn parameters<T: bytemuck::NoUninit>(&self, layer: T) -> Result<Buffer, Error> {
        let buffer = Buffer::uniform(self.device, "layer", size_of::<T>() as u64)?;
        buffer.upload(0, &[layer])?;
        Ok(buffer)
    }

    fn push<'b, G: Group<Buffer = &'b Buffer>>(
        &mut self,
        stage: &Stage,
        group: G,
        extents: [Extent; 2],
    ) -> Result<(), Error> {
        let layer = (G::GROUP, stage.layout.bind(self.device, group)?);
        self.steps.push(Step { pipeline: stage.pipeline.clone(), layer, extents });
        Ok(())
    }

    /// Computes inputs; each row is an invocation.
    fn input(&mut self, stage: &Stage, layer: InputLayer, rows: Rows) -> Result<(), Error> {
        let buffer = self.parameters(layer)?;
        let extents = [Extent::rows(rows, WORKGROUP), Extent::constant(1, 1)];
        self.push(stage, InputsGroup { input_layer: &buffer }, extents)
    }

    fn linear(&mut self, dense: Dense, pass: Pass) -> Result<(), Error> {
        let Pass { rows, input, output, activation, adds } = pass;
        let buffer = self.parameters(LinearLayer {
            rows_per_body: rows.per_body,
            rows_per_word: rows.per_word,
            input: input.at,
            input_stride: input.stride,
            inputs: dense.inputs,
            output: output.at,
            output_stride: output.stride,
            outputs: dense.outputs,
            matrix: dense.matrix,
            bias: dense.bias,
            activation,
            adds: adds.into(),
        })?;
        debug_assert!(input.width == dense.inputs && output.width == dense.outputs, "{dense:?} {pass:?}");
        // An invocation computes two vectors of outputs.
        let groups_of_rows = layout::LINEAR_WORKGROUP / layout::LINEAR_COLUMNS;
        let extents = [
            Extent::constant(dense.outputs, 2 * layout::LINEAR_COLUMNS),
            Extent::rows(rows, layout::LOOP_ROWS * groups_of_rows),
        ];
        self.push(&self.kernels.linear, LinearGroup { linear_layer: &buffer }, extents)
    }

    fn norm(&mut self, norm: Norm, pass: Pass) -> Result<(), Error> {
        let Pass { rows, input, output, activation, .. } = pass;
        let buffer = self.parameters(NormLayer {
            input: input.at,
            input_stride: input.stride,
            output: output.at,
            output_stride: output.stride,
            factors: norm.factors,
            bias: norm.bias,
            activation,
        })?;
        let extents = [Extent::rows(rows, 1), Extent::constant(1, 1)];
        self.push(&self.kernels.norm, NormGroup { norm_layer: &buffer }, extents)
    }

    /// Applies an embedding: Linear, layer norm, ReLU, Linear.
    fn embedding(&mut self, of: Embedding, rows: Rows, input: Matrix, output: Matrix) -> Result<(), Error> {
        let hidden = self.arena.place(rows, TOKEN);
        self.linear(of.first, Pass::new(rows, input, hidden))?;
        self.norm(of.norm, Pass::new(rows, hidden, hidden).relu())?;
        self.linear(of.second, Pass::new(rows, hidden, output))
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
            self.linear(layer.input, Pass::new(WORDS, outputs, projected))?;
            outputs = self.arena.place(WORDS, layer.directions * TOKEN);
            let buffer = self.parameters(LstmLayer {
                projected: projected.at,
                projected_stride: projected.stride,
                output: outputs.at,
                output_stride: outputs.stride,
                matrix: layer.hidden,
            })?;
            let extents =
                [Extent::rows(BODIES, layout::LOOP_SEQUENCES), Extent::constant(layer.directions, 1)];
            self.push(&self.kernels.lstm, LstmGroup { lstm_layer: &buffer }, extents)?;
        }
        Ok(outputs)
    }

    /// Plans the part of an attention between its products, of queries, keys and values. If `keys_per_body` is 0, each word
    /// has a key.
    fn attention(
        &mut self,
        heads: usize,
        [query, key, value]: [Matrix; 3],
        keys_per_body: u32,
        output: Matrix,
    ) -> Result<(), Error> {
        let head_vectors = query.width / heads as u32;
        let buffer = self.parameters(AttentionLayer {
            query: query.at,
            query_stride: query.stride,
            key: key.at,
            value: value.at,
            key_stride: key.stride,
            keys_per_body,
            output: output.at,
            output_stride: output.stride,
            head_vectors,
            scale: 1.0 / (4.0 * head_vectors as f32).sqrt(),
        })?;
        let extents = [Extent::rows(BODIES, 1), Extent::constant(heads as u32, 1)];
        self.push(&self.kernels.attention, AttentionGroup { attention_layer: &buffer }, extents)
    }

    fn mean(&mut self, input: Matrix, output: Matrix) -> Result<(), Error> {
        let buffer = self.parameters(MeanLayer {
            input: input.at,
            input_stride: input.stride,
            output: output.at,
            output_stride: output.stride,
            width: input.width,
        })?;
        let extents = [Extent::rows(BODIES, 1), Extent::constant(input.width, WORKGROUP)];
        self.push(&self.kernels.mean, MeanGroup { mean_layer: &buffer }, extents)
    }

    fn probabilities(&mut self, input: Matrix, output: Matrix) -> Result<(), Error> {
        let buffer = self.parameters(ProbabilityLayer {
            input: input.at,
            input_stride: input.stride,
            output: output.at,
            output_stride: output.stride,
        })?;
        let extents = [Extent::rows(BODIES, WORKGROUP), Extent::constant(1, 1)];
        self.push(&self.kernels.probabilities, ProbabilitiesGroup { probability_layer: &buffer }, extents)
    }

    /// Plans what `LoopDetector::propose` computes.
    fn detector(&mut self, detector: &Detector, inputs: InputLayer) -> Result<(), Error> {
        let results = self.results;
        let registers = bodies(REGISTER_ROWS);
        let encoding = 2 * FIELD_VECTORS;
        let (single, all) = (self.arena.place(registers, encoding), self.arena.place(BODIES, encoding));
        let inputs = InputLayer { single: single.at, registers: all.at, ..inputs };
        self.input(&self.kernels.register_features, inputs, bodies(FIELD_VECTORS))?;

        // The summary of a body: the mean of its words, the registers, and the probabilities of counters.
        let summary = self.arena.place(BODIES, 2 * TOKEN + TOKEN + FIELD_VECTORS);
        let (body, counter) = (summary.columns(0, 2 * TOKEN), summary.columns(3 * TOKEN, FIELD_VECTORS));
        self.embedding(detector.registers, BODIES, all, summary.columns(2 * TOKEN, TOKEN))?;
        let tokens = self.arena.place(registers, 2 * TOKEN);
        self.embedding(detector.registers, registers, single, tokens.columns(0, TOKEN))?;

        let bits = self.features.columns(0, FIELD_VECTORS);
        let instructions = self.arena.place(WORDS, TOKEN);
        self.embedding(detector.instructions, WORDS, bits, instructions)?;
        let pointers = self.arena.place(WORDS, detector.pointers.outputs);
        self.linear(detector.pointers, Pass::new(WORDS, bits, pointers))?;
        self.register_tokens(pointers, instructions, tokens.columns(TOKEN, TOKEN))?;

        let projected = self.arena.place(WORDS, detector.sequence[0].input.outputs);
        let sequence = self.sequence(detector.sequence, projected, instructions)?;
        // The gates are not needed any more.
        let (query, mixed) = (projected.columns(0, 2 * TOKEN), projected.columns(2 * TOKEN, 2 * TOKEN));
        let keys = self.arena.place(registers, 4 * TOKEN);
        self.linear(detector.queries, Pass::new(WORDS, sequence, query))?;
        self.linear(detector.keys, Pass::new(registers, tokens, keys))?;
        let inputs = [query, keys.columns(0, 2 * TOKEN), keys.columns(2 * TOKEN, 2 * TOKEN)];
        self.attention(LoopDetector::HEADS, inputs, REGISTER_ROWS, mixed)?;
        // The mean of the outputs is the output of the mean, so the last product of the attention takes one row a body.
        let mean = self.arena.place(BODIES, 2 * TOKEN);
        self.mean(mixed, mean)?;
        self.mean(sequence, body)?;
        self.linear(detector.mixed, Pass::new(BODIES, mean, body).adds())?;

        self.linear(detector.counter, Pass::new(BODIES, body, results.counter_logits))?;
        self.probabilities(results.counter_logits, counter)?;
        let hidden = self.arena.place(BODIES, TOKEN);
        self.linear(detector.kind[0], Pass::new(BODIES, summary.columns(0, 3 * TOKEN), hidden).relu())?;
        self.linear(detector.kind[1], Pass::new(BODIES, hidden, results.kind_logits))?;
        self.linear(detector.iterations[0], Pass::new(BODIES, summary, hidden).relu())?;
        self.linear(detector.iterations[1], Pass::new(BODIES, hidden, results.log10_iterations))
    }

    fn register_tokens(
        &mut self,
        pointers: Matrix,
        instructions: Matrix,
        output: Matrix,
    ) -> Result<(), Error> {
        let buffer = self.parameters(RegisterLayer {
            pointers: pointers.at,
            pointers_stride: pointers.stride,
            instructions: instructions.at,
            instructions_stride: instructions.stride,
            output: output.at,
            output_stride: output.stride,
        })?;
        let extents = [Extent::rows(BODIES, 1), Extent::constant(REGISTER_ROWS, 4)];
        self.push(&self.kernels.register_tokens, RegisterTokensGroup { register_layer: &buffer }, extents)
    }

    /// Plans what `PatternRecogniser::recognise` computes.
    fn recogniser(&mut self, recogniser: &Recogniser, inputs: InputLayer) -> Result<(), Error> {
        let results = self.results;
        let tokens = self.arena.place(WORDS, TOKEN);
        let inputs = InputLayer {
            tokens: tokens.at,
            opcodes: recogniser.opcodes,
            positions: recogniser.positions,
            ..inputs
        };
        self.input(&self.kernels.word_embeddings, inputs, Rows { per_body: 0, per_word: TOKEN / 2 })?;
        self.linear(recogniser.features, Pass::new(WORDS, self.features, tokens).adds())?;
        let projected = self.arena.place(WORDS, recogniser.sequence[0].input.outputs);
        let sequence = self.sequence(recogniser.sequence, projected, tokens)?;
        // The gates are not needed any more.
        let queries = projected.columns(0, 3 * TOKEN);
        let mixed = projected.columns(3 * TOKEN, TOKEN);
        self.linear(recogniser.queries, Pass::new(WORDS, sequence, queries))?;
        let inputs = [0, 1, 2].map(|part| queries.columns(part * TOKEN, TOKEN));
        self.attention(PatternRecogniser::HEADS, inputs, 0, mixed)?;
        self.linear(recogniser.mixed, Pass::new(WORDS, mixed, sequence).adds())?;
        let hidden = projected;
        self.linear(recogniser.feed_forward[0], Pass::new(WORDS, sequence, hidden).relu())?;
        self.linear(recogniser.feed_forward[1], Pass::new(WORDS, hidden, sequence).adds())?;
        let mean = self.arena.place(BODIES, TOKEN);
        self.mean(sequence, mean)?;
        self.norm(recogniser.norm, Pass::new(BODIES, mean, results.embedding.columns(0, TOKEN)))?;
        let buffer = self.parameters(CosineLayer {
            embedding: results.embedding.at,
            logits: results.pattern_logits.at,
            cosines: results.cosines.at,
            stride: results.row.stride,
            prototypes: recogniser.prototypes,
            temperature: recogniser.temperature,
        })?;
        let extents = [Extent::rows(bodies(layout::LOOP_PATTERNS), WORKGROUP), Extent::constant(1, 1)];
        self.push(&self.kernels.cosines, CosinesGroup { cosine_layer: &buffer }, extents)
    }

    /// Plans what `IterationPredictor::log10_iterations` computes.
    fn predictor(&mut self, predictor: &Predictor, inputs: InputLayer) -> Result<(), Error> {
        let results = self.results;
        self.input(&self.kernels.iteration_features, inputs, BODIES)?;
        let first = self.arena.place(BODIES, TOKEN);
        let second = self.arena.place(BODIES, TOKEN / 2);
        self.linear(predictor.first, Pass::new(BODIES, results.embedding, first))?;
        self.norm(predictor.norm, Pass::new(BODIES, first, first).gelu())?;
        self.linear(predictor.second, Pass::new(BODIES, first, second).gelu())?;
        self.linear(predictor.third, Pass::new(BODIES, second, results.predicted))
    }
}
