//! Fixed-point arithmetic, which gives the same results on every CPU and GPU.
//!
//! | quantity | type | fraction bits | range | step |
//! | --- | --- | --- | --- | --- |
//! | potentials and currents of LIF and Izhikevich neurons, mV | `i32` | 20 | ±2,048 | 9.5e-7 |
//! | potential of FEAGI neurons | `i64` | 32 | ±2^31 | 2.3e-10 |
//! | coefficients | `i32` | 30 | ±2 | 9.3e-10 |
//! | part of the potential that a FEAGI neuron keeps (1 - leak) | `u32` | 31 | 0 to 1 | 4.7e-10 |
//! | weights and sums of inputs | `i32` | `fraction_bits` of the network | | the weight unit |
//! | scale of a spike, the factor of weights | `u32` | 16 | 0 to 255 | 1.5e-5 |
//!
//! Products are rounded to the nearest value, halves up. Results outside their range saturate: nothing wraps.

/// The fraction bits of potentials and currents in mV.
pub const MILLIVOLT_BITS: u32 = 20;

/// The fraction bits of coefficients.
pub const COEFFICIENT_BITS: u32 = 30;

/// The fraction bits of the potential of FEAGI neurons.
pub const POTENTIAL_BITS: u32 = 32;

/// The fraction bits of the part of the potential that a FEAGI neuron keeps.
pub const KEEP_BITS: u32 = 31;

/// The fraction bits of the scale of a spike.
pub const SCALE_BITS: u32 = 16;

/// The largest number of fraction bits that weights may have.
pub const FRACTION_BITS_MAX: u32 = 20;

/// Returns the nearest value that fits in 32 bits.
#[must_use]
pub const fn saturate(value: i64) -> i32 {
    if value > i32::MAX as i64 {
        i32::MAX
    } else if value < i32::MIN as i64 {
        i32::MIN
    } else {
        value as i32
    }
}

/// Returns `value * 2^-bits`, rounded. The value must be at least `2^(bits - 1)` away from the end of its range.
#[must_use]
pub const fn round_shift(value: i64, bits: u32) -> i64 {
    (value + (1 << (bits - 1))) >> bits
}

/// Returns a number times a coefficient, saturated.
#[must_use]
pub const fn mul(number: i32, coefficient: i32) -> i32 {
    saturate(round_shift(number as i64 * coefficient as i64, COEFFICIENT_BITS))
}

/// Returns whether a coefficient is from 0 to 1. The product of such a coefficient and a number never saturates.
#[must_use]
pub const fn is_in_unit_interval(coefficient: i32) -> bool {
    0 <= coefficient && coefficient <= 1 << COEFFICIENT_BITS
}

/// Returns the saturated sum.
#[must_use]
pub const fn add(left: i32, right: i32) -> i32 {
    left.saturating_add(right)
}

/// Returns the potential of a FEAGI neuron times `keep`, which is at most 2^31. The product is exact for 0 and 2^31.
#[must_use]
pub const fn leak(potential: i64, keep: u32) -> i64 {
    let high = (potential >> 32) * keep as i64;
    let low = ((potential as u32 as u64) * keep as u64 + (1 << (KEEP_BITS - 1))) >> KEEP_BITS;
    (high << 1) + low as i64
}

/// Returns the amount that a spike adds to the input of a synapse's target, in weight units. Networks are checked so
/// that it fits in 32 bits.
#[must_use]
pub const fn contribution(weight: i32, scale: u32) -> i32 {
    round_shift(weight as i64 * scale as i64, SCALE_BITS) as i32
}

/// Returns the scale of a spike, the factor of the weights: the postsynaptic potential `psp` (1 for all but FEAGI
/// neurons), divided by the source's `fan_out` if `is_divided`.
#[must_use]
pub const fn scale(psp: u32, is_divided: bool, fan_out: u32) -> u32 {
    let whole = psp << SCALE_BITS;
    if is_divided && fan_out != 0 {
        ((whole as u64 + (fan_out / 2) as u64) / fan_out as u64) as u32
    } else {
        whole
    }
}

/// Returns the fixed-point number with `bits` fraction bits nearest to `value`, or `None` if it is out of range.
#[must_use]
pub fn fixed(value: f64, bits: u32) -> Option<i32> {
    let scaled = libm::floor(value * (1_u64 << bits) as f64 + 0.5);
    (scaled >= f64::from(i32::MIN) && scaled <= f64::from(i32::MAX)).then_some(scaled as i32)
}

/// Returns the value of a number with `bits` fraction bits.
#[must_use]
pub fn float(value: i32, bits: u32) -> f64 {
    f64::from(value) / (1_u64 << bits) as f64
}
