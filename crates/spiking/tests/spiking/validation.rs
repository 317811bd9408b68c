//! Invalid networks, states, changes and injections are rejected before an engine uses them.

use std::sync::Arc;

use kvrm_spiking::{
    Builder, Change, ConnectionRule, Error, Executor, Feagi, Injection, Input, Lif, ListedSynapse, Model,
    Network, NetworkParts, Packing, Parallel, PlasticityRule, Projection, Reference, Simulation, State,
    Synapse, Synapses, Weight,
};

fn feagi() -> Model {
    Model::Feagi(Feagi::default())
}

/// Builds a network in which each neuron is connected to the next one, and the last to the first.
fn ring(neurons: u32, weight: f64, delay: u32, rule: Option<PlasticityRule>) -> Network {
    let mut builder = Builder::new(1.0).injection_limit(1000);
    let area = builder.population("area", neurons, &feagi()).expect("parameters are in range");
    let link = |source| ListedSynapse { source, target: (source + 1) % neurons, weight, delay };
    builder.connect_list(area, area, &(0..neurons).map(link).collect::<Vec<_>>()).expect("links in range");
    if let Some(rule) = rule {
        builder.learn(area, area, [0.0, 100.0], rule).expect("limits in range");
    }
    builder.build().expect("sums are small")
}

fn engines(network: &Arc<Network>) -> [Box<dyn Executor>; 2] {
    [Box::new(Reference::new(Arc::clone(network))), Box::new(Parallel::new(Arc::clone(network)))]
}

#[test]
fn the_size_of_a_state_is_known_before_it_is_made() {
    let window = PlasticityRule::Window { steps: 1, ltp: 1, ltd: 1 };
    for network in [ring(40, 1.0, 3, None), ring(40, 1.0, 3, Some(window))] {
        let State { step: _, columns, ring, marks, fired, history, weights, drives } =
            State::initial(&network);
        let words = columns.len() + ring.len() + marks.len() + fired.len() + weights.len() + drives.len();
        let bytes = 4 * words as u64 + 8 * history.len() as u64;
        assert_eq!(network.state_bytes(), bytes, "with learning: {}", network.is_plastic());
        network.check_memory().expect("every host has so much");
    }
}

#[test]
fn synapses_that_fit_in_no_memory_are_an_error_before_they_are_counted() {
    let build = |rule: &ConnectionRule| {
        let mut builder = Builder::new(1.0);
        let area = builder.population("area", 200_000, &Model::Feagi(Feagi::default()))?;
        // Each of these rules alone would take hours to count.
        for _ in 0..50 {
            builder.connect(area, area, &Projection::new(rule.clone(), 1.0, 1))?;
        }
        builder.build()
    };
    let rules = [
        (ConnectionRule::AllToAll, 50 * 40_000_000_000_u64),
        (ConnectionRule::InDegree(4_000_000), 50 * 800_000_000_000),
        (ConnectionRule::OutDegree(4_000_000), 50 * 800_000_000_000),
        (ConnectionRule::Probability(0.9), 50 * 35_000_000_000),
    ];
    for (rule, least) in rules {
        let what = format!("{rule:?}");
        match build(&rule).expect_err("terabytes") {
            Error::TooLarge { neurons, synapses, bytes, available } => {
                assert_eq!(neurons, 200_000, "{what}");
                assert!(synapses >= least && bytes >= 4 * least && bytes > available, "{what}: {synapses}");
            }
            other => panic!("{what}: {other}"),
        }
    }
}

#[test]
fn rows_must_not_overlap() {
    let network = ring(4, 1.0, 1, Some(PlasticityRule::Window { steps: 1, ltp: 1, ltd: 1 }));
    let rejected = |change: fn(&mut NetworkParts)| {
        let mut parts = network.clone().into_parts();
        change(&mut parts);
        Network::new(parts).expect_err("the rows are invalid").to_string()
    };
    assert!(
        rejected(|parts| parts.synapses.starts.fill(0)).contains("overlaps another"),
        "all rows at the same place"
    );
    assert!(
        rejected(|parts| parts.synapses.lengths[1] = 2).contains("neuron 2 overlaps"),
        "a row that is too long"
    );
    let behind = |parts: &mut NetworkParts| (parts.synapses.starts[3], parts.synapses.lengths[3]) = (9, 0);
    assert!(rejected(behind).contains("neuron 3"), "an empty row that begins outside");
    assert!(rejected(|parts| parts.synapses.lengths.truncate(3)).contains("rows"), "a missing row");
}

