//! Rounding: numbers to bit patterns. Results are rounded only here.

use super::control::{
    FPSR_IOC, FPSR_IXC, FPSR_OFC, FPSR_UFC, ROUND_NEGATIVE, ROUND_ODD, ROUND_ODD_INFINITY, ROUND_POSITIVE,
    ROUND_TIE_AWAY, ROUND_TIE_EVEN,
};
use super::format::{Format, exponent_bias, exponent_ones};
use super::number::{KIND_INFINITY, KIND_ZERO, Number, TOP, denormalized, is_nan};
use super::unpack::is_flushed;

/// A result, and the exceptions raised to compute it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FpResult {
    /// The bit pattern.
    pub value: u64,
    /// The bits of FPSR that become set.
    pub fpsr: u32,
}

/// `FPRound()`: rounds a number to a format and packs it. It also packs zeros, infinities and NaNs.
#[must_use]
#[inline]
pub const fn fp_round(number: Number, format: Format, rounding: u32, fpcr: u32) -> FpResult {
    let sign = (number.sign as u64) << (format.fraction_bits + format.exponent_bits);
    let fpsr = number.fpsr;
    if number.kind == KIND_ZERO || format.alternative && is_nan(number) {
        let invalid = if is_nan(number) { FPSR_IOC } else { 0 };
        return FpResult { value: sign, fpsr: fpsr | invalid };
    }
    // The first bit pattern above those of finite numbers.
    let end = (exponent_ones(format) as u64 + format.alternative as u64) << format.fraction_bits;
    let discarded = 63 - format.fraction_bits;
    if is_nan(number) {
        return FpResult { value: sign | end | (number.significand & !TOP) >> discarded, fpsr };
    }
    if number.kind == KIND_INFINITY && !format.alternative {
        return FpResult { value: sign | end, fpsr };
    }

    let bias = exponent_bias(format);
    let is_tiny = number.exponent < 1 - bias;
    if is_tiny && is_flushed(format, fpcr) {
        return FpResult { value: sign, fpsr: fpsr | FPSR_UFC };
    }
    let exact = if is_tiny { denormalized(number, (1 - bias - number.exponent) as u32) } else { number };
    let significand = exact.significand | (exact.rest != 0) as u64;
    let kept = significand >> discarded;
    let error = significand << (64 - discarded);
    let increment = is_rounded_up(rounding, number.sign, kept, error) as u64;
    // The exponent field is one too small, because the top bit of a normal significand adds one to it when packed. A
    // carry from rounding adds one, too.
    let ones = exponent_ones(format) as i32;
    let field = if is_tiny { 0 } else { number.exponent + bias - 1 };
    let field = if field < ones { field } else { ones };
    let packed = ((field as u64) << format.fraction_bits) + kept + increment;

    if packed >= end || number.kind == KIND_INFINITY {
        if format.alternative {
            return FpResult { value: sign | (end - 1), fpsr: fpsr | FPSR_IOC };
        }
        // Overflow: rounds to infinity or to the largest finite number, whose significand is odd.
        let becomes_infinity = rounding == ROUND_ODD_INFINITY || is_rounded_up(rounding, number.sign, 1, TOP);
        return FpResult { value: sign | (end - !becomes_infinity as u64), fpsr: fpsr | FPSR_OFC | FPSR_IXC };
    }
    if error == 0 {
        return FpResult { value: sign | packed, fpsr };
    }
    let underflow = if is_tiny { FPSR_UFC } else { 0 };
    FpResult { value: sign | packed, fpsr: fpsr | underflow | FPSR_IXC }
}

/// Whether the magnitude `kept` + `error` / 2^64 is rounded away from zero, to `kept` + 1.
#[must_use]
#[inline(always)]
pub const fn is_rounded_up(rounding: u32, sign: u32, kept: u64, error: u64) -> bool {
    match rounding {
        ROUND_TIE_EVEN => error > TOP || error == TOP && kept & 1 == 1,
        ROUND_POSITIVE => error != 0 && sign == 0,
        ROUND_NEGATIVE => error != 0 && sign == 1,
        ROUND_TIE_AWAY => error >= TOP,
        ROUND_ODD | ROUND_ODD_INFINITY => error != 0 && kept & 1 == 0,
        _ => false,
    }
}
