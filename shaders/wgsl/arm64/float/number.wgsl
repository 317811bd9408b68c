//! Floating-point numbers without a format: unpacked operands, and results before rounding.

import package::arm64::float::constants::{
    FPSR_IOC, KIND_FINITE, KIND_INFINITY, KIND_QUIET, KIND_ZERO, QUIET, TOP,
};
import package::wide::{leading_zeros};

/// A floating-point number, and the exceptions of its computation.
///
/// A finite number is 2^`exponent` times `significand`.`rest`, whose point is behind the top bit. That bit is set
/// unless a function documents otherwise, so each number has one form. If a result has nonzero bits below `rest`, they
/// set the lowest bit of `rest`: rounding needs no more.
///
/// Twin: `kvrm_arm64::semantics::float::number::Number`.
struct Number {
    /// The kind: `KIND_ZERO` to `KIND_SIGNALLING`.
    kind: u32,
    /// The sign, 1 for negative numbers.
    sign: u32,
    /// The exponent, a power of two.
    exponent: i32,
    /// The top 64 bits. For a NaN, its fraction, below the top bit.
    significand: u64,
    /// The 64 bits below `significand`.
    rest: u64,
    /// The exceptions, as bits of FPSR to set.
    fpsr: u32,
}

/// `FPZero()`.
///
/// Twin: `kvrm_arm64::semantics::float::number::fp_zero`.
fn fp_zero(sign: u32, fpsr: u32) -> Number {
    return Number(KIND_ZERO, sign, 0i, 0lu, 0lu, fpsr);
}

/// `FPInfinity()`.
///
/// Twin: `kvrm_arm64::semantics::float::number::fp_infinity`.
fn fp_infinity(sign: u32, fpsr: u32) -> Number {
    return Number(KIND_INFINITY, sign, 0i, 0lu, 0lu, fpsr);
}

/// Returns a finite number. The top bit of its significand is set.
///
/// Twin: `kvrm_arm64::semantics::float::number::fp_finite`.
fn fp_finite(sign: u32, exponent: i32, significand: u64, fpsr: u32) -> Number {
    return Number(KIND_FINITE, sign, exponent, significand, 0lu, fpsr);
}

/// `FPDefaultNaN()`.
///
/// Twin: `kvrm_arm64::semantics::float::number::fp_default_nan`.
fn fp_default_nan(fpsr: u32) -> Number {
    return Number(KIND_QUIET, 0u, 0i, TOP | QUIET, 0lu, fpsr);
}

/// Returns the result of an invalid operation: `FPDefaultNaN()`, with the exception Invalid Operation.
///
/// Twin: `kvrm_arm64::semantics::float::number::fp_invalid`.
fn fp_invalid(fpsr: u32) -> Number {
    return fp_default_nan(fpsr | FPSR_IOC);
}

/// Returns the number with other exceptions.
///
/// Twin: `kvrm_arm64::semantics::float::number::with_fpsr`.
fn with_fpsr(number: Number, fpsr: u32) -> Number {
    return Number(number.kind, number.sign, number.exponent, number.significand, number.rest, fpsr);
}

/// Whether a number is a NaN.
///
/// Twin: `kvrm_arm64::semantics::float::number::is_nan`.
fn is_nan(number: Number) -> bool {
    return number.kind >= KIND_QUIET;
}

/// Returns the same number in the form with the top bit set. The bits of the number are not all zero.
///
/// Twin: `kvrm_arm64::semantics::float::number::normalized`.
fn normalized(number: Number) -> Number {
    let is_small = number.significand == 0lu;
    let high = select(number.significand, number.rest, is_small);
    let low = select(number.rest, 0lu, is_small);
    let shift = leading_zeros(high) & 63u;
    let exponent = number.exponent - i32(shift) - select(0i, 64i, is_small);
    // Two shifts, because one shift by 64 would have no effect.
    let significand = (high << shift) | ((low >> 1u) >> (63u - shift));
    return Number(number.kind, number.sign, exponent, significand, low << shift, number.fpsr);
}

/// Returns the same number in the form with the exponent increased by `amount`, and as many zeros above its
/// significand. If the shift drops nonzero bits, they set the lowest bit.
///
/// Twin: `kvrm_arm64::semantics::float::number::denormalized`.
fn denormalized(number: Number, amount: u32) -> Number {
    let is_far = (amount & 64u) != 0u;
    let high = select(number.significand, 0lu, is_far);
    let low = select(number.rest, number.significand, is_far);
    let shift = amount & 63u;
    // Two shifts, because one shift by 64 would have no effect.
    let is_lost = ((low << 1u) << (63u - shift)) != 0lu || (is_far && number.rest != 0lu);
    let exponent = number.exponent + i32(amount);
    if amount >= 128u {
        let any = select(0lu, 1lu, (number.significand | number.rest) != 0lu);
        return Number(number.kind, number.sign, exponent, 0lu, any, number.fpsr);
    }
    let rest = (low >> shift) | ((high << 1u) << (63u - shift)) | select(0lu, 1lu, is_lost);
    return Number(number.kind, number.sign, exponent, high >> shift, rest, number.fpsr);
}

/// Whether `a` is nearer to zero than `b`. Neither is a NaN.
///
/// Twin: `kvrm_arm64::semantics::float::number::is_smaller`.
fn is_smaller(a: Number, b: Number) -> bool {
    if a.kind != b.kind || a.kind != KIND_FINITE {
        return a.kind < b.kind;
    }
    if a.exponent != b.exponent {
        return a.exponent < b.exponent;
    }
    if a.significand != b.significand {
        return a.significand < b.significand;
    }
    return a.rest < b.rest;
}
