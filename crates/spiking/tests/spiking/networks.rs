//! The benchmark networks have their published properties.

use std::ops::Range;

use kvrm_spiking::networks::{
    Background, Balanced, Fly, HpcBenchmark, Microcircuit, VogelsAbbott, balanced, feagi, feagi_input, fly,
    hpc_benchmark, microcircuit, vogels_abbott,
};
use kvrm_spiking::{Executor, Network, Parallel, Recorder, Reference, Simulation, Statistics, Synapse};

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
    // The weights of -24.1 and 1.2 times 4.8 mV, in 256ths.
    for neurons in [90_000, 225_000] {
        let packing = kvrm_spiking::Packing::new(neurons, [15, 15], [-6169, 1481]).expect("32 bits");
        assert_eq!(packing.words, 1, "of hpc_benchmark at scale 8 and 20");
    }
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

/// Asserts that a network fires and learns as expected: with a rate of the excitatory neurons in `rates`, in spikes a second,
/// and a correlation of at most `most`. Prints both, as the documentation of the network lists them.
#[expect(clippy::print_stdout, reason = "the documentation lists the rates")]
fn check_hpc_benchmark(scale: f64, rates: Range<f64>, most: f64) {
    let parameters = HpcBenchmark { scale, ..HpcBenchmark::default() };
    let network = hpc_benchmark(&parameters).expect("parameters are in range");
    let synapses = network.synapses();
    assert_eq!(synapses.count(), 11_250 * u64::from(network.neurons()), "the in-degree at any scale");
    let packing = synapses.packing;
    assert_eq!((packing.words, packing.delay_bits), (1, 0), "4 bytes a synapse");
    let excitatory = network.populations()[0].neurons.clone();
    let initial = synapses.row(0).next().expect("the neuron has targets").weight;
    let mut simulation = Simulation::new(network, |network| Box::new(Parallel::new(network)));
    simulation.run(500).expect("the run succeeds");
    simulation.record(10_000_000);
    simulation.run(1500).expect("room for all spikes");
    let statistics = Statistics::new(simulation.spikes(), excitatory.clone(), 500..2000, 0.1);
    println!("scale {scale}: {statistics:.2?}");
    assert!(rates.contains(&statistics.rate), "scale {scale}: {statistics:?}");
    let correlation = statistics.correlation.expect("the neurons fire");
    assert!(correlation <= most, "scale {scale}: {statistics:?}");
    assert!(statistics.cv.is_some_and(|cv| cv > 0.15), "scale {scale}: {statistics:?}");
    let state = simulation.state().expect("engines on CPUs have states");
    let row = &state.weights[simulation.network().synapses().range(0)];
    let all = row.iter().map(|&word| packing.unpack(word.into()));
    let [learning, constant]: [Vec<Synapse>; 2] =
        all.partition(|synapse| excitatory.contains(&synapse.target)).into();
    let changed = learning.iter().filter(|synapse| synapse.weight != initial).count();
    assert!(changed > learning.len() / 10, "scale {scale}: {changed} of {} weights change", learning.len());
    assert!(
        constant.iter().all(|synapse| synapse.weight == initial),
        "only weights to excitatory neurons change"
    );
    let mean = learning.iter().map(|synapse| f64::from(synapse.weight)).sum::<f64>() / learning.len() as f64;
    let ratio = mean / f64::from(initial);
    assert!((0.98..1.02).contains(&ratio), "scale {scale}: weights change by a factor of {ratio} on average");
}

#[test]
fn the_hpc_benchmark_fires_and_learns() {
    check_hpc_benchmark(0.25, 10.0..25.0, 0.6);
}

#[ignore = "takes a minute and 6 GB; `the_hpc_benchmark_fires_and_learns` runs a small network, which is synchronous"]
#[test]
fn a_large_hpc_benchmark_fires_asynchronously() {
    check_hpc_benchmark(1.0, 7.0..13.0, 0.15);
    check_hpc_benchmark(3.0, 6.0..10.0, 0.06);
}

#[test]
fn feagi_input_makes_the_given_fraction_fire() {
    let network = std::sync::Arc::new(feagi(10_000, 20, 3).expect("parameters are in range"));
    let input = feagi_input(10_000, 0.01, 5, 3).expect("amounts are small");
    let mut recorder = Recorder::new(1000);
    Reference::new(network).run(5, &input, Some(&mut recorder)).expect("room for all spikes");
    assert_eq!(recorder.spikes().len(), 500, "1 % in each of 5 bursts");
}
