//! The dispatches that evaluate a network on a batch, one for each layer.

use kvrm_shaders::interface::networks::{LinearGroup, LinearLayer, LstmGroup, LstmLayer};
use kvrm_shaders::kernel::Group;
use kvrm_shaders::layout;

use super::arena::{Arena, Matrix, Rows, SEQUENCES, Size, TOKENS, per_sequence};
use super::kernels::{LayerKernels, Stage};
use super::packing::{Dense, Recurrent};
use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;

/// The number of workgroups in a dimension: so many rows, or a constant, divided by the rows of a workgroup.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    rows: Rows,
    constant: u32,
    divisor: u32,
}

impl Extent {
    pub(crate) const fn rows(rows: Rows, divisor: u32) -> Self {
        Self { rows, constant: 0, divisor }
    }

    pub(crate) const fn constant(constant: u32, divisor: u32) -> Self {
        Self { rows: per_sequence(0), constant, divisor }
    }

    const fn of(self, size: Size) -> u32 {
        (self.rows.of(size) + self.constant).div_ceil(self.divisor)
    }
}

/// A dispatch.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) pipeline: wgpu::ComputePipeline,
    /// The number of the group with the parameters of the layer, and the group.
    pub(crate) layer: (u32, wgpu::BindGroup),
    extents: [Extent; 2],
}

impl Step {
    /// Returns the numbers of workgroups for a batch.
    pub(crate) fn workgroups(&self, size: Size) -> [u32; 2] {
        self.extents.map(|extent| extent.of(size))
    }
}

/// An input and an output of a layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    pub(crate) rows: Rows,
    pub(crate) input: Matrix,
    pub(crate) output: Matrix,
    /// The activation, one of `ACTIVATION_*`.
    pub(crate) activation: u32,
    /// Whether the result is added to the output.
    pub(crate) adds: bool,
}

impl Pass {
    pub(crate) const fn new(rows: Rows, input: Matrix, output: Matrix) -> Self {
        Self { rows, input, output, activation: layout::ACTIVATION_NONE, adds: false }
    }

    pub(crate) const fn relu(self) -> Self {
        Self { activation: layout::ACTIVATION_RELU, ..self }
    }

    pub(crate) const fn gelu(self) -> Self {
        Self { activation: layout::ACTIVATION_GELU, ..self }
    }

    pub(crate) const fn logistic(self) -> Self {
        Self { activation: layout::ACTIVATION_LOGISTIC, ..self }
    }

    pub(crate) const fn adds(self) -> Self {
        Self { adds: true, ..self }
    }
}

/// All dispatches for batches up to a size.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// The size of the largest batch.
    pub(crate) size: Size,
    /// The number of vectors of the buffer of values.
    pub(crate) vectors: u32,
}

/// A plan while it is made.
pub(crate) struct Planner<'a> {
    device: &'a Device,
    kernels: &'a LayerKernels,
    pub(crate) arena: Arena,
    steps: Vec<Step>,
}

impl<'a> Planner<'a> {
    pub(crate) const fn new(device: &'a Device, kernels: &'a LayerKernels, arena: Arena) -> Self {
        Self { device, kernels, arena, steps: Vec::new() }
    }

    /// Returns the dispatches.
    pub(crate) fn finish(self) -> Plan {
        Plan { steps: self.steps, size: self.arena.size(), vectors: self.arena.vectors() }
    }

    /// Uploads the parameters of a layer.
    pub(crate) fn parameters<T: bytemuck::NoUninit>(&self, layer: T) -> Result<Buffer, Error> {
        let buffer = Buffer::uniform(self.device, "layer", size_of::<T>() as u64)?;
        buffer.upload(0, &[layer])?;
        Ok(buffer)
    }

    /// Adds a dispatch.
    pub(crate) fn push<'b, G: Group<Buffer = &'b Buffer>>(
        &mut self,
        stage: &Stage,
        group: G,
        extents: [Extent; 2],
    ) -> Result<(), Error> {
        let layer = (G::GROUP, stage.layout.bind(self.device, group)?);
        self.steps.push(Step { pipeline: stage.pipeline.clone(), layer, extents });
        Ok(())
    }

    pub(crate) fn linear(&mut self, dense: Dense, pass: Pass) -> Result<(), Error> {
        let Pass { rows, input, output, activation, adds } = pass;
        let buffer = self.parameters(LinearLayer {
            rows_per_sequence: rows.per_sequence,
            rows_per_token: rows.per_token,
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
            Extent::rows(rows, layout::LINEAR_ROWS * groups_of_rows),
        ];
        self.push(&self.kernels.linear, LinearGroup { linear_layer: &buffer }, extents)
    }

    /// Takes all sequences through a layer of an LSTM. `projected` has room for the gates of all directions, a row for each
    /// token. The output has a row for each token, or for each sequence, which is the last one.
    pub(crate) fn lstm(&mut self, layer: Recurrent, projected: Matrix, pass: Pass) -> Result<(), Error> {
        let Pass { rows, input, output, .. } = pass;
        self.linear(layer.input, Pass::new(TOKENS, input, projected))?;
        let buffer = self.parameters(LstmLayer {
            projected: projected.at,
            projected_stride: projected.stride,
            output: output.at,
            output_stride: output.stride,
            matrix: layer.hidden,
            only_last: (rows == SEQUENCES).into(),
        })?;
        let extents =
            [Extent::rows(SEQUENCES, layout::LSTM_SEQUENCES), Extent::constant(layer.directions, 1)];
        self.push(&self.kernels.lstm, LstmGroup { lstm_layer: &buffer }, extents)
    }
}
