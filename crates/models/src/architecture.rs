//! The tensors of each network: names as a PyTorch module of that structure would have them, shapes, and offsets in
//! the flat form.
//!
//! Weights of a layer are `[out][in]`, as in PyTorch. The gates of an LSTM are in the order i, f, g, o. The flat form
//! of a network is the concatenation of all its tensors, in the order of the tables in this file. The flat forms of the
//! two dispatch networks are interchange formats and do not change.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// A tensor of an [`Architecture`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorSpec {
    /// The name in a PyTorch state dict.
    pub name: &'static str,
    /// The dimensions, outermost first.
    pub dims: &'static [usize],
    /// The index of the first value in the flat form.
    pub offset: usize,
}

impl TensorSpec {
    /// Returns the number of values.
    pub const fn len(&self) -> usize {
        let (mut len, mut index) = (1, 0);
        while index < self.dims.len() {
            len *= self.dims[index];
            index += 1;
        }
        len
    }

    /// Returns whether the tensor has no values. No tensor of an architecture is empty.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Sets the offset of each tensor to the end of the previous one.
const fn place<const N: usize>(mut tensors: [TensorSpec; N]) -> [TensorSpec; N] {
    let (mut offset, mut index) = (0, 0);
    while index < N {
        tensors[index].offset = offset;
        offset += tensors[index].len();
        index += 1;
    }
    tensors
}

const fn parameters(tensors: &[TensorSpec]) -> usize {
    let last = &tensors[tensors.len() - 1];
    last.offset + last.len()
}

/// Builds a table of tensors with their offsets.
macro_rules! tensors {
    ($($name:literal [$($dim:expr),*])*) => {
        place([$(TensorSpec { name: $name, dims: &[$($dim),*], offset: 0 }),*])
    };
}

/// The embedding has 32 values for each of 256 top bytes. The first layer sees these and twelve bits of the word.
static DISPATCH: [TensorSpec; 7] = tensors! {
    "embedding.weight" [256, 32]
    "fc1.weight" [32, 44]
    "fc1.bias" [32]
    "fc2.weight" [16, 32]
    "fc2.bias" [16]
    "fc3.weight" [7, 16]
    "fc3.bias" [7]
};

static SMALL_DISPATCH: [TensorSpec; 4] = tensors! {
    "fc1.weight" [8, 8]
    "fc1.bias" [8]
    "fc2.weight" [7, 8]
    "fc2.bias" [7]
};

static DECODER: [TensorSpec; 7] = tensors! {
    "embedding.weight" [256, 32]
    "fc1.weight" [32, 44]
    "fc1.bias" [32]
    "fc2.weight" [24, 32]
    "fc2.bias" [24]
    "fc3.weight" [15, 24]
    "fc3.bias" [15]
};

/// The names are those of the published `loop_detector_v2`.
static LOOP_DETECTOR: [TensorSpec; 44] = tensors! {
    // Linear, LayerNorm, ReLU, Linear.
    "inst_embed.0.weight" [128, 32]
    "inst_embed.0.bias" [128]
    "inst_embed.1.weight" [128]
    "inst_embed.1.bias" [128]
    "inst_embed.3.weight" [128, 128]
    "inst_embed.3.bias" [128]
    "reg_field_extract.weight" [96, 32]
    "reg_field_extract.bias" [96]
    "seq_encoder.weight_ih_l0" [512, 128]
    "seq_encoder.weight_hh_l0" [512, 128]
    "seq_encoder.bias_ih_l0" [512]
    "seq_encoder.bias_hh_l0" [512]
    "seq_encoder.weight_ih_l0_reverse" [512, 128]
    "seq_encoder.weight_hh_l0_reverse" [512, 128]
    "seq_encoder.bias_ih_l0_reverse" [512]
    "seq_encoder.bias_hh_l0_reverse" [512]
    // The second layer sees both directions of the first.
    "seq_encoder.weight_ih_l1" [512, 256]
    "seq_encoder.weight_hh_l1" [512, 128]
    "seq_encoder.bias_ih_l1" [512]
    "seq_encoder.bias_hh_l1" [512]
    "seq_encoder.weight_ih_l1_reverse" [512, 256]
    "seq_encoder.weight_hh_l1_reverse" [512, 128]
    "seq_encoder.bias_ih_l1_reverse" [512]
    "seq_encoder.bias_hh_l1_reverse" [512]
    "reg_embed.0.weight" [128, 64]
    "reg_embed.0.bias" [128]
    "reg_embed.1.weight" [128]
    "reg_embed.1.bias" [128]
    "reg_embed.3.weight" [128, 128]
    "reg_embed.3.bias" [128]
    "cross_attn.in_proj_weight" [768, 256]
    "cross_attn.in_proj_bias" [768]
    "cross_attn.out_proj.weight" [256, 256]
    "cross_attn.out_proj.bias" [256]
    // Linear, ReLU, dropout, Linear.
    "type_head.0.weight" [128, 384]
    "type_head.0.bias" [128]
    "type_head.3.weight" [4, 128]
    "type_head.3.bias" [4]
    "counter_attn.weight" [32, 256]
    "counter_attn.bias" [32]
    "iter_head.0.weight" [128, 416]
    "iter_head.0.bias" [128]
    "iter_head.2.weight" [1, 128]
    "iter_head.2.bias" [1]
};

/// The names are those of the published `memory_oracle_lstm`.
static MEMORY_ORACLE: [TensorSpec; 24] = tensors! {
    "feature_encoder.0.weight" [64, 10]
    "feature_encoder.0.bias" [64]
    "feature_encoder.2.weight" [64, 64]
    "feature_encoder.2.bias" [64]
    "lstm.weight_ih_l0" [512, 64]
    "lstm.weight_hh_l0" [512, 128]
    "lstm.bias_ih_l0" [512]
    "lstm.bias_hh_l0" [512]
    "lstm.weight_ih_l1" [512, 128]
    "lstm.weight_hh_l1" [512, 128]
    "lstm.bias_ih_l1" [512]
    "lstm.bias_hh_l1" [512]
    // Linear, ReLU, dropout, Linear.
    "delta_head.0.weight" [128, 128]
    "delta_head.0.bias" [128]
    "delta_head.3.weight" [8, 128]
    "delta_head.3.bias" [8]
    "confidence_head.0.weight" [64, 128]
    "confidence_head.0.bias" [64]
    "confidence_head.2.weight" [8, 64]
    "confidence_head.2.bias" [8]
    "pattern_head.0.weight" [64, 128]
    "pattern_head.0.bias" [64]
    "pattern_head.2.weight" [4, 64]
    "pattern_head.2.bias" [4]
};

static PATTERN_RECOGNISER: [TensorSpec; 24] = tensors! {
    "prototypes" [6, 128]
    "temperature" [1]
    "opcode_embedding.weight" [256, 128]
    "position_embedding.weight" [32, 128]
    "feature_proj.weight" [128, 64]
    "feature_proj.bias" [128]
    "lstm.weight_ih_l0" [512, 128]
    "lstm.weight_hh_l0" [512, 128]
    "lstm.bias_ih_l0" [512]
    "lstm.bias_hh_l0" [512]
    "lstm.weight_ih_l1" [512, 128]
    "lstm.weight_hh_l1" [512, 128]
    "lstm.bias_ih_l1" [512]
    "lstm.bias_hh_l1" [512]
    "attention.in_proj_weight" [384, 128]
    "attention.in_proj_bias" [384]
    "attention.out_proj.weight" [128, 128]
    "attention.out_proj.bias" [128]
    // Linear, ReLU, Linear.
    "ffn.0.weight" [512, 128]
    "ffn.0.bias" [512]
    "ffn.2.weight" [128, 512]
    "ffn.2.bias" [128]
    "norm.weight" [128]
    "norm.bias" [128]
};

static ITERATION_PREDICTOR: [TensorSpec; 8] = tensors! {
    "fc1.weight" [128, 131]
    "fc1.bias" [128]
    "norm.weight" [128]
    "norm.bias" [128]
    "fc2.weight" [64, 128]
    "fc2.bias" [64]
    "fc3.weight" [1, 64]
    "fc3.bias" [1]
};

/// The architecture of a network that KVRM knows.
///
/// ```
/// use kvrm_models::Architecture;
///
/// assert_eq!(Architecture::Dispatch.parameters(), 10_279);
/// assert_eq!("small-dispatch".parse(), Ok(Architecture::SmallDispatch));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Architecture {
    /// Names the class of an instruction.
    Dispatch,
    /// Guesses the class of an instruction from the top byte alone.
    SmallDispatch,
    /// Names the category of an instruction.
    Decoder,
    /// Classifies loops and estimates their iterations.
    LoopDetector,
    /// Predicts memory accesses.
    MemoryOracle,
    /// Recognises well-known loops.
    PatternRecogniser,
    /// Estimates how often a loop runs.
    IterationPredictor,
}

