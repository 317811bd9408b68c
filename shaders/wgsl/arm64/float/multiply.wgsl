//! The product of floating-point numbers.

import package::arm64::float::constants::{KIND_FINITE, KIND_INFINITY, KIND_ZERO};
import package::arm64::float::number::{Number, fp_infinity, fp_invalid, fp_zero, normalized};
import package::arm64::multiply::{multiply_high_unsigned};

/// Returns the exact product of two numbers that are not NaNs and fit a format.
///
/// Twin: `kvrm_arm64::semantics::float::multiply::multiply_numbers`.
fn multiply_numbers(a: Number, b: Number) -> Number {
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
    // Both significands have their point behind the top bit, so the product has it behind the second bit.
    let high = multiply_high_unsigned(a.significand, b.significand);
    let low = a.significand * b.significand;
    return normalized(Number(KIND_FINITE, sign, a.exponent + b.exponent + 1i, high, low, fpsr));
}

/// Whether one number is zero and the other infinity, so that they have no product.
///
/// Twin: `kvrm_arm64::semantics::float::multiply::is_zero_times_infinity`.
fn is_zero_times_infinity(a: Number, b: Number) -> bool {
    return (a.kind == KIND_ZERO && b.kind == KIND_INFINITY) || (a.kind == KIND_INFINITY && b.kind == KIND_ZERO);
}
