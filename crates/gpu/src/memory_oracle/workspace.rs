//! The buffers for batches up to a size, and the evaluation of a batch in them.

use kvrm_models::AccessPrediction;
use kvrm_shaders::interface::networks::AccessesGroup;

use super::batch::Batch;
use super::kernels::Kernels;
use super::packing::PackedOracle;
use super::plan::{Results, plan};
use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;
use crate::layers::arena::Size;
use crate::layers::workspace::Workspace;

/// The buffers for batches up to a size.
#[derive(Debug)]
pub(super) struct OracleWorkspace {
    layers: Workspace,
    accesses: Buffer,
    results: Results,
}

impl AsRef<Workspace> for OracleWorkspace {
    fn as_ref(&self) -> &Workspace {
        &self.layers
    }
}

impl OracleWorkspace {
    pub(super) fn new(
        device: &Device,
        kernels: &Kernels,
        packed: &PackedOracle,
        size: Size,
    ) -> Result<Self, Error> {
        let bytes = u64::from(size.tokens) * AccessesGroup::ACCESSES_STRIDE;
        let accesses = Buffer::zeroed(device, "accesses", bytes)?;
        let (plan, results) = plan(device, kernels, packed, &accesses, size)?;
        let layers = Workspace::new(device, &kernels.layers, &packed.weights, plan)?;
        Ok(Self { layers, accesses, results })
    }

    /// Evaluates the oracle on a batch that fits, and returns the predictions in the order of its windows.
    pub(super) fn run(&self, batch: &Batch) -> Result<Vec<AccessPrediction>, Error> {
        self.accesses.upload(0, &batch.accesses)?;
        let Results { deltas, confidences, pattern_logits, row } = self.results;
        let rows = self.layers.run("evaluating a memory oracle", &batch.windows, row)?;
        let prediction = |values: &[f32]| {
            AccessPrediction::new(
                row.values_of(deltas, values),
                row.values_of(confidences, values),
                row.values_of(pattern_logits, values),
            )
        };
        Ok(rows.chunks_exact(row.row_len()).map(prediction).collect())
    }
}
