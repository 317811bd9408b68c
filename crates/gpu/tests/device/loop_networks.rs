//! The networks that look at loops on the device: the answers are those of the host up to rounding, whatever the number and
//! the lengths of bodies.

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_gpu::Error;
use kvrm_gpu::loop_networks::{LoopAnswer, LoopCandidate, LoopModels, LoopNetworks};
use kvrm_models::inputs::{BODY_WORDS_MAX, iteration_input};
use kvrm_models::{
    Architecture, IterationPredictor, LoopDetector, PatternRecogniser, WeightsError, untrained_weights,
};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

use crate::support::device;

/// The greatest difference to the host, relative to the greater of 1 and the value.
const TOLERANCE: f32 = 1e-5;

/// All networks, with random weights that are numbers of half precision.
struct Networks {
    detector: LoopDetector,
    recogniser: PatternRecogniser,
    predictor: IterationPredictor,
}

impl Networks {
    fn random(seed: u64) -> Result<Self, WeightsError> {
        let mut random = Random::new(seed);
        let mut weights = |architecture| untrained_weights(architecture, &mut || random.bits());
        Ok(Self {
            detector: LoopDetector::from_flat(&weights(Architecture::LoopDetector))?.rounded_to_half()?,
            recogniser: PatternRecogniser::from_flat(&weights(Architecture::PatternRecogniser))?
                .rounded_to_half()?,
            predictor: IterationPredictor::from_flat(&weights(Architecture::IterationPredictor))?
                .rounded_to_half()?,
        })
    }

    fn models(&self) -> LoopModels<'_> {
        LoopModels {
            detector: Some(&self.detector),
            recogniser: Some(&self.recogniser),
            predictor: Some(&self.predictor),
        }
    }

    fn on_device(&self) -> LoopNetworks {
        LoopNetworks::new(device(), self.models()).expect("the buffers fit")
    }

    /// Returns all outputs for a candidate on the host, each with its name.
    fn on_host(&self, candidate: &LoopCandidate<'_>) -> Vec<(String, f32)> {
        let proposal = self.detector.propose(candidate.body, &candidate.registers);
        let matched = self.recogniser.recognise(candidate.body).expect("the body has one to 32 words");
        let input = iteration_input(&matched.embedding, candidate.distance, candidate.step, candidate.pc);
        let mut answer = LoopAnswer::default();
        answer.proposal = proposal;
        answer.matched = Some(matched);
        answer.log10_iterations = Some(self.predictor.log10_iterations(&input));
        outputs(&answer)
    }
}

/// Returns all outputs of an answer, each with its name.
fn outputs(answer: &LoopAnswer) -> Vec<(String, f32)> {
    let proposal = answer.proposal.as_ref().expect("there is a detector");
    let matched = answer.matched.as_ref().expect("there is a recogniser");
    let predicted = answer.log10_iterations.expect("there is a predictor");
    let groups = [
        ("kind logit", &proposal.kind_logits[..]),
        ("counter logit", &proposal.counter_logits),
        ("counter", &proposal.counter),
        ("iterations", &[proposal.log10_iterations]),
        ("pattern logit", &matched.logits),
        ("cosine", &matched.cosines),
        ("embedding", &matched.embedding),
        ("predicted iterations", &[predicted]),
    ];
    let of = |(name, values): (&str, &[f32])| -> Vec<(String, f32)> {
        (0..).zip(values).map(|(index, value): (usize, &f32)| (format!("{name} {index}"), *value)).collect()
    };
    groups.into_iter().flat_map(of).collect()
}

/// Returns bodies of these lengths: instructions of all rows of the table, and a branch back to the first.
fn random_bodies(lengths: impl Iterator<Item = usize>, random: &mut Random) -> Vec<Vec<u32>> {
    let body = |length: usize, random: &mut Random| -> Vec<u32> {
        let mut body: Vec<u32> =
            (1..length).map(|_| words::allocated(random.pick(ENCODINGS), random)).collect();
        let offset = (1 - length as i32) as u32 & 0x7_ffff;
        body.push(0x5400_0001 | offset << 5); // b.ne to the first
        body
    };
    lengths.map(|length| body(length, random)).collect()
}

