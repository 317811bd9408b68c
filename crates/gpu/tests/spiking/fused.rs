//! Tests of the kernel that does a batch of steps in one dispatch.

use std::sync::Arc;

use kvrm_gpu::spiking::{Kernel, Options, Unsuitable};
use kvrm_spiking::{
    Builder, Change, ConnectionRule, Executor, Injection, Input, Lif, ListedSynapse, Model, Network, Poisson,
    Projection, Recorder, Synapse,
};
use kvrm_testkit::networks::{RECIPES, Recipe, injections, network};

use crate::support::{assert_same, compare, executor, reference};

/// The recipes without FEAGI's neurons.
const FUSIBLE: [Recipe; 2] = [Recipe::Lif, Recipe::Izhikevich];

fn options(block: Option<u32>, slice: Option<u32>) -> Options {
    Options { kernel: Some(Kernel::Fused), block, slice, ..Options::default() }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn delays_of_any_length_match_the_reference() {
    // One delay that is a batch; delays longer than a batch, which go through the ring; and more steps than a batch has.
    for (seed, delays) in (200..).zip([[1, 1], [12, 12], [2, 6], [7, 30], [40, 40], [33, 50]]) {
        for (seed, recipe) in (10 * seed..).zip(FUSIBLE) {
            let network = network(recipe, seed, delays, false);
            let given = injections(&network, seed, 138);
            for (block, slice) in [(Some(32), None), (None, Some(3)), (Some(1024), Some(1))] {
                for (lines, wide_sums) in [(false, true), (true, false)] {
                    let options = Options { lines: Some(lines), wide_sums, ..options(block, slice) };
                    assert_eq!(
                        executor(&network, &options).kernels(),
                        [Kernel::Fused],
                        "it can run {recipe:?}"
                    );
                    compare(&network, &options, &[1, 5, 32, 100], &given);
                }
            }
        }
    }
}

/// Returns a network of LIF neurons with `delays` steps, two ports, and more sums in a batch than a workgroup has room
/// for.
fn large_network(delays: [u32; 2]) -> Arc<Network> {
    let mut builder = Builder::new(0.1).seed(5).fraction_bits(8);
    let model = Model::Lif(Lif { tau_in: 2.0, tau_m: 1.0, bias: 18.0, t_ref: 0.3, ..Lif::default() });
    let cells = builder.population("cells", 900, &model).expect("parameters are in range");
    let source =
        builder.population("source", 70, &Model::Poisson(Poisson { rate: 300.0 })).expect("a rate in range");
    for (from, weight, delay) in [(cells, -2.0, delays[0]), (cells, 3.0, delays[1]), (source, 9.0, delays[1])]
    {
        let projection = Projection::new(ConnectionRule::OutDegree(40), weight, delay);
        builder.connect(from, cells, &projection).expect("the populations have neurons");
    }
    Arc::new(builder.build().expect("sums are small"))
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_batch_whose_sums_do_not_fit_is_done_in_windows() {
    for delays in [[18, 18], [30, 30], [18, 25]] {
        let network = large_network(delays);
        assert_eq!(network.parts().ports, 2, "the neurons have two time constants");
        let sums = 900 * delays[0];
        assert!(4 * sums > 48 << 10, "{sums} sums do not fit in the workgroup memory of any device");
        let window = |wide_sums| {
            let options = Options { wide_sums, ..options(Some(1024), None) };
            executor(&network, &options).plan().expect("the device works").window
        };
        assert!(window(true) < window(false), "more steps fit with sums of 16 bits");
        let mut recorder = Recorder::new(1 << 20).for_neurons(0..900);
        reference(&network).run(60, &Input::default(), Some(&mut recorder)).expect("the reference works");
        assert!(recorder.spikes().len() > 900, "the cells fire: {}", recorder.spikes().len());
        let given: Vec<Injection> = (0..95)
            .map(|step| Injection { step, neuron: step as u32 * 9, amount: 5000 - 90 * step as i32 })
            .collect();
        for (block, slice, wide_sums) in
            [(1024, None, false), (1024, Some(2), true), (500, None, false), (1024, Some(1), false)]
        {
            let options = Options { wide_sums, ..options(Some(block), slice) };
            compare(&network, &options, &[1, 17, 18, 59], &given);
        }
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn sums_of_16_bits_reach_their_limit() {
    // All sources fire in every step, so each cell gets as many multiples of a weight unit as 16 bits count, or one more: then
    // its sums have 32 bits. A weight unit is so small that currents do not saturate.
    for (more, delays) in [(0, [5, 5]), (1, [5, 5]), (0, [2, 9])] {
        let mut builder = Builder::new(0.1).fraction_bits(16);
        let source = builder.population("source", 2, &Model::Poisson(Poisson { rate: 1_000_000.0 }));
        let source = source.expect("the rate is in range");
        let model = Model::Lif(Lif { tau_in: 2.0, ..Lif::default() });
        let cells = builder.population("cells", 70, &model).expect("parameters are in range");
        let weights = [1, 65_534 + more, -1, -65_534 - more];
        let links: Vec<ListedSynapse> = (0..2 * 70)
            .map(|index| ListedSynapse {
                source: index % 2,
                target: index / 2,
                weight: f64::from(weights[index as usize % 4]) / 65_536.0,
                delay: delays[index as usize / 2 % 2],
            })
            .collect();
        builder.connect_list(source, cells, &links).expect("neurons are there");
        let network = Arc::new(builder.build().expect("sums are small"));
        assert_eq!(network.parts().ports, 2, "the neurons have two time constants");
        let given = injections(&network, 7, 40);
        for wide_sums in [false, true] {
            compare(&network, &Options { wide_sums, ..options(Some(32), None) }, &[1, 12, 27], &given);
        }
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn sums_of_16_bits_become_wider_if_weights_change() {
    let before = large_network([18, 18]);
    let mut engines: [Box<dyn Executor>; 2] =
        [Box::new(reference(&before)), Box::new(executor(&before, &options(Some(1024), None)))];
    let mut network = Network::clone(&before);
    // Two weights that the divisors divide, one that they do not divide, and one with which 16 bits are not enough.
    for weight in [3 * 256, -2 * 256, 5, -(1 << 17)] {
        let synapse = Synapse { target: 7, delay: 18, weight };
        let changed =
            network.change(&[Change::AddSynapse { source: 3, synapse }]).expect("the change is valid");
        assert!(!changed.is_repacked, "the change is applied in place");
        let after = Arc::new(network.clone());
        for engine in &mut engines {
            engine.change(&after, &changed).expect("the engine works");
            engine.run(40, &Input::default(), None).expect("the engine works");
        }
        let states = engines.each_mut().map(|engine| engine.state().expect("the engine works"));
        assert_same(&states[1], &states[0], &format!("with a weight of {weight}"));
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_full_recording_keeps_the_spikes_that_are_not_delivered() {
    // The recorded neurons fire in every step. After 7 of 8 batches, the recording has no room for the three steps of a
    // batch, so the last two steps are done in another slice.
    let (sources, steps) = (70, 23);
    let mut builder = Builder::new(0.1).fraction_bits(8);
    let source = builder.population("source", sources, &Model::Poisson(Poisson { rate: 1_000_000.0 }));
    let source = source.expect("the rate is in range");
    let cells =
        builder.population("cells", 200, &Model::Lif(Lif::default())).expect("parameters are in range");
    let projection = Projection::new(ConnectionRule::OutDegree(20), 0.7, 3);
    builder.connect(source, cells, &projection).expect("the populations have neurons");
    let network = Arc::new(builder.build().expect("sums are small"));
    let (mut expected, mut found) = (reference(&network), executor(&network, &options(None, None)));
    let input = Input::new(injections(&network, 5, steps)).expect("amounts are small");
    for run in 1..=4 {
        let mut recorders = [0; 2].map(|_| Recorder::new(1 << 20).for_neurons(0..sources));
        for (engine, recorder) in
            [&mut expected as &mut dyn Executor, &mut found].into_iter().zip(&mut recorders)
        {
            engine.run(steps, &input, Some(recorder)).expect("the recorder has room");
            assert_eq!(recorder.spikes().len() as u64, u64::from(sources) * steps, "all sources fire");
        }
        assert_eq!(recorders[1].spikes(), recorders[0].spikes(), "spikes of run {run}");
        let states =
            [found.state().expect("the device works"), expected.state().expect("the reference works")];
        assert_same(&states[0], &states[1], &format!("after run {run}"));
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn lists_have_their_room_although_rows_have_many_pieces() {
    // The buffer of pieces was larger than two lists and that of their sources was not, so sources were lost.
    for (seed, recipe) in (900..).zip(FUSIBLE) {
        let network = network(recipe, seed, [2, 2], false);
        compare(
            &network,
            &Options { piece: Some(1), ..options(None, None) },
            &[30],
            &injections(&network, seed, 30),
        );
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn blocks_in_several_bindings_match_the_reference() {
    let network = large_network([18, 25]);
    let given = injections(&network, 8, 60);
    // Blocks have 27 KiB each. They are in one binding, in four, and in too many, so that another kernel runs the network.
    for binding_bytes in [1 << 20, 112 << 10, 48 << 10] {
        let options = Options { binding_bytes: Some(binding_bytes), ..options(Some(64), None) };
        compare(&network, &options, &[1, 17, 42], &given);
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn more_spikes_than_a_round_or_the_queue_has_match_the_reference() {
    let mut builder = Builder::new(0.1).fraction_bits(8);
    let model = Model::Lif(Lif { tau_m: 0.5, bias: 60.0, t_ref: 0.1, ..Lif::default() });
    let cells = builder.population("cells", 300, &model).expect("parameters are in range");
    builder
        .connect(cells, cells, &Projection::new(ConnectionRule::OutDegree(20), 1.0, 6))
        .expect("the population has neurons");
    let network = Arc::new(builder.build().expect("sums are small"));
    for block in [32, 320] {
        let options = Options { invocations: Some(32), ..options(Some(block), None) };
        let mut recorder = Recorder::new(1 << 20);
        let mut executor = executor(&network, &options);
        executor.run(60, &Input::default(), Some(&mut recorder)).expect("the device works");
        assert!(
            recorder.spikes().len() > 6 * 300,
            "all neurons fire in some steps: {}",
            recorder.spikes().len()
        );
        compare(&network, &options, &[1, 60], &[]);
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_segment_too_long_for_the_table_is_left_to_another_kernel() {
    let mut builder = Builder::new(0.1).fraction_bits(8);
    let model = Model::Lif(Lif { bias: 30.0, ..Lif::default() });
    let cells = builder.population("cells", 2, &model).expect("parameters are in range");
    builder
        .connect(cells, cells, &Projection::new(ConnectionRule::OutDegree(9000), 0.01, 5))
        .expect("the population has neurons");
    let network = Arc::new(builder.build().expect("sums are small"));
    compare(&network, &options(None, None), &[400], &[]);
    let mut executor = executor(&network, &options(None, None));
    assert_eq!(executor.kernels(), [Kernel::Fused], "it is tried");
    executor.run(10, &Input::default(), None).expect("another kernel runs the network");
    let plan = executor.plan().expect("the device works");
    let fused = plan.kernels.iter().find(|plan| plan.kernel == Kernel::Fused).expect("all kernels are there");
    assert_eq!(fused.step, Some(Err(Unsuitable::Limits)), "{plan:?}");
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn neurons_of_feagi_are_left_to_another_kernel() {
    let network = network(Recipe::Mixed, 3, [3, 3], false);
    assert_eq!(
        executor(&network, &options(None, None)).kernels(),
        [Kernel::Events],
        "sums of zero are marked"
    );
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn weights_that_learn_are_left_to_another_kernel() {
    let learning =
        (0..).map(|seed| network(RECIPES[1], seed, [3, 3], true)).find(|network| network.is_plastic());
    let network = learning.expect("half of all projections learn");
    assert_eq!(executor(&network, &options(None, None)).kernels(), [Kernel::Events], "weights change");
}
