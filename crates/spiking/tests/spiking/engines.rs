//! All engines have the same state after every step, however the steps are divided into runs.

use std::sync::Arc;

use kvrm_spiking::{Executor, Injection, Input, Parallel, Recorder, Reference, State};
use kvrm_testkit::spiking::{Case, STEPS, cases};
use proptest::prelude::*;

/// Returns the state after each step, in runs of one step.
fn states(mut engine: impl Executor, case: &Case) -> Vec<State> {
    let step = |step: u64| {
        for &(_, population, amount) in case.drives.iter().filter(|drive| drive.0 == step) {
            engine.set_drive(population, amount).expect("a drive in range");
        }
        engine.run(1, &part(&case.input, step..step + 1), None).expect("an input in range");
        engine.state().expect("engines on CPUs have states")
    };
    (0..STEPS).map(step).collect()
}

/// Returns the injections of some steps, for a run that begins with the first of these.
fn part(input: &Input, steps: std::ops::Range<u64>) -> Input {
    let inside = input.injections().iter().filter(|injection| steps.contains(&injection.step));
    let moved = inside.map(|injection| Injection { step: injection.step - steps.start, ..*injection });
    Input::new(moved.collect()).expect("the sums were in range before")
}

/// Returns the state after a single run of all steps, and its spikes.
fn single_run(mut engine: impl Executor, case: &Case) -> (State, Recorder) {
    let mut recorder = Recorder::new(1 << 20);
    engine.run(STEPS, &case.input, Some(&mut recorder)).expect("room for all spikes");
    (engine.state().expect("engines on CPUs have states"), recorder)
}

/// Calls `act` with a pool of several threads, so that there are several shares, which have at least 2,048 neurons.
fn with_threads<T: Send>(threads: usize, act: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a few threads").install(act)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn engines_agree_at_every_step(case in cases(60)) {
        let reference = states(Reference::new(Arc::clone(&case.network)), &case);
        let parallel = states(Parallel::new(Arc::clone(&case.network)), &case);
        for (step, (reference, parallel)) in reference.iter().zip(&parallel).enumerate() {
            prop_assert_eq!(reference, parallel, "after step {}", step);
        }
    }

    #[test]
    fn one_run_equals_many_runs(mut case in cases(60)) {
        case.drives.clear();
        let last = states(Reference::new(Arc::clone(&case.network)), &case).pop();
        let (state, recorder) = single_run(Reference::new(Arc::clone(&case.network)), &case);
        prop_assert_eq!(last.as_ref(), Some(&state), "the reference");
        let (parallel, parallel_recorder) = single_run(Parallel::new(Arc::clone(&case.network)), &case);
        prop_assert_eq!(&parallel, &state, "the parallel engine");
        prop_assert_eq!(recorder.spikes(), parallel_recorder.spikes(), "spikes");
        let spikes = recorder.spikes().iter().filter(|spike| spike.step == STEPS - 1);
        prop_assert!(spikes.map(|spike| spike.neuron).eq(state.fired()), "bits and spikes of the last step");
    }

    #[test]
    fn a_state_continues_on_another_engine(case in cases(40)) {
        let mut reference = Reference::new(Arc::clone(&case.network));
        reference.run(STEPS, &case.input, None).expect("an input in range");
        let state = reference.state().expect("engines on CPUs have states");
        let mut parallel = Parallel::new(Arc::clone(&case.network));
        parallel.set_state(&state).expect("a state of the same network");
        prop_assert_eq!(&parallel.state().expect("engines on CPUs have states"), &state, "unchanged by the engine");
        for engine in [&mut reference as &mut dyn Executor, &mut parallel] {
            engine.run(20, &Input::default(), None).expect("nothing is injected");
        }
        let states = [reference.state(), parallel.state()].map(|state| state.expect("engines on CPUs have states"));
        prop_assert_eq!(&states[0], &states[1], "20 steps later");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn several_threads_agree_with_the_reference(case in cases(4000)) {
        let reference = single_run(Reference::new(Arc::clone(&case.network)), &case);
        let parallel = with_threads(3, || single_run(Parallel::new(Arc::clone(&case.network)), &case));
        prop_assert_eq!(reference.0, parallel.0, "states");
        prop_assert_eq!(reference.1.spikes(), parallel.1.spikes(), "spikes");
    }
}

#[test]
fn the_cases_cover_all_features() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut counts = [0; 7];
    for _ in 0..300 {
        let case = cases(60).new_tree(&mut runner).expect("nothing is filtered").current();
        let (state, recorder) = single_run(Reference::new(Arc::clone(&case.network)), &case);
        let parts = case.network.parts();
        let features = [
            recorder.spikes().len() > 100,
            state.marks.iter().any(|&mark| mark != 0),
            parts.ports == 2,
            parts.synapses.packing.words == 2,
            case.network.is_plastic() && state.weights != parts.synapses.words,
            parts.max_delay > 10,
            case.network.neurons() == 0,
        ];
        counts.iter_mut().zip(features).for_each(|(count, has)| *count += u32::from(has));
    }
    assert!(
        counts.iter().all(|&count| count > 0),
        "cases with spikes, marks, two ports, two words, learning, long delays, no neurons: {counts:?}"
    );
}
