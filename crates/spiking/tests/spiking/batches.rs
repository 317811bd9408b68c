//! Batches of several steps between two exchanges of spikes give the same results as single steps, in runs of any
//! length.

use std::sync::Arc;

use kvrm_spiking::{
    Builder, Change, ConnectionRule, Delay, Executor, Feagi, Injection, Input, Izhikevich, Lif, Model,
    Network, Parallel, Poisson, Projection, Recorder, Reference, State, Synapse,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// The largest magnitude of injections and drives, in weight units.
const AMOUNT_MAX: i32 = 1 << 12;

/// A run that both engines execute, and the drive that is set before it.
#[derive(Clone, Debug)]
struct Run {
    steps: u64,
    /// Step, neuron and amount. Step and neuron are taken modulo their number.
    injections: Vec<(u64, u32, i32)>,
    drive: (u32, i32),
    capacity: usize,
}

fn any_run() -> impl Strategy<Value = Run> {
    let injections = vec((any::<u64>(), any::<u32>(), -AMOUNT_MAX..=AMOUNT_MAX), 0..200);
    let drive = (0..POPULATIONS, prop_oneof![Just(0), -AMOUNT_MAX..=AMOUNT_MAX]);
    (1..50_u64, injections, drive, prop_oneof![Just(40), Just(1 << 20)])
        .prop_map(|(steps, injections, drive, capacity)| Run { steps, injections, drive, capacity })
}

/// The number of populations of [`network`].
const POPULATIONS: u32 = 7;

/// The number of the population whose currents saturate.
const LARGE: usize = 2;

/// Returns a network with all models in populations of uneven sizes, and enough neurons for several threads. LIF
/// neurons have one record or several, usual or huge currents, and Poisson inputs of either sign. No delay is shorter
/// than `delay`.
fn network(delay: u32, has_two_ports: bool, seed: u64) -> Network {
    let mut builder = Builder::new(0.1).seed(seed).fraction_bits(6).injection_limit(1 << 14);
    let lif = Lif { tau_in: if has_two_ports { 2.0 } else { 0.5 }, bias: 14.0, ..Lif::default() };
    let noisy = |weight: f64| Lif { poisson_rate: 9000.0, poisson_weight: weight, ..lif.clone() };
    // The current exceeds the range of 2,048 mV, although the input of each step is small.
    let large = Lif {
        tau_m: 2.0,
        tau_ex: 2.0,
        tau_in: 2.0,
        v_th: 1900.0,
        poisson_rate: 200_000.0,
        poisson_weight: 8.0,
        ..Lif::default()
    };
    let populations = [
        (45, vec![Model::Feagi(Feagi { threshold: 20.0, leak: 0.1, ..Feagi::default() })]),
        (2301, vec![Model::Lif(noisy(4.0))]),
        (77, vec![Model::Lif(large)]),
        (1990, vec![Model::Lif(noisy(-1.0)), Model::Lif(Lif { bias: 16.0, ..lif.clone() })]),
        (73, vec![Model::Lif(noisy(-1.0))]),
        (70, vec![Model::Izhikevich(Izhikevich { bias: 10.0, ..Izhikevich::default() })]),
        (33, vec![Model::Poisson(Poisson { rate: 300.0 })]),
    ];
    let mut ids = Vec::new();
    for (number, (neurons, models)) in populations.iter().enumerate() {
        let neuron = |index: u32| (models[index as usize % models.len()].clone(), None);
        let id = builder.populate(&format!("p{number}"), [*neurons, 1, 1], models[0].kind(), neuron);
        ids.push(id.expect("parameters are in range"));
    }
    for (number, &source) in ids.iter().enumerate() {
        for &target in &ids {
            let weight = if number == 3 { -3.0 } else { 4.0 };
            let delay = Delay::Uniform { low: f64::from(delay) * 0.1, high: f64::from(delay) * 0.1 + 0.4 };
            let projection = Projection::new(ConnectionRule::OutDegree(8), weight, 1).delay(delay);
            builder.connect(source, target, &projection).expect("parameters are in range");
        }
    }
    builder.build().expect("sums are small")
}

/// Executes a run. Returns the spikes, the error of the run if it failed, and the state.
fn execute(engine: &mut dyn Executor, neurons: u32, run: &Run) -> (Recorder, Option<String>, State) {
    let injection = |&(step, neuron, amount): &(u64, u32, i32)| Injection {
        step: step % run.steps,
        neuron: neuron % neurons,
        amount,
    };
    let mut injections: Vec<Injection> = run.injections.iter().map(injection).collect();
    injections.sort_unstable();
    // Several injections into the same neuron and step together might exceed the limit.
    injections.dedup_by_key(|injection| (injection.step, injection.neuron));
    engine.set_drive(run.drive.0, run.drive.1).expect("a drive in range");
    let mut recorder = Recorder::new(run.capacity);
    let input = Input::new(injections).expect("amounts are small");
    let result = engine.run(run.steps, &input, Some(&mut recorder));
    (
        recorder,
        result.err().map(|error| error.to_string()),
        engine.state().expect("engines on CPUs have states"),
    )
}

/// Executes runs with the parallel engine and the reference and checks that they agree after each, then repeats this
/// after adding synapses with a delay of one step. Returns the number of recorded spikes, and the number of runs after
/// which a current was saturated.
fn check_agreement(network: Network, runs: &[Run], threads: usize) -> Result<(usize, usize), TestCaseError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a few threads");
    pool.install(|| {
        let (mut spikes, mut large) = (0, 0);
        let mut network = Arc::new(network);
        let neurons = network.neurons();
        let mut engines: [Box<dyn Executor>; 2] =
            [Box::new(Reference::new(Arc::clone(&network))), Box::new(Parallel::new(Arc::clone(&network)))];
        for is_changed in [false, true] {
            if is_changed {
                let mut next = Network::clone(&network);
                let synapse = Synapse { target: 3000, delay: 1, weight: 900 };
                let changes = [50, 2400].map(|source| Change::AddSynapse { source, synapse });
                let changed = next.change(&changes).expect("sums stay small");
                network = Arc::new(next);
                for engine in &mut engines {
                    engine.change(&network, &changed).expect("there is room");
                }
            }
            for run in runs {
                let [reference, parallel] =
                    engines.each_mut().map(|engine| execute(engine.as_mut(), neurons, run));
                prop_assert_eq!(reference.0.spikes(), parallel.0.spikes(), "spikes");
                prop_assert_eq!(reference.1, parallel.1, "the errors of the run");
                prop_assert_eq!(&reference.2, &parallel.2, "the state after {:?}", run);
                let neurons = network.populations()[LARGE].neurons.clone();
                let currents = &reference.2.columns[network.neurons() as usize..];
                let currents = &currents[neurons.start as usize..neurons.end as usize];
                large += usize::from(currents.contains(&(i32::MAX as u32)));
                spikes += reference.0.spikes().len();
            }
            // The parallel engine continues from the state of the reference.
            let state = engines[0].state().expect("engines on CPUs have states");
            engines[1].set_state(&state).expect("a state of the same network");
        }
        Ok((spikes, large))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn batches_agree_with_the_reference(
        delay in prop_oneof![Just(1_u32), 2..12_u32, 30..40_u32],
        has_two_ports: bool,
        seed: u64,
        runs in vec(any_run(), 1..5),
        threads in 1..4_usize,
    ) {
        check_agreement(network(delay, has_two_ports, seed), &runs, threads)?;
    }
}

#[test]
fn the_network_spikes_and_saturates() {
    let network = network(8, true, 3);
    assert_eq!(
        (network.min_delay(), network.parts().ports),
        (Some(8), 2),
        "a batch of 8 steps, and two ports"
    );
    let run = |steps| Run { steps, injections: vec![(3, 60, 900)], drive: (1, 5), capacity: 1 << 20 };
    let (spikes, large) =
        check_agreement(network, &[run(61), run(1), run(40)], 2).expect("the engines agree");
    assert!(spikes > 1000 && large > 0, "{spikes} spikes, {large} runs with a saturated current");
}
