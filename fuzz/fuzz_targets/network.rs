//! A file that is said to have a spiking network is refused, or has one that engines run in the same way.

#![no_main]

use std::io::Cursor;
use std::sync::Arc;

use kvrm_spiking::{Executor, Input, Network, Parallel, Reference};
use libfuzzer_sys::fuzz_target;

/// Larger networks are loaded, and not run.
const SUMS_MAX: u64 = 1 << 16;
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
    network.write_to(&mut saved).expect("memory takes it");
    let again = Network::read_from("saved", Cursor::new(saved)).expect("what is saved can be loaded");
    assert_eq!(again, network, "saved and loaded");
    let network = Arc::new(network);
    let engines: [Box<dyn Executor>; 2] =
        [Box::new(Reference::new(Arc::clone(&network))), Box::new(Parallel::new(network))];
    let [reference, parallel] = engines.map(|mut engine| {
        engine.run(STEPS, &Input::default(), None).expect("there is nothing to refuse");
        engine.state().expect("it is there")
    });
    assert!(reference == parallel, "engines differ after {STEPS} steps");
});
