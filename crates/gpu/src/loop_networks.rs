//! The networks that look at loops, on a GPU: for many bodies at once.

mod arena;
mod batch;
mod interface;
mod kernels;
mod packing;
mod plan;
mod workspace;

use kvrm_shaders::layout;

use self::batch::Batch;
pub use self::interface::{LoopAnswer, LoopCandidate, LoopModels};
use self::kernels::Kernels;
use self::packing::PackedNetworks;
use self::workspace::Workspace;
use crate::device::Device;
use crate::device::error::Error;

/// The most bodies of a submission.
const BODIES_MAX: usize = 256;

/// Networks that look at loops, on a device. Weights are uploaded once, in half precision.
///
/// The answers are those of the networks with weights rounded to half precision
/// ([`LoopDetector::rounded_to_half`](kvrm_models::LoopDetector::rounded_to_half) and the like), up to rounding of sums: `kvrm verify loops --device` compares them.
///
/// ```no_run
/// use kvrm_gpu::Device;
/// use kvrm_gpu::loop_networks::{LoopCandidate, LoopModels, LoopNetworks};
/// use kvrm_models::LoopDetector;
///
/// let untrained = LoopDetector::from_flat(&vec![0.0; LoopDetector::PARAMETERS])?;
/// let models = LoopModels { detector: Some(&untrained), ..LoopModels::default() };
/// let mut networks = LoopNetworks::new(&Device::open(None)?, models)?;
/// let body = [0xf100_0400, 0x54ff_ffe1]; // subs x0, x0, #1; b.ne to the first
/// let candidate = LoopCandidate { body: &body, registers: [9; 32], distance: 9, step: 1, pc: 0x40_0000 };
/// let answers = networks.evaluate(&[candidate])?;
/// assert_eq!(answers[0].proposal, untrained.propose(&body, &[9; 32]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LoopNetworks {
    device: Device,
    kernels: Kernels,
    packed: PackedNetworks,
    /// The buffers for the largest batch so far.
    workspace: Option<Workspace>,
}

impl LoopNetworks {
    /// Compiles the kernels, and uploads the weights.
    ///
    /// # Errors
    ///
    /// A weight is too large for half precision, there is a predictor without the recogniser whose embedding it needs, or
    /// the device fails.
    pub fn new(device: &Device, models: LoopModels<'_>) -> Result<Self, Error> {
        let packed = PackedNetworks::new(device, models)?;
        Ok(Self { device: device.clone(), kernels: Kernels::new(device)?, packed, workspace: None })
    }

    /// Evaluates all networks on each candidate, and returns the answers in the same order. Up to 256 candidates take one
    /// submission.
    ///
    /// # Errors
    ///
    /// The device fails. After its loss, the networks have to be made again on a device that is opened again.
    pub fn evaluate(&mut self, candidates: &[LoopCandidate<'_>]) -> Result<Vec<LoopAnswer>, Error> {
        let mut answers = vec![LoopAnswer::default(); candidates.len()];
        let fits = |index: &usize| (1..=layout::LOOP_WORDS as usize).contains(&candidates[*index].body.len());
        let mut order: Vec<usize> = (0..candidates.len()).filter(fits).collect();
        // Bodies of a workgroup of an LSTM wait for the longest of them, so those of similar lengths stay together.
        order.sort_by_key(|index| std::cmp::Reverse(candidates[*index].body.len()));
        for indices in order.chunks(BODIES_MAX) {
            let batch = Batch::new(indices.iter().map(|index| &candidates[*index]));
            let workspace = self.workspace_for(&batch)?;
            for (index, answer) in indices.iter().zip(workspace.run(&batch)?) {
                answers[*index] = answer;
            }
        }
        Ok(answers)
    }

    /// Returns buffers that are large enough for a batch.
    fn workspace_for(&mut self, batch: &Batch) -> Result<&Workspace, Error> {
        let needed = batch.size();
        let workspace = match self.workspace.take() {
            Some(workspace) if workspace.fits(needed) => workspace,
            smaller => {
                let size = smaller.map_or(needed, |smaller| smaller.size().max(needed)).rounded_up();
                Workspace::new(&self.device, &self.kernels, &self.packed, size)?
            }
        };
        Ok(self.workspace.insert(workspace))
    }
}
