//! Benchmark networks from the literature, and the input that drives them.

mod balanced;
mod feagi;
mod fly;
mod hpc_benchmark;
mod microcircuit;
mod vogels_abbott;

pub use balanced::{Balanced, balanced};
pub use feagi::{FIRING_AMOUNT, feagi, feagi_input};
pub use fly::{Fly, fly};
pub use hpc_benchmark::{HpcBenchmark, hpc_benchmark};
pub use microcircuit::{Background, Microcircuit, microcircuit};
pub use vogels_abbott::{VogelsAbbott, vogels_abbott};

use crate::Lif;
use crate::random::Stream;

/// Returns the weight of an excitatory synapse with which a spike raises the potential to a peak of `peak` mV. The weight is
/// the jump of the current, in mV.
fn jump_of_peak(lif: &Lif, peak: f64) -> f64 {
    let (tau_m, tau_s) = (lif.tau_m, lif.tau_ex);
    let time = libm::log(tau_m / tau_s) / (1.0 / tau_s - 1.0 / tau_m);
    let response = tau_s / (tau_m - tau_s) * (libm::exp(-time / tau_m) - libm::exp(-time / tau_s));
    peak / response
}

/// Draws from the normal distribution with mean 0 and standard deviation 1 (Box and Muller, 1958).
fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(stream.unit()));
    radius * libm::cos(core::f64::consts::TAU * stream.unit())
}
