//! The weights of a memory oracle, in the order in which kernels read them.

use kvrm_models::{Architecture, MemoryOracle};

use crate::device::Device;
use crate::device::error::Error;
use crate::layers::packing::{Dense, PackedWeights, Packing, Recurrent, Tensors};

/// A memory oracle on a device.
#[derive(Debug)]
pub(super) struct PackedOracle {
    pub(super) weights: PackedWeights,
    pub(super) encoder: [Dense; 2],
    pub(super) sequence: [Recurrent; 2],
    pub(super) deltas: [Dense; 2],
    pub(super) confidences: [Dense; 2],
    pub(super) pattern: [Dense; 2],
}

impl PackedOracle {
    pub(super) fn new(device: &Device, oracle: &MemoryOracle) -> Result<Self, Error> {
        let network = &Tensors::new(Architecture::MemoryOracle, oracle.flat())?;
        let mut packing = Packing::default();
        let sequence = [0, 1].map(|layer| packing.recurrent(network, "lstm", layer, &[""]));
        let mut pair = |names: [&str; 2]| names.map(|name| packing.linear(network, name));
        let encoder = pair(["feature_encoder.0", "feature_encoder.2"]);
        let deltas = pair(["delta_head.0", "delta_head.3"]);
        let confidences = pair(["confidence_head.0", "confidence_head.2"]);
        let pattern = pair(["pattern_head.0", "pattern_head.2"]);
        Ok(Self { weights: packing.upload(device)?, encoder, sequence, deltas, confidences, pattern })
    }
}
