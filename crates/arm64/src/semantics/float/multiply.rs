//! Products.

use super::number::{
    KIND_FINITE, KIND_INFINITY, KIND_ZERO, Number, fp_infinity, fp_invalid, fp_zero, normalized,
};
use crate::semantics::multiply::multiply_high_unsigned;

/// Returns the exact product of two numbers that are not NaNs, except that zero times infinity is the default NaN.
#[must_use]
#[inline]
pub const fn multiply_numbers(a: Number, b: Number) -> Number {
    let sign = a.sign ^ b.sign;
    let fpsr = a.fpsr | b.fpsr;
    if is_zero_times_infinity(a, b) {
        return fp_invalid(fpsr);
    }
    if a.kind == KIND_INFINITY || b.kind == KIND_INFINITY {
        return fp_infinity(sign, fpsr);
    }
    if a.kind == KIND_ZERO || b.kind == KIND_ZERO {
        return fp_zero(sign, fpsr);
    }
    // Each factor has one bit before its point, so the product has two.
    normalized(Number {
        kind: KIND_FINITE,
        sign,
        exponent: a.exponent + b.exponent + 1,
        significand: multiply_high_unsigned(a.significand, b.significand),
        rest: a.significand.wrapping_mul(b.significand),
        fpsr,
    })
}

/// Whether one number is zero and the other infinity, so that they have no product.
#[must_use]
#[inline(always)]
pub const fn is_zero_times_infinity(a: Number, b: Number) -> bool {
    a.kind == KIND_ZERO && b.kind == KIND_INFINITY || a.kind == KIND_INFINITY && b.kind == KIND_ZERO
}
