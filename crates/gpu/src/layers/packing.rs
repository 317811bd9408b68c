//! The weights of networks in the order in which kernels read them.

use kvrm_models::{Architecture, WeightsError, half_bits, rounded_to_half};

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
pub(crate) struct Dense {
    pub(crate) matrix: u32,
    pub(crate) bias: u32,
    pub(crate) inputs: u32,
    pub(crate) outputs: u32,
}

/// A layer norm in the buffers of weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Norm {
    pub(crate) factors: u32,
    pub(crate) bias: u32,
}

/// A layer of an LSTM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recurrent {
    /// From the inputs to the gates of all directions.
    pub(crate) input: Dense,
    /// The matrices from previous outputs to the gates of each direction.
    pub(crate) hidden: u32,
    /// The number of directions.
    pub(crate) directions: u32,
}

/// The weights of networks on a device.
#[derive(Debug)]
pub(crate) struct PackedWeights {
    pub(crate) matrices: Buffer,
    pub(crate) vectors: Buffer,
}

/// The tensors of a network, rounded to half precision.
pub(crate) struct Tensors {
    architecture: Architecture,
    values: Vec<f32>,
    halves: Vec<u16>,
}

/// A tensor, both as numbers and as the bits of half precision.
#[derive(Clone, Copy)]
pub(crate) struct Tensor<'a> {
    pub(crate) values: &'a [f32],
    halves: &'a [u16],
}

impl<'a> Tensor<'a> {
    /// Returns one of `count` equal parts of the tensor, or several of them.
    pub(crate) fn parts(self, parts: std::ops::Range<usize>, count: usize) -> Self {
        let len = self.values.len() / count;
        let range = parts.start * len..parts.end * len;
        Tensor { values: &self.values[range.clone()], halves: &self.halves[range] }
    }
}

impl Tensors {
    pub(crate) fn new(architecture: Architecture, flat: &[f32]) -> Result<Self, Error> {
        let unsuitable = |error: WeightsError| Error::UnsuitableWeights {
            network: architecture.name(),
            reason: error.to_string(),
        };
        let values = rounded_to_half(flat).map_err(unsuitable)?;
        Ok(Self { architecture, values, halves: half_bits(flat).map_err(unsuitable)? })
    }

    /// Returns the tensor of this name, which must exist.
    pub(crate) fn tensor(&self, name: &str) -> Tensor<'_> {
        let spec = self.architecture.tensor(name);
        let spec = spec.unwrap_or_else(|| panic!("{} has no tensor `{name}`", self.architecture));
        let range = spec.offset..spec.offset + spec.len();
        Tensor { values: &self.values[range.clone()], halves: &self.halves[range] }
    }
}

/// The contents of the buffers of weights.
#[derive(Default)]
pub(crate) struct Packing {
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
    pub(crate) fn vector(&mut self, values: impl IntoIterator<Item = f32>) -> u32 {
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
    pub(crate) fn table(&mut self, tensor: Tensor<'_>) -> u32 {
        let at = self.matrices.len() / VECTOR;
        let pairs = tensor.halves.chunks_exact(2);
        self.matrices.extend(pairs.map(|pair| u32::from(pair[0]) | u32::from(pair[1]) << 16));
        at as u32
    }

    /// Appends a linear layer. The weights are `[out][in]`.
    pub(crate) fn dense(&mut self, weight: Tensor<'_>, bias: Tensor<'_>) -> Dense {
        let outputs = bias.values.len();
        let inputs = weight.values.len() / outputs;
        Dense {
            matrix: self.matrix(inputs, outputs, |input, output| weight.halves[output * inputs + input]),
            bias: self.vector(bias.values.iter().copied()),
            inputs: vectors_of(inputs) as u32,
            outputs: vectors_of(outputs) as u32,
        }
    }

    pub(crate) fn linear(&mut self, network: &Tensors, name: &str) -> Dense {
        self.dense(network.tensor(&format!("{name}.weight")), network.tensor(&format!("{name}.bias")))
    }

    pub(crate) fn norm(&mut self, network: &Tensors, name: &str) -> Norm {
        let mut part =
            |part: &str| self.vector(network.tensor(&format!("{name}.{part}")).values.iter().copied());
        Norm { factors: part("weight"), bias: part("bias") }
    }

    /// Appends a layer of an LSTM. The gates of a unit become a vector; the two biases become one.
    pub(crate) fn recurrent(
        &mut self,
        network: &Tensors,
        name: &str,
        layer: usize,
        suffixes: &[&str],
    ) -> Recurrent {
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

    /// Uploads the weights.
    pub(crate) fn upload(mut self, device: &Device) -> Result<PackedWeights, Error> {
        // A binding has at least one vector, also if there are no networks.
        self.matrices.resize(self.matrices.len().max(VECTOR), 0);
        self.vectors.resize(self.vectors.len().max(VECTOR), 0.0);
        Ok(PackedWeights {
            matrices: Buffer::with_contents(device, "matrices", &self.matrices)?,
            vectors: Buffer::with_contents(device, "vectors", &self.vectors)?,
        })
    }
}
