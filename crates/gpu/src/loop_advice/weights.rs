//! The networks of an advisor, with weights of several origins.

use kvrm_models::{
    Architecture, IterationPredictor, LoopDetector, PatternRecogniser, Weights, untrained_weights,
};

use crate::device::error::Error;

/// The networks that look at loops, as devices evaluate them.
#[derive(Clone, Debug)]
pub(super) struct Networks {
    pub(super) detector: LoopDetector,
    pub(super) recogniser: PatternRecogniser,
    pub(super) predictor: IterationPredictor,
}

impl Networks {
    /// Returns the networks with the weights that come with KVRM.
    pub(super) fn builtin() -> Result<Self, Error> {
        Self::with(|architecture| {
            let weights = Weights::builtin(architecture).map_err(|error| error.to_string())?;
            let (weights, _) = weights.ok_or("no weights of it come with this build of KVRM")?;
            Ok(weights.into_values())
        })
    }

    /// Returns networks with random weights.
    pub(super) fn random(seed: u64) -> Result<Self, Error> {
        let mut state = seed;
        // The generator SplitMix64.
        let mut bits = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        };
        Self::with(|architecture| Ok(untrained_weights(architecture, &mut bits)))
    }

    /// Returns networks whose weights are zero, to which all answers are equally likely.
    pub(super) fn zero() -> Result<Self, Error> {
        Self::with(|architecture| Ok(vec![0.0; architecture.parameters()]))
    }

    fn with(mut flat: impl FnMut(Architecture) -> Result<Vec<f32>, String>) -> Result<Self, Error> {
        fn network<N, E: ToString>(
            architecture: Architecture,
            flat: &mut impl FnMut(Architecture) -> Result<Vec<f32>, String>,
            of: impl FnOnce(&[f32]) -> Result<N, E>,
        ) -> Result<N, Error> {
            flat(architecture)
                .and_then(|flat| of(&flat).map_err(|error| error.to_string()))
                .map_err(|reason| Error::UnsuitableWeights { network: architecture.name(), reason })
        }
        let flat = &mut flat;
        Ok(Self {
            detector: network(Architecture::LoopDetector, flat, |flat| {
                LoopDetector::from_flat(flat)?.rounded_to_half()
            })?,
            recogniser: network(Architecture::PatternRecogniser, flat, |flat| {
                PatternRecogniser::from_flat(flat)?.rounded_to_half()
            })?,
            predictor: network(Architecture::IterationPredictor, flat, |flat| {
                IterationPredictor::from_flat(flat)?.rounded_to_half()
            })?,
        })
    }
}