#[test]
fn poisson_tables_have_a_maximum_length() {
    let mut builder = Builder::new(1.0);
    let lif = Lif { poisson_rate: 4_000_000.0, poisson_weight: 0.01, ..Lif::default() };
    builder.population("lif", 1, &Model::Lif(lif)).expect("4,000 events a step");
    let mut parts = builder.build().expect("there are no synapses").into_parts();
    assert!(parts.tables.len() < 4600, "{} entries", parts.tables.len());
    parts.tables = vec![0; 1 << 20];
    parts.records[0].words[12] = 1 << 20;
    assert!(Network::new(parts).is_err(), "the table has a million entries");
}

#[test]
fn poisson_tables_must_not_decrease() {
    let mut builder = Builder::new(1.0);
    let lif = |rate: f64| Model::Lif(Lif { poisson_rate: rate, poisson_weight: 0.01, ..Lif::default() });
    builder.population("one", 1, &lif(5000.0)).expect("5 events a step");
    builder.population("other", 1, &lif(300.0)).expect("0.3 events a step");
    let mut parts = builder.build().expect("there are no synapses").into_parts();
    assert!(!parts.tables.is_sorted(), "one table ends and the next begins");
    let [start, length] = [parts.records[1].words[11], parts.records[1].words[12]];
    assert!(Network::new(parts.clone()).is_ok(), "each table increases");
    parts.tables[(start + length) as usize - 1] = 0;
    let error = Network::new(parts.clone()).expect_err("engines would count entries differently");
    assert!(error.to_string().contains("record 1 has a Poisson table that decreases"), "{error}");
    parts.records[1].words[12] -= 1;
    assert!(Network::new(parts).is_ok(), "unused entries may have any value");
}

#[test]
fn spare_bits_of_packed_synapses_must_be_zero() {
    // A synapse from neuron 0 to neuron 3 with weight 5, and with spare bits.
    let network = |words: u32, behind: u32| {
        let mut parts = ring(4, 1.0, 1, None).into_parts();
        let packing = Packing { target_bits: 2, delay_bits: 0, weight_bits: 8, words, min_delay: 1 };
        let mut synapses = vec![3 << 8 | 5, behind];
        synapses.truncate(words as usize);
        parts.synapses = Synapses { starts: vec![0; 4], lengths: vec![1, 0, 0, 0], words: synapses, packing };
        Network::new(parts)
    };
    assert!(network(2, 0).is_ok(), "two words may have bits to spare");
    assert!(network(2, 1 << 31).is_err(), "but these must be zero");
    assert!(network(1, 0).is_err(), "one word must have none");
}

#[test]
fn sizes_beyond_memory_are_rejected() {
    let mut parts = ring(40_000, 1.0, 1, None).into_parts();
    (parts.max_delay, parts.ports) = (65_535, 2);
    assert!(matches!(Network::new(parts), Err(Error::TooMany { .. })), "a ring of 5 * 10^9");
    let mut network = ring(70_000, 1.0, 1, None);
    let synapse = Synapse { target: 0, delay: 65_535, weight: 1 };
    let change = network.change(&[Change::AddSynapse { source: 0, synapse }]);
    assert!(matches!(change, Err(Error::TooMany { .. })), "a ring that a change makes too large");
    let total = Projection::new(ConnectionRule::Total(1 << 60), 1.0, 1);
    let mut builder = Builder::new(1.0);
    let area = builder.population("area", 1, &feagi()).expect("parameters are in range");
    assert!(builder.connect(area, area, &total).is_err(), "synapses that would take years to draw");
}

#[test]
fn drive_and_injection_limit_cannot_overflow() {
    let limit = Builder::new(1.0).injection_limit(1 << 30).build();
    assert!(limit.is_err(), "drive and injection of a later neuron could add up to 2^31");
    let mut network = ring(2, 1.0, 1, None);
    let model = Model::Feagi(Feagi { drive: 1001.0, ..Feagi::default() });
    let populate = Change::AddPopulation { name: "driven".to_owned(), dimensions: [1, 1, 1], model };
    let error = network.change(&[populate]).expect_err("the drive exceeds the injection limit").to_string();
    assert!(error.contains("drive is 1001"), "{error}");
}

