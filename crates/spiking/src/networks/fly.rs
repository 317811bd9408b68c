//! A network with the size of a fly's brain and similarly skewed distributions of degrees and weights.
//!
//! Neurons and constants are those of Shiu and others (Nature 634, 2024). The wiring is random, because this crate
//! contains no data of others: log-normal in-degrees and out-degrees, and about 15 million connected pairs of neurons,
//! most of them with few synapses and some with many.

use crate::random::Stream;
use crate::{Builder, Error, Lif, ListedSynapse, Model, Network, Poisson};

/// The weight of one synapse: the jump of the current, in mV.
const JUMP: f64 = 0.275;
/// The delay, in steps of 0.1 ms.
const DELAY: u32 = 18;
/// The fraction of neurons that are inhibitory.
const INHIBITORY: f64 = 0.35;

/// The parameters of [`fly`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fly {
    /// The number of neurons.
    pub neurons: u32,
    /// The mean out-degree: target neurons per neuron.
    pub degree: f64,
    /// The number of sensory neurons, which Poisson sources drive.
    pub sensory: u32,
    /// The rate of each Poisson source, in spikes a second.
    pub rate: f64,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for Fly {
    fn default() -> Self {
        Self { neurons: 138_000, degree: 109.0, sensory: 20, rate: 150.0, seed: 55 }
    }
}

/// Returns the network, with steps of 0.1 ms. Its first neurons are the sensory ones, each driven by its own source.
///
/// # Errors
/// There are fewer neurons than sensory neurons, or too many neurons.
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
    let drive = |index| ListedSynapse { source: index, target: index, weight: 250.0 * JUMP, delay: DELAY };
    builder.connect_list(sources, brain, &(0..sensory).map(drive).collect::<Vec<_>>())?;
    // The cumulative popularity of targets, which makes in-degrees log-normal, too.
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
            ListedSynapse {
                source,
                target: target.min(neurons - 1),
                weight: sign * synapses * JUMP,
                delay: DELAY,
            }
        };
        let links: Vec<ListedSynapse> = (0..count.min(neurons)).map(|_| link(&mut stream)).collect();
        builder.connect_list(brain, brain, &links)?;
    }
    builder.build()
}

/// Draws from the log-normal distribution with mean 1.
fn log_normal(sigma: f64, stream: &mut Stream) -> f64 {
    libm::exp(sigma * super::normal(stream) - sigma * sigma / 2.0)
}
