//! `kvrm verify loops`: compares the networks that look at loops on the host and on a device.

mod samples;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, bail};
use kvrm::gpu::Device;
use kvrm::gpu::loop_networks::{LoopAnswer, LoopCandidate, LoopModels, LoopNetworks};
use kvrm::models::inputs::iteration_input;
use kvrm::models::{
    Architecture, IterationPredictor, LoopDetector, LoopProposal, PatternMatch, PatternRecogniser,
};

use self::samples::Source;
use super::comparison::{Answer, Comparison, Inputs, OnDevice, Units};
use super::networks::load;

/// The architectures of the networks.
const ARCHITECTURES: [Architecture; 3] =
    [Architecture::LoopDetector, Architecture::PatternRecogniser, Architecture::IterationPredictor];
/// The units of bodies.
const UNITS: Units = Units { inputs: "bodies", tokens: "words", timed: 256 };

/// The options of the comparison.
pub(crate) struct Options<'a> {
    /// The files of weights. Networks without a file have the weights that come with KVRM, or random ones.
    pub(crate) weights: &'a [PathBuf],
    /// The file with the bodies, if they are not generated.
    pub(crate) file: Option<&'a Path>,
    /// The number of bodies that are generated.
    pub(crate) bodies: usize,
    /// The number of words of each body; `None` for bodies of all lengths.
    pub(crate) words: Option<usize>,
    /// The seed of bodies and random weights.
    pub(crate) seed: u64,
}

/// The answers of all networks for a body.
struct LoopOutputs {
    proposal: LoopProposal,
    matched: PatternMatch,
    log10_iterations: f32,
}

impl LoopOutputs {
    /// Returns the answers of a device, if all networks have answered.
    fn of(answer: LoopAnswer) -> Option<Self> {
        let (proposal, matched) = (answer.proposal?, answer.matched?);
        Some(Self { proposal, matched, log10_iterations: answer.log10_iterations? })
    }
}

impl Answer for LoopOutputs {
    fn outputs(&self) -> Vec<(&'static str, &[f32])> {
        use std::slice::from_ref;
        vec![
            ("kind logits", &self.proposal.kind_logits[..]),
            ("counter logits", &self.proposal.counter_logits),
            ("counter", &self.proposal.counter),
            ("iterations, log10", from_ref(&self.proposal.log10_iterations)),
            ("pattern logits", &self.matched.logits),
            ("cosines", &self.matched.cosines),
            ("embedding", &self.matched.embedding),
            ("predicted, log10", from_ref(&self.log10_iterations)),
        ]
    }

    fn choices(&self) -> Vec<(&'static str, &[f32])> {
        vec![
            ("kind", &self.proposal.kind_logits[..]),
            ("counter", &self.proposal.counter_logits),
            ("pattern", &self.matched.logits),
        ]
    }
}

/// All networks, with weights rounded to half precision.
struct Networks {
    detector: LoopDetector,
    recogniser: PatternRecogniser,
    predictor: IterationPredictor,
}

impl Networks {
    fn new(flat: [&[f32]; 3]) -> Result<Self> {
        let [detector, recogniser, predictor] = flat;
        Ok(Self {
            detector: LoopDetector::from_flat(detector)?.rounded_to_half()?,
            recogniser: PatternRecogniser::from_flat(recogniser)?.rounded_to_half()?,
            predictor: IterationPredictor::from_flat(predictor)?.rounded_to_half()?,
        })
    }

    /// Returns the answer of the host for a body of one to 32 words.
    fn answer(&self, candidate: &LoopCandidate<'_>) -> Option<LoopOutputs> {
        let proposal = self.detector.propose(candidate.body, &candidate.registers)?;
        let matched = self.recogniser.recognise(candidate.body)?;
        let input = iteration_input(&matched.embedding, candidate.distance, candidate.step, candidate.pc);
        let log10_iterations = self.predictor.log10_iterations(&input);
        Some(LoopOutputs { proposal, matched, log10_iterations })
    }
}

/// Evaluates the networks on the host and, if there is one, on a device.
pub(crate) fn compare(options: &Options<'_>, device: Option<&Device>) -> Result<Comparison> {
    let (listed, flat) = load(options.weights, ARCHITECTURES, options.seed)?;
    let networks = Networks::new(flat.each_ref().map(Vec::as_slice))?;
    let source =
        options.file.map_or(Source::Generated { seed: options.seed, words: options.words }, Source::File);
    let samples = source.samples(options.bodies)?;
    let candidates: Vec<LoopCandidate<'_>> = samples.iter().map(|sample| sample.candidate()).collect();

    let begin = Instant::now();
    let expected: Option<Vec<LoopOutputs>> =
        candidates.iter().map(|candidate| networks.answer(candidate)).collect();
    let host_time = begin.elapsed();
    let Some(expected) = expected else { bail!("a body of {source} has no words or more than 32") };
    let models = LoopModels {
        detector: Some(&networks.detector),
        recogniser: Some(&networks.recogniser),
        predictor: Some(&networks.predictor),
    };
    let on_device = |device| {
        OnDevice::measure(
            device,
            &expected,
            || Ok(LoopNetworks::new(device, models)?),
            |there| Ok(there.evaluate(&candidates)?),
            LoopOutputs::of,
        )
    };
    Ok(Comparison {
        networks: listed.into(),
        inputs: Inputs {
            units: UNITS,
            source: source.to_string(),
            count: candidates.len(),
            tokens: candidates.iter().map(|candidate| candidate.body.len()).sum(),
        },
        host_time,
        on_device: device.map(on_device).transpose()?,
    })
}
