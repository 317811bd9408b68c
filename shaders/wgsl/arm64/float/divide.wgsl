//! The quotient of floating-point numbers.

import package::arm64::float::constants::{FPSR_DZC, KIND_INFINITY, KIND_ZERO};
import package::arm64::float::number::{Number, fp_finite, fp_infinity, fp_invalid, fp_zero, normalized};

/// The number of quotient bits that are computed: those of the longest significand, 53, two more, and one more because
/// the first bit may be zero.
const QUOTIENT_BITS = 56u;

/// Returns the quotient of two numbers that are not NaNs and fit a format.
///
/// Twin: `kvrm_arm64::semantics::float::divide::divide_numbers`.
fn divide_numbers(a: Number, b: Number) -> Number {
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
    // One bit per iteration, by comparison. The shifts make room above; the bits that they drop are zero.
    let divisor = b.significand >> 2u;
    var remainder = a.significand >> 2u;
    var quotient_bits = 0lu;
    for (var digit = 0u; digit < QUOTIENT_BITS; digit += 1u) {
        let fits = remainder >= divisor;
        remainder = (remainder - select(0lu, divisor, fits)) << 1u;
        quotient_bits = (quotient_bits << 1u) | select(0lu, 1lu, fits);
    }
    // The remainder decides only whether the quotient is exact.
    let significand = (quotient_bits << (64u - QUOTIENT_BITS)) | select(0lu, 1lu, remainder != 0lu);
    return normalized(fp_finite(sign, a.exponent - b.exponent, significand, fpsr));
}
