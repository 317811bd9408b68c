//! A changed network equals the network that would have been built with the changes.

use kvrm_spiking::{
    Builder, Change, Error, Feagi, Injection, Lif, ListedSynapse, Model, Network, Parallel, Reference,
    Simulation, Synapse,
};
use kvrm_testkit::spiking::cases;
use proptest::prelude::*;
use proptest::sample::Index;

/// Asserts that networks have the same rows, bounds and other parts, whatever the layout of their synapses in memory.
fn assert_same(left: &Network, right: &Network) {
    assert_eq!(left.bounds(), right.bounds(), "bounds");
    for neuron in 0..left.neurons() {
        let rows = [left, right].map(|network| {
            let mut row: Vec<Synapse> = network.synapses().row(neuron).collect();
            row.sort_unstable();
            row
        });
        assert_eq!(rows[0], rows[1], "the row of neuron {neuron}");
        assert_eq!(left.record(neuron), right.record(neuron), "the record of neuron {neuron}");
    }
    assert_eq!(left.populations(), right.populations(), "populations");
    assert_eq!(left.parts().columns, right.parts().columns, "initial states");
    assert_eq!(left.slots(), right.slots(), "slots");
}

fn feagi(threshold: f64) -> Model {
    Model::Feagi(Feagi { threshold, ..Feagi::default() })
}

fn build_network(
    thresholds: [f64; 3],
    links: &[(u32, u32, f64, u32)],
    second: u32,
    max_delay: u32,
) -> Network {
    let mut builder = Builder::new(1.0).max_delay(max_delay);
    let model = |index: u32| (feagi(thresholds[index as usize]), None);
    let area =
        builder.populate("area", [3, 1, 1], feagi(1.0).kind(), model).expect("parameters are in range");
    if second != 0 {
        builder.population("second", second, &feagi(2.0)).expect("parameters are in range");
    }
    let link = |&(source, target, weight, delay): &(u32, u32, f64, u32)| ListedSynapse {
        source,
        target,
        weight,
        delay,
    };
    let links: Vec<ListedSynapse> = links.iter().map(link).collect();
    builder.connect_list(area, area, &links).expect("links are in range");
    builder.build().expect("sums are small")
}

#[test]
fn a_changed_network_equals_a_built_one() {
    let links = [(0, 1, 5.0, 1), (0, 1, 7.0, 1), (0, 2, -3.0, 2), (2, 2, 4.0, 1)];
    let mut network = build_network([1.0; 3], &links, 0, 9);
    let synapse = |target, delay, weight| Synapse { target, delay, weight };
    let changed = network.change(&[
        Change::AddSynapse { source: 1, synapse: synapse(0, 2, 6) },
        Change::RemoveSynapse { source: 0, target: 1, delay: 1 },
        Change::SetWeight { source: 2, synapse: synapse(2, 1, -9) },
    ]);
    let changed = changed.expect("the synapses exist");
    assert_eq!(
        (&changed.rows[..], changed.is_repacked),
        (&[0, 1, 2][..], false),
        "three rows changed, without repacking"
    );
    let links = [(0, 1, 7.0, 1), (0, 2, -3.0, 2), (1, 0, 6.0, 2), (2, 2, -9.0, 1)];
    assert_same(&network, &build_network([1.0; 3], &links, 0, 9));
    network.change(&[Change::SetParameters { neuron: 1, model: feagi(8.0) }]).expect("of the same model");
    network
        .change(&[Change::AddPopulation {
            name: "second".to_owned(),
            dimensions: [4, 1, 1],
            model: feagi(2.0),
        }])
        .expect("parameters are in range");
    assert_same(&network, &build_network([1.0, 8.0, 1.0], &links, 4, 9));
}

#[test]
fn synapses_that_do_not_fit_are_packed_anew() {
    let mut network = build_network([1.0; 3], &[(0, 1, 5.0, 1), (1, 2, 1.0, 1)], 0, 1);
    let changes =
        [Change::AddSynapse { source: 0, synapse: Synapse { target: 2, delay: 300, weight: 1 << 24 } }];
    assert!(
        network.change(&changes).expect("the synapse fits in 8 bytes").is_repacked,
        "the packing had no bits for the delay"
    );
    assert_same(
        &network,
        &build_network([1.0; 3], &[(0, 1, 5.0, 1), (1, 2, 1.0, 1), (0, 2, 16_777_216.0, 300)], 0, 1),
    );
    assert_eq!(network.synapses().packing.words, 2, "2, 9 and 26 bits need two words");
}

