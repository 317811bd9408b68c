//! Edge cases: empty networks, full recorders, networks that do not fit, and networks that change.

use std::sync::Arc;

use kvrm_gpu::spiking::{Kernel, Options};
use kvrm_spiking::{
    Builder, Change, ConnectionRule, Error, Executor, Feagi, Injection, Input, Lif, ListedSynapse, Model,
    Network, Projection, Recorder, Synapse,
};
use kvrm_testkit::networks::{RECIPES, Recipe, injections, network};

use crate::support::{assert_same, compare, executor, reference};

fn options_with(kernel: Kernel) -> Options {
    Options { kernel: Some(kernel), ..Options::default() }
}

/// Returns a network whose neurons fire in every step, each with `synapses` synapses.
fn always_firing_network(neurons: u32, synapses: u32) -> Arc<Network> {
    let mut builder = Builder::new(1.0);
    let model = Model::Feagi(Feagi { drive: 2.0, ..Feagi::default() });
    let all = builder.population("all", neurons, &model).expect("parameters are in range");
    let projection = Projection::new(ConnectionRule::OutDegree(synapses), 1.0, 1);
    builder.connect(all, all, &projection).expect("the population has neurons");
    Arc::new(builder.build().expect("sums are small"))
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn injections_of_several_chunks_match_the_reference() {
    // A chunk has 1,048,576 injections at most. The device runs it while the host packs those of the next one.
    let neurons = 6000;
    let mut builder = Builder::new(1.0);
    let model = Model::Feagi(Feagi { threshold: 4.0, ..Feagi::default() });
    builder.population("all", neurons, &model).expect("parameters are in range");
    let network = Arc::new(builder.build().expect("there are no sums"));
    let amount = |step, neuron| (7919 * step as i32 + 10_007 * neuron as i32) % 7 - 3;
    let injection = |step, neuron| Injection { step, neuron, amount: amount(step, neuron) };
    let steps = (0..400).filter(|step| !(90..110).contains(step));
    let given: Vec<Injection> =
        steps.flat_map(|step| (0..neurons).map(move |neuron| injection(step, neuron))).collect();
    assert!(given.len() > 2 << 20, "three chunks");
    compare(&network, &Options::default(), &[405], &given);
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn numbers_of_any_size_saturate_as_in_the_reference() {
    // Potentials and currents end at 2048 mV. Below 512 mV, shaders do not look for overflows.
    for (seed, [tau_in, weight, bias]) in
        (60..).zip([[0.5, 150.0, 300.0], [2.0, 900.0, 2000.0], [2.0, 1500.0, -1800.0]])
    {
        let mut builder = Builder::new(0.1).seed(seed).fraction_bits(4);
        let lif = Lif {
            v_rest: 0.0,
            v_th: 400.0,
            v_reset: -300.0,
            t_ref: 0.2,
            tau_in,
            bias,
            poisson_rate: 8000.0,
            poisson_weight: weight,
            ..Lif::default()
        };
        let cells = builder.population("cells", 150, &Model::Lif(lif)).expect("parameters are in range");
        for weight in [weight, -weight] {
            let projection = Projection::new(ConnectionRule::OutDegree(15), weight, 2);
            builder.connect(cells, cells, &projection).expect("the population has neurons");
        }
        let network = Arc::new(builder.build().expect("sums fit 32 bits"));
        for kernel in [Kernel::Events, Kernel::Fused] {
            compare(&network, &options_with(kernel), &[1, 1, 30], &[]);
        }
        let mut reference = reference(&network);
        reference.run(32, &Input::default(), None).expect("the reference works");
        let words = reference.state().expect("the reference works").columns;
        let largest = words[..450].iter().map(|&word| (word as i32).unsigned_abs()).max();
        assert!(largest > Some(1 << 29), "numbers become large: {largest:?}");
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn poisson_inputs_of_any_rate_match_the_reference() {
    // The mean numbers of events in a step. The tables of their distributions have 2 to 4,506 entries. Those of 24 entries are
    // searched in another way than those of 25.
    let means = [0.001, 0.9, 4.0, 4.8, 5.2, 12.0, 50.0, 80.0, 700.0, 4096.0];
    let mut builder = Builder::new(1.0).seed(9).fraction_bits(8);
    for mean in means {
        let lif = Lif { poisson_rate: 1000.0 * mean, poisson_weight: 40.0 / mean.max(1.0), ..Lif::default() };
        let name = format!("{mean} events a step");
        builder.population(&name, 300, &Model::Lif(lif)).expect("parameters are in range");
    }
    let network = Arc::new(builder.build().expect("a network without synapses is valid"));
    for kernel in [Kernel::Events, Kernel::Fused] {
        compare(&network, &options_with(kernel), &[1; 12], &[]);
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn networks_without_neurons_or_synapses_run() {
    let empty = Arc::new(Builder::new(1.0).build().expect("a network without populations is valid"));
    let mut builder = Builder::new(0.1);
    builder
        .population("alone", 70, &Model::Lif(Lif { bias: 20.0, ..Lif::default() }))
        .expect("parameters are in range");
    let alone = Arc::new(builder.build().expect("a network without synapses is valid"));
    for kernel in Kernel::ALL {
        compare(&empty, &options_with(kernel), &[1, 3], &[]);
        compare(&alone, &options_with(kernel), &[1, 100], &[]);
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn self_loops_and_duplicate_synapses_are_delivered() {
    let mut builder = Builder::new(1.0);
    let model = Model::Feagi(Feagi { threshold: 3.0, ..Feagi::default() });
    let area = builder.population("area", 3, &model).expect("parameters are in range");
    let link = |source, target, weight| ListedSynapse { source, target, weight, delay: 1 };
    // The two synapses of neuron 2 cancel, but count as input.
    let links = [link(0, 0, 3.0), link(0, 1, 2.0), link(0, 1, 2.0), link(0, 2, 5.0), link(0, 2, -5.0)];
    builder.connect_list(area, area, &links).expect("the neurons exist");
    let network = Arc::new(builder.build().expect("sums are small"));
    let injection = Injection { step: 0, neuron: 0, amount: 3 };
    for kernel in Kernel::ALL {
        compare(&network, &options_with(kernel), &[1; 5], &[injection]);
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn spikes_that_are_lost_are_counted() {
    let network = always_firing_network(100, 0);
    for kernel in Kernel::ALL {
        let mut executor = executor(&network, &options_with(kernel));
        let mut recorder = Recorder::new(250);
        let error = executor
            .run(10, &Input::default(), Some(&mut recorder))
            .expect_err("the network fires 1,000 spikes");
        assert!(
            matches!(error, Error::RecordingOverflow { recorded: 200, lost: 800, capacity: 250 }),
            "{kernel:?}: {error}"
        );
        let state = executor.state().expect("the engine works");
        assert_eq!(state.step, 10, "all steps are done");
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn more_spikes_than_the_device_has_room_for_are_recorded() {
    // 3,000 spikes in each step, of which the device has room for less than a hundred steps.
    let network = always_firing_network(3000, 0);
    for kernel in [Kernel::Events, Kernel::Single, Kernel::Fused] {
        let mut executor = executor(&network, &options_with(kernel));
        let mut recorder = Recorder::new(1 << 20).for_neurons(1..3000);
        executor.run(300, &Input::default(), Some(&mut recorder)).expect("the recorder has room");
        let spikes = recorder.spikes();
        assert_eq!(spikes.len(), 300 * 2999, "with {kernel:?}");
        assert!(spikes.is_sorted(), "with {kernel:?}, by step and neuron");
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_state_moves_between_engines() {
    for (seed, recipe) in (60..).zip(RECIPES.into_iter().chain(RECIPES)) {
        let delays = if seed % 8 < 4 { [2, 6] } else { [20, 33] };
        let network = network(recipe, seed, delays, true);
        let input = Input::new(injections(&network, seed, 50)).expect("amounts are small");
        let (mut first, mut second) = (reference(&network), executor(&network, &Options::default()));
        first.run(50, &input, None).expect("the reference works");
        second.run(3, &Input::default(), None).expect("the device works");
        second.set_state(&first.state().expect("the reference works")).expect("the state is of this network");
        for engine in [&mut first as &mut dyn Executor, &mut second] {
            engine.set_drive(0, 3).expect("the network has a population");
            engine.run(70, &Input::default(), None).expect("the engine works");
        }
        let states = [second.state().expect("the device works"), first.state().expect("the reference works")];
        assert_same(&states[0], &states[1], &format!("of {recipe:?}"));
        second.set_state(&states[0]).expect("the state is of this network");
        for engine in [&mut first as &mut dyn Executor, &mut second] {
            engine.run(50, &Input::default(), None).expect("the engine works");
        }
        let states = [second.state().expect("the device works"), first.state().expect("the reference works")];
        assert_same(&states[0], &states[1], &format!("of {recipe:?}, loaded again"));
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_network_continues_after_a_change() {
    for (seed, recipe, delays, learns) in [
        (70, Recipe::Mixed, [2, 6], false),
        (71, Recipe::Mixed, [2, 6], true),
        (72, Recipe::Mixed, [2, 6], false),
        (73, Recipe::Mixed, [2, 6], true),
        (74, Recipe::Lif, [12, 20], true),
        (75, Recipe::Lif, [12, 20], true),
        (76, Recipe::Lif, [12, 20], false),
        (77, Recipe::Lif, [1, 3], false),
    ] {
        let before = network(recipe, seed, delays, learns);
        // Synapses that are sorted by block have to be sorted again after the change.
        let kernel = (recipe == Recipe::Lif && !learns).then_some(Kernel::Fused);
        let options = Options { kernel, ..Options::default() };
        let engine = executor(&before, &options);
        assert!(kernel.is_none_or(|kernel| engine.kernels() == [kernel]), "{:?}", engine.kernels());
        let mut engines: [Box<dyn Executor>; 2] = [Box::new(reference(&before)), Box::new(engine)];
        let input = Input::new(injections(&before, seed, 30)).expect("amounts are small");
        for engine in &mut engines {
            engine.run(30, &input, None).expect("the engine works");
        }
        let first = before.synapses().row(1).next();
        let mut changes: Vec<Change> = (0..40)
            .map(|index| Change::AddSynapse {
                source: index % 5,
                synapse: Synapse { target: index % 7, delay: delays[0] + 1, weight: 5 },
            })
            .collect();
        if let Some(Synapse { target, delay, .. }) = first {
            changes.push(Change::RemoveSynapse { source: 1, target, delay });
        }
        if [72, 73, 75].contains(&seed) {
            let model = Model::Lif(Lif { bias: 20.0, ..Lif::default() });
            changes.push(Change::AddPopulation { name: "new".to_owned(), dimensions: [9, 1, 1], model });
        }
        let mut after = Network::clone(&before);
        if learns {
            let state = engines[0].state().expect("the reference works");
            after.take_weights(state.weights).expect("the weights are of this network");
        }
        let changed = after.change(&changes).expect("the change is valid");
        assert!(!changed.is_repacked, "the change is applied in place");
        let after = Arc::new(after);
        for engine in &mut engines {
            engine.change(&after, &changed).expect("the engine works");
        }
        for steps in [0, 1, 20] {
            for engine in &mut engines {
                engine.run(steps, &Input::default(), None).expect("the engine works");
            }
            let [expected, found] =
                engines.each_mut().map(|engine| engine.state().expect("the engine works"));
            assert_same(&found, &expected, &format!("{steps} steps after the change of {seed}"));
        }
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_change_that_leaves_no_room_changes_nothing() {
    // A spike in the ring and one of the new synapse arrive in the same step. Each alone is within the bound of the
    // accumulator.
    let weight = 1 << 30;
    let mut builder = Builder::new(1.0).injection_limit(1000);
    let area =
        builder.population("area", 2, &Model::Feagi(Feagi::default())).expect("parameters are in range");
    let link = ListedSynapse { source: 0, target: 1, weight: f64::from(weight), delay: 4 };
    builder.connect_list(area, area, &[link]).expect("the neurons exist");
    let before = Arc::new(builder.build().expect("2^30 is less than 2^31"));
    let synapse = Synapse { target: 1, delay: 2, weight };
    let changes =
        [Change::RemoveSynapse { source: 0, target: 1, delay: 4 }, Change::AddSynapse { source: 0, synapse }];
    let mut after = Network::clone(&before);
    let changed = after.change(&changes).expect("the change is valid");
    let after = Arc::new(after);
    let fires = [Injection { step: 0, neuron: 0, amount: 1 }];
    let mut engines: [Box<dyn Executor>; 2] =
        [Box::new(reference(&before)), Box::new(executor(&before, &Options::default()))];
    for engine in &mut engines {
        let input = Input::new(fires.to_vec()).expect("amounts are small");
        engine.run(2, &input, None).expect("the engine works");
        let error = engine.change(&after, &changed).expect_err("the sum can be 2^31");
        assert!(matches!(error, Error::AccumulatorBound { neuron: 1, .. }), "{error}");
        engine.run(1, &Input::default(), None).expect("the network has not changed");
        engine.change(&after, &changed).expect("a spike of the new synapse arrives in a later step now");
        engine.run(2, &input, None).expect("the engine works");
    }
    let [expected, found] = engines.each_mut().map(|engine| engine.state().expect("the engine works"));
    assert_same(&found, &expected, "after the change");
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_row_too_large_for_any_buffer_is_an_error() {
    let network = network(Recipe::Lif, 80, [1, 3], false);
    let options = Options { binding_bytes: Some(8), ..Options::default() };
    let made = kvrm_gpu::spiking::BurstExecutor::new(crate::support::kernels(), network, options);
    let error = made.expect_err("a row has more than 8 bytes");
    assert!(matches!(error, kvrm_gpu::Error::TooLarge { .. }), "{error}");
}