/// Returns a candidate for each body, with random registers of all magnitudes and signs.
fn random_candidates<'a>(bodies: &'a [Vec<u32>], random: &mut Random) -> Vec<LoopCandidate<'a>> {
    let candidate = |body: &'a Vec<u32>| {
        let mut number = || match random.below(8) {
            0 => 0,
            1 => random.bits() | 1 << 63,
            _ => random.bits() >> random.below(64),
        };
        LoopCandidate {
            body,
            registers: std::array::from_fn(|_| number()),
            distance: number(),
            step: number(),
            pc: number() & !3,
        }
    };
    bodies.iter().map(candidate).collect()
}

/// Asserts that the answers for candidates are those of the host.
fn assert_agree(networks: &Networks, there: &mut LoopNetworks, candidates: &[LoopCandidate<'_>]) {
    let answers = there.evaluate(candidates).expect("the device works");
    assert_eq!(answers.len(), candidates.len(), "one for each candidate");
    for (index, (candidate, answer)) in candidates.iter().zip(&answers).enumerate() {
        let expected = networks.on_host(candidate);
        for ((name, found), (_, expected)) in outputs(answer).into_iter().zip(expected) {
            let difference = (found - expected).abs() / expected.abs().max(1.0);
            assert!(
                difference <= TOLERANCE,
                "{name} of candidate {index}, a body of {} words: {found}, not {expected}",
                candidate.body.len()
            );
        }
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn answers_for_bodies_of_all_lengths_are_those_of_the_host() {
    let networks = Networks::random(1).expect("random weights are small");
    let mut there = networks.on_device();
    let mut random = Random::new(2);
    // One body, some bodies, and then fewer in the same buffers. No number is a multiple of another.
    for count in [1, 3, 77, 5] {
        let lengths = (0..count).map(|index| index * 7 % BODY_WORDS_MAX + 1);
        let bodies = random_bodies(lengths, &mut random);
        assert_agree(&networks, &mut there, &random_candidates(&bodies, &mut random));
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn more_candidates_than_a_submission_takes_are_answered_in_order() {
    let networks = Networks::random(3).expect("random weights are small");
    let mut random = Random::new(4);
    let bodies = random_bodies((0..261).map(|index| index % 5 + 1), &mut random);
    assert_agree(&networks, &mut networks.on_device(), &random_candidates(&bodies, &mut random));
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn networks_that_are_left_out_and_bodies_that_are_too_long_get_no_answer() {
    let networks = Networks::random(5).expect("random weights are small");
    let mut random = Random::new(6);
    let bodies = random_bodies([33, 2, 32].into_iter(), &mut random);
    let mut candidates = random_candidates(&bodies, &mut random);
    candidates.push(LoopCandidate { body: &[], ..candidates[0] });
    for (has_detector, has_recogniser) in [(true, false), (false, true), (false, false)] {
        let models = LoopModels {
            detector: has_detector.then_some(&networks.detector),
            recogniser: has_recogniser.then_some(&networks.recogniser),
            predictor: None,
        };
        let mut there = LoopNetworks::new(device(), models).expect("the buffers fit");
        let answers = there.evaluate(&candidates).expect("the device works");
        for (index, answer) in answers.iter().enumerate() {
            let fits = [1, 2].contains(&index);
            assert_eq!(answer.proposal.is_some(), fits && has_detector, "detector, body {index}");
            assert_eq!(answer.matched.is_some(), fits && has_recogniser, "recogniser, body {index}");
            assert_eq!(answer.log10_iterations, None, "predictor, body {index}");
        }
    }
    let mut there = networks.on_device();
    assert_eq!(there.evaluate(&[]), Ok(Vec::new()), "no candidates");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn weights_that_a_device_cannot_store_are_refused() {
    let mut flat = vec![0.0; LoopDetector::PARAMETERS];
    flat[5] = 1e5;
    let detector = LoopDetector::from_flat(&flat).expect("all weights are finite");
    let models = LoopModels { detector: Some(&detector), ..LoopModels::default() };
    let error = LoopNetworks::new(device(), models).expect_err("1e5 is beyond half precision");
    let message = "the loop-detector network cannot be evaluated on a device: weight 5 is 100000, but devices store \
                   weights in half precision, up to ±65504; train with smaller weights";
    assert_eq!(error.to_string(), message, "names network and weight");

    let predictor = IterationPredictor::from_flat(&vec![0.0; IterationPredictor::PARAMETERS]);
    let predictor = predictor.expect("the number of weights is right");
    let models = LoopModels { predictor: Some(&predictor), ..LoopModels::default() };
    let error = LoopNetworks::new(device(), models).expect_err("there is no recogniser");
    assert!(matches!(error, Error::UnsuitableWeights { .. }), "{error}");
}
