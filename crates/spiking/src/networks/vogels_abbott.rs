//! The current-based network of Vogels and Abbott (2005), as Brette and others (2007) define it for benchmarks.
//!
//! As published, with 4,000 neurons, the network sustains its own activity: irregular firing at 5.6 spikes a second. In
//! larger networks weights shrink with the square root of the in-degree and the driving force grows with it, so that
//! the mean and variance of the input, and with them the rates, stay the same (van Vreeswijk and Sompolinsky, 1996). If
//! weights shrank with the in-degree itself, fluctuations would vanish: 40,000 neurons would fire at 2.3 spikes a
//! second, and larger networks at less.
//!
//! | neurons | drive | spikes a second |
//! | --- | --- | --- |
//! | 4,000 | 1 mV | 5.6 |
//! | 40,000 | 1 mV | 5.7 |
//! | 4,000 | 10 mV | 15 |
//! | 40,000 | 10 mV | 15 |
//!
//! `cargo test -p kvrm-spiking --test spiking vogels -- --nocapture` prints these rates. Other published run times of
//! a network of this name are for conductance-based synapses, other weights or other rates, so compare events a second.

use crate::random::Stream;
use crate::{Builder, ConnectionRule, Error, Kind, Lif, Model, Network, Projection};

/// The in-degree of the published network of 4,000 neurons.
const PUBLISHED_DEGREE: f64 = 80.0;
/// The mean potential that neurons of the published network would have without threshold and reset, by the measured
/// rate, in mV.
const PUBLISHED_MEAN: f64 = -54.4;
/// The firing threshold, in mV.
const THRESHOLD: f64 = -50.0;

/// The parameters of [`vogels_abbott`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VogelsAbbott {
    /// The number of neurons: 4,000 as published, and 223,607 for 10^9 synapses.
    pub neurons: u32,
    /// The connection probability of each pair of neurons.
    pub probability: f64,
    /// The distance of the resting potential above the threshold in a network of the published size, in mV: 1 as
    /// published; larger values give higher rates.
    pub drive: f64,
    /// The delay, in steps of 0.1 ms.
    pub delay: u32,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for VogelsAbbott {
    fn default() -> Self {
        Self { neurons: 4000, probability: 0.02, drive: 1.0, delay: 8, seed: 55 }
    }
}

/// Returns the network. Four fifths of its neurons are excitatory.
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
            let projection = Projection::new(ConnectionRule::Probability(probability), weight / root, delay);
            builder.connect(source, target, &projection.autapses(false))?;
        }
    }
    builder.build()
}
