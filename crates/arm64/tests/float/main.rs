//! Floating point: compared with LLVM, QEMU and the host, and rule by rule for the rules that only Arm has.

mod apfloat;
mod corpus;
mod estimates;
mod executed;
mod flushing;
mod half;
mod host;
mod nans;
mod numbers;
mod square_roots;

use kvrm_arm64::semantics::float::control::{ROUND_NEGATIVE, ROUND_POSITIVE, ROUND_TIE_EVEN, ROUND_ZERO};
use kvrm_arm64::semantics::float::format::{Format, HALF};
use kvrm_testkit::numbers::{float, floats};
use kvrm_testkit::random::Random;

/// The rounding modes of FPCR.
const ROUNDINGS: [u32; 4] = [ROUND_TIE_EVEN, ROUND_POSITIVE, ROUND_NEGATIVE, ROUND_ZERO];

/// Returns FPCR with a rounding mode and all other bits clear.
const fn fpcr(rounding: u32) -> u32 {
    rounding << 22
}

const fn sign_bit(format: Format) -> u64 {
    1 << (format.fraction_bits + format.exponent_bits)
}

const fn infinity(format: Format) -> u64 {
    ((1 << format.exponent_bits) - 1) << format.fraction_bits
}

/// Whether a bit pattern is a NaN.
const fn is_nan(value: u64, format: Format) -> bool {
    value & (sign_bit(format) - 1) > infinity(format)
}

/// Calls a function for all pairs of edge cases and for random pairs.
fn for_pairs(format: Format, random_pairs: usize, mut check: impl FnMut(u64, u64)) {
    let edges = floats(format);
    for &x in &edges {
        for &y in &edges {
            check(x, y);
        }
    }
    let mut random = Random::new(u64::from(format.fraction_bits));
    for _ in 0..random_pairs {
        let x = float(format, &edges, &mut random);
        check(x, float(format, &edges, &mut random));
    }
}

/// Calls a function for all numbers of half precision, or for edge cases and random numbers of a larger format.
fn for_each(format: Format, random_numbers: usize, mut check: impl FnMut(u64)) {
    if format == HALF {
        return (0..1 << 16).for_each(check);
    }
    let edges = floats(format);
    edges.iter().for_each(|&x| check(x));
    let mut random = Random::new(u64::from(format.exponent_bits));
    (0..random_numbers).for_each(|_| check(float(format, &edges, &mut random)));
}