#[test]
fn fraction_bits_are_checked_without_neurons() {
    for bits in [21, 31, 64, u32::MAX] {
        let mut builder = Builder::new(1.0).fraction_bits(bits);
        let Ok(area) = builder.population("area", 0, &feagi()) else { continue };
        let normal = Weight::Normal { mean: 1.0, std: 1.0 };
        for weight in [Weight::Constant(1.0), normal] {
            let projection = Projection::new(ConnectionRule::OneToOne, 1.0, 1).weight(weight);
            assert!(builder.connect(area, area, &projection).is_err(), "{bits} bits");
        }
    }
}

#[test]
fn a_population_is_added_as_a_whole_or_not_at_all() {
    let mut builder = Builder::new(1.0);
    let model = |index: u32| (if index < 3 { feagi() } else { Model::Lif(Lif::default()) }, None);
    assert!(builder.populate("mixed", [5, 1, 1], feagi().kind(), model).is_err(), "two models");
    builder.population("area", 2, &feagi()).expect("parameters are in range");
    let network = builder.build().expect("the rejected population left nothing behind");
    assert_eq!((network.neurons(), network.populations().len()), (2, 1), "only the second population exists");
}

#[test]
fn states_are_checked_before_engines_use_them() {
    let window = PlasticityRule::Window { steps: 1, ltp: 1, ltd: 1 };
    let network = Arc::new(ring(3, 5.0, 4, Some(window)));
    let packing = network.synapses().packing;
    let is_rejected = |change: &dyn Fn(&mut State)| {
        let mut state = State::initial(&network);
        change(&mut state);
        for mut engine in engines(&network) {
            if engine.set_state(&state).is_ok() {
                return false;
            }
            assert_eq!(engine.state().expect("engines have states"), State::initial(&network), "unchanged");
        }
        true
    };
    let learn = |state: &mut State, weight| {
        state.weights[0] = packing.with_weight(state.weights[0].into(), weight) as u32;
    };
    assert!(!is_rejected(&|_| ()), "an initial state");
    assert!(!is_rejected(&|state| learn(state, 100)), "a weight that can be learned");
    assert!(is_rejected(&|state| learn(state, 101)), "a weight that cannot be learned");
    assert!(is_rejected(&|state| state.weights[0] = u32::MAX), "a target that does not exist");
    assert!(is_rejected(&|state| state.ring[1] = i32::MAX), "too much input in the next step");
    assert!(is_rejected(&|state| state.ring[11] = i32::MIN), "too much input in the last slot");
    assert!(is_rejected(&|state| state.drives[0] = 1001), "a drive above the limit");
    assert!(is_rejected(&|state| state.fired[0] = 0b1000), "a spike of a neuron that does not exist");
    assert!(is_rejected(&|state| state.step = u64::MAX), "a step number that would overflow");
    let mut taken = Network::clone(&network);
    assert!(taken.take_weights(vec![u32::MAX; 3]).is_err(), "these weights are rejected, too");
    assert_eq!(taken, *network, "the network is unchanged");
}

/// Builds a network in which neuron 1 gets 2^30 weight units 4 steps after a spike of neuron 0.
fn heavy() -> Network {
    let mut builder = Builder::new(1.0).injection_limit(1000);
    let area = builder.population("area", 2, &feagi()).expect("parameters are in range");
    let link = ListedSynapse { source: 0, target: 1, weight: 1_073_741_824.0, delay: 4 };
    builder.connect_list(area, area, &[link]).expect("a link in range");
    builder.build().expect("2^30 is less than 2^31")
}

#[test]
fn pending_input_counts_when_a_network_changes() {
    // Each synapse alone is within the bound, but the contributions of both arrive in the same step.
    let synapse = Synapse { target: 1, delay: 2, weight: 1 << 30 };
    let changes =
        [Change::RemoveSynapse { source: 0, target: 1, delay: 4 }, Change::AddSynapse { source: 0, synapse }];
    for is_reference in [true, false] {
        let mut simulation = Simulation::new(heavy(), |network| {
            let [reference, parallel] = engines(&network);
            if is_reference { reference } else { parallel }
        });
        simulation.inject(0, 1).expect("an amount in range");
        simulation.run(2).expect("the run succeeds");
        let before = simulation.network().clone();
        let error = simulation.change(&changes).expect_err("the sum is twice 2^30");
        assert!(matches!(error, Error::AccumulatorBound { neuron: 1, .. }), "{error}");
        assert_eq!(*simulation.network(), before, "the network is unchanged");
        simulation.inject(0, 1).expect("an amount in range");
        simulation.run(2).expect("the engine is unchanged");
        simulation.change(&changes).expect_err("the second spike is still pending");
        simulation.run(1).expect("the run succeeds");
        simulation.change(&changes).expect("the new synapse cannot reach the same step");
    }
}

