//! Comparison, maximum and minimum.

use super::control::FPSR_IOC;
use super::number::{
    KIND_QUIET, KIND_SIGNALLING, KIND_ZERO, Number, fp_infinity, fp_zero, is_nan, is_smaller, with_fpsr,
};
use super::round::FpResult;

/// `FPCompare()`: returns N, Z, C and V as 8, 4, 2 and 1. A quiet NaN is an invalid operation if `signal_nans` is set.
///
/// `FPCompareEQ()` is the condition EQ of these flags; `FPCompareGE()` and `FPCompareGT()` are GE and GT with
/// `signal_nans` set.
#[must_use]
#[inline]
pub const fn fp_compare(a: Number, b: Number, signal_nans: bool) -> FpResult {
    let fpsr = a.fpsr | b.fpsr;
    if is_nan(a) || is_nan(b) {
        let is_invalid = signal_nans || a.kind == KIND_SIGNALLING || b.kind == KIND_SIGNALLING;
        return FpResult { value: 0b0011, fpsr: fpsr | if is_invalid { FPSR_IOC } else { 0 } };
    }
    if is_less(a, b) {
        return FpResult { value: 0b1000, fpsr };
    }
    FpResult { value: if is_less(b, a) { 0b0010 } else { 0b0110 }, fpsr }
}

/// Whether a number is less than another. Neither is a NaN; zeros of both signs are equal.
#[must_use]
#[inline]
pub const fn is_less(a: Number, b: Number) -> bool {
    if a.sign != b.sign {
        return a.sign == 1 && !(a.kind == KIND_ZERO && b.kind == KIND_ZERO);
    }
    if a.sign == 1 { is_smaller(b, a) } else { is_smaller(a, b) }
}

/// `FPMax()` or, if `minimum` is set, `FPMin()`. The operands are not NaNs. Minus zero is less than plus zero.
#[must_use]
#[inline]
pub const fn fp_extremum(a: Number, b: Number, minimum: bool) -> Number {
    let fpsr = a.fpsr | b.fpsr;
    let chosen = if is_less(a, b) == minimum { a } else { b };
    if chosen.kind == KIND_ZERO {
        return fp_zero(if minimum { a.sign | b.sign } else { a.sign & b.sign }, fpsr);
    }
    with_fpsr(chosen, fpsr)
}

/// Returns the operand that `FPMaxNum()` and `FPMinNum()` use instead of `a`. If `a` is a quiet NaN and `b` is not,
/// that is the infinity that loses against every `b`.
#[must_use]
#[inline(always)]
pub const fn quiet_as_infinity(a: Number, b: Number, minimum: bool) -> Number {
    if a.kind == KIND_QUIET && b.kind != KIND_QUIET { fp_infinity(!minimum as u32, a.fpsr) } else { a }
}
