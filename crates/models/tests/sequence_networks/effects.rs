//! Every part of every tensor has an effect on the outputs.

use kvrm_models::inputs::{ITERATION_INPUTS, WINDOW_ACCESSES_MAX};
use kvrm_models::{
    Architecture, IterationPredictor, LoopDetector, MemoryOracle, PatternRecogniser, TensorSpec,
};
use kvrm_testkit::random::Random;

use crate::accesses::{outputs, random_window};
use crate::random_weights::random_weights;

/// Words with top bytes from all over the range.
const WORDS: [u32; 8] = [
    0x1400_0000, // b .
    0x3800_1420, // strb w0, [x1], #1
    0x54ff_ffc1, // b.ne .-8
    0x8b01_0000, // add x0, x0, x1
    0xb5ff_ff80, // cbnz x0, .-16
    0xd343_fc20, // lsr x0, x1, #3
    0xf100_0442, // subs x2, x2, #1
    0xf940_0041, // ldr x1, [x2]
];

/// Returns the number of equal parts that a tensor has: queries, keys and values, gates, pointers, or just blocks of rows.
fn parts(tensor: &TensorSpec) -> usize {
    [3, 4].into_iter().find(|parts| tensor.dims[0].is_multiple_of(*parts)).unwrap_or(1)
}

/// Changes each part of each tensor in turn and checks that `outputs` change, but for the parts that `ignored` names.
fn every_part_has_an_effect(
    architecture: Architecture,
    ignored: &[(&str, usize)],
    outputs: impl Fn(&[f32]) -> Vec<f32>,
) {
    let mut random = Random::new(1);
    let mut flat = random_weights(architecture, &mut random);
    let before = outputs(&flat);
    assert!(before.iter().all(|value| value.abs() < 1e3), "activations stay near 1: {before:?}");
    for tensor in architecture.tensors() {
        let len = tensor.len() / parts(tensor);
        for part in 0..parts(tensor) {
            let values = tensor.offset + part * len..tensor.offset + (part + 1) * len;
            let saved = flat[values.clone()].to_vec();
            for value in &mut flat[values.clone()] {
                *value += (random.below(1_000) as f32 - 500.0) / 2_000.0;
            }
            let after = outputs(&flat);
            let change = before.iter().zip(&after).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            if ignored.contains(&(tensor.name, part)) {
                assert!(change < 1e-5, "part {part} of {} of {architecture} changes {change}", tensor.name);
            } else {
                assert!(change > 1e-4, "part {part} of {} of {architecture} changes {change}", tensor.name);
            }
            flat[values].copy_from_slice(&saved);
        }
    }
}

/// The body of 32 words.
fn body() -> Vec<u32> {
    WORDS.iter().copied().cycle().take(32).collect()
}

#[test]
fn every_part_of_the_loop_detector_has_an_effect() {
    let registers =
        std::array::from_fn(|register| (register as u64).wrapping_mul(0x0123_4567_89ab) >> register);
    // Softmax removes the bias of keys.
    every_part_has_an_effect(Architecture::LoopDetector, &[("cross_attn.in_proj_bias", 1)], |flat| {
        let network = LoopDetector::from_flat(flat).expect("the right number of weights");
        let proposal = network.propose(&body()[..20], &registers).expect("20 words");
        let iterations = [proposal.log10_iterations];
        [&proposal.kind_logits[..], &proposal.counter_logits, &iterations].concat()
    });
}

#[test]
fn every_part_of_the_pattern_recogniser_has_an_effect() {
    every_part_has_an_effect(Architecture::PatternRecogniser, &[("attention.in_proj_bias", 1)], |flat| {
        let network = PatternRecogniser::from_flat(flat).expect("the right number of weights");
        let matched = network.recognise(&body()).expect("32 words");
        [&matched.logits[..], &matched.embedding].concat()
    });
}

#[test]
fn every_part_of_the_iteration_predictor_has_an_effect() {
    let inputs: [f32; ITERATION_INPUTS] = std::array::from_fn(|index| (index % 7) as f32 / 7.0);
    every_part_has_an_effect(Architecture::IterationPredictor, &[], |flat| {
        let network = IterationPredictor::from_flat(flat).expect("the right number of weights");
        vec![network.log10_iterations(&inputs)]
    });
}

#[test]
fn every_part_of_the_memory_oracle_has_an_effect() {
    let window = random_window(WINDOW_ACCESSES_MAX, &mut Random::new(3));
    every_part_has_an_effect(Architecture::MemoryOracle, &[], |flat| {
        let network = MemoryOracle::from_flat(flat).expect("the right number of weights");
        outputs(&network.predict(&window).expect("32 accesses"))
    });
}

#[test]
fn outputs_depend_on_the_order_of_words_and_on_registers() {
    let mut random = Random::new(2);
    let detector = LoopDetector::from_flat(&random_weights(Architecture::LoopDetector, &mut random));
    let detector = detector.expect("the right number of weights");
    let mut registers = [1; 32];
    let first = detector.propose(&body()[..4], &registers);
    for register in 0..32 {
        registers[register] = 1_000;
        assert_ne!(detector.propose(&body()[..4], &registers), first, "register {register}");
        registers[register] = 1;
    }
    let mut words = body();
    words[..4].reverse();
    assert_ne!(detector.propose(&words[..4], &registers), first, "the reverse order");
    let recogniser =
        PatternRecogniser::from_flat(&random_weights(Architecture::PatternRecogniser, &mut random));
    let recogniser = recogniser.expect("the right number of weights");
    assert_ne!(recogniser.recognise(&words[..4]), recogniser.recognise(&body()[..4]), "the reverse order");
    assert_eq!(recogniser.recognise(&[0; 33]), None, "too many words");
    assert_eq!((recogniser.recognise(&[]), detector.propose(&[], &registers)), (None, None), "no words");
}
