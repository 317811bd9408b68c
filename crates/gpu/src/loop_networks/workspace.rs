//! The buffers for batches up to a size, and the evaluation of a batch in them.

use kvrm_models::{LoopProposal, PatternMatch};
use kvrm_shaders::interface::networks::{LoopBatch, LoopsGroup};
use kvrm_shaders::kernel::Group as _;

use super::arena::{Matrix, Size};
use super::batch::{Batch, NUMBERS};
use super::interface::LoopAnswer;
use super::kernels::Kernels;
use super::packing::PackedNetworks;
use super::plan::Plan;
use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;

/// The number of values of a vector.
const VECTOR: usize = 4;

/// The buffers for batches up to a size.
#[derive(Debug)]
pub(super) struct Workspace {
    device: Device,
    size: Size,
    buffers: LoopsGroup<Buffer>,
    group: wgpu::BindGroup,
    plan: Plan,
    /// Whether there is a detector, a recogniser and a predictor.
    has: [bool; 3],
}

impl Workspace {
    pub(super) fn new(
        device: &Device,
        kernels: &Kernels,
        packed: &PackedNetworks,
        size: Size,
    ) -> Result<Self, Error> {
        let plan = Plan::new(device, kernels, packed, size)?;
        let zeroed =
            |label: &str, count: u32, stride: u64| Buffer::zeroed(device, label, u64::from(count) * stride);
        let buffers = LoopsGroup {
            batch: zeroed("batch", 1, size_of::<LoopBatch>() as u64)?,
            bodies: zeroed("bodies", size.bodies, LoopsGroup::BODIES_STRIDE)?,
            loop_words: zeroed("words", size.words, LoopsGroup::LOOP_WORDS_STRIDE)?,
            loop_numbers: zeroed("numbers", size.bodies * NUMBERS as u32, LoopsGroup::LOOP_NUMBERS_STRIDE)?,
            matrices: packed.matrices.clone(),
            vectors: packed.vectors.clone(),
            values: zeroed("values", plan.vectors, LoopsGroup::VALUES_STRIDE)?,
        };
        let group = kernels.loops.bind(device, buffers.as_ref())?;
        let has = [packed.detector.is_some(), packed.recogniser.is_some(), packed.predictor.is_some()];
        Ok(Self { device: device.clone(), size, buffers, group, plan, has })
    }

    /// Returns the size of the largest batch.
    pub(super) const fn size(&self) -> Size {
        self.size
    }

    /// Returns whether a batch of a size fits.
    pub(super) const fn fits(&self, size: Size) -> bool {
        size.bodies <= self.size.bodies && size.words <= self.size.words
    }

    /// Evaluates the networks on a batch that fits, and returns the answers in the order of its bodies.
    pub(super) fn run(&self, batch: &Batch) -> Result<Vec<LoopAnswer>, Error> {
        let size = batch.size();
        self.buffers.batch.upload(0, &[batch.header()])?;
        self.buffers.bodies.upload(0, &batch.bodies)?;
        self.buffers.loop_words.upload(0, &batch.words)?;
        self.buffers.loop_numbers.upload(0, &batch.numbers)?;
        let fields_at = u64::from(self.plan.fields.at) * LoopsGroup::VALUES_STRIDE;
        self.buffers.values.upload(fields_at, &batch.fields)?;
        self.device.submit("evaluating networks that look at loops", |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_bind_group(LoopsGroup::<()>::GROUP, &self.group, &[]);
            for step in &self.plan.steps {
                let [x, y] = step.workgroups(size);
                pass.set_pipeline(&step.pipeline);
                pass.set_bind_group(step.layer.0, &step.layer.1, &[]);
                pass.dispatch_workgroups(x, y, 1);
            }
        })?;
        let row = self.plan.results.row;
        let range = |rows: u32| u64::from(row.at + rows * row.stride) * LoopsGroup::VALUES_STRIDE;
        let bytes = self.device.download(&[(&self.buffers.values, range(0)..range(size.bodies))])?.remove(0);
        let values: Vec<f32> = bytemuck::pod_collect_to_vec(&bytes);
        let rows = values.chunks_exact(row.stride as usize * VECTOR);
        Ok(rows.map(|row| self.answer(row)).collect())
    }

    /// Returns the answer in a row of results.
    fn answer(&self, row: &[f32]) -> LoopAnswer {
        let results = &self.plan.results;
        let [detector, recogniser, predictor] = self.has;
        LoopAnswer {
            proposal: detector.then(|| {
                let kind_logits = self.values(row, results.kind_logits);
                let counter_logits = self.values(row, results.counter_logits);
                let [log10_iterations] = self.values(row, results.log10_iterations);
                LoopProposal::new(kind_logits, counter_logits, log10_iterations)
            }),
            matched: recogniser.then(|| {
                let (logits, cosines) =
                    (self.values(row, results.pattern_logits), self.values(row, results.cosines));
                PatternMatch::new(logits, cosines, self.values(row, results.embedding))
            }),
            log10_iterations: predictor.then(|| {
                let [value] = self.values(row, results.predicted);
                value
            }),
        }
    }

    /// Returns the first values of some columns of a row of results.
    fn values<const N: usize>(&self, row: &[f32], columns: Matrix) -> [f32; N] {
        let first = (columns.at - self.plan.results.row.at) as usize * VECTOR;
        std::array::from_fn(|index| row[first + index])
    }
}
