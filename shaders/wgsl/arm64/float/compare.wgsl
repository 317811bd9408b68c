//! Comparison, maximum and minimum of floating-point numbers.

import package::arm64::float::constants::{FPSR_IOC, KIND_QUIET, KIND_SIGNALLING, KIND_ZERO};
import package::arm64::float::number::{Number, fp_infinity, fp_zero, is_nan, is_smaller, with_fpsr};
import package::arm64::float::round::{FpResult};

/// `FPCompare()`: returns N, Z, C and V as 8, 4, 2 and 1. A quiet NaN is an invalid operation if `signal_nans` is set.
///
/// `FPCompareEQ()` is the condition EQ of the result. `FPCompareGE()` and `FPCompareGT()` are GE and GT of the result
/// with `signal_nans`.
///
/// Twin: `kvrm_arm64::semantics::float::compare::fp_compare`.
fn fp_compare(a: Number, b: Number, signal_nans: bool) -> FpResult {
    let fpsr = a.fpsr | b.fpsr;
    if is_nan(a) || is_nan(b) {
        let is_invalid = signal_nans || a.kind == KIND_SIGNALLING || b.kind == KIND_SIGNALLING;
        return FpResult(3lu, fpsr | select(0u, FPSR_IOC, is_invalid));
    }
    if is_less(a, b) {
        return FpResult(8lu, fpsr);
    }
    return FpResult(select(6lu, 2lu, is_less(b, a)), fpsr);
}

/// Whether `a` is less than `b`. Neither is a NaN. Zeros of both signs are equal.
///
/// Twin: `kvrm_arm64::semantics::float::compare::is_less`.
fn is_less(a: Number, b: Number) -> bool {
    if a.sign != b.sign {
        return a.sign == 1u && !(a.kind == KIND_ZERO && b.kind == KIND_ZERO);
    }
    if a.sign == 1u {
        return is_smaller(b, a);
    }
    return is_smaller(a, b);
}

/// `FPMax()` or, if `minimum` is set, `FPMin()` of numbers that are not NaNs. Minus zero is less than plus zero.
///
/// Twin: `kvrm_arm64::semantics::float::compare::fp_extremum`.
fn fp_extremum(a: Number, b: Number, minimum: bool) -> Number {
    let fpsr = a.fpsr | b.fpsr;
    var chosen = b;
    if is_less(a, b) == minimum {
        chosen = a;
    }
    if chosen.kind == KIND_ZERO {
        return fp_zero(select(a.sign & b.sign, a.sign | b.sign, minimum), fpsr);
    }
    return with_fpsr(chosen, fpsr);
}

/// Returns the operand that `FPMaxNum()` and `FPMinNum()` use in the place of `a`. If `a` is a quiet NaN and `b` is
/// not, that is the infinity that loses against every number.
///
/// Twin: `kvrm_arm64::semantics::float::compare::quiet_as_infinity`.
fn quiet_as_infinity(a: Number, b: Number, minimum: bool) -> Number {
    if a.kind == KIND_QUIET && b.kind != KIND_QUIET {
        return fp_infinity(u32(!minimum), a.fpsr);
    }
    return a;
}
