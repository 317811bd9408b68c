//! Connection rules: the synapses that they generate, and the checks of builders and networks.

use std::sync::Arc;

use kvrm_spiking::{
    Builder, ConnectionRule, Delay, Error, Executor, Feagi, Injection, Input, Lif, ListedSynapse, Model,
    Network, Parallel, PlasticityRule, Projection, Recorder, Reference, State, Synapse, Weight,
};

fn feagi() -> Model {
    Model::Feagi(Feagi::default())
}

/// Builds a network of two populations and one projection between them.
fn connected(sources: u32, targets: u32, projection: &Projection) -> Result<Network, Error> {
    let mut builder = Builder::new(1.0).seed(5);
    let source = builder.population("sources", sources, &feagi())?;
    let target = builder.population("targets", targets, &feagi())?;
    builder.connect(source, target, projection)?;
    builder.build()
}

/// Returns the pairs of source and target that a rule connects, as indices in their populations.
fn pairs(sources: u32, targets: u32, connect: ConnectionRule) -> Vec<(u32, u32)> {
    let network = connected(sources, targets, &Projection::new(connect, 1.0, 1)).expect("a rule in range");
    let row = |source| network.synapses().row(source).map(move |synapse| (source, synapse.target - sources));
    (0..sources).flat_map(row).collect()
}

#[test]
fn deterministic_rules_connect_the_expected_pairs() {
    assert_eq!(pairs(3, 3, ConnectionRule::OneToOne), [(0, 0), (1, 1), (2, 2)], "one to one");
    assert_eq!(pairs(2, 2, ConnectionRule::AllToAll), [(0, 0), (0, 1), (1, 0), (1, 1)], "all to all");
    assert_eq!(pairs(3, 4, ConnectionRule::Probability(0.0)), [], "none");
    assert_eq!(pairs(3, 4, ConnectionRule::Probability(1.0)).len(), 12, "all");
}

#[test]
fn degrees_and_numbers_are_exact() {
    let by_source = pairs(50, 40, ConnectionRule::OutDegree(7));
    assert!((0..50).all(|source| by_source.iter().filter(|pair| pair.0 == source).count() == 7), "7 of each");
    let by_target = pairs(50, 40, ConnectionRule::InDegree(7));
    assert!((0..40).all(|target| by_target.iter().filter(|pair| pair.1 == target).count() == 7), "7 to each");
    assert_eq!(pairs(50, 40, ConnectionRule::Total(100_001)).len(), 100_001, "a fixed total");
    let some = pairs(1000, 1000, ConnectionRule::Probability(0.1)).len();
    assert!((98_800..101_200).contains(&some), "{some} of 100,000 expected");
}

#[test]
fn rules_without_multapses_choose_distinct_targets() {
    for connect in [ConnectionRule::OutDegree(9), ConnectionRule::InDegree(9)] {
        let mut builder = Builder::new(1.0);
        let area = builder.population("area", 10, &feagi()).expect("parameters are in range");
        let projection = Projection::new(connect, 1.0, 1).autapses(false).multapses(false);
        builder.connect(area, area, &projection).expect("there are 9 other neurons");
        let network = builder.build().expect("sums are small");
        for source in 0..10 {
            let targets: Vec<u32> = network.synapses().row(source).map(|synapse| synapse.target).collect();
            let others: Vec<u32> = (0..10).filter(|&target| target != source).collect();
            assert_eq!(targets, others, "all other neurons, once");
        }
    }
}

#[test]
fn offsets_stay_in_the_grid() {
    let mut builder = Builder::new(1.0);
    let grid = |builder: &mut Builder, name: &str| {
        builder
            .populate(name, [3, 2, 2], feagi().kind(), |_| (feagi(), None))
            .expect("parameters are in range")
    };
    let (from, to) = (grid(&mut builder, "from"), grid(&mut builder, "to"));
    let offsets = ConnectionRule::Offsets(vec![[1, 0, 0], [0, -1, 1]]);
    builder.connect(from, to, &Projection::new(offsets, 1.0, 1)).expect("all offsets are valid");
    let network = builder.build().expect("sums are small");
    let targets =
        |source| network.synapses().row(source).map(|synapse| synapse.target - 12).collect::<Vec<_>>();
    assert_eq!(targets(0), [1], "(1, 0, 0), and y would be -1");
    assert_eq!(targets(4), [5, 7], "from (1, 1, 0) to (2, 1, 0) and (1, 0, 1)");
    assert_eq!(targets(11), [0; 0], "at the far corner");
    assert_eq!(network.populations()[1].place(12 + 7), [1, 0, 1], "x varies fastest");
}

