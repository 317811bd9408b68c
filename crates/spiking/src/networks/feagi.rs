//! A cortical area of FEAGI, as FEAGI's own benchmarks use it: random synapses, and input that makes some of the
//! neurons fire in each burst.

use crate::random::Stream;
use crate::{Builder, ConnectionRule, Error, Feagi, Injection, Input, Model, Network, Projection};

/// An injection that makes a neuron of [`feagi`] fire, whatever its other inputs.
pub const FIRING_AMOUNT: i32 = 1 << 20;

/// Returns an area of `neurons` neurons with `synapses` random synapses each. Synaptic input alone makes no neuron
/// fire.
///
/// # Errors
/// There are too many neurons or synapses.
pub fn feagi(neurons: u32, synapses: u32, seed: u64) -> Result<Network, Error> {
    let model = Feagi { threshold: f64::from(FIRING_AMOUNT / 2), leak: 0.1, ..Feagi::default() };
    let mut builder = Builder::new(1.0).seed(seed);
    let area = builder.population("area", neurons, &Model::Feagi(model))?;
    builder.connect(area, area, &Projection::new(ConnectionRule::OutDegree(synapses), 1.0, 1))?;
    builder.build()
}

/// Returns an input that makes the fraction `part` of the neurons fire in each of `steps` steps, different ones each
/// time.
///
/// # Errors
/// None in practice: no two injections are for the same neuron and step, so no sum can overflow.
pub fn feagi_input(neurons: u32, part: f64, steps: u64, seed: u64) -> Result<Input, Error> {
    let count = (f64::from(neurons) * part) as u32;
    let mut injections = Vec::new();
    for step in 0..steps {
        let mut stream = Stream::new(seed, u64::MAX, step);
        let offset = stream.below(neurons.max(1));
        // Equally spaced, so that the number of neurons is exact.
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
