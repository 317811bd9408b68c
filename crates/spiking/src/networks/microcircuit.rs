//! The cortical microcircuit of Potjans and Diesmann (Cerebral Cortex 24, 2014), the field's common benchmark.
//!
//! The parameters are those of the reference implementation in `PyNEST` (microcircuit-PD14-model, parameter definitions
//! of `microcircuit`): populations, connection probabilities, initial potentials, external inputs and delays. Delays
//! are normally distributed, with means of 1.5 ms from excitatory and 0.75 ms from inhibitory neurons and half of the
//! mean as standard deviation. As there, delays of less than half a step are drawn again.
//!
//! At full scale there are 77,169 neurons and 299 million synapses. A weight is packed in 9 bits, in units of 1/8 mV of
//! current; weights are drawn from the rounded distribution, so they are exact on average. With 17 bits for the target
//! and 6 for the delay, a synapse takes 4 bytes. Delays of more than 6.4 ms (6.5 standard deviations) are drawn again.

use crate::random::Stream;
use crate::{Builder, ConnectionRule, Delay, Error, Lif, Model, Network, Projection, Weight};

const NAMES: [&str; 8] = ["L23E", "L23I", "L4E", "L4I", "L5E", "L5I", "L6E", "L6I"];
const NEURONS: [u32; 8] = [20_683, 5_834, 21_915, 5_479, 4_850, 1_065, 14_395, 2_948];
/// Connection probabilities, by target and then source.
const PROBABILITIES: [[f64; 8]; 8] = [
    [0.1009, 0.1689, 0.0437, 0.0818, 0.0323, 0.0, 0.0076, 0.0],
    [0.1346, 0.1371, 0.0316, 0.0515, 0.0755, 0.0, 0.0042, 0.0],
    [0.0077, 0.0059, 0.0497, 0.135, 0.0067, 0.0003, 0.0453, 0.0],
    [0.0691, 0.0029, 0.0794, 0.1597, 0.0033, 0.0, 0.1057, 0.0],
    [0.1004, 0.0622, 0.0505, 0.0057, 0.0831, 0.3726, 0.0204, 0.0],
    [0.0548, 0.0269, 0.0257, 0.0022, 0.06, 0.3158, 0.0086, 0.0],
    [0.0156, 0.0066, 0.0211, 0.0166, 0.0572, 0.0197, 0.0396, 0.2252],
    [0.0364, 0.001, 0.0034, 0.0005, 0.0277, 0.008, 0.0658, 0.1443],
];
/// External inputs per neuron, by population.
const EXTERNAL: [f64; 8] = [1600.0, 1500.0, 2100.0, 1900.0, 2000.0, 1900.0, 2900.0, 2100.0];
/// Rates in spikes a second at full scale, by which networks of a smaller scale are compensated. They are those of
/// NEST's example of the model, whose external input is Poisson. The reference implementation now has the rates for
/// constant external input, 0.903 to 7.829. With these, the mean input of a network of scale 0.1 stays below the
/// threshold, and with constant external input the network falls silent.
const RATES: [f64; 8] = [0.971, 2.868, 4.746, 5.396, 8.142, 9.078, 0.991, 7.523];
/// Initial potentials that shorten the transient ("optimized" in the reference implementation): means and standard
/// deviations, in mV.
const POTENTIALS: [[f64; 2]; 8] = [
    [-68.28, 5.36],
    [-63.16, 4.57],
    [-63.33, 4.74],
    [-63.45, 4.94],
    [-63.11, 4.94],
    [-61.66, 4.55],
    [-66.72, 5.46],
    [-61.43, 4.48],
];
/// The rate of one external input, in spikes a second.
const BACKGROUND_RATE: f64 = 8.0;
/// The peak of the potential after an excitatory spike, in mV. The weight is 87.8 pA in the published units.
const PEAK: f64 = 0.15;
/// The ratio of inhibitory to excitatory weights.
const INHIBITION: f64 = -4.0;

