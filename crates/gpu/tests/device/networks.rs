//! Networks on the device: logits have the same bits as on the host, and sweeps find wrong classes.

use std::ops::ControlFlow;

use kvrm_gpu::networks::{DeviceNetwork, Sharing, SweepResult, machine_logits};
use kvrm_models::{
    Architecture, DecoderNetwork, DispatchNetwork, SmallDispatchNetwork, TUPLES, Tuple, TupleNetwork,
    Weights, argmax, dispatch_layout,
};

use crate::support::device;

/// Returns the built-in weights of an architecture.
fn builtin_weights(architecture: Architecture) -> Vec<f32> {
    let (weights, _) =
        Weights::builtin(architecture).expect("the file is complete").expect("the weights are built in");
    weights.into_values()
}

/// Asserts that the device computes the expected logits for all tuples, bit for bit.
fn assert_same_bits<const H: usize, const C: usize>(network: &TupleNetwork<H, C>, expected: &[[f32; C]]) {
    let there = DeviceNetwork::new(device(), network, &[0; TUPLES]).expect("the buffers fit");
    let logits = there.logits().expect("the device works");
    assert_eq!((logits.len(), expected.len()), (TUPLES, TUPLES), "one for each tuple");
    for (tuple, (logits, expected)) in logits.iter().zip(expected).enumerate() {
        let bits = |logits: &[f32; C]| logits.map(f32::to_bits);
        assert_eq!(bits(logits), bits(expected), "tuple {tuple:#x}: {logits:?}, not {expected:?}");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn logits_of_all_tuples_are_the_same_bits() {
    let dispatch = DispatchNetwork::from_flat(&builtin_weights(Architecture::Dispatch))
        .expect("the weights have the size of this network");
    assert_same_bits(&dispatch, &dispatch.logits_of_all());
    let decoder = DecoderNetwork::from_flat(&builtin_weights(Architecture::Decoder))
        .expect("the weights have the size of this network");
    assert_same_bits(&decoder, &decoder.logits_of_all());
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn machines_get_the_same_bits_with_every_way_of_sharing_work() {
    let (weights, _) = Weights::builtin(Architecture::Dispatch)
        .expect("the file is complete")
        .expect("the weights are built in");
    let expected = DispatchNetwork::from_flat(weights.values())
        .expect("the weights have the size of this network")
        .logits_of_all();
    for (sharing, count) in [
        (Sharing::Never, TUPLES),
        (Sharing::Possibly, TUPLES),
        (Sharing::Subgroups, TUPLES / 61 + 1),
        (Sharing::Workgroups, TUPLES / 61 + 1),
    ] {
        // The kernel needs subgroup operations.
        if sharing == Sharing::Subgroups && !device().info().has_subgroups {
            continue;
        }
        let there = machine_logits(device(), &weights, sharing).expect("the buffers fit");
        assert_eq!(there.len(), count, "{sharing:?}");
        for (tuple, got) in &there {
            let bits = |logits: &[f32; 7]| logits.map(f32::to_bits);
            let wanted = &expected[tuple.index()];
            assert_eq!(bits(got), bits(wanted), "{sharing:?}, {tuple:?}: {got:?}, not {wanted:?}");
        }
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn the_small_network_gives_nearly_the_same_logits() {
    let (weights, _) = Weights::builtin(Architecture::SmallDispatch)
        .expect("the file is complete")
        .expect("the weights are built in");
    let network =
        SmallDispatchNetwork::from_flat(weights.values()).expect("the weights have the size of this network");
    let there = machine_logits(device(), &weights, Sharing::Never).expect("the buffers fit");
    let there: Vec<[f32; 7]> = there.into_iter().map(|(_, logits)| logits).collect();
    let together = machine_logits(device(), &weights, Sharing::Workgroups).expect("the buffers fit");
    for (tuple, logits) in together {
        assert_eq!(argmax(&logits), argmax(&there[tuple.index()]), "{tuple:?} by a workgroup");
    }
    for (byte, tuples) in there.chunks_exact(TUPLES / 256).enumerate() {
        let expected = network.logits(byte as u8);
        let (first, others) = tuples.split_first().expect("each top byte has tuples");
        for (got, wanted) in first.iter().zip(expected) {
            // Divisions on a GPU may be off by a few units in the last place.
            assert!((got - wanted).abs() < 1e-4, "top byte {byte:#x}: {first:?}, not {expected:?}");
        }
        assert_eq!(argmax(first), argmax(&expected), "top byte {byte:#x}");
        assert!(
            others.iter().all(|logits| logits == first),
            "top byte {byte:#x}: the other bits do not matter"
        );
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_sweep_counts_wrong_words_and_names_the_first() {
    let answers = |network: &DispatchNetwork| -> Vec<u8> {
        network.logits_of_all().iter().map(|logits| argmax(logits) as u8).collect()
    };
    let mut flat = builtin_weights(Architecture::Dispatch);
    let labels =
        answers(&DispatchNetwork::from_flat(&flat).expect("the weights have the size of this network"));
    // The bias is larger than any margin, so the class of each word is ARITHMETIC.
    flat[dispatch_layout::FC3_BIAS] += 300.0;
    let changed = DispatchNetwork::from_flat(&flat).expect("the weights have the size of this network");
    let now = answers(&changed);
    let there = DeviceNetwork::new(device(), &changed, &labels).expect("the buffers fit");
    let (mut good, mut bad) = (0, 0);
    // The first words, additions, branches, loads, products, and the last words.
    for first in [0, 0x1100_0000, 0x5400_0000, 0xf940_0000, 0x9b00_0000, (1 << 32) - 3_000] {
        let words = first..(first + 10_000).min(1 << 32);
        let is_wrong = |word: &u64| {
            let tuple = Tuple::of(*word as u32).index();
            now[tuple] != labels[tuple]
        };
        let expected = SweepResult {
            words: words.end - words.start,
            wrong: words.clone().filter(is_wrong).count() as u64,
            first_wrong: words.clone().find(is_wrong).map(|word| word as u32),
        };
        let found = there.sweep(words, &mut |_| ControlFlow::Continue(())).expect("the device works");
        assert_eq!(found, expected, "from {first:#x} on");
        if expected.wrong == 0 {
            good += 1;
        } else {
            bad += 1;
        }
    }
    assert!(good > 0 && bad > 0, "{good} ranges without wrong words, {bad} with some");
}
