//! Comparison of the state after every step and after runs of any length.

use kvrm_gpu::spiking::{Kernel, Options};
use kvrm_spiking::{Executor, Injection, Input, Recorder, Spike};
use kvrm_testkit::networks::{RECIPES, Recipe, injections, network};
use kvrm_testkit::spiking::{STEPS, cases};
use proptest::prelude::*;

use crate::support::{assert_same, compare, executor, reference};

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn every_step_matches_the_reference() {
    for (seed, recipe) in (0..).zip(RECIPES.into_iter().cycle().take(8)) {
        let network = network(recipe, seed, [1, 5], seed % 3 == 2);
        compare(&network, &Options::default(), &[1; 12], &injections(&network, seed, 12));
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn every_kernel_gives_the_same_results() {
    for kernel in Kernel::ALL {
        let options = Options { kernel: Some(kernel), ..Options::default() };
        for (seed, recipe) in (20..).zip(RECIPES) {
            // All delays are the same, so that all kernels can run the network.
            let network = network(recipe, seed, [3, 3], false);
            let is_chosen = executor(&network, &options).kernels() == [kernel];
            let can_run = kernel != Kernel::Fused || !network.has_marks();
            assert!(
                is_chosen == can_run || kernel == Kernel::Single,
                "{kernel:?} can run {recipe:?}: {can_run}"
            );
            compare(&network, &options, &[1, 1, 2, 3, 40], &injections(&network, seed, 47));
        }
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn the_single_kernel_learns_like_the_reference() {
    let options = Options { kernel: Some(Kernel::Single), ..Options::default() };
    for (seed, recipe) in (30..).zip(RECIPES) {
        let network = network(recipe, seed, [1, 4], true);
        compare(&network, &options, &[1, 2, 70], &injections(&network, seed, 73));
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn plasticity_works_in_runs_longer_than_histories() {
    // Histories have 64 steps.
    for (seed, recipe) in (40..).zip(RECIPES) {
        let network = network(recipe, seed, [1, 2], true);
        compare(&network, &Options::default(), &[60, 1, 1, 1, 1, 1, 1, 30], &injections(&network, seed, 96));
    }
}

/// Returns whether a neuron fires twice in the same batch, if all batches from step 0 on have `batch` steps.
fn fires_twice_in_a_batch(spikes: &[Spike], batch: u32) -> bool {
    let mut all: Vec<(u32, u64)> =
        spikes.iter().map(|spike| (spike.neuron, spike.step / u64::from(batch))).collect();
    all.sort_unstable();
    all.windows(2).any(|pair| pair[0] == pair[1])
}

/// Returns whether 63 or more steps pass between two spikes of a neuron, so that a rule visits its row without a spike.
fn has_long_intervals(spikes: &[Spike]) -> bool {
    let mut all: Vec<(u32, u64)> = spikes.iter().map(|spike| (spike.neuron, spike.step)).collect();
    all.sort_unstable();
    all.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[1].1 - pair[0].1 >= 63)
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn plasticity_works_in_each_step_of_a_batch() {
    let runs = [1, 2, 15, 40, 3, 100, 7, 64, 33];
    for (seed, (recipe, delays, wanted, batch)) in (50..).zip([
        (Recipe::Lif, [3, 3], None, 3),
        (Recipe::Izhikevich, [15, 15], None, 15),
        (Recipe::Lif, [15, 40], None, 15),
        (Recipe::Lif, [15, 40], Some(7), 7),
        (Recipe::Izhikevich, [32, 70], None, 32),
        (Recipe::Lif, [40, 40], None, 32),
    ]) {
        let network = network(recipe, seed, delays, true);
        let input = injections(&network, seed, runs.iter().sum());
        let mut seen = reference(&network);
        let mut recorder = Recorder::new(1 << 20);
        let given = Input::new(input.clone()).expect("amounts are small");
        seen.run(runs.iter().sum(), &given, Some(&mut recorder)).expect("the reference works");
        let what = format!("{recipe:?} with delays of {delays:?}");
        assert!(fires_twice_in_a_batch(recorder.spikes(), batch), "{what}: a source fires often");
        assert!(has_long_intervals(recorder.spikes()), "{what}: a source is silent for a while");
        let weights = seen.state().expect("the reference works").weights;
        assert_ne!(weights, network.synapses().words, "{what}: weights change");
        for kernel in [Kernel::Events, Kernel::Single] {
            let options = Options { kernel: Some(kernel), batch: wanted, ..Options::default() };
            let plan = executor(&network, &options).plan().expect("the device works");
            assert_eq!(plan.batch, batch, "{what}: steps of a batch");
            compare(&network, &options, &runs, &input);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
    #[test]
    fn all_models_rules_and_drives_match_the_reference(
        case in cases(40),
        steps in prop_oneof![Just(1), 2..STEPS],
    ) {
        let mut expected = reference(&case.network);
        let mut found = executor(&case.network, &Options::default());
        for first in (0..STEPS).step_by(steps as usize) {
            let run = first..STEPS.min(first + steps);
            let now = run.clone().flat_map(|step| {
                case.input.at(step).iter().map(move |injection| Injection { step: step - first, ..*injection })
            });
            let input = Input::new(now.collect()).expect("amounts are small");
            for engine in [&mut expected as &mut dyn Executor, &mut found] {
                for &(_, population, amount) in case.drives.iter().filter(|drive| run.contains(&drive.0)) {
                    engine.set_drive(population, amount).expect("the population exists");
                }
                engine.run(run.end - first, &input, None).expect("the engine works");
            }
            let states = [found.state().expect("the device works"), expected.state().expect("the reference works")];
            assert_same(&states[0], &states[1], &format!("after step {}", run.end));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
    #[test]
    fn any_network_in_runs_of_any_length(
        seed: u64,
        recipe in 0..RECIPES.len(),
        shortest in 1_u32..12,
        more in prop_oneof![Just(0_u32), 1_u32..40],
        learns: bool,
        runs in prop::collection::vec(1_u64..60, 1..4),
        kernel in prop::option::of(prop::sample::select(Kernel::ALL.to_vec())),
        batch in prop::option::of(1_u32..40),
        piece in prop::option::of(1_u32..70),
        team in prop::option::of(prop::sample::select(vec![0, 1, 4, 64, 256])),
        workgroups in prop::option::of(1_u32..9),
        block in prop::option::of(1_u32..300),
        lines: Option<bool>,
        wide_sums: bool,
        invocations in prop::option::of(prop::sample::select(vec![32, 96])),
        binding_bytes in prop::option::of(2000_u64..6000),
        slice in prop::option::of(1_u32..20),
    ) {
        let network = network(RECIPES[recipe], seed, [shortest, shortest + more], learns);
        // Rows of these networks have a few hundred bytes at most, but all together may not fit in eight small
        // bindings.
        let bytes = 4 * network.synapses().words.len() as u64;
        let binding_bytes = binding_bytes.map(|size| size.max(bytes / 3));
        let options = Options {
            kernel, batch, piece, team, workgroups, block, lines, wide_sums, invocations, binding_bytes, slice,
        };
        compare(&network, &options, &runs, &injections(&network, seed, runs.iter().sum()));
    }
}
