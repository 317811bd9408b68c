//! An area of FEAGI as its own measurements use it: random synapses, and some of the neurons made to fire in each burst.

use crate::random::Stream;
use crate::{Builder, Connect, Error, Feagi, Injection, Input, Model, Network, Projection};

/// What makes a neuron of [`feagi`] fire, whatever else arrives.
pub const FIRING_AMOUNT: i32 = 1 << 20;

/// An area of `neurons` neurons, each with `synapses` synapses to others at random. Synapses alone make none fire.
///
/// # Errors
/// There are too many of either.
pub fn feagi(neurons: u32, synapses: u32, seed: u64) -> Result<Network, Error> {
    let model = Feagi { threshold: f64::from(FIRING_AMOUNT / 2), leak: 0.1, ..Feagi::default() };
    let mut builder = Builder::new(1.0).seed(seed);
    let area = builder.population("area", neurons, &Model::Feagi(model))?;
    builder.connect(area, area, &Projection::new(Connect::OutDegree(synapses), 1.0, 1))?;
    builder.build()
}

/// Makes a part of the neurons fire in each of some steps, others each time.
///
/// # Errors
/// None that can happen: amounts are not added up.
pub fn feagi_input(neurons: u32, part: f64, steps: u64, seed: u64) -> Result<Input, Error> {
    let count = (f64::from(neurons) * part) as u32;
    let mut injections = Vec::new();
    for step in 0..steps {
        let mut stream = Stream::new(seed, u64::MAX, step);
        let offset = stream.below(neurons.max(1));
        // Equally spaced, so that there are exactly as many as asked for.
        let neuron = |index: u32| {
            (u64::from(offset) + u64::from(index) * u64::from(neurons) / u64::from(count))
                % u64::from(neurons)
        };
        injections.extend((0..count).map(|index| Injection {
            step,
            neuron: neuron(index) as u32,
            amount: FIRING_AMOUNT,
        }));
    }
    Input::new(injections)
}
