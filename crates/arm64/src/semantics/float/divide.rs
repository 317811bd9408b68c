//! Quotients.

use super::control::FPSR_DZC;
use super::number::{
    KIND_INFINITY, KIND_ZERO, Number, fp_finite, fp_infinity, fp_invalid, fp_zero, normalized,
};

/// The number of quotient bits that are computed: two more than the longest significand has, and one more because the
/// first may be zero.
const QUOTIENT_BITS: u32 = 56;

/// Returns the quotient of two numbers that are not NaNs and are exact in some format.
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
    // Long division, one bit an iteration. The low bits of both significands are zero, so the shifts make room for the
    // remainder and lose nothing.
    let divisor = b.significand >> 2;
    let mut remainder = a.significand >> 2;
    let mut quotient = 0;
    for _ in 0..QUOTIENT_BITS {
        let fits = remainder >= divisor;
        remainder = (remainder - if fits { divisor } else { 0 }) << 1;
        quotient = quotient << 1 | u64::from(fits);
    }
    // The remainder only decides whether the quotient is exact.
    let significand = quotient << (64 - QUOTIENT_BITS) | u64::from(remainder != 0);
    normalized(fp_finite(sign, a.exponent - b.exponent, significand, fpsr))
}
