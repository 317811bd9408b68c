//! Fixed-point arithmetic. Products are rounded to the nearest value, halves up. Results outside of the range saturate.

/// Returns the nearest value of 32 bits.
///
/// Twin: `kvrm_spiking::fixed::saturate`.
fn saturated(value: i64) -> i32 {
    let high = i32(value >> 32u);
    let low = i32(value);
    return select((high >> 31u) ^ 0x7fffffff, low, high == (low >> 31u));
}

/// Returns the exact product.
///
/// Twin: a part of `kvrm_spiking::fixed::mul`.
fn product(left: i32, right: i32) -> u64 {
    return u64(i64(left)) * u64(i64(right));
}

/// Returns a number times a coefficient with 30 fraction bits.
///
/// Twin: `kvrm_spiking::fixed::mul`.
fn mul(number: i32, coefficient: i32) -> i32 {
    return saturated(i64(product(number, coefficient) + 0x20000000lu) >> 30u);
}

/// Returns a number times a coefficient from 0 to 1 with 30 fraction bits. Such a product never saturates.
///
/// Twin: `kvrm_spiking::fixed::mul`.
fn mul_unit(number: i32, coefficient: i32) -> i32 {
    return i32(i64(product(number, coefficient) + 0x20000000lu) >> 30u);
}

/// Returns the sum.
///
/// Twin: `kvrm_spiking::fixed::add`.
fn add(left: i32, right: i32) -> i32 {
    let sum = left + right;
    // Only a sum of numbers with the same sign can overflow, and then it has the other sign.
    return select(sum, (left >> 31u) ^ 0x7fffffff, ((left ^ sum) & (right ^ sum)) < 0);
}

/// Returns the sum of numbers of 64 bits.
///
/// Twin: `i64::saturating_add`.
fn add_wide(left: u64, right: u64) -> u64 {
    let sum = left + right;
    let end = select(0x7ffffffffffffffflu, 0x8000000000000000lu, (left >> 63u) != 0lu);
    return select(sum, end, (((left ^ sum) & (right ^ sum)) >> 63u) != 0lu);
}

/// Returns the potential of a FEAGI neuron times `keep`, which has 31 fraction bits and is at most 1.
///
/// Twin: `kvrm_spiking::fixed::leak`.
fn leak(potential: u64, keep: u32) -> u64 {
    let high = u64(i64(potential) >> 32u) * u64(keep);
    let low = ((potential & 0xfffffffflu) * u64(keep) + 0x40000000lu) >> 31u;
    return (high << 1u) + low;
}

/// Returns a signed number, shifted to the right and rounded.
///
/// Twin: `kvrm_spiking::fixed::round_shift`.
fn round_shift(value: u64, bits: u32) -> u64 {
    return u64(i64(value + (1lu << (bits - 1u))) >> bits);
}

/// Returns the amount that a synapse adds to the sum of its target, in weight units. `scale` has 16 fraction bits. The
/// check of networks ensures that the amount fits 32 bits.
///
/// Twin: `kvrm_spiking::fixed::contribution`.
fn contribution(weight: i32, scale: u32) -> i32 {
    return i32(i64(u64(i64(weight)) * u64(scale) + 0x8000lu) >> 16u);
}

/// Returns the factor of weights for a spike, with 16 fraction bits.
///
/// Twin: `kvrm_spiking::fixed::scale`.
fn scale(psp: u32, is_divided: bool, fan_out: u32) -> u32 {
    let whole = psp << 16u;
    return select(whole, (whole + fan_out / 2u) / max(fan_out, 1u), is_divided && fan_out != 0u);
}
