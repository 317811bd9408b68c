//! The weights of the networks in the order in which kernels read them.

use kvrm_models::{
    Architecture, IterationPredictor, LoopDetector, PatternRecogniser, WeightsError, half_bits,
    rounded_to_half,
};

use super::interface::LoopModels;
use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;

/// The number of components of a vector.
const VECTOR: usize = 4;
/// The number of units of each LSTM.
const UNITS: usize = 128;
/// The number of gates of a unit.
const GATES: usize = 4;

/// A linear layer in the buffers of weights. All numbers are counted in vectors of four.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dense {
    pub(super) matrix: u32,
    pub(super) bias: u32,
    pub(super) inputs: u32,
    pub(super) outputs: u32,
}

/// A layer norm in the buffers of weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct Norm {
    pub(super) factors: u32,
    pub(super) bias: u32,
}

/// An embedding: Linear, layer norm, ReLU, Linear.
#[derive(Clone, Copy, Debug)]
pub(super) struct Embedding {
    pub(super) first: Dense,
    pub(super) norm: Norm,
    pub(super) second: Dense,
}

/// A layer of an LSTM.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recurrent {
    /// From the inputs to the gates of all directions.
    pub(super) input: Dense,
    /// The matrices from previous outputs to the gates of each direction.
    pub(super) hidden: u32,
    /// The number of directions.
    pub(super) directions: u32,
}

/// The loop detector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detector {
    pub(super) instructions: Embedding,
    pub(super) pointers: Dense,
    pub(super) sequence: [Recurrent; 2],
    pub(super) registers: Embedding,
    pub(super) queries: Dense,
    /// Keys, then values.
    pub(super) keys: Dense,
    pub(super) mixed: Dense,
    pub(super) kind: [Dense; 2],
    pub(super) counter: Dense,
    pub(super) iterations: [Dense; 2],
}

/// The pattern recogniser.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recogniser {
    /// The first vector of the embedding of top bytes, among the matrices.
    pub(super) opcodes: u32,
    /// The first vector of the embedding of positions, among the matrices.
    pub(super) positions: u32,
    pub(super) features: Dense,
    pub(super) sequence: [Recurrent; 2],
    /// Queries, then keys, then values.
    pub(super) queries: Dense,
    pub(super) mixed: Dense,
    pub(super) feed_forward: [Dense; 2],
    pub(super) norm: Norm,
    pub(super) prototypes: u32,
    pub(super) temperature: u32,
}

/// The iteration predictor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Predictor {
    pub(super) first: Dense,
    pub(super) norm: Norm,
    pub(super) second: Dense,
    pub(super) third: Dense,
}

/// The weights of all networks on a device.
#[derive(Debug)]
pub(super) struct PackedNetworks {
    pub(super) matrices: Buffer,
    pub(super) vectors: Buffer,
    pub(super) detector: Option<Detector>,
    pub(super) recogniser: Option<Recogniser>,
    pub(super) predictor: Option<Predictor>,
}

impl PackedNetworks {
    pub(super) fn new(device: &Device, models: LoopModels<'_>) -> Result<Self, Error> {
        let LoopModels { detector, recogniser, predictor } = models;
        if predictor.is_some() && recogniser.is_none() {
            return Err(Error::UnsuitableWeights {
                network: Architecture::IterationPredictor.name(),
                reason: "it needs the embedding of a pattern recogniser, and there is none".to_owned(),
            });
        }
        let mut packing = Packing::default();
        let detector = detector.map(|network| packing.detector(network)).transpose()?;
        let recogniser = recogniser.map(|network| packing.recogniser(network)).transpose()?;
        let predictor = predictor.map(|network| packing.predictor(network)).transpose()?;
        // A binding has at least one vector, also if there are no networks.
        let least = |len: usize| len.max(VECTOR);
        packing.matrices.resize(least(packing.matrices.len()), 0);
        packing.vectors.resize(least(packing.vectors.len()), 0.0);
        Ok(Self {
            matrices: Buffer::with_contents(device, "matrices", &packing.matrices)?,
            vectors: Buffer::with_contents(device, "vectors", &packing.vectors)?,
            detector,
            recogniser,
            predictor,
        })
    }
}

/// The tensors of a network, rounded to half precision.
struct Tensors {
    architecture: Architecture,
    values: Vec<f32>,
    halves: Vec<u16>,
}

