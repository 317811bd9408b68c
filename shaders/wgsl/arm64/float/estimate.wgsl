//! Estimates of reciprocals and reciprocal square roots with eight bits, as the manual defines them.

import package::arm64::float::constants::{FPSR_DZC, KIND_FINITE, KIND_INFINITY, KIND_ZERO, TOP};
import package::arm64::float::format::{Format, exponent_bias};
import package::arm64::float::number::{Number, fp_finite, fp_infinity, fp_invalid, fp_zero};

/// The lowest bit of the nine bits of an estimate in a significand.
const ESTIMATE_SHIFT = 55u;

/// `RecipEstimate()`: maps 256 to 511, which represent 0.5 to 1, to 511 to 256, which represent 2 to 1.
///
/// Twin: `kvrm_arm64::semantics::float::estimate::recip_estimate`.
fn recip_estimate(a: u32) -> u32 {
    // The divisor is the middle of the interval that the operand represents.
    return ((1u << 19u) / (a * 2u + 1u) + 1u) >> 1u;
}

/// `RecipSqrtEstimate()`: maps 128 to 511, which represent 0.25 to 1, to 511 to 256, which represent 2 to 1.
///
/// Twin: `kvrm_arm64::semantics::float::estimate::recip_sqrt_estimate`.
fn recip_sqrt_estimate(a: u32) -> u32 {
    // The middle of the interval that the operand represents, on one scale for operands below and above 0.5.
    let middle = select(((a & ~1u) + 1u) * 2u, a * 2u + 1u, a < 256u);
    // The largest number from 512 to 1023 whose square is below 1 / middle, found bit by bit from the top.
    var root = 512u;
    for (var bit = 256u; bit != 0u; bit >>= 1u) {
        let next = root + bit;
        if middle * next * next < (1u << 28u) {
            root = next;
        }
    }
    return (root + 1u) >> 1u;
}

/// `FPRecipEstimate()` of a number that is not a NaN. Rounding detects overflow and underflow.
///
/// Twin: `kvrm_arm64::semantics::float::estimate::fp_recip_estimate`.
fn fp_recip_estimate(a: Number) -> Number {
    if a.kind == KIND_INFINITY {
        return fp_zero(a.sign, a.fpsr);
    }
    if a.kind == KIND_ZERO {
        return fp_infinity(a.sign, a.fpsr | FPSR_DZC);
    }
    let estimate = recip_estimate(u32(a.significand >> ESTIMATE_SHIFT));
    return fp_finite(a.sign, -1i - a.exponent, u64(estimate) << ESTIMATE_SHIFT, a.fpsr);
}

/// `FPRSqrtEstimate()` of a number that is not a NaN.
///
/// Twin: `kvrm_arm64::semantics::float::estimate::fp_rsqrt_estimate`.
fn fp_rsqrt_estimate(a: Number) -> Number {
    if a.kind == KIND_ZERO {
        return fp_infinity(a.sign, a.fpsr | FPSR_DZC);
    }
    if a.sign == 1u {
        return fp_invalid(a.fpsr);
    }
    if a.kind == KIND_INFINITY {
        return fp_zero(0u, a.fpsr);
    }
    // For an even exponent the significand is halved, so that an even power of two remains.
    let is_odd = (a.exponent & 1i) == 1i;
    let scaled = a.significand >> select(ESTIMATE_SHIFT + 1u, ESTIMATE_SHIFT, is_odd);
    let estimate = recip_sqrt_estimate(u32(scaled));
    return fp_finite(0u, (-1i - a.exponent) >> 1u, u64(estimate) << ESTIMATE_SHIFT, a.fpsr);
}

/// `FPRecpX()` of a number that is not a NaN: returns a power of two near its reciprocal.
///
/// Twin: `kvrm_arm64::semantics::float::estimate::fp_recpx`.
fn fp_recpx(a: Number, format: Format) -> Number {
    if a.kind == KIND_INFINITY {
        return fp_zero(a.sign, a.fpsr);
    }
    // For zeros and denormal numbers the result is the largest power of two of the format.
    let largest = exponent_bias(format);
    let power = 1i - a.exponent;
    let exponent = select(largest, power, a.kind == KIND_FINITE && power < largest);
    return fp_finite(a.sign, exponent, TOP, a.fpsr);
}

/// `UnsignedRecipEstimate()`: maps a fraction of 32 bits from 0.5 to 1 to a number from 2 to 1 with 31 fraction bits.
///
/// Twin: `kvrm_arm64::semantics::float::estimate::unsigned_recip_estimate`.
fn unsigned_recip_estimate(a: u32) -> u32 {
    return select(recip_estimate(a >> 23u) << 23u, 0xffffffffu, (a >> 31u) == 0u);
}

/// `UnsignedRSqrtEstimate()`: maps a fraction of 32 bits from 0.25 to 1 to a number from 2 to 1 with 31 fraction bits.
///
/// Twin: `kvrm_arm64::semantics::float::estimate::unsigned_rsqrt_estimate`.
fn unsigned_rsqrt_estimate(a: u32) -> u32 {
    return select(recip_sqrt_estimate(a >> 23u) << 23u, 0xffffffffu, (a >> 30u) == 0u);
}
