//! All operations whose result is a floating-point number, as one function.
//!
//! Drivers inline each call in a shader, so operations share as much code as possible. NaNs are processed in one place.
//! One multiplication followed by one addition computes sums, products, fused operations, and the steps of Newton's
//! iteration.

use super::add::add_numbers;
use super::compare::{fp_extremum, quiet_as_infinity};
use super::divide::divide_numbers;
use super::estimate::{fp_recip_estimate, fp_recpx, fp_rsqrt_estimate};
use super::format::Format;
use super::integer::fp_round_int;
use super::multiply::{is_zero_times_infinity, multiply_numbers};
use super::nan::fp_process_nans3;
use super::number::{KIND_QUIET, Number, QUIET, TOP, fp_finite, fp_invalid, fp_zero, is_nan};
use super::round::{FpResult, fp_round};
use super::square_root::square_root;
use super::unpack::fp_unpack;

/// `FPAdd()`.
pub const FP_ADD: u32 = 0;
/// `FPSub()`.
pub const FP_SUB: u32 = 1;
/// `FPMul()`.
pub const FP_MUL: u32 = 2;
/// `FPMulX()`: infinity times zero is two.
pub const FP_MULX: u32 = 3;
/// `FPMulAdd()`: the first operand is added to the product of the others.
pub const FP_MUL_ADD: u32 = 4;
/// `FPRecipStepFused()`: two minus the product.
pub const FP_RECIP_STEP_FUSED: u32 = 5;
/// `FPRSqrtStepFused()`: three minus the product, divided by two.
pub const FP_RSQRT_STEP_FUSED: u32 = 6;
/// `FPDiv()`.
pub const FP_DIV: u32 = 7;
/// `FPMax()`.
pub const FP_MAX: u32 = 8;
/// `FPMin()`.
pub const FP_MIN: u32 = 9;
/// `FPMaxNum()`: of a number and a quiet NaN, the number.
pub const FP_MAX_NUM: u32 = 10;
/// `FPMinNum()`: of a number and a quiet NaN, the number.
pub const FP_MIN_NUM: u32 = 11;
/// `FPSqrt()`. This operation and all that follow have one operand.
pub const FP_SQRT: u32 = 12;
/// `FPRecipEstimate()`.
pub const FP_RECIP_ESTIMATE: u32 = 13;
/// `FPRSqrtEstimate()`.
pub const FP_RSQRT_ESTIMATE: u32 = 14;
/// `FPRecpX()`.
pub const FP_RECPX: u32 = 15;
/// `FPRoundInt()` with `exact` clear: it never raises Inexact.
pub const FP_ROUND_INT: u32 = 16;
/// `FPRoundInt()` with `exact` set: it raises Inexact if the operand is not an integer.
pub const FP_ROUND_INT_EXACT: u32 = 17;
/// `FPConvert()`.
pub const FP_CONVERT: u32 = 18;

/// Applies an operation to bit patterns of the format `source`. Returns a bit pattern of the format `to`, which differs
/// from `source` only for [`FP_CONVERT`].
///
/// `rounding` is the mode of FPCR or of the instruction. Operands that an operation does not have are ignored.
///
/// ```
/// use kvrm_arm64::semantics::float::arithmetic::{FP_ADD, fp_operation};
/// use kvrm_arm64::semantics::float::control::ROUND_TIE_EVEN;
/// use kvrm_arm64::semantics::float::format::DOUBLE;
///
/// let [x, y] = [1.5f64, 2.25].map(f64::to_bits);
/// let sum = fp_operation(FP_ADD, x, y, 0, DOUBLE, DOUBLE, ROUND_TIE_EVEN, 0);
/// assert_eq!((f64::from_bits(sum.value), sum.fpsr), (3.75, 0));
/// ```
#[must_use]
#[inline]
#[expect(clippy::too_many_arguments, reason = "the twin in shaders has the same parameters")]
pub fn fp_operation(
    operation: u32,
    x: u64,
    y: u64,
    z: u64,
    source: Format,
    to: Format,
    rounding: u32,
    fpcr: u32,
) -> FpResult {
    let a = fp_unpack(x, source, fpcr);
    let b = fp_unpack(y, source, fpcr);
    let c = fp_unpack(z, source, fpcr);
    let number = fp_arithmetic(operation, a, b, c, to, rounding, fpcr);
    fp_round(number, to, rounding, fpcr)
}