impl Architecture {
    /// All architectures.
    pub const ALL: [Self; 7] = [
        Self::Dispatch,
        Self::SmallDispatch,
        Self::Decoder,
        Self::LoopDetector,
        Self::MemoryOracle,
        Self::PatternRecogniser,
        Self::IterationPredictor,
    ];

    /// Returns the name used in files, commands and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dispatch => "dispatch",
            Self::SmallDispatch => "small-dispatch",
            Self::Decoder => "decoder",
            Self::LoopDetector => "loop-detector",
            Self::MemoryOracle => "memory-oracle",
            Self::PatternRecogniser => "pattern-recogniser",
            Self::IterationPredictor => "iteration-predictor",
        }
    }

    /// Returns the architecture called `name`, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|architecture| architecture.name() == name)
    }

    /// Returns all names, separated by commas, for messages.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// Returns the tensors, in the order of the flat form.
    pub const fn tensors(self) -> &'static [TensorSpec] {
        match self {
            Self::Dispatch => &DISPATCH,
            Self::SmallDispatch => &SMALL_DISPATCH,
            Self::Decoder => &DECODER,
            Self::LoopDetector => &LOOP_DETECTOR,
            Self::MemoryOracle => &MEMORY_ORACLE,
            Self::PatternRecogniser => &PATTERN_RECOGNISER,
            Self::IterationPredictor => &ITERATION_PREDICTOR,
        }
    }

    /// Returns the tensor called `name`, if there is one.
    pub fn tensor(self, name: &str) -> Option<&'static TensorSpec> {
        self.tensors().iter().find(|tensor| tensor.name == name)
    }

    /// Returns the number of parameters: the values of all tensors.
    pub const fn parameters(self) -> usize {
        parameters(self.tensors())
    }
}