/// The kind of external input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// Poisson spike trains.
    Poisson,
    /// A constant current, the mean of the Poisson input.
    Constant,
}

/// The parameters of [`microcircuit`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Microcircuit {
    /// The scale of the number of neurons and of the synapses per neuron, more than 0 and at most 1. Below 1, weights
    /// are divided by its square root, and a constant current replaces the missing input, as in the reference
    /// implementation.
    pub scale: f64,
    /// The kind of external input.
    pub background: Background,
    /// The length of a step, in ms.
    pub dt: f64,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for Microcircuit {
    fn default() -> Self {
        Self { scale: 1.0, background: Background::Poisson, dt: 0.1, seed: 55 }
    }
}

/// Returns the microcircuit.
///
/// # Errors
/// The scale is not more than 0 and at most 1, or the step is so long that a mean delay rounds to 0 steps.
pub fn microcircuit(choices: &Microcircuit) -> Result<Network, Error> {
    let Microcircuit { scale, background, dt, seed } = *choices;
    if !(scale > 0.0 && scale <= 1.0) {
        return Err(Error::parameter("scale", scale, "more than 0 and at most 1"));
    }
    let lif = Lif::default();
    let jump = super::jump_of_peak(&lif, PEAK);
    let weight = |target: usize, source: usize| match (target, source) {
        (0, 2) => 2.0 * jump,
        (_, source) if source % 2 == 0 => jump,
        _ => INHIBITION * jump,
    };
    // The number of synapses between two populations at full scale.
    let synapses = |target: usize, source: usize| {
        let pairs = f64::from(NEURONS[target]) * f64::from(NEURONS[source]);
        libm::log1p(-PROBABILITIES[target][source]) / libm::log1p(-1.0 / pairs)
    };
    let root = libm::sqrt(scale);
    let mut builder = Builder::new(dt).seed(seed).fraction_bits(3);
    let mut ids = Vec::new();
    for target in 0..8 {
        let inner = |source: usize| weight(target, source) * synapses(target, source) * RATES[source];
        let inner = (0..8).map(inner).sum::<f64>() / f64::from(NEURONS[target]);
        let outer = jump * EXTERNAL[target] * BACKGROUND_RATE;
        let seconds = lif.tau_ex / 1000.0;
        let missing = seconds * (1.0 - root) * (inner + outer);
        let model = match background {
            Background::Poisson => Lif {
                poisson_rate: EXTERNAL[target] * scale * BACKGROUND_RATE,
                poisson_weight: jump / root,
                bias: missing,
                ..lif.clone()
            },
            Background::Constant => Lif { bias: missing + seconds * root * outer, ..lif.clone() },
        };
        let size = libm::round(f64::from(NEURONS[target]) * scale) as u32;
        let [mean, std] = POTENTIALS[target];
        let neuron = |index: u32| {
            let mut stream = Stream::new(seed, u64::MAX - target as u64, index.into());
            (Model::Lif(model.clone()), Some(mean + std * super::normal(&mut stream)))
        };
        ids.push(builder.populate(NAMES[target], [size, 1, 1], crate::Kind::Lif, neuron)?);
    }
    for (source, &from) in ids.iter().enumerate() {
        for (target, &to) in ids.iter().enumerate() {
            let total = libm::round(synapses(target, source) * scale * scale) as u64;
            if total == 0 {
                continue;
            }
            let mean = weight(target, source) / root;
            let delay = if source % 2 == 0 { 1.5 } else { 0.75 };
            let projection = Projection::new(ConnectionRule::Total(total), 0.0, 1)
                .weight(Weight::Normal { mean, std: 0.1 * mean.abs() })
                .delay(Delay::Normal { mean: delay, std: delay / 2.0, max: 6.4 });
            builder.connect(from, to, &projection)?;
        }
    }
    builder.build()
}
