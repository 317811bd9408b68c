//! The compiled kernels of the networks that look at loops.

use kvrm_shaders::interface::networks::{
    Attention, AttentionGroup, AttentionGroups, Cosines, CosinesGroup, CosinesGroups, CosinesOverrides,
    Inputs, InputsGroup, InputsGroups, InputsOverrides, Mean, MeanGroup, MeanGroups, MeanOverrides, Norm,
    NormGroup, NormGroups, Probabilities, ProbabilitiesGroup, ProbabilitiesGroups, ProbabilitiesOverrides,
    RegisterTokens, RegisterTokensGroup, RegisterTokensGroups,
};

use crate::device::Device;
use crate::device::error::Error;
use crate::device::kernel::Kernel;
use crate::layers::kernels::{LayerKernels, Stage, WORKGROUP, stage};

/// All kernels.
#[derive(Debug)]
pub(super) struct Kernels {
    pub(super) layers: LayerKernels,
    pub(super) word_features: Stage,
    pub(super) word_embeddings: Stage,
    pub(super) register_features: Stage,
    pub(super) iteration_features: Stage,
    pub(super) norm: Stage,
    pub(super) attention: Stage,
    pub(super) mean: Stage,
    pub(super) register_tokens: Stage,
    pub(super) probabilities: Stage,
    pub(super) cosines: Stage,
}

impl Kernels {
    pub(super) fn new(device: &Device) -> Result<Self, Error> {
        let layers = LayerKernels::new(device)?;
        let group = &layers.group;
        let inputs = Kernel::compile(device, Inputs)?;
        let input = |entry| -> Result<Stage, Error> {
            let overrides = InputsOverrides { workgroup_size: WORKGROUP };
            Ok(stage!(device, group, inputs, entry, InputsGroup, InputsGroups { inputs }, overrides))
        };
        let norm = Kernel::compile(device, Norm)?.without_zeroes();
        let attention = Kernel::compile(device, Attention)?.without_zeroes();
        let mean = Kernel::compile(device, Mean)?;
        let tokens = Kernel::compile(device, RegisterTokens)?.without_zeroes();
        let probabilities = Kernel::compile(device, Probabilities)?;
        let cosines = Kernel::compile(device, Cosines)?;
        let workgroup_size = WORKGROUP;
        Ok(Self {
            word_features: input(Inputs::WORD_FEATURES)?,
            word_embeddings: input(Inputs::WORD_EMBEDDINGS)?,
            register_features: input(Inputs::REGISTER_FEATURES)?,
            iteration_features: input(Inputs::ITERATION_FEATURES)?,
            norm: stage!(device, group, norm, Norm::NORMALISE, NormGroup, NormGroups { norm }, ()),
            attention: stage!(
                device,
                group,
                attention,
                Attention::ATTENTION,
                AttentionGroup,
                AttentionGroups { attention },
                ()
            ),
            mean: stage!(
                device,
                group,
                mean,
                Mean::MEAN,
                MeanGroup,
                MeanGroups { mean },
                MeanOverrides { workgroup_size }
            ),
            register_tokens: stage!(
                device,
                group,
                tokens,
                RegisterTokens::REGISTER_TOKENS,
                RegisterTokensGroup,
                RegisterTokensGroups { register_tokens },
                ()
            ),
            probabilities: stage!(
                device,
                group,
                probabilities,
                Probabilities::PROBABILITIES,
                ProbabilitiesGroup,
                ProbabilitiesGroups { probabilities },
                ProbabilitiesOverrides { workgroup_size }
            ),
            cosines: stage!(
                device,
                group,
                cosines,
                Cosines::COSINES,
                CosinesGroup,
                CosinesGroups { cosines },
                CosinesOverrides { workgroup_size }
            ),
            layers,
        })
    }
}