impl Display for Architecture {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Architecture {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::from_name(name)
            .ok_or_else(|| format!("unknown architecture `{name}`; expected one of {}", Self::names()))
    }
}

// The numbers of parameters are a contract: weights of the same shape made elsewhere can be converted.
const _: () = {
    assert!(parameters(&DISPATCH) == 10_279, "dispatch");
    assert!(parameters(&SMALL_DISPATCH) == 135, "small dispatch");
    assert!(parameters(&LOOP_DETECTOR) == 1_083_397, "loop detector");
    assert!(parameters(&MEMORY_ORACLE) == 271_124, "memory oracle");
    assert!(parameters(&PATTERN_RECOGNISER) == 508_161, "pattern recogniser");
    assert!(parameters(&ITERATION_PREDICTOR) == 25_473, "iteration predictor");
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameter_counts_match_the_published_networks() {
        let counts = Architecture::ALL.map(Architecture::parameters);
        assert_eq!(counts, [10_279, 135, 10_799, 1_083_397, 271_124, 508_161, 25_473], "in this order");
        assert_eq!(counts[1] + counts[3] + counts[4] + counts[5], 1_862_817, "the four large ones");
    }

    #[test]
    fn the_flat_forms_of_the_dispatch_networks_are_stable() {
        let offsets = |architecture: Architecture| -> Vec<usize> {
            architecture.tensors().iter().map(|tensor| tensor.offset).collect()
        };
        assert_eq!(offsets(Architecture::Dispatch), [0, 8_192, 9_600, 9_632, 10_144, 10_160, 10_272], "7");
        assert_eq!(offsets(Architecture::SmallDispatch), [0, 64, 72, 128], "4");
    }

    #[test]
    fn the_parts_of_the_memory_oracle_begin_where_the_documents_say() {
        for (name, offset) in [
            ("feature_encoder.0.weight", 0),
            ("lstm.weight_ih_l0", 4_864),
            ("delta_head.0.weight", 236_288),
            ("confidence_head.0.weight", 253_832),
            ("pattern_head.0.weight", 262_608),
        ] {
            let tensor = Architecture::MemoryOracle.tensor(name);
            assert_eq!(tensor.map(|tensor| tensor.offset), Some(offset), "{name}");
        }
    }

    /// The sizes are those that the networks' descriptions state for their parts.
    #[test]
    fn parts_have_the_sizes_of_their_layers() {
        let part = |architecture: Architecture, prefix: &str| -> usize {
            let tensors = architecture.tensors().iter();
            tensors.filter(|tensor| tensor.name.starts_with(prefix)).map(TensorSpec::len).sum()
        };
        for (prefix, len) in [
            ("inst_embed.", 20_992),
            ("reg_field_extract.", 3_168),
            ("seq_encoder.", 659_456),
            ("reg_embed.", 25_088),
            ("cross_attn.", 263_168),
            ("type_head.", 49_796),
            ("counter_attn.", 8_224),
            ("iter_head.", 53_505),
        ] {
            assert_eq!(part(Architecture::LoopDetector, prefix), len, "loop detector {prefix}");
        }
        for (prefix, len) in [
            ("feature_encoder.", 4_864),
            ("lstm.", 231_424),
            ("delta_head.", 17_544),
            ("confidence_head.", 8_776),
            ("pattern_head.", 8_516),
        ] {
            assert_eq!(part(Architecture::MemoryOracle, prefix), len, "memory oracle {prefix}");
        }
        for (prefix, len) in [
            ("opcode_embedding.", 32_768),
            ("position_embedding.", 4_096),
            ("feature_proj.", 8_320),
            ("lstm.", 264_192),
            ("attention.", 66_048),
            ("ffn.", 131_712),
            ("norm.", 256),
            ("prototypes", 768),
            ("temperature", 1),
        ] {
            assert_eq!(part(Architecture::PatternRecogniser, prefix), len, "pattern recogniser {prefix}");
        }
    }

    #[test]
    fn names_are_unique_and_found_again() {
        for architecture in Architecture::ALL {
            assert_eq!(architecture.name().parse(), Ok(architecture), "{architecture}");
            for tensor in architecture.tensors() {
                assert_eq!(architecture.tensor(tensor.name), Some(tensor), "{architecture} {}", tensor.name);
            }
        }
        assert!(
            "dispatcher".parse::<Architecture>().is_err_and(|error| error.contains("small-dispatch")),
            "no"
        );
    }
}
