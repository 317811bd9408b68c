//! Membrane potentials at firing, compared with values computed by hand.

use std::sync::Arc;

use kvrm_spiking::{
    Builder, Executor, Feagi, Izhikevich, Lif, ListedSynapse, Model, Network, Poisson, Reference, Simulation,
    fixed,
};

fn reference(network: Arc<Network>) -> Box<dyn Executor> {
    Box::new(Reference::new(network))
}

/// Returns a simulation of a single neuron with this initial potential.
fn single_neuron(dt: f64, model: &Model, potential: f64) -> Simulation {
    let mut builder = Builder::new(dt).fraction_bits(4);
    builder
        .populate("one", [1, 1, 1], model.kind(), |_| (model.clone(), Some(potential)))
        .expect("parameters are in range");
    Simulation::new(builder.build().expect("there are no synapses"), reference)
}

/// Runs a step. Returns the neurons that fire, with their potentials.
fn potentials(simulation: &mut Simulation) -> Vec<(u32, Option<f64>)> {
    let all = 0..simulation.network().neurons();
    let sampled = simulation.sample(all).expect("the neurons are in range");
    sampled.into_iter().map(|firing| (firing.neuron, firing.potential)).collect()
}

/// Runs a step in which the only neuron fires. Returns its potential.
fn potential_at_firing(mut simulation: Simulation) -> f64 {
    let sampled = potentials(&mut simulation);
    assert_eq!(sampled.len(), 1, "the neuron fires");
    sampled[0].1.expect("the model has a potential")
}

#[test]
fn feagi_neurons_accumulate_and_leak_charge_before_they_fire() {
    let feagi = Feagi { threshold: 10.0, leak: 0.5, ..Feagi::default() };
    let mut simulation = single_neuron(1.0, &Model::Feagi(feagi), 1.0);
    // In sixteenths: 5.5, and 8.25 two steps later.
    simulation.inject(0, 88).expect("in range");
    assert_eq!(potentials(&mut simulation), [], "1 + 5.5 is less than 10");
    assert_eq!(potentials(&mut simulation), [], "without input there is no leak");
    simulation.inject(0, 132).expect("in range");
    assert_eq!(
        potentials(&mut simulation),
        [(0, Some(11.5))],
        "half of 6.5 plus 8.25, before the reset to 0"
    );
    simulation.set_drive(0, 161).expect("in range");
    assert_eq!(potentials(&mut simulation), [(0, Some(10.0625))], "the drive alone, from 0");
}

#[test]
fn without_accumulation_only_this_steps_input_counts() {
    let feagi = Feagi { threshold: 3.0, leak: 0.0, charge_accumulation: false, ..Feagi::default() };
    let mut simulation = single_neuron(1.0, &Model::Feagi(feagi), 2.0);
    simulation.inject(0, 40).expect("in range");
    assert_eq!(potentials(&mut simulation), [], "2.5 is below the threshold");
    simulation.inject(0, 56).expect("in range");
    assert_eq!(potentials(&mut simulation), [(0, Some(3.5))], "the earlier 2 and 2.5 do not count");
}

#[test]
fn the_potential_can_be_the_psp() {
    let mut builder = Builder::new(1.0).fraction_bits(4);
    let source = Model::Feagi(Feagi { threshold: 1.0, mp_driven_psp: true, ..Feagi::default() });
    let source = builder.population("source", 1, &source).expect("parameters are in range");
    let target = Model::Feagi(Feagi { threshold: 1.0, leak: 0.5, drive: 0.25, ..Feagi::default() });
    let target = builder.population("target", 2, &target).expect("parameters are in range");
    let link = |target, weight, delay| ListedSynapse { source: 0, target, weight, delay };
    builder
        .connect_list(source, target, &[link(0, 3.0, 1), link(1, -1.0, 1), link(1, 2.0, 2)])
        .expect("links are in range");
    let mut simulation = Simulation::new(builder.build().expect("sums are small"), reference);
    simulation.inject(0, 120).expect("in range");
    assert_eq!(potentials(&mut simulation), [(0, Some(7.5))], "the potential is not rounded, but the psp is");
    // The psp is 8. The drive of a quarter has left an eighth, and is added again.
    assert_eq!(potentials(&mut simulation), [(1, Some(24.375))], "remaining charge, pending input and drive");
    simulation.inject_at(2, 2, 5).expect("in range");
    // Half of 0.375 - 8 is left. The inputs are 16, a quarter and five sixteenths.
    assert_eq!(potentials(&mut simulation), [(2, Some(12.75))], "with an injection");
}