#[test]
fn weights_and_delays_follow_their_distributions() {
    let projection = Projection::new(ConnectionRule::OutDegree(1000), 0.0, 1)
        .weight(Weight::Normal { mean: -100.0, std: 10.0 })
        .delay(Delay::Normal { mean: 5.0, std: 3.0, max: 12.0 });
    let network = connected(100, 100, &projection).expect("parameters are in range");
    let synapses: Vec<Synapse> = (0..100).flat_map(|source| network.synapses().row(source)).collect();
    let mean = synapses.iter().map(|synapse| f64::from(synapse.weight)).sum::<f64>() / 1e5;
    assert!((mean + 100.0).abs() < 0.15, "a mean of {mean}");
    assert!(synapses.iter().all(|synapse| (1..=12).contains(&synapse.delay)), "delays in range");
    assert!(
        [1, 12].iter().all(|end| synapses.iter().any(|synapse| synapse.delay == *end)),
        "up to both ends"
    );
    assert!(network.synapses().row(0).is_sorted_by_key(|s| s.target), "rows are sorted");
}

#[test]
fn networks_do_not_depend_on_the_number_of_threads() {
    let build = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a few threads");
        pool.install(|| {
            let mut builder = Builder::new(1.0).seed(9);
            let area = builder.population("area", 3000, &feagi()).expect("parameters are in range");
            for connect in [
                ConnectionRule::InDegree(20),
                ConnectionRule::Total(100_000),
                ConnectionRule::Probability(0.01),
                ConnectionRule::OutDegree(5),
            ] {
                let weight = Weight::Normal { mean: 20.0, std: 5.0 };
                builder
                    .connect(area, area, &Projection::new(connect, 0.0, 1).weight(weight))
                    .expect("in range");
            }
            builder.build().expect("sums are small")
        })
    };
    assert_eq!(build(1), build(3), "the same network");
}

#[test]
fn impossible_parameters_are_rejected() {
    let rejected = |connect: ConnectionRule, multapses: bool| {
        connected(3, 4, &Projection::new(connect, 1.0, 1).multapses(multapses))
            .expect_err("impossible")
            .to_string()
    };
    assert!(rejected(ConnectionRule::OneToOne, true).contains("3, the number of sources"), "sizes differ");
    assert!(rejected(ConnectionRule::Probability(1.5), true).contains("0 to 1"), "above 1");
    assert!(rejected(ConnectionRule::Probability(f64::NAN), true).contains("0 to 1"), "not a number");
    assert!(rejected(ConnectionRule::OutDegree(5), false).contains("at most 4"), "only 4 targets");
    assert!(rejected(ConnectionRule::InDegree(4), false).contains("at most 3"), "only 3 sources");
    let error =
        connected(3, 0, &Projection::new(ConnectionRule::OutDegree(1), 1.0, 1)).expect_err("no targets");
    assert!(error.to_string().contains("at most 0"), "{error}");
    let error = connected(1, 1, &Projection::new(ConnectionRule::OneToOne, 1.0, 0)).expect_err("no delay");
    assert!(error.to_string().contains("1 to 65535"), "{error}");
    let error = connected(1, 1, &Projection::new(ConnectionRule::OneToOne, 1e12, 1)).expect_err("no weight");
    assert!(error.to_string().contains("weight is 1000000000000"), "{error}");
    let mut builder = Builder::new(1.0);
    let foreign = Builder::new(1.0).population("foreign", 1, &feagi()).expect("parameters are in range");
    let projection = Projection::new(ConnectionRule::OneToOne, 1.0, 1);
    assert!(
        matches!(builder.connect(foreign, foreign, &projection), Err(Error::ForeignPopulation)),
        "a handle of another builder"
    );
    let lif = Lif { tau_m: -1.0, ..Lif::default() };
    assert!(builder.population("lif", 1, &Model::Lif(lif)).is_err(), "a negative time constant");
    assert!(Builder::new(f64::NAN).build().is_err(), "a step of undefined length");
    let own = builder.population("own", 2, &feagi()).expect("parameters are in range");
    let outside = [ListedSynapse { source: 0, target: 2, weight: 1.0, delay: 1 }];
    assert!(
        matches!(
            builder.connect_list(own, own, &outside),
            Err(Error::NoSuchNeuron { neuron: 2, neurons: 2 })
        ),
        "the target is out of range"
    );
}

