//! Samples contain the right neurons, places and potentials, and do not change the simulation.

use std::sync::Arc;

use kvrm_spiking::{
    Builder, Error, Executor, Feagi, Kind, Model, Network, Parallel, Recorder, Reference, SampledSpike,
    Simulation, Spike, State, fixed,
};
use kvrm_testkit::spiking::{Case, STEPS, cases};
use proptest::prelude::*;

fn reference(network: Arc<Network>) -> Box<dyn Executor> {
    Box::new(Reference::new(network))
}

/// Returns a simulation of a population without input and of a grid in which every neuron with an injection fires.
fn grid() -> Simulation {
    let mut builder = Builder::new(1.0);
    builder.population("before", 5, &Model::Feagi(Feagi::default())).expect("parameters are in range");
    let area = |_| (Model::Feagi(Feagi::default()), None);
    builder.populate("area", [2, 3, 4], Kind::Feagi, area).expect("parameters are in range");
    Simulation::new(builder.build().expect("there are no synapses"), reference)
}

#[test]
fn a_sample_contains_only_the_given_neurons() {
    let mut simulation = grid();
    simulation.record_with(Recorder::new(10).for_neurons(7..29));
    for neuron in [4, 5, 28] {
        simulation.inject(neuron, 2).expect("in range");
        simulation.inject_at(1, neuron, 3).expect("in range");
    }
    let firing = |step, neuron, place, potential| {
        vec![SampledSpike { step, neuron, population: 1, place, potential: Some(potential) }]
    };
    let sampled = simulation.sample(5..28).expect("the neurons are in range");
    assert_eq!(sampled, firing(0, 5, [0, 0, 0], 2.0), "neither neuron 4 nor neuron 28");
    let sampled = simulation.sample(6..29).expect("the neurons are in range");
    assert_eq!(sampled, firing(1, 28, [1, 2, 3], 3.0), "the last neuron of the grid");
    assert_eq!(
        simulation.sample(0..29).expect("the neurons are in range"),
        [],
        "each injection is used once"
    );
    let recorded: Vec<_> = simulation.spikes().iter().map(|spike| (spike.step, spike.neuron)).collect();
    assert_eq!(recorded, [(0, 28), (1, 28)], "the neurons of the recorder, sampled or not");
}

#[test]
fn a_sample_of_neurons_out_of_range_executes_no_step() {
    let mut simulation = grid();
    let error = simulation.sample(3..30).expect_err("there are 29 neurons").to_string();
    assert_eq!(error, "there is no neuron 29: there are 29, numbered from 0");
    assert_eq!(
        (simulation.step(), simulation.state().expect("CPU engines have states").step),
        (0, 0),
        "no step was executed"
    );
}

#[test]
fn lost_spikes_are_an_error_after_the_step() {
    let mut simulation = grid();
    simulation.record(1);
    for neuron in [1, 2] {
        simulation.inject(neuron, 1).expect("in range");
    }
    let error = simulation.sample(0..29).expect_err("the recorder has room for one spike");
    assert!(matches!(error, Error::RecordingOverflow { recorded: 0, lost: 2, capacity: 1 }), "{error}");
    assert_eq!(
        (simulation.step(), simulation.state().expect("CPU engines have states").step),
        (1, 1),
        "the step was executed"
    );
}

#[test]
fn a_sample_detects_an_engine_that_differs_from_the_reference() {
    let network = |threshold| {
        let mut builder = Builder::new(1.0);
        let model = Model::Feagi(Feagi { threshold, ..Feagi::default() });
        builder.population("area", 3, &model).expect("parameters are in range");
        builder.build().expect("there are no synapses")
    };
    for (own, other) in [(1.0, 3.0), (3.0, 1.0)] {
        let mut simulation =
            Simulation::new(network(own), |_| Box::new(Parallel::new(Arc::new(network(other)))));
        simulation.inject(1, 2).expect("in range");
        let error = simulation.sample(0..3).expect_err("one of the two fires");
        let cause = std::error::Error::source(&error).expect("an engine error has a source").to_string();
        assert!(cause.starts_with("neuron 1 fires in step 0 on the engine or by the reference"), "{cause}");
    }
}

/// The states, spikes and samples of the steps of a case.
struct Observation {
    states: Vec<State>,
    spikes: Vec<Spike>,
    samples: Vec<Vec<SampledSpike>>,
}

/// Runs all steps of a case, and samples the steps for which `sampled` returns true.
fn observe(
    case: &Case,
    engine: impl FnOnce(Arc<Network>) -> Box<dyn Executor>,
    sampled: impl Fn(u64) -> bool,
) -> Observation {
    let mut simulation = Simulation::new(Network::clone(&case.network), engine);
    simulation.record(1 << 20);
    for injection in case.input.injections() {
        simulation.inject_at(injection.step, injection.neuron, injection.amount).expect("in range");
    }
    let (mut states, mut samples) = (Vec::new(), Vec::new());
    for step in 0..STEPS {
        for &(_, population, amount) in case.drives.iter().filter(|drive| drive.0 == step) {
            simulation.set_drive(population, amount).expect("in range");
        }
        if sampled(step) {
            samples.push(simulation.sample(0..case.network.neurons()).expect("the neurons are in range"));
        } else {
            simulation.run(1).expect("the run succeeds");
        }
        states.push(simulation.state().expect("CPU engines have states"));
    }
    Observation { states, spikes: simulation.take_spikes(), samples }
}

/// Returns the firing threshold of a neuron; `None` for Poisson sources.
fn threshold(network: &Network, neuron: u32) -> Option<f64> {
    let record = network.record(neuron);
    match Kind::of(record.kind)? {
        Kind::Feagi => Some(record.wide(2) as f64 / 4_294_967_296.0),
        Kind::Lif => Some(fixed::float(record.signed(8), 20)),
        Kind::Izhikevich => Some(fixed::float(record.signed(6), 20)),
        Kind::Poisson => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn sampling_changes_neither_states_nor_spikes(case in cases(40), pattern: u64) {
        let plain = observe(&case, reference, |_| false);
        let all = observe(&case, reference, |_| true);
        let some = observe(&case, |network| Box::new(Parallel::new(network)), |step| pattern >> step & 1 != 0);
        for (other, what) in [(&all, "the reference"), (&some, "the parallel engine")] {
            for (step, (found, expected)) in other.states.iter().zip(&plain.states).enumerate() {
                prop_assert_eq!(found, expected, "{} after step {}", what, step);
            }
            prop_assert_eq!(&other.spikes, &plain.spikes, "spikes of {}", what);
        }
        let chosen: Vec<_> = (0..STEPS).filter(|step| pattern >> step & 1 != 0).collect();
        let expected = chosen.iter().map(|step| &all.samples[*step as usize]);
        prop_assert!(some.samples.iter().eq(expected), "samples are the same on both engines");
        let sampled = || all.samples.iter().flatten();
        let spikes = sampled().map(|firing| Spike { step: firing.step, neuron: firing.neuron });
        prop_assert!(spikes.eq(plain.spikes), "samples contain all spikes");
        for firing in sampled() {
            let population = &case.network.populations()[firing.population as usize];
            prop_assert_eq!(firing.place, population.place(firing.neuron), "{:?}", firing);
            prop_assert!(population.neurons.contains(&firing.neuron), "{:?}", firing);
            let threshold = threshold(&case.network, firing.neuron);
            prop_assert_eq!(threshold.is_some(), firing.potential.is_some(), "{:?}", firing);
            prop_assert!(firing.potential >= threshold, "{:?} fires below {:?}", firing, threshold);
        }
    }
}
