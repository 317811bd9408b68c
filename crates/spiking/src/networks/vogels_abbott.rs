//! The current-based network of Vogels and Abbott (2005) as Brette and others (2007) define it for benchmarks.

use crate::random::Stream;
use crate::{Builder, Connect, Error, Kind, Lif, Model, Network, Projection};

/// The connections a neuron gets in the published network, of 4,000 neurons.
const PUBLISHED_DEGREE: f64 = 80.0;

/// Choices for [`vogels_abbott`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VogelsAbbott {
    /// Neurons: 4,000 as published, and 223,607 for 10^9 synapses.
    pub neurons: u32,
    /// The probability of a synapse. Weights shrink as neurons get more synapses than as published.
    pub probability: f64,
    /// The delay in steps of 0.1 ms.
    pub delay: u32,
    /// What random numbers depend on.
    pub seed: u64,
}

impl Default for VogelsAbbott {
    fn default() -> Self {
        Self { neurons: 4000, probability: 0.02, delay: 8, seed: 55 }
    }
}

/// The network, four fifths of it excitatory.
///
/// # Errors
/// The probability is not between 0 and 1.
pub fn vogels_abbott(choices: &VogelsAbbott) -> Result<Network, Error> {
    let VogelsAbbott { neurons, probability, delay, seed } = *choices;
    let lif = Lif {
        tau_m: 20.0,
        tau_ex: 5.0,
        tau_in: 10.0,
        v_rest: -49.0,
        v_th: -50.0,
        v_reset: -60.0,
        t_ref: 5.0,
        ..Lif::default()
    };
    let share = (PUBLISHED_DEGREE / (f64::from(neurons) * probability)).min(1.0);
    let mut builder = Builder::new(0.1).seed(seed).fraction_bits(14);
    let populate = |builder: &mut Builder, name: &str, number: u64, size: u32| {
        builder.populate(name, [size, 1, 1], Kind::Lif, |index| {
            let mut stream = Stream::new(seed, u64::MAX - number, index.into());
            (Model::Lif(lif.clone()), Some(-60.0 + 10.0 * stream.unit()))
        })
    };
    let excitatory = populate(&mut builder, "excitatory", 0, neurons - neurons / 5)?;
    let inhibitory = populate(&mut builder, "inhibitory", 1, neurons / 5)?;
    for (source, weight) in [(excitatory, 1.62), (inhibitory, -9.0)] {
        for target in [excitatory, inhibitory] {
            let projection = Projection::new(Connect::Probability(probability), weight * share, delay);
            builder.connect(source, target, &projection.autapses(false))?;
        }
    }
    builder.build()
}
