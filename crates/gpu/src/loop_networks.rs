//! The networks that look at loops, on a GPU: for many bodies at once.

mod batch;
mod interface;
mod kernels;
mod packing;
mod plan;
mod workspace;

use self::batch::Batch;
pub use self::interface::{LoopAnswer, LoopCandidate, LoopModels};
use self::kernels::Kernels;
use self::packing::PackedNetworks;
use self::workspace::LoopWorkspace;
use crate::device::Device;
use crate::device::error::Error;
use crate::layers::batch::{longest_first, size_of_batch};
use crate::layers::workspace::fitting;

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
    workspace: Option<LoopWorkspace>,
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
        let order = longest_first(candidates.len(), |index| candidates[index].body.len());
        for indices in order.chunks(BODIES_MAX) {
            let batch = Batch::new(indices.iter().map(|index| &candidates[*index]));
            let Self { device, kernels, packed, workspace } = self;
            let workspace = fitting(workspace, size_of_batch(&batch.bodies), |size| {
                LoopWorkspace::new(device, kernels, packed, size)
            })?;
            for (index, answer) in indices.iter().zip(workspace.run(&batch)?) {
                answers[*index] = answer;
            }
        }
        Ok(answers)
    }
}