#[test]
fn excitability_and_limits_do_not_change_potentials() {
    let feagi = Feagi {
        threshold: 2.0,
        threshold_limit: Some(9.0),
        excitability: 0.5,
        consecutive_limit: 3,
        leak: 1.0,
        ..Feagi::default()
    };
    let mut simulation = single_neuron(1.0, &Model::Feagi(feagi), 0.0);
    let mut fired = 0;
    for step in 0..60 {
        simulation.inject(0, 16 * (step % 12)).expect("in range");
        for (_, potential) in potentials(&mut simulation) {
            assert_eq!(potential, Some(f64::from(step % 12)), "step {step}");
            assert!((2..=9).contains(&(step % 12)), "step {step}");
            fired += 1;
        }
    }
    assert!((10..35).contains(&fired), "expected about half of 40, found {fired}");
}

#[test]
fn lif_neurons_fire_at_the_sum_of_decay_current_and_bias() {
    let lif = Lif { tau_ex: 2.0, tau_in: 4.0, bias: 5.0, ..Lif::default() };
    let mut simulation = single_neuron(1.0, &Model::Lif(lif), -51.0);
    simulation.inject(0, 16 * 40).expect("in range");
    assert_eq!(potentials(&mut simulation), [], "the current moves the potential a step later");
    // 14 mV above rest decay; then the current of 40 mV is added, by the formula of Rotter and Diesmann (1999).
    let decay = (-0.1_f64).exp();
    let first = 14.0 * decay + (1.0 - decay) * 5.0;
    let current = 40.0 * 2.0 / (10.0 - 2.0) * (decay - (-0.5_f64).exp());
    let expected = first * decay + (1.0 - decay) * 5.0 + current;
    let found = potential_at_firing(simulation);
    assert!(expected > 15.0 && (found - expected).abs() < 1e-5, "{found} and {expected} mV above -65");
}

#[test]
fn izhikevich_neurons_fire_beyond_their_peak() {
    let izhikevich = Izhikevich { bias: 4.0, ..Izhikevich::default() };
    let found = potential_at_firing(single_neuron(0.5, &Model::Izhikevich(izhikevich), 20.0));
    let (v, u) = (20.0, 0.2 * 20.0);
    let expected = v + 0.5 * (0.04 * v * v + 5.0 * v + 140.0 - u + 4.0);
    assert!((found - expected).abs() < 1e-4, "{found} and {expected} mV");
}

#[test]
fn potentials_saturate_at_the_end_of_their_range() {
    let lif = Lif { tau_m: 1e6, bias: 1e9, v_rest: 0.0, v_th: 2047.5, v_reset: 0.0, ..Lif::default() };
    let found = potential_at_firing(single_neuron(1.0, &Model::Lif(lif), 2047.0));
    assert_eq!(found, fixed::float(i32::MAX, fixed::MILLIVOLT_BITS), "2,047 + 1,000 mV");
    let izhikevich = Izhikevich { bias: 2000.0, ..Izhikevich::default() };
    let found = potential_at_firing(single_neuron(0.5, &Model::Izhikevich(izhikevich), 1500.0));
    assert_eq!(found, fixed::float(i32::MAX, fixed::MILLIVOLT_BITS), "more than 2,048 mV");
    let mut simulation = single_neuron(1.0, &Model::Feagi(Feagi::default()), 2_147_483_647.5);
    simulation.inject(0, 16).expect("in range");
    assert_eq!(
        potential_at_firing(simulation),
        2_147_483_648.0,
        "the nearest to the greatest number of 64 bits"
    );
}

#[test]
fn sources_have_no_potential() {
    let mut simulation = single_neuron(1.0, &Model::Poisson(Poisson { rate: 4_000_000.0 }), 0.0);
    assert_eq!(potentials(&mut simulation), [(0, None)], "the source fires in every step");
}
