//! What is small, full, wrong, or changes.

use std::sync::Arc;

use kvrm_gpu::spiking::{Kernel, Options};
use kvrm_spiking::{
    Builder, Change, Connect, Error, Executor, Feagi, Injection, Input, Lif, Link, Model, Network,
    Projection, Recorder, Synapse,
};
use kvrm_testkit::networks::{RECIPES, Recipe, injections, network};

use crate::support::{assert_same, compare, executor, reference};

const KERNELS: [Kernel; 4] = [Kernel::Events, Kernel::Single, Kernel::Partitions, Kernel::Pull];

fn forced(kernel: Kernel) -> Options {
    Options { kernel: Some(kernel), ..Options::default() }
}

/// Neurons that fire in every step, with so many synapses each.
fn restless(neurons: u32, synapses: u32) -> Arc<Network> {
    let mut builder = Builder::new(1.0);
    let model = Model::Feagi(Feagi { drive: 2.0, ..Feagi::default() });
    let all = builder.population("restless", neurons, &model).expect("parameters are in range");
    let projection = Projection::new(Connect::OutDegree(synapses), 1.0, 1);
    builder.connect(all, all, &projection).expect("there are neurons");
    Arc::new(builder.build().expect("sums are small"))
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn kernels_that_are_added_on_the_way_give_the_same() {
    let options = Options { slice: Some(4), ..Options::default() };
    compare(&restless(500, 40), &options, &[1, 100, 400], &[]);
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn networks_without_neurons_or_synapses_run() {
    let empty = Arc::new(Builder::new(1.0).build().expect("nothing can be wrong"));
    let mut builder = Builder::new(0.1);
    builder.population("alone", 70, &Model::Lif(Lif { bias: 20.0, ..Lif::default() })).expect("a neuron");
    let alone = Arc::new(builder.build().expect("nothing arrives"));
    for kernel in KERNELS {
        compare(&empty, &forced(kernel), &[1, 3], &[]);
        compare(&alone, &forced(kernel), &[1, 100], &[]);
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn self_loops_and_duplicates_count() {
    let mut builder = Builder::new(1.0);
    let model = Model::Feagi(Feagi { threshold: 3.0, ..Feagi::default() });
    let area = builder.population("area", 3, &model).expect("parameters are in range");
    let link = |source, target, weight| Link { source, target, weight, delay: 1 };
    // Two that cancel still touch their target.
    let links = [link(0, 0, 3.0), link(0, 1, 2.0), link(0, 1, 2.0), link(0, 2, 5.0), link(0, 2, -5.0)];
    builder.connect_list(area, area, &links).expect("neurons are there");
    let network = Arc::new(builder.build().expect("sums are small"));
    let injection = Injection { step: 0, neuron: 0, amount: 3 };
    for kernel in KERNELS {
        compare(&network, &forced(kernel), &[1; 5], &[injection]);
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn spikes_that_are_lost_are_counted() {
    let network = restless(100, 0);
    for kernel in KERNELS {
        let mut executor = executor(&network, &forced(kernel));
        let mut recorder = Recorder::new(250);
        let error = executor.run(10, &Input::default(), Some(&mut recorder)).expect_err("there are 1000");
        assert!(
            matches!(error, Error::RecordingOverflow { recorded: 200, lost: 800, capacity: 250 }),
            "{kernel:?}: {error}"
        );
        let state = executor.state().expect("it can be read");
        assert_eq!(state.step, 10, "all steps are made");
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn more_spikes_than_the_device_has_room_for_are_recorded() {
    // 3,000 in each step, for which it has room in less than a hundred.
    let network = restless(3000, 0);
    for kernel in [Kernel::Events, Kernel::Single] {
        let mut executor = executor(&network, &forced(kernel));
        let mut recorder = Recorder::new(1 << 20).of(1..3000);
        executor.run(300, &Input::default(), Some(&mut recorder)).expect("the recorder has room");
        let spikes = recorder.spikes();
        assert_eq!(spikes.len(), 300 * 2999, "with {kernel:?}");
        assert!(spikes.is_sorted(), "with {kernel:?}, by step and neuron");
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_state_goes_from_engine_to_engine() {
    for (seed, recipe) in (60..).zip(RECIPES) {
        let network = network(recipe, seed, [2, 6], true);
        let input = Input::new(injections(&network, seed, 50)).expect("amounts are small");
        let (mut first, mut second) = (reference(&network), executor(&network, &Options::default()));
        first.run(50, &input, None).expect("the reference runs");
        second.run(3, &Input::default(), None).expect("the device runs");
        second.set_state(&first.state().expect("it is there")).expect("it is of this network");
        for engine in [&mut first as &mut dyn Executor, &mut second] {
            engine.set_drive(0, 3).expect("there is a population");
            engine.run(20, &Input::default(), None).expect("it runs");
        }
        let states = [second.state().expect("it can be read"), first.state().expect("it is there")];
        assert_same(&states[0], &states[1], &format!("of {recipe:?}"));
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_changed_network_goes_on() {
    for (seed, learns) in [(70, false), (71, true), (72, false), (73, true)] {
        let before = network(Recipe::Mixed, seed, [2, 6], learns);
        let mut engines: [Box<dyn Executor>; 2] =
            [Box::new(reference(&before)), Box::new(executor(&before, &Options::default()))];
        let input = Input::new(injections(&before, seed, 30)).expect("amounts are small");
        for engine in &mut engines {
            engine.run(30, &input, None).expect("it runs");
        }
        let first = before.synapses().row(1).next();
        let mut changes: Vec<Change> = (0..40)
            .map(|index| Change::Add {
                source: index % 5,
                synapse: Synapse { target: index % 7, delay: 3, weight: 5 },
            })
            .collect();
        if let Some(Synapse { target, delay, .. }) = first {
            changes.push(Change::Remove { source: 1, target, delay });
        }
        if seed > 71 {
            let model = Model::Lif(Lif { bias: 20.0, ..Lif::default() });
            changes.push(Change::Populate { name: "new".to_owned(), dimensions: [9, 1, 1], model });
        }
        let mut after = Network::clone(&before);
        if learns {
            let state = engines[0].state().expect("it is there");
            after.take_weights(state.weights).expect("they are of this network");
        }
        let changed = after.change(&changes).expect("it can be changed");
        assert!(!changed.is_repacked, "what stays is not brought again");
        let after = Arc::new(after);
        for engine in &mut engines {
            engine.change(&after, &changed).expect("it goes on");
        }
        for steps in [0, 1, 20] {
            for engine in &mut engines {
                engine.run(steps, &Input::default(), None).expect("it runs");
            }
            let [expected, found] = engines.each_mut().map(|engine| engine.state().expect("it can be read"));
            assert_same(&found, &expected, &format!("{steps} steps after the change of {seed}"));
        }
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_change_that_leaves_no_room_changes_nothing() {
    // What is on its way, and what the new synapse brings in the same step, are within the bound each by itself.
    let weight = 1 << 30;
    let mut builder = Builder::new(1.0).injection_limit(1000);
    let area =
        builder.population("area", 2, &Model::Feagi(Feagi::default())).expect("parameters are in range");
    let link = Link { source: 0, target: 1, weight: f64::from(weight), delay: 4 };
    builder.connect_list(area, area, &[link]).expect("neurons are there");
    let before = Arc::new(builder.build().expect("2^30 is less than 2^31"));
    let synapse = Synapse { target: 1, delay: 2, weight };
    let changes = [Change::Remove { source: 0, target: 1, delay: 4 }, Change::Add { source: 0, synapse }];
    let mut after = Network::clone(&before);
    let changed = after.change(&changes).expect("it can be changed");
    let after = Arc::new(after);
    let fires = [Injection { step: 0, neuron: 0, amount: 1 }];
    let mut engines: [Box<dyn Executor>; 2] =
        [Box::new(reference(&before)), Box::new(executor(&before, &Options::default()))];
    for engine in &mut engines {
        let input = Input::new(fires.to_vec()).expect("amounts are small");
        engine.run(2, &input, None).expect("it runs");
        let error = engine.change(&after, &changed).expect_err("twice 2^30");
        assert!(matches!(error, Error::AccumulatorBound { neuron: 1, .. }), "{error}");
        engine.run(1, &Input::default(), None).expect("it runs as before");
        engine.change(&after, &changed).expect("the new one is too late to join it");
        engine.run(2, &input, None).expect("it runs");
    }
    let [expected, found] = engines.each_mut().map(|engine| engine.state().expect("it can be read"));
    assert_same(&found, &expected, "after the change");
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_row_that_fits_in_no_buffer_is_an_error() {
    let network = network(Recipe::Lif, 80, [1, 3], false);
    let options = Options { binding_bytes: Some(8), ..Options::default() };
    let made = kvrm_gpu::spiking::BurstExecutor::new(crate::support::kernels(), network, options);
    let error = made.expect_err("rows are longer");
    assert!(matches!(error, kvrm_gpu::Error::TooLarge { .. }), "{error}");
}
