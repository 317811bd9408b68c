//! A balanced network whose excitatory synapses learn, after the `hpc_benchmark` of NEST (Morrison and others, Neural
//! Computation 19, 2007).
//!
//! At scale 1 there are 11,250 neurons and 127 million synapses. Every neuron has 9,000 excitatory and 2,250 inhibitory
//! sources at any scale, drawn with repetition. Neurons, delays, the ratio of weights and the strength of the Poisson input are
//! those of the original, which has a scale of 100 or more. In smaller networks, neurons share more of their sources, so they
//! fire in a more synchronous way, and more often:
//!
//! | scale | spikes a second | correlation |
//! | ---: | ---: | ---: |
//! | 0.25 | 20 | 0.43 |
//! | 1 | 11 | 0.11 |
//! | 3 | 8.5 | 0.03 |
//!
//! `cargo test -p kvrm-spiking --test spiking hpc_benchmark -- --include-ignored --nocapture` prints these numbers, which are
//! those of the excitatory neurons between 50 and 200 ms. The documentation of NEST asks for a scale of more than 10 if
//! times are compared.
//!
//! `docs/spiking.md`, under "Learning", lists the differences from the original.

use crate::random::Stream;
use crate::{
    Builder, ConnectionRule, Error, HISTORY_STEPS, Kind, Lif, Model, Network, PlasticityRule, Projection,
};

/// The length of a step, in ms.
const DT: f64 = 0.1;
/// The delay, in steps.
const DELAY: u32 = 15;
/// The numbers of excitatory and inhibitory neurons at scale 1, which are the in-degrees at any scale.
const DEGREES: [u32; 2] = [9000, 2250];
/// The time constant of currents, in ms: that of the original.
const TAU_SYNAPSE: f64 = 0.325_827_224_037_228_4;
/// The peak of the potential after an excitatory spike, in mV.
const PEAK: f64 = 0.14;
/// The ratio of inhibitory to excitatory weights.
const INHIBITION: f64 = -5.0;
/// The rate of the Poisson input, relative to that with which the mean potential reaches the threshold.
const EXTERNAL: f64 = 1.685;
/// The mean and the standard deviation of the initial potential, in mV.
const POTENTIAL: [f64; 2] = [5.7, 7.2];
/// The fraction bits of weights. With 8 bits, a synapse takes 4 bytes up to scale 23.
const FRACTION_BITS: u32 = 8;
/// The potentiation by a pair of spikes without distance, relative to the initial weight: that of the original, 0.1 w^0.4 pA
/// at w = 45.6 pA.
const POTENTIATION: f64 = 0.01;
/// The time constants of potentiation and depression, in steps: 15 and 30 ms.
const TAU_STEPS: [f64; 2] = [150.0, 300.0];
/// The limits of weights, relative to the initial weight. The upper one is below the ratio of inhibition to excitation, 1.25.
const LIMITS: [f64; 2] = [0.8, 1.2];
/// The mean depression of weights by spikes of uncorrelated neurons, relative to the mean potentiation. It is more than 1,
/// because correlated spikes, of which a small network has many, increase weights.
const DEPRESSION: f64 = 1.1;

/// The parameters of [`hpc_benchmark`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HpcBenchmark {
    /// The scale of the number of neurons, which is 11,250 at scale 1. The in-degree is the same at any scale.
    pub scale: f64,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for HpcBenchmark {
    fn default() -> Self {
        Self { scale: 1.0, seed: 55 }
    }
}

/// Returns the network, with steps of 0.1 ms. Four fifths of its neurons are excitatory.
///
/// # Errors
/// The scale is so small that a population has no neuron, or there are too many neurons or synapses.
pub fn hpc_benchmark(choices: &HpcBenchmark) -> Result<Network, Error> {
    let HpcBenchmark { scale, seed } = *choices;
    let sizes = DEGREES.map(|degree| libm::round(f64::from(degree) * scale));
    if !sizes.iter().all(|size| (1.0..f64::from(u32::MAX / 2)).contains(size)) {
        return Err(Error::parameter("scale", scale, "at least 0.0003, and fewer than 2^32 neurons"));
    }
    let lif = Lif {
        tau_m: 10.0,
        tau_ex: TAU_SYNAPSE,
        tau_in: TAU_SYNAPSE,
        v_rest: 0.0,
        v_th: 20.0,
        v_reset: 0.0,
        t_ref: 0.5,
        ..Lif::default()
    };
    let jump = super::jump_of_peak(&lif, PEAK);
    // The mean potential is the rate of the input times the charge of a spike, which is the jump times the time constant.
    let threshold_rate = 1000.0 * lif.v_th / (jump * lif.tau_ex);
    let lif = Lif { poisson_rate: EXTERNAL * threshold_rate, poisson_weight: jump, ..lif };
    let mut builder = Builder::new(DT).seed(seed).fraction_bits(FRACTION_BITS);
    let mut ids = Vec::new();
    for (number, (name, size)) in (0..).zip(["excitatory", "inhibitory"].into_iter().zip(sizes)) {
        ids.push(builder.populate(name, [size as u32, 1, 1], Kind::Lif, |index| {
            let mut stream = Stream::new(seed, u64::MAX - number, index.into());
            let potential = POTENTIAL[0] + POTENTIAL[1] * super::normal(&mut stream);
            (Model::Lif(lif.clone()), Some(potential))
        })?);
    }
    for ((&source, degree), weight) in ids.iter().zip(DEGREES).zip([jump, INHIBITION * jump]) {
        for &target in &ids {
            let projection = Projection::new(ConnectionRule::InDegree(degree), weight, DELAY);
            builder.connect(source, target, &projection.autapses(false))?;
        }
    }
    let rule = pair_rule(f64::from(1 << FRACTION_BITS) * jump);
    builder.learn(ids[0], ids[0], LIMITS.map(|limit| limit * jump), rule)?;
    builder.build()
}

/// Returns the rule for synapses with an initial weight of `weight` weight units.
fn pair_rule(weight: f64) -> PlasticityRule {
    let sums =
        TAU_STEPS.map(|tau| (1..HISTORY_STEPS).map(|steps| libm::exp(-(steps as f64) / tau)).sum::<f64>());
    let potentiation = POTENTIATION * weight;
    PlasticityRule::exponential([potentiation, DEPRESSION * potentiation * sums[0] / sums[1]], TAU_STEPS)
}
