//! Builds a spiking network of three populations, stimulates the first one, and prints which neurons fire in each step.
//!
//! ```console
//! $ cargo run --release --package kvrm --example burst
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use kvrm::spiking::{Builder, ConnectionRule, Feagi, Model, Parallel, Projection, Simulation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Builder::new(1.0).seed(1); // steps of 1 ms
    let model = Model::Feagi(Feagi { threshold: 3.0, refractory: 2, ..Feagi::default() });
    let mut areas = Vec::new();
    for name in ["retina", "map", "muscle"] {
        areas.push(builder.population(name, 100, &model)?);
    }
    for pair in areas.windows(2) {
        builder.connect(pair[0], pair[1], &Projection::new(ConnectionRule::OutDegree(5), 2.0, 1))?;
    }
    let mut simulation = Simulation::new(builder.build()?, |network| Box::new(Parallel::new(network)));
    simulation.record(10_000);
    for neuron in (0..100).step_by(3) {
        simulation.inject(neuron, 3)?;
    }
    simulation.run(5)?;
    for step in 0..5 {
        let fired: Vec<u32> =
            simulation.spikes().iter().filter(|spike| spike.step == step).map(|spike| spike.neuron).collect();
        println!("step {step}: {} fired: {fired:?}", fired.len());
    }
    Ok(())
}
