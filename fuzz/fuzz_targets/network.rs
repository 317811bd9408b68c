//! Checks that any bytes are refused as a spiking network, or load as one that both CPU engines run in the same way.

#![no_main]

use std::io::Cursor;
use std::sync::Arc;

use kvrm_spiking::{Executor, Input, Network, Parallel, Reference};
use libfuzzer_sys::fuzz_target;

/// The largest number of input sums (neurons × delays × ports) of a network that is run. Larger ones are only loaded.
const SUMS_MAX: u64 = 1 << 16;
/// The number of steps of a run.
const STEPS: u64 = 20;

fuzz_target!(|file: &[u8]| {
    let network = match Network::read_from("bytes", Cursor::new(file)) {
        Ok(network) => network,
        Err(error) => {
            return assert!(error.to_string().contains("bytes"), "every error names the file: {error}");
        }
    };
    let parts = network.parts();
    if u64::from(network.neurons()) * u64::from(parts.max_delay) * u64::from(parts.ports) > SUMS_MAX {
        return;
    }
    let mut saved = Vec::new();
    network.write_to(&mut saved).expect("writing to memory does not fail");
    let again = Network::read_from("saved", Cursor::new(saved)).expect("a saved network can be loaded");
    assert_eq!(again, network, "saved and loaded");
    let network = Arc::new(network);
    let engines: [Box<dyn Executor>; 2] =
        [Box::new(Reference::new(Arc::clone(&network))), Box::new(Parallel::new(network))];
    let [reference, parallel] = engines.map(|mut engine| {
        engine.run(STEPS, &Input::default(), None).expect("a run without input does not fail");
        engine.state().expect("the state can be read")
    });
    assert!(reference == parallel, "engines differ after {STEPS} steps");
});