#[test]
fn networks_whose_inputs_could_overflow_are_rejected() {
    let build = |synapses: u32| {
        let mut builder = Builder::new(1.0).injection_limit(0);
        let model = Model::Feagi(Feagi { psp: 255, ..Feagi::default() });
        let sources = builder.population("sources", synapses, &model)?;
        let target = builder.population("target", 1, &model)?;
        builder.connect(sources, target, &Projection::new(ConnectionRule::AllToAll, 255.0, 1))?;
        builder.build()
    };
    // 65,025 * 33,025 is the last multiple below 2^31.
    let network = build(33_025).expect("the largest sum that fits");
    assert_eq!(network.bounds()[33_025], 65_025 * 33_025, "the bound is exact");
    match build(33_026) {
        Err(Error::AccumulatorBound { neuron: 33_026, sum, limit }) => {
            assert_eq!(
                (sum, limit),
                (65_025 * 33_026, (1 << 31) - 1),
                "the error contains the sum and the limit"
            );
        }
        other => panic!("expected an AccumulatorBound error, found {other:?}"),
    }
    // Injections of zero are within a limit of 0.
    let input = (0..33_025).map(|neuron| Injection { step: 0, neuron, amount: 0 }).collect();
    let network = Arc::new(network);
    let mut engine = Parallel::new(Arc::clone(&network));
    engine.set_drive(0, 0).expect("no drive");
    let result = engine.run(1, &Input::new(input).expect("all amounts are zero"), None);
    assert!(result.is_ok(), "zeros are within a limit of 0");
}

#[test]
fn the_bound_includes_the_limits_of_plasticity() {
    let mut builder = Builder::new(1.0);
    let area = builder.population("area", 1, &feagi()).expect("parameters are in range");
    builder.connect(area, area, &Projection::new(ConnectionRule::OneToOne, 1.0, 1)).expect("a rule in range");
    builder
        .learn(area, area, [0.0, 2e9], PlasticityRule::Window { steps: 1, ltp: 1, ltd: 1 })
        .expect("limits in range");
    let expected = matches!(builder.build(), Ok(network) if network.bounds()[0] == 2_000_000_000);
    assert!(expected, "the weight may grow to 2 * 10^9");
}

#[test]
fn injections_are_checked() {
    let network =
        Arc::new(connected(2, 2, &Projection::new(ConnectionRule::OneToOne, 1.0, 1)).expect("in range"));
    let mut engine = Reference::new(Arc::clone(&network));
    let mut run = |step, neuron, amount| {
        engine.run(2, &Input::new(vec![Injection { step, neuron, amount }]).expect("one injection"), None)
    };
    assert!(matches!(run(0, 4, 1), Err(Error::NoSuchNeuron { neuron: 4, neurons: 4 })), "4 neurons");
    assert!(matches!(run(2, 0, 1), Err(Error::InjectionStep { step: 2, steps: 2 })), "2 steps");
    assert!(matches!(run(0, 0, (1 << 24) + 1), Err(Error::Injection { neuron: 0, .. })), "above the limit");
    assert!(
        matches!(run(0, 0, i32::MIN), Err(Error::Injection { neuron: 0, .. })),
        "below the negative limit"
    );
    assert!(run(1, 3, 1 << 24).is_ok(), "the last step and neuron, and the largest amount");
    let twice = vec![Injection { step: 0, neuron: 0, amount: i32::MAX }; 2];
    assert!(Input::new(twice).is_err(), "a sum of more than 32 bits");
}

