//! The balanced network of excitatory and inhibitory neurons (Brunel, 2000), scalable to any number of synapses.

use crate::{Builder, ConnectionRule, Error, Lif, Model, Network, Projection};

/// The parameters of [`balanced`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balanced {
    /// The number of neurons, four fifths of them excitatory.
    pub neurons: u32,
    /// The out-degree: synapses per neuron.
    pub synapses: u32,
    /// The length of a step, in ms.
    pub dt: f64,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for Balanced {
    fn default() -> Self {
        Self { neurons: 1_000_000, synapses: 1000, dt: 0.1, seed: 55 }
    }
}

/// Returns the network. Its neurons fire irregularly, about 10 times a second.
///
/// # Errors
/// There are too many neurons or synapses, or the step is too long for the delay of 1.5 ms.
pub fn balanced(choices: &Balanced) -> Result<Network, Error> {
    let Balanced { neurons, synapses, dt, seed } = *choices;
    // The total shift of the potential by an excitatory spike, in mV: inversely proportional to the number of synapses.
    let shift = 100.0 / f64::from(synapses.max(1));
    let lif = Lif {
        tau_m: 20.0,
        tau_ex: 2.0,
        tau_in: 2.0,
        v_rest: 0.0,
        v_th: 20.0,
        v_reset: 10.0,
        ..Lif::default()
    };
    let jump = shift * lif.tau_m / lif.tau_ex;
    let lif = Lif { poisson_rate: 1.2 * 20.0 / shift / lif.tau_m * 1000.0, poisson_weight: jump, ..lif };
    let mut builder = Builder::new(dt).seed(seed).fraction_bits(8);
    let excitatory = builder.population("excitatory", neurons - neurons / 5, &Model::Lif(lif.clone()))?;
    let inhibitory = builder.population("inhibitory", neurons / 5, &Model::Lif(lif))?;
    let delay = libm::round(1.5 / dt) as u32;
    for (source, weight) in [(excitatory, jump), (inhibitory, -6.0 * jump)] {
        for (target, part) in [(excitatory, synapses - synapses / 5), (inhibitory, synapses / 5)] {
            builder.connect(
                source,
                target,
                &Projection::new(ConnectionRule::OutDegree(part), weight, delay),
            )?;
        }
    }
    builder.build()
}
