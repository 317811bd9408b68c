//! The device that all tests share, and helpers that compare a network with the reference.

use std::sync::{Arc, LazyLock};

use kvrm_gpu::Device;
use kvrm_gpu::spiking::{BurstExecutor, BurstKernels, Options};
use kvrm_spiking::{Executor, Injection, Input, Network, Recorder, Reference, State};

/// The shared kernels, as opening a device and compiling kernels takes longer than most tests.
static KERNELS: LazyLock<BurstKernels> = LazyLock::new(|| {
    let device =
        Device::open(None).unwrap_or_else(|error| panic!("{error}; KVRM_GPU=skip leaves these tests out"));
    BurstKernels::new(&device)
});

pub(crate) fn kernels() -> &'static BurstKernels {
    &KERNELS
}

pub(crate) fn executor(network: &Arc<Network>, options: &Options) -> BurstExecutor {
    BurstExecutor::new(kernels(), Arc::clone(network), options.clone())
        .expect("the network fits on any device")
}

pub(crate) fn reference(network: &Arc<Network>) -> Reference {
    Reference::new(Arc::clone(network))
}

/// Asserts that two states are equal; the message names the first part that differs.
pub(crate) fn assert_same(found: &State, expected: &State, what: &str) {
    assert_eq!(found.step, expected.step, "{what}: step");
    let columns = found.columns.iter().zip(&expected.columns).position(|(a, b)| a != b);
    assert_eq!(columns, None, "{what}: index of the first column word that differs; {found:?}, {expected:?}");
    assert_eq!(found.ring, expected.ring, "{what}: ring");
    assert_eq!(found.marks, expected.marks, "{what}: marks");
    assert_eq!(found.fired, expected.fired, "{what}: fired");
    assert_eq!(found.history, expected.history, "{what}: history");
    assert_eq!(found.weights, expected.weights, "{what}: weights");
    assert_eq!(found, expected, "{what}");
}

/// Runs a network on both engines, in runs of the given numbers of steps, and compares state and spikes after each run.
pub(crate) fn compare(network: &Arc<Network>, options: &Options, runs: &[u64], injections: &[Injection]) {
    let mut expected = reference(network);
    let mut found = executor(network, options);
    let state = found.state().expect("the device works");
    assert_same(&state, &expected.state().expect("the reference works"), "at the beginning");
    let mut first = 0;
    for &steps in runs {
        let now = injections.iter().filter(|injection| (first..first + steps).contains(&injection.step));
        let shifted = now.map(|injection| Injection { step: injection.step - first, ..*injection });
        let input = Input::new(shifted.collect()).expect("amounts are small");
        let mut recorders = [Recorder::new(1 << 20), Recorder::new(1 << 20)];
        expected.run(steps, &input, Some(&mut recorders[0])).expect("the reference works");
        found.run(steps, &input, Some(&mut recorders[1])).expect("the device works");
        first += steps;
        let what = format!("after {first} steps with {options:?}");
        let states =
            [found.state().expect("the device works"), expected.state().expect("the reference works")];
        assert_same(&states[0], &states[1], &what);
        assert_eq!(recorders[1].spikes(), recorders[0].spikes(), "{what}: spikes");
    }
}
