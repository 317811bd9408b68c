//! Benchmark networks from the literature, and the input that drives them.

mod balanced;
mod feagi;
mod fly;
mod microcircuit;
mod vogels_abbott;

pub use balanced::{Balanced, balanced};
pub use feagi::{FIRING_AMOUNT, feagi, feagi_input};
pub use fly::{Fly, fly};
pub use microcircuit::{Background, Microcircuit, microcircuit};
pub use vogels_abbott::{VogelsAbbott, vogels_abbott};

use crate::random::Stream;

/// Draws from the normal distribution with mean 0 and standard deviation 1 (Box and Muller, 1958).
fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(stream.unit()));
    radius * libm::cos(core::f64::consts::TAU * stream.unit())
}
