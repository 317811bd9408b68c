//! All operations whose result is a floating-point number, in one function.
//!
//! Drivers inline every call, so operations share code where they can: one place processes NaNs, and one multiplication
//! and one addition make up sums, products, fused multiply-add, and the steps of Newton's iteration.

import package::arm64::float::add::{add_numbers};
import package::arm64::float::compare::{fp_extremum, quiet_as_infinity};
import package::arm64::float::constants::{FP_ADD, FP_CONVERT, FP_DIV, FP_MAX, FP_MAX_NUM, FP_MIN, FP_MIN_NUM};
import package::arm64::float::constants::{
    FP_MUL, FP_MULX, FP_MUL_ADD, FP_RECIP_ESTIMATE, FP_RECIP_STEP_FUSED,
};
import package::arm64::float::constants::{FP_RECPX, FP_ROUND_INT, FP_ROUND_INT_EXACT, FP_RSQRT_ESTIMATE};
import package::arm64::float::constants::{FP_RSQRT_STEP_FUSED, FP_SQRT, FP_SUB, KIND_QUIET, QUIET, TOP};
import package::arm64::float::divide::{divide_numbers};
import package::arm64::float::estimate::{fp_recip_estimate, fp_recpx, fp_rsqrt_estimate};
import package::arm64::float::format::{Format};
import package::arm64::float::integer::{fp_round_int};
import package::arm64::float::multiply::{is_zero_times_infinity, multiply_numbers};
import package::arm64::float::nan::{fp_process_nans3};
import package::arm64::float::number::{Number, fp_finite, fp_invalid, fp_zero, is_nan};
import package::arm64::float::square_root::{square_root};

/// Returns the result of an operation on numbers, before it is rounded to the format `to`.
///
/// Twin: `kvrm_arm64::semantics::float::arithmetic::fp_arithmetic`.
fn fp_arithmetic(
    operation: u32, x: Number, y: Number, z: Number, to: Format, rounding: u32, fpcr: u32,
) -> Number {
    var a = x;
    var b = x;
    if operation < FP_SQRT {
        b = y;
    }
    switch operation {
        // These operations begin with `FPNeg()`, which also changes the sign of a NaN.
        case FP_RECIP_STEP_FUSED, FP_RSQRT_STEP_FUSED: { a.sign ^= 1u; }
        case FP_MAX_NUM, FP_MIN_NUM: {
            a = quiet_as_infinity(x, y, operation == FP_MIN_NUM);
            b = quiet_as_infinity(y, x, operation == FP_MIN_NUM);
        }
        default: {}
    }
    var c = a;
    if operation == FP_MUL_ADD {
        c = z;
    }
    let nan = fp_process_nans3(a, b, c, fpcr);
    if is_nan(nan) {
        if operation == FP_CONVERT && to.alternative {
            // The alternative half precision has no NaNs: the result is a zero of the same sign, whatever FPCR.DN is.
            return a;
        }
        if operation == FP_MUL_ADD && a.kind == KIND_QUIET && is_zero_times_infinity(b, c) {
            return fp_invalid(nan.fpsr);
        }
        return nan;
    }
    switch operation {
        case FP_DIV: { return divide_numbers(a, b); }
        case FP_MAX, FP_MAX_NUM, FP_MIN, FP_MIN_NUM: {
            return fp_extremum(a, b, operation == FP_MIN || operation == FP_MIN_NUM);
        }
        case FP_SQRT: { return square_root(a); }
        case FP_RECIP_ESTIMATE: { return fp_recip_estimate(a); }
        case FP_RSQRT_ESTIMATE: { return fp_rsqrt_estimate(a); }
        case FP_RECPX: { return fp_recpx(a, to); }
        case FP_ROUND_INT, FP_ROUND_INT_EXACT: {
            return fp_round_int(a, rounding, operation == FP_ROUND_INT_EXACT);
        }
        case FP_CONVERT: { return a; }
        default: { return add_product(operation, a, b, c, rounding); }
    }
}

/// Returns the result of an operation that is a product, a sum, or both. No operand is a NaN.
///
/// Twin: `kvrm_arm64::semantics::float::arithmetic::add_product`.
fn add_product(operation: u32, a: Number, b: Number, c: Number, rounding: u32) -> Number {
    // The result is `addend + x * y`. Sums have the factor one, and differences the factor minus one.
    var addend = a;
    var x = a;
    var y = b;
    switch operation {
        case FP_ADD, FP_SUB: {
            x = b;
            y = fp_finite(u32(operation == FP_SUB), 0i, TOP, 0u);
        }
        case FP_MUL_ADD: {
            x = b;
            y = c;
        }
        case FP_RECIP_STEP_FUSED: { addend = fp_finite(0u, 1i, TOP, 0u); }
        case FP_RSQRT_STEP_FUSED: { addend = fp_finite(0u, 1i, TOP | QUIET, 0u); }
        default: {}
    }
    var product = multiply_numbers(x, y);
    if is_zero_times_infinity(x, y) {
        let fpsr = x.fpsr | y.fpsr;
        switch operation {
            case FP_MULX: { product = fp_finite(x.sign ^ y.sign, 1i, TOP, fpsr); }
            case FP_RECIP_STEP_FUSED, FP_RSQRT_STEP_FUSED: { product = fp_zero(0u, fpsr); }
            default: {}
        }
    }
    if operation == FP_MUL || operation == FP_MULX {
        return product;
    }
    var sum = add_numbers(addend, product, rounding);
    if operation == FP_RSQRT_STEP_FUSED {
        sum.exponent -= 1i;
    }
    return sum;
}
