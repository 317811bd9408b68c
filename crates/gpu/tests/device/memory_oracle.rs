//! The memory oracle on the device: the predictions are those of the host up to rounding, whatever the number and the lengths
//! of windows.

use kvrm_gpu::Error;
use kvrm_gpu::memory_oracle::MemoryOracleKernels;
use kvrm_models::inputs::{Access, WINDOW_ACCESSES_MAX};
use kvrm_models::{AccessPrediction, Architecture, MemoryOracle, untrained_weights};
use kvrm_testkit::random::Random;

use crate::support::device;

/// The greatest difference to the host, relative to the greater of 1 and the value.
const TOLERANCE: f32 = 1e-5;

/// Returns a network with random weights that are numbers of half precision.
fn random_oracle(seed: u64) -> MemoryOracle {
    let mut random = Random::new(seed);
    let flat = untrained_weights(Architecture::MemoryOracle, &mut || random.bits());
    let oracle = MemoryOracle::from_flat(&flat).expect("the number of weights is right");
    oracle.rounded_to_half().expect("random weights are small")
}

fn on_device(oracle: &MemoryOracle) -> MemoryOracleKernels {
    MemoryOracleKernels::new(device(), oracle).expect("the buffers fit")
}

/// Returns windows of these lengths, with deltas and sizes of all magnitudes and many strides.
fn random_windows(lengths: impl Iterator<Item = usize>, random: &mut Random) -> Vec<Vec<Access>> {
    let access = |random: &mut Random| {
        let delta = match random.below(4) {
            0 => random.below(21) as i64 * 8 - 80,
            1 => random.below(41) as i64 - 20,
            _ => random.bits() as i64 >> random.below(64),
        };
        let size = (random.bits() >> (32 + random.below(32))) as u32;
        Access { delta, size, is_load: random.below(2) == 0, pc: random.bits() }
    };
    lengths.map(|length| (0..length).map(|_| access(random)).collect()).collect()
}

/// Returns the outputs of a prediction.
fn outputs(prediction: &AccessPrediction) -> Vec<f32> {
    [&prediction.encoded_deltas[..], &prediction.confidences, &prediction.pattern_logits].concat()
}

/// Asserts that a prediction of the device is that of the host.
fn assert_agrees(oracle: &MemoryOracle, window: &[Access], found: Option<AccessPrediction>) {
    let expected = outputs(&oracle.predict(window).expect("the window has one to 32 accesses"));
    let found = outputs(&found.expect("the device has answered"));
    for (index, (found, expected)) in found.into_iter().zip(expected).enumerate() {
        let difference = (found - expected).abs() / expected.abs().max(1.0);
        assert!(
            difference <= TOLERANCE,
            "output {index} for a window of {} accesses: {found}, not {expected}",
            window.len()
        );
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn predictions_for_windows_of_all_lengths_are_those_of_the_host() {
    let oracle = random_oracle(1);
    let mut there = on_device(&oracle);
    let mut random = Random::new(2);
    // One window, some windows, and then fewer in the same buffers. No number is a multiple of another.
    for count in [1, 3, 77, 5] {
        let lengths = (0..count).map(|index| (index * 7 + 31) % WINDOW_ACCESSES_MAX + 1);
        let windows = random_windows(lengths, &mut random);
        let predictions = there.evaluate(&windows).expect("the device works");
        assert_eq!(predictions.len(), windows.len(), "one for each window");
        for (window, prediction) in windows.iter().zip(predictions) {
            assert_agrees(&oracle, window, prediction);
        }
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn more_windows_than_a_submission_takes_are_answered_in_order() {
    let oracle = random_oracle(3);
    let windows = random_windows((0..2_100).map(|index| index % 3 + 1), &mut Random::new(4));
    let predictions = on_device(&oracle).evaluate(&windows).expect("the device works");
    assert_eq!(predictions.len(), windows.len(), "one for each window");
    // Every 13th of them: windows of all three lengths.
    for (window, prediction) in windows.iter().zip(predictions).step_by(13) {
        assert_agrees(&oracle, window, prediction);
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn windows_without_accesses_and_windows_that_are_too_long_get_no_prediction() {
    let oracle = random_oracle(5);
    let mut there = on_device(&oracle);
    let windows = random_windows([33, 2, 0, 32].into_iter(), &mut Random::new(6));
    let predictions = there.evaluate(&windows).expect("the device works");
    let answered: Vec<bool> = predictions.iter().map(Option::is_some).collect();
    assert_eq!(answered, [false, true, false, true], "windows of one to 32 accesses");
    assert_eq!(there.evaluate::<Vec<Access>>(&[]), Ok(Vec::new()), "no windows");
    assert_eq!(there.evaluate(&[Vec::new()]), Ok(vec![None]), "no accesses");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn weights_that_a_device_cannot_store_are_refused() {
    let mut flat = vec![0.0; MemoryOracle::PARAMETERS];
    flat[7] = -1e5;
    let oracle = MemoryOracle::from_flat(&flat).expect("all weights are finite");
    let error = MemoryOracleKernels::new(device(), &oracle).expect_err("-1e5 is beyond half precision");
    assert!(matches!(error, Error::UnsuitableWeights { network: "memory-oracle", .. }), "{error:?}");
    assert!(error.to_string().contains("weight 7 is -100000"), "{error}");
}
