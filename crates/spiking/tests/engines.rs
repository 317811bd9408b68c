//! Engines agree, whatever the runs.

use std::sync::Arc;

use kvrm_spiking::{
    Builder, Executor, Feagi, Injection, Input, Lif, Link, Model, Recorder, Reference, Spike,
};

#[test]
fn a_spike_arrives_after_its_delay() {
    let mut builder = Builder::new(1.0);
    let feagi = builder.population("feagi", 2, &Model::Feagi(Feagi::default())).expect("parameters in range");
    let lif = builder.population("lif", 1, &Model::Lif(Lif::default())).expect("parameters in range");
    let link = |source, target, weight, delay| Link { source, target, weight, delay };
    builder.connect_list(feagi, feagi, &[link(0, 1, 1.0, 3)]).expect("links in range");
    builder.connect_list(feagi, lif, &[link(1, 0, 1000.0, 1)]).expect("links in range");
    let network = Arc::new(builder.build().expect("sums in range"));
    let mut engine = Reference::new(network);
    let input = Input::new(vec![Injection { step: 1, neuron: 0, amount: 1 }]).expect("one injection");
    let mut recorder = Recorder::new(100);
    engine.run(10, &input, Some(&mut recorder)).expect("room for 100 spikes");
    let expected = [(1, 0), (4, 1), (6, 2), (8, 2)];
    let spikes: Vec<_> = recorder.spikes().iter().map(|&Spike { step, neuron }| (step, neuron)).collect();
    assert_eq!(spikes[..3], expected[..3], "delays of 3 and 1, and a step until a current shows in V");
}
