//! Outputs of PyTorch for the same weights and inputs, from `pytorch.py`.

use std::collections::BTreeMap;

use kvrm_models::inputs::{Access, iteration_input};
use kvrm_models::{Architecture, IterationPredictor, LoopDetector, MemoryOracle, PatternRecogniser};
use kvrm_testkit::random::Random;
use serde::Deserialize;

use crate::random_weights::random_weights;

/// The greatest difference from PyTorch's results in 64 bits. Where hyperbolic tangents are not near their limits, the
/// difference is the rounding of `f32`.
const TOLERANCE: f64 = 2e-6;

/// The lengths of bodies and of windows, in the order of seeds.
const LENGTHS: [usize; 8] = [1, 2, 3, 5, 8, 13, 21, 32];

/// The networks that look at loops.
const ARCHITECTURES: [Architecture; 3] =
    [Architecture::LoopDetector, Architecture::PatternRecogniser, Architecture::IterationPredictor];

#[derive(Deserialize)]
struct Answers {
    /// The names and shapes of the tensors of each architecture, in the order of its state dict.
    tensors: BTreeMap<String, Vec<(String, Vec<usize>)>>,
    cases: Vec<Case>,
    windows: Vec<Window>,
}

#[derive(Deserialize)]
struct Case {
    seed: u64,
    words: Vec<u32>,
    registers: [u64; 32],
    kind_logits: Vec<f64>,
    counter_logits: Vec<f64>,
    log10_iterations: Vec<f64>,
    cosines: Vec<f64>,
    logits: Vec<f64>,
    embedding: Vec<f64>,
    predicted: Vec<f64>,
}

#[derive(Deserialize)]
struct Window {
    seed: u64,
    /// Delta, size, 1 for a load, and address of the instruction of each access.
    accesses: Vec<(i64, u32, u8, u64)>,
    deltas: Vec<f64>,
    confidences: Vec<f64>,
    pattern_logits: Vec<f64>,
}

/// Fails if outputs differ from PyTorch's.
#[track_caller]
fn assert_near(name: &str, seed: u64, ours: &[f32], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (ours, theirs) in ours.iter().zip(theirs) {
        let error = (f64::from(*ours) - theirs).abs();
        assert!(error < TOLERANCE, "{name} of seed {seed}: {ours} instead of {theirs}");
    }
}

fn answers() -> Answers {
    serde_json::from_str(include_str!("pytorch.json")).expect("pytorch.py wrote it")
}

#[test]
fn tensors_are_those_of_pytorch_modules() {
    let tensors = answers().tensors;
    assert_eq!(tensors.len(), 4, "the networks that look at sequences, and the iteration predictor");
    for (name, tensors) in tensors {
        let architecture: Architecture = name.parse().expect("an architecture");
        let ours = architecture.tensors().iter().map(|spec| (spec.name.to_owned(), spec.dims.to_vec()));
        assert_eq!(ours.collect::<Vec<_>>(), tensors, "of {name}");
    }
}

#[test]
fn outputs_are_those_of_pytorch() {
    for case in answers().cases {
        let mut random = Random::new(case.seed);
        let [detector, recogniser, predictor] =
            ARCHITECTURES.map(|architecture| random_weights(architecture, &mut random));
        let detector = LoopDetector::from_flat(&detector).expect("the right number of weights");
        let recogniser = PatternRecogniser::from_flat(&recogniser).expect("the right number of weights");
        let predictor = IterationPredictor::from_flat(&predictor).expect("the right number of weights");

        let proposal = detector.propose(&case.words, &case.registers).expect("up to 32 words");
        let matched = recogniser.recognise(&case.words).expect("up to 32 words");
        let [counter, limit, pc, ..] = case.registers;
        let predicted = predictor.log10_iterations(&iteration_input(&matched.embedding, counter, limit, pc));

        for (name, ours, theirs) in [
            ("kind_logits", &proposal.kind_logits[..], &case.kind_logits),
            ("counter_logits", &proposal.counter_logits, &case.counter_logits),
            ("log10_iterations", &[proposal.log10_iterations], &case.log10_iterations),
            ("cosines", &matched.cosines, &case.cosines),
            ("logits", &matched.logits, &case.logits),
            ("embedding", &matched.embedding, &case.embedding),
            ("predicted", &[predicted], &case.predicted),
        ] {
            assert_near(name, case.seed, ours, theirs);
        }
        assert_eq!(case.words.len(), LENGTHS[case.seed as usize - 1], "all lengths");
    }
}

#[test]
fn predictions_of_accesses_are_those_of_pytorch() {
    for window in answers().windows {
        let flat = random_weights(Architecture::MemoryOracle, &mut Random::new(window.seed));
        let oracle = MemoryOracle::from_flat(&flat).expect("the right number of weights");
        let access = |&(delta, size, is_load, pc): &_| Access { delta, size, is_load: is_load == 1, pc };
        let accesses: Vec<Access> = window.accesses.iter().map(access).collect();
        let prediction = oracle.predict(&accesses).expect("up to 32 accesses");
        assert_near("deltas", window.seed, &prediction.encoded_deltas, &window.deltas);
        assert_near("confidences", window.seed, &prediction.confidences, &window.confidences);
        assert_near("pattern_logits", window.seed, &prediction.pattern_logits, &window.pattern_logits);
        assert_eq!(accesses.len(), LENGTHS[window.seed as usize - 1], "all lengths");
    }
}
