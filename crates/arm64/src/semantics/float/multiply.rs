//! Products.

use super::number::{
    KIND_FINITE, KIND_INFINITY, KIND_ZERO, Number, fp_infinity, fp_invalid, fp_zero, normalized,
};
use crate::semantics::multiply::multiply_high_unsigned;

/// The product of two numbers that are no NaNs, all its bits.
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
    // Two points behind a top bit make one behind two.
    normalized(Number {
        kind: KIND_FINITE,
        sign,
        exponent: a.exponent + b.exponent + 1,
        significand: multiply_high_unsigned(a.significand, b.significand),
        rest: a.significand.wrapping_mul(b.significand),
        fpsr,
    })
}

/// Whether two numbers have no product.
#[must_use]
#[inline(always)]
pub const fn is_zero_times_infinity(a: Number, b: Number) -> bool {
    a.kind == KIND_ZERO && b.kind == KIND_INFINITY || a.kind == KIND_INFINITY && b.kind == KIND_ZERO
}
