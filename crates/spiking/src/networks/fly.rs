//! A network the size of a fly's brain, with degrees and weights as unequal as there.
//!
//! Neurons and constants are those of Shiu and others (Nature 634, 2024); the wiring is drawn at random, as no data of
//! others is part of this crate: log-normal degrees in both directions, about 15 million pairs of neurons, most of
//! them with few synapses and some with many.

use crate::random::Stream;
use crate::{Builder, Error, Lif, Link, Model, Network, Poisson};

/// What a synapse lets the current jump by, mV.
const JUMP: f64 = 0.275;
/// The delay, steps of 0.1 ms.
const DELAY: u32 = 18;
/// Of sources, those that inhibit.
const INHIBITORY: f64 = 0.35;

/// Choices for [`fly`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fly {
    /// Neurons.
    pub neurons: u32,
    /// Targets of a neuron on average.
    pub degree: f64,
    /// Neurons that are driven.
    pub sensory: u32,
    /// How fast, spikes a second.
    pub rate: f64,
    /// What random numbers depend on.
    pub seed: u64,
}

impl Default for Fly {
    fn default() -> Self {
        Self { neurons: 138_000, degree: 109.0, sensory: 20, rate: 150.0, seed: 55 }
    }
}

/// The network, in steps of 0.1 ms. Its first neurons are driven, each by a source of its own.
///
/// # Errors
/// There are fewer neurons than are driven, or too many.
pub fn fly(choices: &Fly) -> Result<Network, Error> {
    let Fly { neurons, degree, sensory, rate, seed } = *choices;
    let lif = Lif {
        tau_m: 20.0,
        tau_ex: 5.0,
        tau_in: 5.0,
        v_rest: -52.0,
        v_th: -45.0,
        v_reset: -52.0,
        t_ref: 2.2,
        ..Lif::default()
    };
    let mut builder = Builder::new(0.1).seed(seed).fraction_bits(12);
    let brain = builder.population("brain", neurons, &Model::Lif(lif))?;
    let sources = builder.population("sources", sensory, &Model::Poisson(Poisson { rate }))?;
    let drive = |index| Link { source: index, target: index, weight: 250.0 * JUMP, delay: DELAY };
    builder.connect_list(sources, brain, &(0..sensory).map(drive).collect::<Vec<_>>())?;
    // Where the targets end that are as likely as a neuron or more: their popularity is log-normal too.
    let mut ends = Vec::with_capacity(neurons as usize);
    let mut end = 0.0;
    for neuron in 0..neurons {
        end += log_normal(1.0, &mut Stream::new(seed, u64::MAX, neuron.into()));
        ends.push(end);
    }
    for source in 0..neurons {
        let mut stream = Stream::new(seed, u64::MAX - 1, source.into());
        let sign = if stream.unit() < INHIBITORY { -1.0 } else { 1.0 };
        let count = libm::round(degree * log_normal(1.0, &mut stream)) as u32;
        let link = |stream: &mut Stream| {
            let place = stream.unit() * end;
            let target = ends.partition_point(|&end| end < place) as u32;
            let synapses = libm::ceil(1.5 * log_normal(1.2, stream)).min(200.0);
            Link { source, target: target.min(neurons - 1), weight: sign * synapses * JUMP, delay: DELAY }
        };
        let links: Vec<Link> = (0..count.min(neurons)).map(|_| link(&mut stream)).collect();
        builder.connect_list(brain, brain, &links)?;
    }
    builder.build()
}

/// A number from the log-normal distribution with mean 1.
fn log_normal(sigma: f64, stream: &mut Stream) -> f64 {
    libm::exp(sigma * super::normal(stream) - sigma * sigma / 2.0)
}
