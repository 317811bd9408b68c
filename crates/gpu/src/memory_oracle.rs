//! The memory oracle on a GPU: for the windows of many lanes at once.

mod batch;
mod kernels;
mod packing;
mod plan;
mod workspace;

use kvrm_models::inputs::{Access, WINDOW_ACCESSES_MAX};
use kvrm_models::{AccessPrediction, MemoryOracle};
use kvrm_shaders::layout;

use self::batch::Batch;
use self::kernels::Kernels;
use self::packing::PackedOracle;
use self::plan::windows_at_once;
use self::workspace::OracleWorkspace;
use crate::device::Device;
use crate::device::error::Error;
use crate::layers::batch::{longest_first, size_of_batch};
use crate::layers::workspace::fitting;

const _: () =
    assert!(WINDOW_ACCESSES_MAX == layout::SEQUENCE_TOKENS as usize, "kernels have room for whole windows");

/// A memory oracle on a device. Weights are uploaded once, in half precision.
///
/// The predictions are those of the network with weights rounded to half precision
/// ([`MemoryOracle::rounded_to_half`]), up to rounding of sums: `kvrm verify memory-oracle --device` compares them.
///
/// ```no_run
/// use kvrm_gpu::Device;
/// use kvrm_gpu::memory_oracle::MemoryOracleKernels;
/// use kvrm_models::MemoryOracle;
/// use kvrm_models::inputs::Access;
///
/// let untrained = MemoryOracle::from_flat(&vec![0.0; MemoryOracle::PARAMETERS])?;
/// let mut oracle = MemoryOracleKernels::new(&Device::open(None)?, &untrained)?;
/// let access = Access { delta: 1, size: 8, is_load: true, pc: 0x40_0000 };
/// let windows = [vec![access; 32], vec![access; 3]]; // One window for each lane.
/// let predictions = oracle.evaluate(&windows)?;
/// assert_eq!(predictions[1], untrained.predict(&windows[1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MemoryOracleKernels {
    device: Device,
    kernels: Kernels,
    packed: PackedOracle,
    /// The most windows of a submission.
    at_once: usize,
    /// The buffers for the largest batch so far.
    workspace: Option<OracleWorkspace>,
}

impl MemoryOracleKernels {
    /// Compiles the kernels, and uploads the weights.
    ///
    /// # Errors
    ///
    /// A weight is too large for half precision, or the device fails.
    pub fn new(device: &Device, oracle: &MemoryOracle) -> Result<Self, Error> {
        Ok(Self {
            device: device.clone(),
            kernels: Kernels::new(device)?,
            packed: PackedOracle::new(device, oracle)?,
            at_once: windows_at_once(device.limits().storage_bytes()),
            workspace: None,
        })
    }

    /// Replaces the weights.
    ///
    /// # Errors
    ///
    /// A weight is too large for half precision, or the device fails.
    pub fn set_weights(&mut self, oracle: &MemoryOracle) -> Result<(), Error> {
        self.packed = PackedOracle::new(&self.device, oracle)?;
        // Its buffers are bound together with the weights.
        self.workspace = None;
        Ok(())
    }

    /// Returns the prediction for each window, in the same order. A window has the accesses of a lane, oldest first. The
    /// prediction is `None` if it has no accesses, or more than
    /// [`WINDOW_ACCESSES_MAX`].
    ///
    /// Up to 1,024 windows take one submission, and 85 MB on the device for windows of 32 accesses. Devices whose buffers
    /// are smaller take more submissions.
    ///
    /// # Errors
    ///
    /// The device fails. After its loss, the oracle has to be made again on a device that is opened again.
    pub fn evaluate<W: AsRef<[Access]>>(
        &mut self,
        windows: &[W],
    ) -> Result<Vec<Option<AccessPrediction>>, Error> {
        let mut predictions = vec![None; windows.len()];
        let order = longest_first(windows.len(), |index| windows[index].as_ref().len());
        for indices in order.chunks(self.at_once) {
            let batch = Batch::new(indices.iter().map(|index| windows[*index].as_ref()));
            let Self { device, kernels, packed, workspace, .. } = self;
            let workspace = fitting(workspace, size_of_batch(&batch.windows), |size| {
                OracleWorkspace::new(device, kernels, packed, size)
            })?;
            for (index, prediction) in indices.iter().zip(workspace.run(&batch)?) {
                predictions[*index] = Some(prediction);
            }
        }
        Ok(predictions)
    }
}