#[test]
fn lost_spikes_are_an_error() {
    let mut builder = Builder::new(1.0);
    let model = Model::Feagi(Feagi { drive: 1.0, ..Feagi::default() });
    builder.population("area", 3, &model).expect("parameters are in range");
    let network = Arc::new(builder.build().expect("there are no synapses"));
    for mut engine in [
        Box::new(Reference::new(Arc::clone(&network))) as Box<dyn Executor>,
        Box::new(Parallel::new(Arc::clone(&network))),
    ] {
        let mut recorder = Recorder::new(7);
        let error = engine.run(4, &Input::default(), Some(&mut recorder)).expect_err("12 spikes");
        let expected = "6 spikes were not recorded: the recorder holds 6 and has room for 7; \
                        use a larger capacity or take spikes more often";
        assert_eq!(error.to_string(), expected, "complete steps only");
        assert_eq!(engine.state().expect("engines have states").step, 4, "all steps were executed");
        assert_eq!(recorder.take().len(), 6, "the spikes of two complete steps");
        engine.run(2, &Input::default(), Some(&mut recorder)).expect("the recorder is empty again");
        let mut one = Recorder::new(7).for_neurons(1..2);
        engine.run(7, &Input::default(), Some(&mut one)).expect("one neuron only");
        assert_eq!(one.spikes().len(), 7, "a spike a step");
    }
}

#[test]
fn a_network_may_be_empty() {
    let network = Arc::new(Builder::new(1.0).build().expect("an empty network is valid"));
    for mut engine in [
        Box::new(Reference::new(Arc::clone(&network))) as Box<dyn Executor>,
        Box::new(Parallel::new(Arc::clone(&network))),
    ] {
        engine.run(5, &Input::default(), None).expect("the run succeeds");
        let state = engine.state().expect("engines have states");
        assert_eq!(state, State { step: 5, ..State::initial(&network) }, "only the step number changes");
    }
}

#[test]
fn parts_are_checked() {
    let network = connected(2, 3, &Projection::new(ConnectionRule::AllToAll, 1.0, 1)).expect("in range");
    let is_rejected = |change: fn(&mut kvrm_spiking::NetworkParts)| {
        let mut parts = network.clone().into_parts();
        change(&mut parts);
        Network::new(parts).is_err()
    };
    assert!(Network::new(network.clone().into_parts()).is_ok(), "unchanged");
    assert!(is_rejected(|parts| parts.synapses.lengths[0] = 1 << 30), "a row that ends outside");
    assert!(is_rejected(|parts| parts.synapses.starts[0] = u64::MAX), "a row that begins outside");
    assert!(is_rejected(|parts| parts.synapses.words[0] |= 0xf000_0000), "a target that does not exist");
    assert!(is_rejected(|parts| parts.synapses.packing.min_delay = 9), "a delay that has no slot");
    assert!(is_rejected(|parts| parts.synapses.packing.weight_bits = 0), "a weight without bits");
    assert!(is_rejected(|parts| parts.synapses.packing.words = 3), "synapses of 12 bytes");
    assert!(is_rejected(|parts| parts.record_of[1] = 1), "a record of another population");
    assert!(is_rejected(|parts| parts.records[0].kind = 9), "a model that does not exist");
    assert!(is_rejected(|parts| parts.records[0].words[14] = 40), "another shift");
    assert!(is_rejected(|parts| parts.records[0].words[10] = 256), "a psp above its maximum");
    assert!(is_rejected(|parts| parts.populations[0].dimensions = [u32::MAX; 3]), "more places than numbers");
    assert!(is_rejected(|parts| parts.columns.truncate(3)), "a state that is too short");
    assert!(is_rejected(|parts| parts.populations[0].dimensions[2] = 2), "a grid of another size");
    assert!(is_rejected(|parts| parts.ports = 0), "no ports");
    assert!(is_rejected(|parts| parts.fraction_bits = 21), "too many fraction bits");
}