#[test]
fn states_with_large_pending_input_are_accepted() {
    // Synapses whose contributions arrive together use up nearly the whole bound.
    let mut builder = Builder::new(1.0).injection_limit(1000);
    let area = builder.population("area", 2, &feagi()).expect("parameters are in range");
    let link = |weight, delay| ListedSynapse { source: 0, target: 1, weight, delay };
    let links = [link(1e9, 2), link(1e9, 3), link(100.0, 1)];
    builder.connect_list(area, area, &links).expect("links in range");
    let network = Arc::new(builder.build().expect("2 * 10^9 is less than 2^31"));
    let input = (0..3).map(|step| Injection { step, neuron: 0, amount: 1 }).collect();
    let input = Input::new(input).expect("small amounts");
    for mut engine in engines(&network) {
        engine.run(3, &input, None).expect("an input in range");
        let state = engine.state().expect("engines have states");
        let sums = [0, 2_000_000_100, 0, 2_000_000_000, 0, 1_000_000_000];
        assert_eq!(state.ring, sums, "pending sums of neurons 0 and 1, by slot");
        engine.set_state(&state).expect("a state of the same network");
    }
}

#[test]
fn a_rejected_change_leaves_the_simulation_unchanged() {
    let window = PlasticityRule::Window { steps: 1, ltp: 1, ltd: 1 };
    let mut simulation =
        Simulation::new(ring(3, 5.0, 1, Some(window)), |network| Box::new(Parallel::new(network)));
    simulation.inject(0, 1).expect("an amount in range");
    simulation.run(5).expect("the run succeeds");
    let before = (simulation.network().clone(), simulation.state().expect("engines have states"));
    assert_ne!(before.0.synapses().words, before.1.weights, "weights were learned");
    let change = Change::RemoveSynapse { source: 0, target: 0, delay: 1 };
    simulation.change(&[change]).expect_err("there is no such synapse");
    let after = (simulation.network().clone(), simulation.state().expect("engines have states"));
    assert!(before == after, "network and state are unchanged");
}

#[test]
fn equal_parameters_are_stored_once() {
    let model = Model::Lif(Lif { poisson_rate: 1000.0, poisson_weight: 1.0, ..Lif::default() });
    let mut builder = Builder::new(0.1);
    builder.population("lif", 2, &model).expect("parameters are in range");
    let mut network = builder.build().expect("there are no synapses");
    let before = network.parts().tables.clone();
    network.change(&[Change::SetParameters { neuron: 0, model: model.clone() }]).expect("of the same model");
    assert_eq!(network.parts().tables, before, "the existing table is used");
    assert_eq!(network.parts().records.len(), 1, "the existing record is used");
}

#[test]
fn injections_add_up_in_any_order() {
    let of = |amount| Injection { step: 0, neuron: 0, amount };
    let input = Input::new([-2_000_000_000, 2_000_000_000, -2_000_000_000, 2_000_000_000].map(of).to_vec());
    assert_eq!(input.expect("the sum is 0").injections(), [of(0)], "only the sum must be in range");
}

#[test]
fn an_injection_beyond_the_limit_is_rejected_at_once() {
    let mut simulation = Simulation::new(ring(3, 1.0, 1, None), |network| Box::new(Reference::new(network)));
    simulation.inject(0, 600).expect("an amount in range");
    let error = simulation.inject(0, 600).expect_err("the sum is 1,200");
    assert!(matches!(error, Error::Injection { neuron: 0, step: 0, amount: 1200, limit: 1000 }), "{error}");
    simulation.inject(0, -500).expect("the sum is 100");
    simulation.inject_at(2, 0, 900).expect("another step");
    simulation.run(3).expect("all were in range");
}