#[test]
fn rejected_changes_leave_the_network_unchanged() {
    let mut network = build_network([1.0; 3], &[(0, 1, 5.0, 1)], 0, 1);
    let before = network.clone();
    let synapse = |target, weight| Synapse { target, delay: 1, weight };
    let good = || Change::AddSynapse { source: 0, synapse: synapse(0, 1) };
    let mut rejected = |bad: Change| {
        let error = network.change(&[good(), bad]).expect_err("the second is impossible");
        assert_eq!(network, before, "unchanged after {error}");
        error
    };
    let error = rejected(Change::AddSynapse { source: 0, synapse: synapse(3, 1) });
    assert!(matches!(error, Error::NoSuchNeuron { neuron: 3, neurons: 3 }), "{error}");
    let error = rejected(Change::RemoveSynapse { source: 1, target: 1, delay: 1 });
    assert!(matches!(error, Error::NoSuchSynapse { from: 1, to: 1, delay: 1 }), "{error}");
    let error = rejected(Change::AddSynapse { source: 2, synapse: synapse(2, i32::MAX) });
    assert!(matches!(error, Error::AccumulatorBound { neuron: 2, .. }), "{error}");
    let error =
        rejected(Change::AddSynapse { source: 2, synapse: Synapse { target: 2, delay: 0, weight: 1 } });
    assert!(matches!(error, Error::Parameter { .. }), "{error}");
    let error = rejected(Change::SetParameters { neuron: 0, model: Model::Lif(Lif::default()) });
    assert!(matches!(error, Error::Parameter { .. }), "{error}");
}

#[test]
fn pending_spikes_arrive_after_a_change() {
    let network = build_network([1.0; 3], &[(0, 1, 5.0, 4)], 0, 1);
    let simulations = [
        Simulation::new(network.clone(), |network| Box::new(Reference::new(network))),
        Simulation::new(network, |network| Box::new(Parallel::new(network))),
    ];
    for mut simulation in simulations {
        simulation.record(10);
        simulation.inject(0, 1).expect("an amount in range");
        simulation.run(2).expect("room for spikes");
        let synapse = Synapse { target: 2, delay: 6, weight: 3 };
        let changes = [
            Change::RemoveSynapse { source: 0, target: 1, delay: 4 },
            Change::AddSynapse { source: 1, synapse },
        ];
        simulation.change(&changes).expect("the synapses exist");
        simulation.run(20).expect("room for spikes");
        let spikes: Vec<_> = simulation.spikes().iter().map(|spike| (spike.step, spike.neuron)).collect();
        assert_eq!(spikes, [(0, 0), (4, 1), (10, 2)], "over the removed synapse, then over the new one");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn engines_agree_after_changes(
        case in cases(30),
        edits in proptest::collection::vec((any::<[Index; 2]>(), 1..30_u32, -100..100_i32, 0..3_u8), 1..20),
    ) {
        prop_assume!(case.network.neurons() != 0);
        let mut simulations = [
            Simulation::new((*case.network).clone(), |network| Box::new(Reference::new(network))),
            Simulation::new((*case.network).clone(), |network| Box::new(Parallel::new(network))),
        ];
        let neurons = case.network.neurons() as usize;
        let changes = |network: &Network| -> Vec<Change> {
            edits.iter().filter_map(|([from, to], delay, weight, what)| {
                let [source, target] = [from, to].map(|index| index.index(neurons) as u32);
                let length = network.synapses().lengths[source as usize] as usize;
                match what {
                    0 => Some(Change::AddSynapse { source, synapse: Synapse { target, delay: *delay, weight: *weight } }),
                    _ if length == 0 => None,
                    _ => {
                        let synapse = network.synapses().row(source).nth(to.index(length))?;
                        Some(Change::SetWeight { source, synapse: Synapse { weight: *weight, ..synapse } })
                    }
                }
            }).collect()
        };
        let changes = changes(&case.network);
        for &Injection { step, neuron, amount } in case.input.injections() {
            for simulation in &mut simulations {
                simulation.inject_at(step, neuron, amount).expect("an input in range");
            }
        }
        let states = simulations.each_mut().map(|simulation| {
            simulation.run(10).expect("an input in range");
            simulation.change(&changes).expect("sums are small");
            simulation.run(20).expect("an input in range");
            simulation.state().expect("engines on CPUs have states")
        });
        prop_assert_eq!(&states[0], &states[1], "states");
        let network = simulations[0].network();
        let rebuilt = Network::new(network.clone().into_parts()).expect("a changed network is valid");
        if network.is_plastic() {
            // The bound of the changed network still includes initial weights beyond the limits of plasticity.
            let mut bounds = rebuilt.bounds().iter().zip(network.bounds());
            prop_assert!(bounds.all(|(rebuilt, changed)| rebuilt <= changed), "the bounds of all rows");
        } else {
            prop_assert_eq!(rebuilt.bounds(), network.bounds(), "the bounds of all rows");
        }
    }
}
