//! Edge values, at which arithmetic is most likely to be wrong.

use kvrm_arm64::semantics::float::format::{Format, exponent_bias, exponent_ones};

use crate::random::Random;

/// Integers at the limits of 8, 16, 32 and 64 bits.
pub const EDGES: [u64; 16] = [
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
];

/// Returns the edge values of a floating-point format, of both signs: zeros, denormal numbers, powers of two at the
/// limits of this or another format and their neighbours, infinities, and NaNs of both kinds.
#[must_use]
pub fn floats(format: Format) -> Vec<u64> {
    let fraction_bits = format.fraction_bits;
    let (one, half) = (1 << fraction_bits, 1 << (fraction_bits - 1));
    let fractions = [0, 1, 2, half - 1, half, half + 1, half | half >> 1, one - 2, one - 1];
    let bias = exponent_bias(format);
    // The exponents at the limits of half and single precision, of their denormal numbers, and of integers.
    let mut exponents =
        vec![-150, -149, -127, -126, -25, -24, -15, -14, -2, -1, 0, 1, 10, 15, 16, 23, 31, 52, 63, 127];
    exponents.extend([1 - bias, 2 - bias, bias - 1]);
    let fields =
        exponents.iter().map(|exponent| exponent + bias).filter(|field| (1..2 * bias).contains(field));
    let mut fields: Vec<u64> = fields.map(|field| field as u64).collect();
    fields.extend([0, u64::from(exponent_ones(format)) - 1, u64::from(exponent_ones(format))]);
    fields.sort_unstable();
    fields.dedup();
    let sign = 1 << (fraction_bits + format.exponent_bits);
    let values =
        fields.into_iter().flat_map(|field| fractions.map(|fraction| field << fraction_bits | fraction));
    values.flat_map(|value| [value, sign | value]).collect()
}

/// Returns a random number of a format. It is an element of `edges`, which are the [`floats`] of the format; or random
/// bits; or a zero, a denormal number, an infinity or a NaN; or a number with an exponent near that of one and often
/// with few bits set, so that sums and products are often halfway between two numbers.
pub fn float(format: Format, edges: &[u64], random: &mut Random) -> u64 {
    let any = random.bits() >> (63 - format.fraction_bits - format.exponent_bits);
    let sign = any & 1 << (format.fraction_bits + format.exponent_bits);
    let fraction = any & ((1 << format.fraction_bits) - 1);
    let zeros = random.below(u64::from(format.fraction_bits) + 1);
    let ones = u64::from(exponent_ones(format));
    let near_one =
        |range: u64, random: &mut Random| exponent_bias(format) as u64 - range / 2 + random.below(range);
    let (field, fraction) = match random.below(6) {
        0 => return *random.pick(edges),
        1 => return any,
        2 => (ones * random.below(2), if random.below(3) == 0 { 0 } else { fraction >> zeros }),
        3 => (near_one(8, random), fraction),
        // Zeros at the end of the fraction, and at its beginning.
        4 => (near_one(ones.min(64), random), fraction >> zeros << zeros),
        _ => (near_one(16, random), fraction >> zeros),
    };
    sign | field << format.fraction_bits | fraction
}
