//! The memory oracle: what its predictions depend on.

use kvrm_models::inputs::{Access, WINDOW_ACCESSES_MAX};
use kvrm_models::{AccessPrediction, Architecture, MemoryOracle};
use kvrm_testkit::random::Random;

use crate::random_weights::random_weights;

/// Returns random accesses, many of them with small deltas.
pub(crate) fn random_window(accesses: usize, random: &mut Random) -> Vec<Access> {
    let access = |random: &mut Random| Access {
        delta: (random.bits() as i64) >> (40 + random.below(24)),
        size: 1 << random.below(5),
        is_load: random.below(2) == 0,
        pc: random.bits(),
    };
    (0..accesses).map(|_| access(random)).collect()
}

/// Returns all outputs of a prediction.
pub(crate) fn outputs(prediction: &AccessPrediction) -> Vec<f32> {
    [&prediction.encoded_deltas[..], &prediction.confidences, &prediction.pattern_logits].concat()
}

fn oracle(seed: u64) -> MemoryOracle {
    let flat = random_weights(Architecture::MemoryOracle, &mut Random::new(seed));
    MemoryOracle::from_flat(&flat).expect("the right number of weights")
}

#[test]
fn predictions_depend_on_each_part_of_each_access() {
    let oracle = oracle(4);
    let window = random_window(5, &mut Random::new(5));
    let first = oracle.predict(&window);
    for index in 0..window.len() {
        let old = window[index];
        for new in [
            Access { delta: old.delta + 1, ..old },
            Access { delta: -old.delta - 1, ..old },
            Access { size: 9 - old.size.min(8), ..old },
            Access { is_load: !old.is_load, ..old },
            Access { pc: old.pc ^ 4, ..old },
        ] {
            let mut window = window.clone();
            window[index] = new;
            assert_ne!(oracle.predict(&window), first, "{new:?} instead of {old:?}");
        }
    }
    let mut reverse = window.clone();
    reverse.reverse();
    assert_ne!(oracle.predict(&reverse), first, "the reverse order");
    // Sizes from eight bytes on, and the upper bytes of addresses, are not seen.
    let mut same = window;
    same[2].pc ^= 0x100;
    same.iter_mut().filter(|access| access.size >= 8).for_each(|access| access.size += 1);
    assert_eq!(oracle.predict(&same), first, "the same features");
}

#[test]
fn windows_have_one_to_32_accesses() {
    let oracle = oracle(6);
    let accesses = random_window(WINDOW_ACCESSES_MAX + 1, &mut Random::new(7));
    for length in 0..=accesses.len() {
        let is_window = (1..=WINDOW_ACCESSES_MAX).contains(&length);
        assert_eq!(oracle.predict(&accesses[..length]).is_some(), is_window, "{length} accesses");
    }
}

#[test]
fn confidences_are_probabilities_and_extreme_accesses_give_finite_outputs() {
    let oracle = oracle(8);
    let window = [i64::MIN, i64::MAX, 0, -1].map(|delta| Access {
        delta,
        size: u32::MAX,
        is_load: false,
        pc: u64::MAX,
    });
    let prediction = oracle.predict(&window).expect("4 accesses");
    assert!(outputs(&prediction).iter().all(|value| value.is_finite()), "{prediction:?}");
    assert!(prediction.confidences.iter().all(|value| (0.0..=1.0).contains(value)), "{prediction:?}");
}