/// A tensor, both as numbers and as the bits of half precision.
#[derive(Clone, Copy)]
struct Tensor<'a> {
    values: &'a [f32],
    halves: &'a [u16],
}

impl<'a> Tensor<'a> {
    /// Returns one of `count` equal parts of the tensor, or several of them.
    fn parts(self, parts: std::ops::Range<usize>, count: usize) -> Self {
        let len = self.values.len() / count;
        let range = parts.start * len..parts.end * len;
        Tensor { values: &self.values[range.clone()], halves: &self.halves[range] }
    }
}

impl Tensors {
    fn new(architecture: Architecture, flat: &[f32]) -> Result<Self, Error> {
        let unsuitable = |error: WeightsError| Error::UnsuitableWeights {
            network: architecture.name(),
            reason: error.to_string(),
        };
        let values = rounded_to_half(flat).map_err(unsuitable)?;
        Ok(Self { architecture, values, halves: half_bits(flat).map_err(unsuitable)? })
    }

    /// Returns the tensor of this name, which must exist.
    fn tensor(&self, name: &str) -> Tensor<'_> {
        let spec = self.architecture.tensor(name);
        let spec = spec.unwrap_or_else(|| panic!("{} has no tensor `{name}`", self.architecture));
        let range = spec.offset..spec.offset + spec.len();
        Tensor { values: &self.values[range.clone()], halves: &self.halves[range] }
    }
}

/// The contents of the buffers of weights.
#[derive(Default)]
struct Packing {
    /// Pairs of weights, the first in the lower half.
    matrices: Vec<u32>,
    vectors: Vec<f32>,
}

/// Returns the number of vectors for so many values.
const fn vectors_of(len: usize) -> usize {
    len.div_ceil(VECTOR)
}

impl Packing {
    /// Appends values, padded to whole vectors, and returns the index of the first vector.
    fn vector(&mut self, values: impl IntoIterator<Item = f32>) -> u32 {
        let at = self.vectors.len() / VECTOR;
        self.vectors.extend(values);
        self.vectors.resize(self.vectors.len().next_multiple_of(VECTOR), 0.0);
        at as u32
    }

    /// Appends a matrix with a row for each pair of inputs: for each vector of outputs the weights of the first input, then
    /// those of the second. `weight` returns the weight from an input to an output.
    fn matrix(&mut self, inputs: usize, outputs: usize, weight: impl Fn(usize, usize) -> u16) -> u32 {
        let at = self.matrices.len() / VECTOR;
        let half = |input: usize, output: usize| {
            let exists = input < inputs && output < outputs;
            u32::from(if exists { weight(input, output) } else { 0 })
        };
        for pair in 0..vectors_of(inputs) * 2 {
            for vector in 0..vectors_of(outputs) {
                for input in [2 * pair, 2 * pair + 1] {
                    for output in [VECTOR * vector, VECTOR * vector + 2] {
                        self.matrices.push(half(input, output) | half(input, output + 1) << 16);
                    }
                }
            }
        }
        at as u32
    }

    /// Appends rows of an embedding, which kernels read in the order of the tensor.
    fn table(&mut self, tensor: Tensor<'_>) -> u32 {
        let at = self.matrices.len() / VECTOR;
        let pairs = tensor.halves.chunks_exact(2);
        self.matrices.extend(pairs.map(|pair| u32::from(pair[0]) | u32::from(pair[1]) << 16));
        at as u32
    }

    /// Appends a linear layer. The weights are `[out][in]`.
    fn dense(&mut self, weight: Tensor<'_>, bias: Tensor<'_>) -> Dense {
        let outputs = bias.values.len();
        let inputs = weight.values.len() / outputs;
        Dense {
            matrix: self.matrix(inputs, outputs, |input, output| weight.halves[output * inputs + input]),
            bias: self.vector(bias.values.iter().copied()),
            inputs: vectors_of(inputs) as u32,
            outputs: vectors_of(outputs) as u32,
        }
    }

    fn linear(&mut self, network: &Tensors, name: &str) -> Dense {
        self.dense(network.tensor(&format!("{name}.weight")), network.tensor(&format!("{name}.bias")))
    }

    fn norm(&mut self, network: &Tensors, name: &str) -> Norm {
        let mut part =
            |part: &str| self.vector(network.tensor(&format!("{name}.{part}")).values.iter().copied());
        Norm { factors: part("weight"), bias: part("bias") }
    }

