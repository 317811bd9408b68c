//! Estimates of reciprocals and of reciprocal square roots with eight bits, as prescribed by the manual.

use super::control::FPSR_DZC;
use super::format::{Format, exponent_bias};
use super::number::{
    KIND_FINITE, KIND_INFINITY, KIND_ZERO, Number, fp_finite, fp_infinity, fp_invalid, fp_zero,
};

/// The lowest bit of an estimate's nine bits in a significand.
const ESTIMATE_SHIFT: u32 = 55;

/// `RecipEstimate()`: estimates a reciprocal. The operand is 256 to 511, in units of 1/512. The result is 511 to 256,
/// in units of 1/256.
#[must_use]
#[inline]
pub const fn recip_estimate(a: u32) -> u32 {
    // The reciprocal of the middle of the operand's interval, rounded.
    ((1 << 19) / (a * 2 + 1) + 1) >> 1
}

/// `RecipSqrtEstimate()`: estimates a reciprocal square root. The operand is 128 to 511, in units of 1/512. The result
/// is 511 to 256, in units of 1/256.
#[must_use]
#[inline]
pub fn recip_sqrt_estimate(a: u32) -> u32 {
    // The middle of the operand's interval, in units of 1/1024. Operands from 256 up count only without their last bit.
    let middle = if a < 256 { a * 2 + 1 } else { ((a & !1) + 1) * 2 };
    // The largest of 512 to 1023 whose square is below 1 / middle, bit by bit from the top.
    let mut root = 512;
    let mut bit = 256;
    for _ in 0..9 {
        let next: u32 = root + bit;
        if middle * next * next < 1 << 28 {
            root = next;
        }
        bit >>= 1;
    }
    (root + 1) >> 1
}

/// `FPRecipEstimate()` of a number that is not a NaN. `fp_round` handles overflow and underflow of the result.
#[must_use]
#[inline]
pub const fn fp_recip_estimate(a: Number) -> Number {
    if a.kind == KIND_INFINITY {
        return fp_zero(a.sign, a.fpsr);
    }
    if a.kind == KIND_ZERO {
        return fp_infinity(a.sign, a.fpsr | FPSR_DZC);
    }
    let estimate = recip_estimate((a.significand >> ESTIMATE_SHIFT) as u32);
    fp_finite(a.sign, -1 - a.exponent, (estimate as u64) << ESTIMATE_SHIFT, a.fpsr)
}

/// `FPRSqrtEstimate()` of a number that is not a NaN.
#[must_use]
#[inline]
pub fn fp_rsqrt_estimate(a: Number) -> Number {
    if a.kind == KIND_ZERO {
        return fp_infinity(a.sign, a.fpsr | FPSR_DZC);
    }
    if a.sign == 1 {
        return fp_invalid(a.fpsr);
    }
    if a.kind == KIND_INFINITY {
        return fp_zero(0, a.fpsr);
    }
    // The operand is scaled so that the remaining exponent is even.
    let is_odd = a.exponent & 1 == 1;
    let scaled = a.significand >> if is_odd { ESTIMATE_SHIFT } else { ESTIMATE_SHIFT + 1 };
    let estimate = recip_sqrt_estimate(scaled as u32);
    fp_finite(0, (-1 - a.exponent) >> 1, u64::from(estimate) << ESTIMATE_SHIFT, a.fpsr)
}

/// `FPRecpX()` of a number that is not a NaN: returns a power of two near its reciprocal.
#[must_use]
#[inline]
pub const fn fp_recpx(a: Number, format: Format) -> Number {
    if a.kind == KIND_INFINITY {
        return fp_zero(a.sign, a.fpsr);
    }
    // Zeros and denormal numbers give the largest power of two of the format.
    let largest = exponent_bias(format);
    let power = 1 - a.exponent;
    let exponent = if a.kind == KIND_FINITE && power < largest { power } else { largest };
    fp_finite(a.sign, exponent, 1 << 63, a.fpsr)
}

/// `UnsignedRecipEstimate()`: estimates the reciprocal of a number from 0.5 to 1 with 32 fraction bits. The result is
/// 2 to 1 with 31 fraction bits; operands below 0.5 give the largest result.
#[must_use]
#[inline]
pub const fn unsigned_recip_estimate(a: u32) -> u32 {
    if a >> 31 == 0 { u32::MAX } else { recip_estimate(a >> 23) << 23 }
}

/// `UnsignedRSqrtEstimate()`: estimates the reciprocal square root of a number from 0.25 to 1 with 32 fraction bits.
/// The result is 2 to 1 with 31 fraction bits; operands below 0.25 give the largest result.
#[must_use]
#[inline]
pub fn unsigned_rsqrt_estimate(a: u32) -> u32 {
    if a >> 30 == 0 { u32::MAX } else { recip_sqrt_estimate(a >> 23) << 23 }
}
