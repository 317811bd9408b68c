//! The weights of the networks that look at loops, in the order in which kernels read them.

use kvrm_models::{Architecture, IterationPredictor, LoopDetector, PatternRecogniser};

use super::interface::LoopModels;
use crate::device::Device;
use crate::device::error::Error;
use crate::layers::packing::{Dense, Norm, PackedWeights, Packing, Recurrent, Tensors};

/// An embedding: Linear, layer norm, ReLU, Linear.
#[derive(Clone, Copy, Debug)]
pub(super) struct Embedding {
    pub(super) first: Dense,
    pub(super) norm: Norm,
    pub(super) second: Dense,
}

/// The loop detector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detector {
    pub(super) instructions: Embedding,
    pub(super) pointers: Dense,
    pub(super) sequence: [Recurrent; 2],
    pub(super) registers: Embedding,
    pub(super) queries: Dense,
    /// Keys, then values.
    pub(super) keys: Dense,
    pub(super) mixed: Dense,
    pub(super) kind: [Dense; 2],
    pub(super) counter: Dense,
    pub(super) iterations: [Dense; 2],
}

/// The pattern recogniser.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recogniser {
    /// The first vector of the embedding of top bytes, among the matrices.
    pub(super) opcodes: u32,
    /// The first vector of the embedding of positions, among the matrices.
    pub(super) positions: u32,
    pub(super) features: Dense,
    pub(super) sequence: [Recurrent; 2],
    /// Queries, then keys, then values.
    pub(super) queries: Dense,
    pub(super) mixed: Dense,
    pub(super) feed_forward: [Dense; 2],
    pub(super) norm: Norm,
    pub(super) prototypes: u32,
    pub(super) temperature: u32,
}

/// The iteration predictor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Predictor {
    pub(super) first: Dense,
    pub(super) norm: Norm,
    pub(super) second: Dense,
    pub(super) third: Dense,
}

/// The weights of all networks on a device.
#[derive(Debug)]
pub(super) struct PackedNetworks {
    pub(super) weights: PackedWeights,
    pub(super) detector: Option<Detector>,
    pub(super) recogniser: Option<Recogniser>,
    pub(super) predictor: Option<Predictor>,
}

impl PackedNetworks {
    pub(super) fn new(device: &Device, models: LoopModels<'_>) -> Result<Self, Error> {
        let LoopModels { detector, recogniser, predictor } = models;
        if predictor.is_some() && recogniser.is_none() {
            return Err(Error::UnsuitableWeights {
                network: Architecture::IterationPredictor.name(),
                reason: "it needs the embedding of a pattern recogniser, and there is none".to_owned(),
            });
        }
        let mut packing = Packing::default();
        let detector = detector.map(|network| Detector::pack(network, &mut packing)).transpose()?;
        let recogniser = recogniser.map(|network| Recogniser::pack(network, &mut packing)).transpose()?;
        let predictor = predictor.map(|network| Predictor::pack(network, &mut packing)).transpose()?;
        Ok(Self { weights: packing.upload(device)?, detector, recogniser, predictor })
    }
}

impl Embedding {
    fn pack(network: &Tensors, name: &str, packing: &mut Packing) -> Self {
        Self {
            first: packing.linear(network, &format!("{name}.0")),
            norm: packing.norm(network, &format!("{name}.1")),
            second: packing.linear(network, &format!("{name}.3")),
        }
    }
}

impl Detector {
    fn pack(network: &LoopDetector, packing: &mut Packing) -> Result<Self, Error> {
        let network = &Tensors::new(Architecture::LoopDetector, network.flat())?;
        let (weight, bias) =
            (network.tensor("cross_attn.in_proj_weight"), network.tensor("cross_attn.in_proj_bias"));
        Ok(Self {
            instructions: Embedding::pack(network, "inst_embed", packing),
            pointers: packing.linear(network, "reg_field_extract"),
            sequence: [0, 1].map(|layer| packing.recurrent(network, "seq_encoder", layer, &["", "_reverse"])),
            registers: Embedding::pack(network, "reg_embed", packing),
            queries: packing.dense(weight.parts(0..1, 3), bias.parts(0..1, 3)),
            keys: packing.dense(weight.parts(1..3, 3), bias.parts(1..3, 3)),
            mixed: packing.linear(network, "cross_attn.out_proj"),
            kind: ["type_head.0", "type_head.3"].map(|name| packing.linear(network, name)),
            counter: packing.linear(network, "counter_attn"),
            iterations: ["iter_head.0", "iter_head.2"].map(|name| packing.linear(network, name)),
        })
    }
}

impl Recogniser {
    fn pack(network: &PatternRecogniser, packing: &mut Packing) -> Result<Self, Error> {
        let network = &Tensors::new(Architecture::PatternRecogniser, network.flat())?;
        let values = |name: &str| network.tensor(name).values.iter().copied();
        Ok(Self {
            opcodes: packing.table(network.tensor("opcode_embedding.weight")),
            positions: packing.table(network.tensor("position_embedding.weight")),
            features: packing.linear(network, "feature_proj"),
            sequence: [0, 1].map(|layer| packing.recurrent(network, "lstm", layer, &[""])),
            queries: packing
                .dense(network.tensor("attention.in_proj_weight"), network.tensor("attention.in_proj_bias")),
            mixed: packing.linear(network, "attention.out_proj"),
            feed_forward: ["ffn.0", "ffn.2"].map(|name| packing.linear(network, name)),
            norm: packing.norm(network, "norm"),
            prototypes: packing.vector(values("prototypes")),
            temperature: packing.vector(values("temperature")),
        })
    }
}

impl Predictor {
    fn pack(network: &IterationPredictor, packing: &mut Packing) -> Result<Self, Error> {
        let network = &Tensors::new(Architecture::IterationPredictor, network.flat())?;
        Ok(Self {
            first: packing.linear(network, "fc1"),
            norm: packing.norm(network, "norm"),
            second: packing.linear(network, "fc2"),
            third: packing.linear(network, "fc3"),
        })
    }
}
