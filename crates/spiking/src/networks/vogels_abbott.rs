//! The current-based network of Vogels and Abbott (2005) as Brette and others (2007) define it for benchmarks.
//!
//! As published, with 4,000 neurons, it keeps firing by itself, 5.6 times a second and irregularly. In larger networks
//! weights shrink with the root of the number of synapses of a neuron, and what drives it grows with it, so that mean
//! and variance of its input stay, and rates with them (van Vreeswijk and Sompolinsky, 1996). If weights shrank with the
//! number itself, fluctuations would vanish: 2.3 spikes a second of 40,000 neurons, and fewer the more there are.
//!
//! | neurons | drive | spikes a second |
//! | --- | --- | --- |
//! | 4,000 | 1 mV | 5.6 |
//! | 40,000 | 1 mV | 5.7 |
//! | 4,000 | 10 mV | 15 |
//! | 40,000 | 10 mV | 15 |
//!
//! These are printed by `cargo test -p kvrm-spiking --test networks vogels -- --nocapture`. Others who publish times of a
//! network of this name have conductances, other weights or other rates, so what is to be compared are events a second.

use crate::random::Stream;
use crate::{Builder, Connect, Error, Kind, Lif, Model, Network, Projection};

/// The connections a neuron gets in the published network, of 4,000 neurons.
const PUBLISHED_DEGREE: f64 = 80.0;
/// The mean potential that threshold and reset would leave there, by the measured rate, mV.
const PUBLISHED_MEAN: f64 = -54.4;
/// The threshold, mV.
const THRESHOLD: f64 = -50.0;

/// Choices for [`vogels_abbott`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VogelsAbbott {
    /// Neurons: 4,000 as published, and 223,607 for 10^9 synapses.
    pub neurons: u32,
    /// The probability of a synapse.
    pub probability: f64,
    /// How far the resting potential lies above the threshold in a network of the published size, mV: 1 as published,
    /// and more to fire faster.
    pub drive: f64,
    /// The delay in steps of 0.1 ms.
    pub delay: u32,
    /// What random numbers depend on.
    pub seed: u64,
}

impl Default for VogelsAbbott {
    fn default() -> Self {
        Self { neurons: 4000, probability: 0.02, drive: 1.0, delay: 8, seed: 55 }
    }
}

/// The network, four fifths of it excitatory.
///
/// # Errors
/// The probability is not between 0 and 1.
pub fn vogels_abbott(choices: &VogelsAbbott) -> Result<Network, Error> {
    let VogelsAbbott { neurons, probability, drive, delay, seed } = *choices;
    let root = libm::sqrt(f64::from(neurons) * probability / PUBLISHED_DEGREE).max(1.0);
    let lif = Lif {
        tau_m: 20.0,
        tau_ex: 5.0,
        tau_in: 10.0,
        v_rest: PUBLISHED_MEAN + root * (THRESHOLD + drive - PUBLISHED_MEAN),
        v_th: THRESHOLD,
        v_reset: -60.0,
        t_ref: 5.0,
        ..Lif::default()
    };
    let mut builder = Builder::new(0.1).seed(seed).fraction_bits(11);
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
            let projection = Projection::new(Connect::Probability(probability), weight / root, delay);
            builder.connect(source, target, &projection.autapses(false))?;
        }
    }
    builder.build()
}
