//! The conversion of numbers to bit patterns, which is the only place that rounds results.

import package::arm64::float::constants::{
    FPSR_IOC, FPSR_IXC, FPSR_OFC, FPSR_UFC, KIND_INFINITY, KIND_ZERO, TOP,
};
import package::arm64::float::constants::{
    ROUND_NEGATIVE, ROUND_ODD, ROUND_ODD_INFINITY, ROUND_POSITIVE, ROUND_TIE_AWAY, ROUND_TIE_EVEN,
};
import package::arm64::float::format::{Format, exponent_bias, exponent_ones};
import package::arm64::float::number::{Number, denormalized, is_nan};
import package::arm64::float::unpack::{is_flushed};

/// A result, and the exceptions of its computation.
///
/// Twin: `kvrm_arm64::semantics::float::round::FpResult`.
struct FpResult {
    /// The bit pattern.
    value: u64,
    /// The exceptions, as bits of FPSR to set.
    fpsr: u32,
}

/// `FPRound()`: returns a number as a bit pattern, rounded if necessary.
///
/// Twin: `kvrm_arm64::semantics::float::round::fp_round`.
fn fp_round(number: Number, format: Format, rounding: u32, fpcr: u32) -> FpResult {
    let sign = u64(number.sign) << (format.fraction_bits + format.exponent_bits);
    let fpsr = number.fpsr;
    if number.kind == KIND_ZERO || (format.alternative && is_nan(number)) {
        return FpResult(sign, fpsr | select(0u, FPSR_IOC, is_nan(number)));
    }
    // The first pattern above those of finite numbers.
    let end = u64(exponent_ones(format) + u32(format.alternative)) << format.fraction_bits;
    let discarded = 63u - format.fraction_bits;
    if is_nan(number) {
        return FpResult(sign | end | ((number.significand & ~TOP) >> discarded), fpsr);
    }
    if number.kind == KIND_INFINITY && !format.alternative {
        return FpResult(sign | end, fpsr);
    }

    let bias = exponent_bias(format);
    let is_tiny = number.exponent < 1i - bias;
    if is_tiny && is_flushed(format, fpcr) {
        return FpResult(sign, fpsr | FPSR_UFC);
    }
    let exact = denormalized(number, select(0u, u32(1i - bias - number.exponent), is_tiny));
    let significand = exact.significand | select(0lu, 1lu, exact.rest != 0lu);
    let kept = significand >> discarded;
    let error = significand << (64u - discarded);
    let increment = select(0lu, 1lu, is_rounded_up(rounding, number.sign, kept, error));
    // The top bit of a normal number's significand is added to the exponent field, and so is a carry out of the
    // fraction.
    let field = select(min(number.exponent + bias - 1i, i32(exponent_ones(format))), 0i, is_tiny);
    let packed = (u64(u32(field)) << format.fraction_bits) + kept + increment;

    if packed >= end || number.kind == KIND_INFINITY {
        if format.alternative {
            return FpResult(sign | (end - 1lu), fpsr | FPSR_IOC);
        }
        // The number lies between the largest number, whose significand is odd, and infinity.
        let becomes_infinity = rounding == ROUND_ODD_INFINITY || is_rounded_up(rounding, number.sign, 1lu, TOP);
        return FpResult(sign | (end - select(1lu, 0lu, becomes_infinity)), fpsr | FPSR_OFC | FPSR_IXC);
    }
    if error == 0lu {
        return FpResult(sign | packed, fpsr);
    }
    return FpResult(sign | packed, fpsr | select(0u, FPSR_UFC, is_tiny) | FPSR_IXC);
}

/// Whether the magnitude `kept` + `error` / 2^64 is rounded up to `kept` + 1.
///
/// Twin: `kvrm_arm64::semantics::float::round::is_rounded_up`.
fn is_rounded_up(rounding: u32, sign: u32, kept: u64, error: u64) -> bool {
    switch rounding {
        case ROUND_TIE_EVEN: { return error > TOP || (error == TOP && (kept & 1lu) == 1lu); }
        case ROUND_POSITIVE: { return error != 0lu && sign == 0u; }
        case ROUND_NEGATIVE: { return error != 0lu && sign == 1u; }
        case ROUND_TIE_AWAY: { return error >= TOP; }
        case ROUND_ODD, ROUND_ODD_INFINITY: { return error != 0lu && (kept & 1lu) == 0lu; }
        default: { return false; }
    }
}
