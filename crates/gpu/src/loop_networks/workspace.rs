//! The buffers for batches up to a size, and the evaluation of a batch in them.

use kvrm_models::{LoopProposal, PatternMatch};

use super::batch::{Batch, InputBuffers};
use super::interface::LoopAnswer;
use super::kernels::Kernels;
use super::packing::PackedNetworks;
use super::plan::{Places, plan};
use crate::device::Device;
use crate::device::error::Error;
use crate::layers::arena::Size;
use crate::layers::workspace::Workspace;

/// The buffers for batches up to a size.
#[derive(Debug)]
pub(super) struct LoopWorkspace {
    layers: Workspace,
    inputs: InputBuffers,
    places: Places,
    /// Whether there is a detector, a recogniser and a predictor.
    has: [bool; 3],
}

impl AsRef<Workspace> for LoopWorkspace {
    fn as_ref(&self) -> &Workspace {
        &self.layers
    }
}

impl LoopWorkspace {
    pub(super) fn new(
        device: &Device,
        kernels: &Kernels,
        packed: &PackedNetworks,
        size: Size,
    ) -> Result<Self, Error> {
        let inputs = InputBuffers::new(device, size)?;
        let (plan, places) = plan(device, kernels, packed, &inputs, size)?;
        let layers = Workspace::new(device, &kernels.layers, &packed.weights, plan)?;
        let has = [packed.detector.is_some(), packed.recogniser.is_some(), packed.predictor.is_some()];
        Ok(Self { layers, inputs, places, has })
    }

    /// Evaluates the networks on a batch that fits, and returns the answers in the order of its bodies.
    pub(super) fn run(&self, batch: &Batch) -> Result<Vec<LoopAnswer>, Error> {
        self.inputs.upload(batch)?;
        self.layers.upload(self.places.fields, &batch.fields)?;
        let row = self.places.results.row;
        let values = self.layers.run("evaluating networks that look at loops", &batch.bodies, row)?;
        let rows = values.chunks_exact(row.row_len());
        Ok(rows.map(|row| self.answer(row)).collect())
    }

    /// Returns the answer in a row of results.
    fn answer(&self, row: &[f32]) -> LoopAnswer {
        let results = &self.places.results;
        let all = results.row;
        let [detector, recogniser, predictor] = self.has;
        LoopAnswer {
            proposal: detector.then(|| {
                let kind_logits = all.values_of(results.kind_logits, row);
                let counter_logits = all.values_of(results.counter_logits, row);
                let [log10_iterations] = all.values_of(results.log10_iterations, row);
                LoopProposal::new(kind_logits, counter_logits, log10_iterations)
            }),
            matched: recogniser.then(|| {
                let (logits, cosines) =
                    (all.values_of(results.pattern_logits, row), all.values_of(results.cosines, row));
                PatternMatch::new(logits, cosines, all.values_of(results.embedding, row))
            }),
            log10_iterations: predictor.then(|| {
                let [value] = all.values_of(results.predicted, row);
                value
            }),
        }
    }
}
