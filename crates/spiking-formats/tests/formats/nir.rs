//! NIR graphs: their networks have the same spikes, step by step, as a simulation in floating point.

use std::collections::BTreeMap;
use std::sync::Arc;

use kvrm_spiking::{Executor as _, Injection, Input, Recorder, Reference};
use kvrm_spiking_formats::{NIR_DT, open};

use crate::support::file;

const STEPS: u64 = 400;

/// Returns the injections that `fires` in `make.py` defines.
fn inputs(neurons: u32) -> Input {
    let fires = |neuron: u32, step: u64| (5 * u64::from(neuron) + 3 * step) % 13 < 2;
    let injections = (0..STEPS).flat_map(|step| {
        (0..neurons).filter(move |&neuron| fires(neuron, step)).map(move |neuron| Injection {
            step,
            neuron,
            amount: 1 << 20,
        })
    });
    Input::new(injections.collect()).expect("one a neuron and step")
}

#[test]
#[cfg_attr(not(feature = "nir"), ignore = "needs the feature nir")]
fn spikes_match_floating_point() {
    let text = std::fs::read_to_string(file("spikes.json")).expect("the file exists");
    let expected: BTreeMap<String, BTreeMap<String, Vec<(u64, u32)>>> =
        serde_json::from_str(&text).expect("lists of spikes");
    assert_eq!(expected.len(), 3, "graphs");
    for (name, layers) in expected {
        let network = open(&file(&format!("{name}.nir")), None).expect("the graph can be imported");
        assert_eq!(network.parts().dt, NIR_DT, "the usual step");
        let neurons = |name: &str| {
            let number = network.population(name).expect("a population for each layer");
            network.populations()[number as usize].neurons.clone()
        };
        let input = neurons("input");
        let input = inputs(input.end - input.start)
            .injections()
            .iter()
            .map(|injection| Injection { neuron: input.start + injection.neuron, ..*injection })
            .collect();
        let mut engine = Reference::new(Arc::new(network.clone()));
        let mut recorder = Recorder::new(1 << 20);
        let input = Input::new(input).expect("one a neuron and step");
        engine.run(STEPS, &input, Some(&mut recorder)).expect("the run succeeds");
        for (layer, spikes) in layers {
            let range = neurons(&layer);
            let own = recorder.spikes().iter().filter(|spike| range.contains(&spike.neuron));
            let found: Vec<(u64, u32)> = own.map(|spike| (spike.step, spike.neuron - range.start)).collect();
            assert!(spikes.len() > 50, "{name}: {layer} has many spikes");
            assert_eq!(found, spikes, "{name}: {layer}");
        }
    }
}

#[test]
#[cfg_attr(not(feature = "nir"), ignore = "needs the feature nir")]
fn errors_name_the_node_or_the_parameter() {
    let error = open(&file("li.nir"), None).expect_err("the graph has a layer that never fires").to_string();
    assert!(error.contains("li.nir: node `readout` (LI): "), "{error}");
    assert!(error.ends_with("found a layer that never fires"), "{error}");
    let error = open(&file("lif.nir"), Some(0.0)).expect_err("the step is zero").to_string();
    assert!(error.contains("expected more than 0 ms, found 0"), "{error}");
    let error = open(&file("edges.nir"), None).expect_err("the file does not exist").to_string();
    assert!(error.starts_with("cannot read "), "{error}");
}
