//! Quotients.

use super::control::FPSR_DZC;
use super::number::{
    KIND_INFINITY, KIND_ZERO, Number, fp_finite, fp_infinity, fp_invalid, fp_zero, normalized,
};

/// Bits of a quotient that are computed: two more than the longest significand, and one as the first may be zero.
const QUOTIENT_BITS: u32 = 56;

/// The quotient of two numbers that are no NaNs and fit a format.
#[must_use]
#[inline]
pub fn divide_numbers(a: Number, b: Number) -> Number {
    let sign = a.sign ^ b.sign;
    let fpsr = a.fpsr | b.fpsr;
    if a.kind == b.kind && (a.kind == KIND_ZERO || a.kind == KIND_INFINITY) {
        return fp_invalid(fpsr);
    }
    if a.kind == KIND_INFINITY {
        return fp_infinity(sign, fpsr);
    }
    if b.kind == KIND_ZERO {
        return fp_infinity(sign, fpsr | FPSR_DZC);
    }
    if a.kind == KIND_ZERO || b.kind == KIND_INFINITY {
        return fp_zero(sign, fpsr);
    }
    // A bit a round, by comparison. The low bits of both are zero, so this is room and loses nothing.
    let divisor = b.significand >> 2;
    let mut remainder = a.significand >> 2;
    let mut quotient = 0;
    for _ in 0..QUOTIENT_BITS {
        let fits = remainder >= divisor;
        remainder = (remainder - if fits { divisor } else { 0 }) << 1;
        quotient = quotient << 1 | u64::from(fits);
    }
    // What remains decides only whether the quotient is exact.
    let significand = quotient << (64 - QUOTIENT_BITS) | u64::from(remainder != 0);
    normalized(fp_finite(sign, a.exponent - b.exponent, significand, fpsr))
}
