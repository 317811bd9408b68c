//! The benchmark networks have their published properties.

use kvrm_spiking::networks::{
    Background, Balanced, Fly, Microcircuit, VogelsAbbott, balanced, feagi, feagi_input, fly, microcircuit,
    vogels_abbott,
};
use kvrm_spiking::{Executor, Network, Parallel, Recorder, Reference, Simulation};

/// Returns the rate of each population, in spikes a second, after `settle` steps.
fn rates(network: Network, settle: u64, steps: u64) -> Vec<f64> {
    let mut simulation = Simulation::new(network, |network| Box::new(Parallel::new(network)));
    simulation.run(settle).expect("the run succeeds");
    simulation.record(50_000_000);
    simulation.run(steps).expect("room for all spikes");
    simulation.rates(steps)
}

#[test]
fn the_microcircuit_fires_at_published_rates() {
    let published = [0.971, 2.868, 4.746, 5.396, 8.142, 9.078, 0.991, 7.523];
    for background in [Background::Poisson, Background::Constant] {
        let parameters = Microcircuit { scale: 0.1, background, ..Microcircuit::default() };
        let network = microcircuit(&parameters).expect("parameters are in range");
        assert_eq!(network.synapses().packing.words, 1, "4 bytes a synapse");
        let rates = rates(network, 2000, 6000);
        for (rate, published) in rates.iter().zip(published) {
            let is_near = (published * 0.5 - 0.6..published * 2.0 + 0.6).contains(rate);
            assert!(is_near, "{background:?}: {rates:.2?} and {published} spikes a second");
        }
    }
}

#[test]
fn the_microcircuit_at_full_scale_takes_4_bytes_a_synapse() {
    let packing = kvrm_spiking::Packing::new(77_169, [1, 64], [-209, 105]).expect("32 bits");
    assert_eq!((packing.words, packing.weight_bits), (1, 9), "17, 6 and 9 bits");
}

/// Prints the rates that the documentation of the network lists.
#[test]
#[expect(clippy::print_stdout, reason = "the documentation lists the rates")]
fn vogels_abbott_has_the_same_rates_at_any_size() {
    for (neurons, drive, expected) in
        [(4000, 1.0, 4.5..7.0), (4000, 10.0, 13.0..17.5), (40_000, 1.0, 4.5..7.0), (40_000, 10.0, 13.0..17.5)]
    {
        let parameters = VogelsAbbott { neurons, drive, ..VogelsAbbott::default() };
        let rates = rates(vogels_abbott(&parameters).expect("parameters are in range"), 2000, 3000);
        println!("{neurons} neurons, {drive} mV: {rates:.1?} spikes a second");
        assert!(rates.iter().all(|rate| expected.contains(rate)), "{neurons}, {drive} mV: {rates:.2?}");
    }
}

#[test]
fn a_billion_synapses_take_4_bytes_each() {
    // The weights of 1.62 and -9 mV, divided by the root of 4472 / 80, in 2,048ths.
    let packing = kvrm_spiking::Packing::new(223_607, [8, 8], [-2465, 444]).expect("18 and 13 bits");
    assert_eq!(packing.words, 1, "of the largest network of Vogels and Abbott");
}

#[test]
fn the_balanced_network_fires_ten_times_a_second() {
    let parameters = Balanced { neurons: 10_000, ..Balanced::default() };
    let rates = rates(balanced(&parameters).expect("parameters are in range"), 3000, 5000);
    assert!(rates.iter().all(|rate| (7.0..14.0).contains(rate)), "{rates:.1?} spikes a second");
}

#[test]
fn the_fly_network_responds_to_sensory_input() {
    let network = fly(&Fly { neurons: 10_000, ..Fly::default() }).expect("parameters are in range");
    let lengths = &network.synapses().lengths;
    let mean = network.synapses().count() as f64 / f64::from(network.neurons());
    let longest = f64::from(lengths.iter().copied().max().unwrap_or(0));
    assert!((80.0..140.0).contains(&mean) && longest > 20.0 * mean, "rows of {mean:.0}, {longest} at most");
    let rates = rates(network, 1000, 5000);
    assert!((0.05..10.0).contains(&rates[0]), "{rates:.2?} spikes a second");
}

#[test]
fn feagi_input_makes_the_given_fraction_fire() {
    let network = std::sync::Arc::new(feagi(10_000, 20, 3).expect("parameters are in range"));
    let input = feagi_input(10_000, 0.01, 5, 3).expect("amounts are small");
    let mut recorder = Recorder::new(1000);
    Reference::new(network).run(5, &input, Some(&mut recorder)).expect("room for all spikes");
    assert_eq!(recorder.spikes().len(), 500, "1 % in each of 5 bursts");
}
