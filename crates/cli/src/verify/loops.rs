//! `kvrm verify loops`: compares the networks that look at loops on the host and on a device.

mod comparison;
mod random;
mod samples;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use kvrm::gpu::Device;
use kvrm::gpu::loop_networks::{LoopCandidate, LoopModels, LoopNetworks};
use kvrm::models::inputs::iteration_input;
use kvrm::models::{
    Architecture, IterationPredictor, LoopDetector, PatternRecogniser, Weights, untrained_weights,
};

use self::comparison::{Answer, Comparison, Network, OnDevice};
use self::random::Random;
use self::samples::Source;

/// The architectures of the networks.
const ARCHITECTURES: [Architecture; 3] =
    [Architecture::LoopDetector, Architecture::PatternRecogniser, Architecture::IterationPredictor];
/// The number of evaluations on the device whose median time is reported.
const REPETITIONS: usize = 5;
/// The time for which the device evaluates the networks before it is measured.
const WARM_UP: Duration = Duration::from_secs(1);
/// The number of bodies from which on one evaluation is long enough to be measured.
const MANY: usize = 1024;

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
    fn answer(&self, candidate: &LoopCandidate<'_>) -> Option<Answer> {
        let proposal = self.detector.propose(candidate.body, &candidate.registers)?;
        let matched = self.recogniser.recognise(candidate.body)?;
        let input = iteration_input(&matched.embedding, candidate.distance, candidate.step, candidate.pc);
        let log10_iterations = self.predictor.log10_iterations(&input);
        Some(Answer { proposal, matched, log10_iterations })
    }
}

/// Evaluates the networks on the host and, if there is one, on a device.
pub(crate) fn compare(options: &Options<'_>, device: Option<&Device>) -> Result<Comparison> {
    let mut random = Random::new(options.seed);
    let (origins, flat) = load(options, &mut random)?;
    let networks = Networks::new(flat.each_ref().map(Vec::as_slice))?;
    let source =
        options.file.map_or(Source::Generated { seed: options.seed, words: options.words }, Source::File);
    let samples = source.samples(options.bodies)?;
    let candidates: Vec<LoopCandidate<'_>> = samples.iter().map(|sample| sample.candidate()).collect();

    let begin = Instant::now();
    let expected: Option<Vec<Answer>> =
        candidates.iter().map(|candidate| networks.answer(candidate)).collect();
    let host_time = begin.elapsed();
    let Some(expected) = expected else { bail!("a body of {source} has no words or more than 32") };
    let on_device = match device {
        Some(device) => Some(evaluate(device, &networks, &candidates, &expected)?),
        None => None,
    };
    let network = |(architecture, origin): (Architecture, String)| Network { architecture, origin };
    Ok(Comparison {
        networks: ARCHITECTURES.into_iter().zip(origins).map(network).collect(),
        source: source.to_string(),
        bodies: candidates.len(),
        words: candidates.iter().map(|candidate| candidate.body.len()).sum(),
        host_time,
        on_device,
    })
}

/// Evaluates the networks on a device, and compares the answers with those of the host.
fn evaluate(
    device: &Device,
    networks: &Networks,
    candidates: &[LoopCandidate<'_>],
    expected: &[Answer],
) -> Result<OnDevice> {
    let models = LoopModels {
        detector: Some(&networks.detector),
        recogniser: Some(&networks.recogniser),
        predictor: Some(&networks.predictor),
    };
    let begin = Instant::now();
    let mut there = LoopNetworks::new(device, models)?;
    let compile_time = begin.elapsed();
    // The first evaluation makes the buffers, and some drivers compile kernels when they first run.
    let begin = Instant::now();
    let answers = there.evaluate(candidates)?;
    let first_time = begin.elapsed();
    let mut times = Vec::new();
    let (repetitions, warm_up) =
        if candidates.len() > MANY { (1, Duration::ZERO) } else { (REPETITIONS, WARM_UP) };
    // A GPU that was idle has a low clock. One that runs lanes has not.
    while begin.elapsed() < warm_up {
        there.evaluate(candidates)?;
    }
    for _ in 0..repetitions {
        let begin = Instant::now();
        there.evaluate(candidates)?;
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    let found: Option<Vec<Answer>> = answers.into_iter().map(Answer::of).collect();
    let Some(found) = found else { bail!("the device has not answered for all bodies") };
    Ok(OnDevice::new(
        device.info().to_string(),
        [compile_time, first_time, times.get(repetitions / 2).copied().unwrap_or(Duration::ZERO)],
        expected,
        &found,
    ))
}

/// Returns the weights of each network, and where they come from.
fn load(options: &Options<'_>, random: &mut Random) -> Result<([String; 3], [Vec<f32>; 3])> {
    let mut given: [Option<(String, Vec<f32>)>; 3] = [None, None, None];
    for path in options.weights {
        let (file, weights) = (path.display().to_string(), Weights::load(path)?);
        let found = weights.architecture();
        let Some(index) = ARCHITECTURES.iter().position(|architecture| *architecture == found) else {
            let expected = ARCHITECTURES.map(Architecture::name).join(", ");
            bail!("{file}: expected the weights of one of {expected}, found a {found} network");
        };
        if let Some((other, _)) = given[index].replace((file.clone(), weights.into_values())) {
            bail!("{file}: expected one file for each network, but {other} is also a {found} network");
        }
    }
    let mut origins = [const { String::new() }; 3];
    let mut flat = [const { Vec::new() }; 3];
    for (index, architecture) in ARCHITECTURES.into_iter().enumerate() {
        // The random numbers of a network do not depend on the weights of the others.
        let mut random = random.split();
        (origins[index], flat[index]) = match (given[index].take(), Weights::builtin(architecture)?) {
            (Some(given), _) => given,
            (None, Some((weights, digest))) => (format!("built in, SHA-256 {digest}"), weights.into_values()),
            (None, None) => {
                let weights = untrained_weights(architecture, &mut || random.bits());
                (format!("random, seed {}", options.seed), weights)
            }
        };
    }
    Ok((origins, flat))
}
