//! The operations of [`fp_operation`] as functions with the names of the manual, on bit patterns.

use super::arithmetic::{
    FP_ADD, FP_CONVERT, FP_DIV, FP_MAX, FP_MAX_NUM, FP_MIN, FP_MIN_NUM, FP_MUL, FP_MUL_ADD, FP_MULX,
    FP_RECIP_ESTIMATE, FP_RECIP_STEP_FUSED, FP_RECPX, FP_ROUND_INT, FP_ROUND_INT_EXACT, FP_RSQRT_ESTIMATE,
    FP_RSQRT_STEP_FUSED, FP_SQRT, FP_SUB, fp_arithmetic, fp_operation,
};
use super::compare;
use super::control::{FPCR_AHP, FPCR_FZ16, FPSR_IOC, fp_rounding_mode};
use super::format::{Format, HALF, SINGLE, exponent_bias};
use super::integer;
use super::round::{FpResult, fp_round};
use super::unpack::fp_unpack;

/// Defines functions of one or two operands.
macro_rules! named { ($($(#[$doc:meta])* $name:ident($($operand:ident),*) = $operation:ident;)*) => { $(
    $(#[$doc])*
    #[must_use]
    #[inline]
    pub fn $name($($operand: u64,)* format: Format, fpcr: u32) -> FpResult {
        let operands = [$($operand),*];
        let last = operands[operands.len() - 1];
        fp_operation($operation, operands[0], last, last, format, format, fp_rounding_mode(fpcr), fpcr)
    }
)* } }
named! {
    /// `FPAdd()`.
    fp_add(x, y) = FP_ADD;
    /// `FPSub()`.
    fp_sub(x, y) = FP_SUB;
    /// `FPMul()`.
    fp_mul(x, y) = FP_MUL;
    /// `FPMulX()`: infinity times zero is two.
    fp_mulx(x, y) = FP_MULX;
    /// `FPRecipStepFused()`: two minus the product.
    fp_recip_step_fused(x, y) = FP_RECIP_STEP_FUSED;
    /// `FPRSqrtStepFused()`: three minus the product, divided by two.
    fp_rsqrt_step_fused(x, y) = FP_RSQRT_STEP_FUSED;
    /// `FPDiv()`.
    fp_div(x, y) = FP_DIV;
    /// `FPMax()`.
    fp_max(x, y) = FP_MAX;
    /// `FPMin()`.
    fp_min(x, y) = FP_MIN;
    /// `FPMaxNum()`: of a number and a quiet NaN, the number.
    fp_max_num(x, y) = FP_MAX_NUM;
    /// `FPMinNum()`: of a number and a quiet NaN, the number.
    fp_min_num(x, y) = FP_MIN_NUM;
    /// `FPSqrt()`.
    fp_sqrt(x) = FP_SQRT;
    /// `FPRecipEstimate()`.
    fp_recip_estimate(x) = FP_RECIP_ESTIMATE;
    /// `FPRSqrtEstimate()`.
    fp_rsqrt_estimate(x) = FP_RSQRT_ESTIMATE;
    /// `FPRecpX()`.
    fp_recpx(x) = FP_RECPX;
}

/// `FPMulAdd()`: adds `addend` to the product of `x` and `y`.
#[must_use]
#[inline]
pub fn fp_mul_add(addend: u64, x: u64, y: u64, format: Format, fpcr: u32) -> FpResult {
    fp_operation(FP_MUL_ADD, addend, x, y, format, format, fp_rounding_mode(fpcr), fpcr)
}

/// `FPMulAddH()`: adds `addend`, in single precision, to the product of `x` and `y`, in half precision.
#[must_use]
#[inline]
pub fn fp_mul_add_h(addend: u64, x: u64, y: u64, fpcr: u32) -> FpResult {
    let [x, y] = [x, y].map(|bits| fp_unpack(bits, HALF, fpcr));
    let rounding = fp_rounding_mode(fpcr);
    let addend = fp_unpack(addend, SINGLE, fpcr);
    fp_round(fp_arithmetic(FP_MUL_ADD, addend, x, y, SINGLE, rounding, fpcr), SINGLE, rounding, fpcr)
}

/// `FPRoundIntN()`: rounds to an integer of `intsize` bits. Where there is none, the result is the least such integer, and
/// the operation is invalid.
#[must_use]
#[inline]
pub fn fp_round_int_n(x: u64, format: Format, rounding: u32, intsize: u32, fpcr: u32) -> FpResult {
    let result = fp_round_int(x, format, rounding, true, fpcr);
    let Format { fraction_bits, exponent_bits, .. } = format;
    let magnitude = result.value & ((1 << (fraction_bits + exponent_bits)) - 1);
    let sign = result.value >> (fraction_bits + exponent_bits);
    // The magnitude of the least integer.
    let limit = u64::from(exponent_bias(format) as u32 + intsize - 1) << fraction_bits;
    if magnitude < limit || magnitude == limit && sign == 1 {
        return result;
    }
    FpResult { value: 1 << (fraction_bits + exponent_bits) | limit, fpsr: FPSR_IOC }
}

/// `FPRoundInt()`. If `exact` is set and the number is not an integer, it raises Inexact.
#[must_use]
#[inline]
pub fn fp_round_int(x: u64, format: Format, rounding: u32, exact: bool, fpcr: u32) -> FpResult {
    let operation = if exact { FP_ROUND_INT_EXACT } else { FP_ROUND_INT };
    fp_operation(operation, x, x, x, format, format, rounding, fpcr)
}

/// `FPConvert()`: converts between formats. Half precision is the alternative one if FPCR.AHP is set, and it is never
/// flushed.
#[must_use]
#[inline]
pub fn fp_convert(x: u64, from: Format, to: Format, rounding: u32, fpcr: u32) -> FpResult {
    let is_alternative = |format| format == HALF && fpcr & FPCR_AHP != 0;
    let from = Format { alternative: is_alternative(from), ..from };
    let to = Format { alternative: is_alternative(to), ..to };
    let fpcr = fpcr & !FPCR_FZ16;
    fp_operation(FP_CONVERT, x, x, x, from, to, rounding, fpcr)
}

/// `FPCompare()`: returns N, Z, C and V as 8, 4, 2 and 1.
#[must_use]
#[inline]
pub const fn fp_compare(x: u64, y: u64, signal_nans: bool, format: Format, fpcr: u32) -> FpResult {
    compare::fp_compare(fp_unpack(x, format, fpcr), fp_unpack(y, format, fpcr), signal_nans)
}

/// A format of fixed-point numbers or integers.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    /// The number of fraction bits; 0 for integers.
    pub fbits: u32,
    /// The number of bits.
    pub intsize: u32,
    /// Whether the numbers are unsigned.
    pub unsigned: bool,
}

/// `FPToFixed()`: converts a number times 2^`fbits` to an integer.
#[must_use]
#[inline]
pub const fn fp_to_fixed(x: u64, to: Fixed, rounding: u32, format: Format, fpcr: u32) -> FpResult {
    let Fixed { fbits, intsize, unsigned } = to;
    integer::fp_to_fixed(fp_unpack(x, format, fpcr), fbits, intsize, unsigned, rounding)
}

/// `FixedToFP()`: returns an integer divided by 2^`fbits`.
#[must_use]
#[inline]
pub const fn fixed_to_fp(integer: u64, from: Fixed, format: Format, fpcr: u32) -> FpResult {
    let Fixed { fbits, intsize, unsigned } = from;
    let number = integer::fixed_to_fp(integer, fbits, intsize, unsigned);
    fp_round(number, format, fp_rounding_mode(fpcr), fpcr)
}
