//! The compiled kernels of the networks.

use kvrm_shaders::interface::networks::{
    Attention, AttentionGroup, AttentionGroups, Cosines, CosinesGroup, CosinesGroups, CosinesOverrides,
    Inputs, InputsGroup, InputsGroups, InputsOverrides, Linear, LinearGroup, LinearGroups, LoopsGroup, Lstm,
    LstmGroup, LstmGroups, Mean, MeanGroup, MeanGroups, MeanOverrides, Norm, NormGroup, NormGroups,
    Probabilities, ProbabilitiesGroup, ProbabilitiesGroups, ProbabilitiesOverrides, RegisterTokens,
    RegisterTokensGroup, RegisterTokensGroups,
};

use crate::device::Device;
use crate::device::error::Error;
use crate::device::kernel::{Kernel, Layout};

/// The invocations of the workgroups whose size is not fixed.
pub(super) const WORKGROUP: u32 = 32;

/// A pipeline, and the layout of the group that has its parameters.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) layout: Layout,
}

/// All kernels.
#[derive(Debug)]
pub(super) struct Kernels {
    /// The layout of the group that all kernels share.
    pub(super) loops: Layout,
    pub(super) word_features: Stage,
    pub(super) word_embeddings: Stage,
    pub(super) register_features: Stage,
    pub(super) iteration_features: Stage,
    pub(super) linear: Stage,
    pub(super) norm: Stage,
    pub(super) lstm: Stage,
    pub(super) attention: Stage,
    pub(super) mean: Stage,
    pub(super) register_tokens: Stage,
    pub(super) probabilities: Stage,
    pub(super) cosines: Stage,
}

/// Returns the stage of an entry point.
macro_rules! stage {
    ($device:ident, $loops:ident, $kernel:expr, $entry:expr, $group:ident, $groups:ident { $field:ident }, $overrides:expr) => {{
        let layout = Layout::of::<$group<()>>($device, 0)?;
        let groups = $groups { loops: &$loops, $field: &layout };
        Stage { pipeline: $kernel.pipeline($entry, groups, $overrides)?, layout }
    }};
}

impl Kernels {
    pub(super) fn new(device: &Device) -> Result<Self, Error> {
        let loops = Layout::of::<LoopsGroup<()>>(device, 0)?;
        let inputs = Kernel::compile(device, Inputs)?;
        let input = |entry| -> Result<Stage, Error> {
            let overrides = InputsOverrides { workgroup_size: WORKGROUP };
            Ok(stage!(device, loops, inputs, entry, InputsGroup, InputsGroups { inputs }, overrides))
        };
        let linear = Kernel::compile(device, Linear)?;
        let norm = Kernel::compile(device, Norm)?.without_zeroes();
        let lstm = Kernel::compile(device, Lstm)?.without_zeroes();
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
            linear: stage!(device, loops, linear, Linear::LINEAR, LinearGroup, LinearGroups { linear }, ()),
            norm: stage!(device, loops, norm, Norm::NORMALISE, NormGroup, NormGroups { norm }, ()),
            lstm: stage!(device, loops, lstm, Lstm::RUN_SEQUENCES, LstmGroup, LstmGroups { lstm }, ()),
            attention: stage!(
                device,
                loops,
                attention,
                Attention::ATTENTION,
                AttentionGroup,
                AttentionGroups { attention },
                ()
            ),
            mean: stage!(
                device,
                loops,
                mean,
                Mean::MEAN,
                MeanGroup,
                MeanGroups { mean },
                MeanOverrides { workgroup_size }
            ),
            register_tokens: stage!(
                device,
                loops,
                tokens,
                RegisterTokens::REGISTER_TOKENS,
                RegisterTokensGroup,
                RegisterTokensGroups { register_tokens },
                ()
            ),
            probabilities: stage!(
                device,
                loops,
                probabilities,
                Probabilities::PROBABILITIES,
                ProbabilitiesGroup,
                ProbabilitiesGroups { probabilities },
                ProbabilitiesOverrides { workgroup_size }
            ),
            cosines: stage!(
                device,
                loops,
                cosines,
                Cosines::COSINES,
                CosinesGroup,
                CosinesGroups { cosines },
                CosinesOverrides { workgroup_size }
            ),
            loops,
        })
    }
}
