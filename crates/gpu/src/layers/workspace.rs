//! The buffers for batches up to a size, and the evaluation of a batch in them.

use kvrm_shaders::interface::networks::{LayersGroup, SequenceBatch, TokenSequence};
use kvrm_shaders::kernel::Group as _;

use super::arena::{Matrix, Size};
use super::batch::size_of_batch;
use super::kernels::LayerKernels;
use super::packing::PackedWeights;
use super::plan::Plan;
use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;

/// The buffers for batches up to a size, and the dispatches that evaluate networks in them.
#[derive(Debug)]
pub(crate) struct Workspace {
    device: Device,
    plan: Plan,
    buffers: LayersGroup<Buffer>,
    group: wgpu::BindGroup,
}

impl Workspace {
    pub(crate) fn new(
        device: &Device,
        kernels: &LayerKernels,
        weights: &PackedWeights,
        plan: Plan,
    ) -> Result<Self, Error> {
        let zeroed =
            |label: &str, count: u32, stride: u64| Buffer::zeroed(device, label, u64::from(count) * stride);
        let buffers = LayersGroup {
            batch: zeroed("batch", 1, size_of::<SequenceBatch>() as u64)?,
            sequences: zeroed("sequences", plan.size.sequences, LayersGroup::SEQUENCES_STRIDE)?,
            matrices: weights.matrices.clone(),
            vectors: weights.vectors.clone(),
            values: zeroed("values", plan.vectors, LayersGroup::VALUES_STRIDE)?,
        };
        let group = kernels.group.bind(device, buffers.as_ref())?;
        Ok(Self { device: device.clone(), plan, buffers, group })
    }

    /// Returns the size of the largest batch.
    pub(crate) const fn size(&self) -> Size {
        self.plan.size
    }

    /// Writes the first rows of a matrix.
    pub(crate) fn upload(&self, matrix: Matrix, values: &[f32]) -> Result<(), Error> {
        self.buffers.values.upload(u64::from(matrix.at) * LayersGroup::VALUES_STRIDE, values)
    }

    /// Evaluates the networks on a batch that fits, and returns a row of `results` for each sequence.
    pub(crate) fn run(
        &self,
        doing: &str,
        sequences: &[TokenSequence],
        results: Matrix,
    ) -> Result<Vec<f32>, Error> {
        let size = size_of_batch(sequences);
        let Size { sequences: count, tokens } = size;
        self.buffers.batch.upload(0, &[SequenceBatch { sequences: count, tokens }])?;
        self.buffers.sequences.upload(0, sequences)?;
        self.device.submit(doing, |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_bind_group(LayersGroup::<()>::GROUP, &self.group, &[]);
            for step in &self.plan.steps {
                let [x, y] = step.workgroups(size);
                pass.set_pipeline(&step.pipeline);
                pass.set_bind_group(step.layer.0, &step.layer.1, &[]);
                pass.dispatch_workgroups(x, y, 1);
            }
        })?;
        let range = |rows: u32| u64::from(results.at + rows * results.stride) * LayersGroup::VALUES_STRIDE;
        let bytes = self.device.download(&[(&self.buffers.values, range(0)..range(count))])?.remove(0);
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }
}

/// Returns the workspace in `slot` if a batch of the size fits in it. Otherwise `make` makes a larger one in its place.
pub(crate) fn fitting<W: AsRef<Workspace>>(
    slot: &mut Option<W>,
    needed: Size,
    make: impl FnOnce(Size) -> Result<W, Error>,
) -> Result<&W, Error> {
    let workspace = match slot.take() {
        Some(workspace) if needed.fits(workspace.as_ref().size()) => workspace,
        smaller => {
            // The smaller one is dropped before the larger one is made.
            let size = smaller.map_or(needed, |smaller| smaller.as_ref().size().max(needed));
            make(size.rounded_up())?
        }
    };
    Ok(slot.insert(workspace))
}
