//! The networks of an advisor, with weights of several origins.

use kvrm_learn::Random;
use kvrm_models::{
    Architecture, IterationPredictor, LoopDetector, PatternRecogniser, Weights, WeightsError,
    untrained_weights,
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
        let mut random = Random::new(seed);
        let mut bits = || random.bits();
        Self::with(|architecture| Ok(untrained_weights(architecture, &mut bits)))
    }

    /// Returns networks whose weights are zero, to which all answers are equally likely.
    pub(super) fn zero() -> Result<Self, Error> {
        Self::with(|architecture| Ok(vec![0.0; architecture.parameters()]))
    }

    fn with(mut flat: impl FnMut(Architecture) -> Result<Vec<f32>, String>) -> Result<Self, Error> {
        let mut flat = |architecture: Architecture| {
            flat(architecture)
                .map_err(|reason| Error::UnsuitableWeights { network: architecture.name(), reason })
        };
        Ok(Self {
            detector: detector(&flat(Architecture::LoopDetector)?)?,
            recogniser: recogniser(&flat(Architecture::PatternRecogniser)?)?,
            predictor: predictor(&flat(Architecture::IterationPredictor)?)?,
        })
    }

    /// Replaces the network that these weights are of.
    pub(super) fn replace(&mut self, weights: &Weights) -> Result<(), Error> {
        match weights.architecture() {
            Architecture::LoopDetector => self.detector = detector(weights.values())?,
            Architecture::PatternRecogniser => self.recogniser = recogniser(weights.values())?,
            Architecture::IterationPredictor => self.predictor = predictor(weights.values())?,
            other => return Err(Error::NotALoopNetwork { architecture: other.name() }),
        }
        Ok(())
    }
}

fn detector(flat: &[f32]) -> Result<LoopDetector, Error> {
    let network = LoopDetector::from_flat(flat).and_then(|network| network.rounded_to_half());
    network.map_err(|error| unsuitable(Architecture::LoopDetector, &error))
}

fn recogniser(flat: &[f32]) -> Result<PatternRecogniser, Error> {
    let network = PatternRecogniser::from_flat(flat).and_then(|network| network.rounded_to_half());
    network.map_err(|error| unsuitable(Architecture::PatternRecogniser, &error))
}

fn predictor(flat: &[f32]) -> Result<IterationPredictor, Error> {
    let network = IterationPredictor::from_flat(flat).and_then(|network| network.rounded_to_half());
    network.map_err(|error| unsuitable(Architecture::IterationPredictor, &error))
}

fn unsuitable(architecture: Architecture, error: &WeightsError) -> Error {
    Error::UnsuitableWeights { network: architecture.name(), reason: error.to_string() }
}