    fn embedding(&mut self, network: &Tensors, name: &str) -> Embedding {
        Embedding {
            first: self.linear(network, &format!("{name}.0")),
            norm: self.norm(network, &format!("{name}.1")),
            second: self.linear(network, &format!("{name}.3")),
        }
    }

    /// Appends a layer of an LSTM. The gates of a unit become a vector; the two biases become one.
    fn recurrent(&mut self, network: &Tensors, name: &str, layer: usize, suffixes: &[&str]) -> Recurrent {
        let parts = |part: &str| -> Vec<Tensor<'_>> {
            let tensor = |suffix: &&str| network.tensor(&format!("{name}.{part}_l{layer}{suffix}"));
            suffixes.iter().map(tensor).collect()
        };
        // The row, in the tensors of a direction, of an output of the packed layer.
        let row = |output: usize| output % GATES * UNITS + output / GATES;
        let per_direction = GATES * UNITS;
        let (input, hidden) = (parts("weight_ih"), parts("weight_hh"));
        let biases = [parts("bias_ih"), parts("bias_hh")];
        let outputs = per_direction * suffixes.len();
        let inputs = input[0].values.len() / per_direction;
        let bias = |output: usize| {
            let of =
                |bias: &Vec<Tensor<'_>>| bias[output / per_direction].values[row(output % per_direction)];
            of(&biases[0]) + of(&biases[1])
        };
        let input = Dense {
            matrix: self.matrix(inputs, outputs, |from, output| {
                input[output / per_direction].halves[row(output % per_direction) * inputs + from]
            }),
            bias: self.vector((0..outputs).map(bias)),
            inputs: vectors_of(inputs) as u32,
            outputs: vectors_of(outputs) as u32,
        };
        let at = (self.matrices.len() / VECTOR) as u32;
        for hidden in hidden {
            self.matrix(UNITS, per_direction, |from, output| hidden.halves[row(output) * UNITS + from]);
        }
        Recurrent { input, hidden: at, directions: suffixes.len() as u32 }
    }

    fn detector(&mut self, network: &LoopDetector) -> Result<Detector, Error> {
        let network = &Tensors::new(Architecture::LoopDetector, network.flat())?;
        let (weight, bias) =
            (network.tensor("cross_attn.in_proj_weight"), network.tensor("cross_attn.in_proj_bias"));
        Ok(Detector {
            instructions: self.embedding(network, "inst_embed"),
            pointers: self.linear(network, "reg_field_extract"),
            sequence: [0, 1].map(|layer| self.recurrent(network, "seq_encoder", layer, &["", "_reverse"])),
            registers: self.embedding(network, "reg_embed"),
            queries: self.dense(weight.parts(0..1, 3), bias.parts(0..1, 3)),
            keys: self.dense(weight.parts(1..3, 3), bias.parts(1..3, 3)),
            mixed: self.linear(network, "cross_attn.out_proj"),
            kind: ["type_head.0", "type_head.3"].map(|name| self.linear(network, name)),
            counter: self.linear(network, "counter_attn"),
            iterations: ["iter_head.0", "iter_head.2"].map(|name| self.linear(network, name)),
        })
    }

    fn recogniser(&mut self, network: &PatternRecogniser) -> Result<Recogniser, Error> {
        let network = &Tensors::new(Architecture::PatternRecogniser, network.flat())?;
        let values = |name: &str| network.tensor(name).values.iter().copied();
        Ok(Recogniser {
            opcodes: self.table(network.tensor("opcode_embedding.weight")),
            positions: self.table(network.tensor("position_embedding.weight")),
            features: self.linear(network, "feature_proj"),
            sequence: [0, 1].map(|layer| self.recurrent(network, "lstm", layer, &[""])),
            queries: self
                .dense(network.tensor("attention.in_proj_weight"), network.tensor("attention.in_proj_bias")),
            mixed: self.linear(network, "attention.out_proj"),
            feed_forward: ["ffn.0", "ffn.2"].map(|name| self.linear(network, name)),
            norm: self.norm(network, "norm"),
            prototypes: self.vector(values("prototypes")),
            temperature: self.vector(values("temperature")),
        })
    }

    fn predictor(&mut self, network: &IterationPredictor) -> Result<Predictor, Error> {
        let network = &Tensors::new(Architecture::IterationPredictor, network.flat())?;
        Ok(Predictor {
            first: self.linear(network, "fc1"),
            norm: self.norm(network, "norm"),
            second: self.linear(network, "fc2"),
            third: self.linear(network, "fc3"),
        })
    }
}