/// Applies an operation to numbers. The result is not yet rounded to the format `to`.
#[must_use]
#[inline]
#[expect(clippy::too_many_arguments, reason = "the twin in shaders has the same parameters")]
pub fn fp_arithmetic(
    operation: u32,
    x: Number,
    y: Number,
    z: Number,
    to: Format,
    rounding: u32,
    fpcr: u32,
) -> Number {
    let mut a = x;
    let mut b = if operation < FP_SQRT { y } else { x };
    match operation {
        // The manual's functions begin with `FPNeg()`, which also changes the sign of a NaN.
        FP_RECIP_STEP_FUSED | FP_RSQRT_STEP_FUSED => a.sign ^= 1,
        FP_MAX_NUM | FP_MIN_NUM => {
            a = quiet_as_infinity(x, y, operation == FP_MIN_NUM);
            b = quiet_as_infinity(y, x, operation == FP_MIN_NUM);
        }
        _ => {}
    }
    let c = if operation == FP_MUL_ADD { z } else { a };
    let nan = fp_process_nans3(a, b, c, fpcr);
    if is_nan(nan) {
        if operation == FP_CONVERT && to.alternative {
            // The alternative half precision has no NaNs: `fp_round` makes it a zero of the same sign, whatever FPCR.DN
            // is.
            return a;
        }
        if operation == FP_MUL_ADD && a.kind == KIND_QUIET && is_zero_times_infinity(b, c) {
            return fp_invalid(nan.fpsr);
        }
        return nan;
    }
    match operation {
        FP_DIV => divide_numbers(a, b),
        FP_MAX | FP_MAX_NUM | FP_MIN | FP_MIN_NUM => {
            fp_extremum(a, b, operation == FP_MIN || operation == FP_MIN_NUM)
        }
        FP_SQRT => square_root(a),
        FP_RECIP_ESTIMATE => fp_recip_estimate(a),
        FP_RSQRT_ESTIMATE => fp_rsqrt_estimate(a),
        FP_RECPX => fp_recpx(a, to),
        FP_ROUND_INT | FP_ROUND_INT_EXACT => fp_round_int(a, rounding, operation == FP_ROUND_INT_EXACT),
        FP_CONVERT => a,
        _ => add_product(operation, a, b, c, rounding),
    }
}

/// Applies an operation that consists of a product, a sum, or both. No operand is a NaN.
#[must_use]
#[inline]
pub fn add_product(operation: u32, a: Number, b: Number, c: Number, rounding: u32) -> Number {
    // The addend and the two factors. If an operation has no product, its second operand is multiplied by 1 or -1.
    let (addend, x, y) = match operation {
        FP_ADD => (a, b, fp_finite(0, 0, TOP, 0)),
        FP_SUB => (a, b, fp_finite(1, 0, TOP, 0)),
        FP_MUL_ADD => (a, b, c),
        FP_RECIP_STEP_FUSED => (fp_finite(0, 1, TOP, 0), a, b),
        FP_RSQRT_STEP_FUSED => (fp_finite(0, 1, TOP | QUIET, 0), a, b),
        _ => (a, a, b),
    };
    let mut product = multiply_numbers(x, y);
    if is_zero_times_infinity(x, y) {
        let fpsr = x.fpsr | y.fpsr;
        match operation {
            FP_MULX => product = fp_finite(x.sign ^ y.sign, 1, TOP, fpsr),
            FP_RECIP_STEP_FUSED | FP_RSQRT_STEP_FUSED => product = fp_zero(0, fpsr),
            _ => {}
        }
    }
    if operation == FP_MUL || operation == FP_MULX {
        return product;
    }
    let mut sum = add_numbers(addend, product, rounding);
    if operation == FP_RSQRT_STEP_FUSED {
        sum.exponent -= 1;
    }
    sum
}
