//! Conversions between floating-point numbers and integers.

import package::arm64::bitmask::{ones};
import package::arm64::float::constants::{FPSR_IOC, FPSR_IXC, KIND_FINITE, KIND_INFINITY, KIND_ZERO};
import package::arm64::float::number::{Number, denormalized, fp_zero, is_nan, normalized};
import package::arm64::float::round::{FpResult, is_rounded_up};
import package::arm64::numbers::{sign_extend};

/// The exponent at which a significand is an integer.
const INTEGER = 63i;

/// Rounds a finite number below 2^64 to an integer, which is the significand of the result. `rest` of the result is the
/// fraction that decided the rounding.
///
/// Twin: `kvrm_arm64::semantics::float::integer::nearest_integer`.
fn nearest_integer(a: Number, rounding: u32) -> Number {
    var parts = denormalized(a, u32(INTEGER - a.exponent));
    let is_up = is_rounded_up(rounding, a.sign, parts.significand, parts.rest);
    parts.significand += select(0lu, 1lu, is_up);
    return parts;
}

/// `FPRoundInt()` of a number that is not a NaN. `exact` requests the exception Inexact if the number was not an
/// integer.
///
/// Twin: `kvrm_arm64::semantics::float::integer::fp_round_int`.
fn fp_round_int(a: Number, rounding: u32, exact: bool) -> Number {
    if a.kind != KIND_FINITE || a.exponent >= INTEGER {
        return a;
    }
    var integer = nearest_integer(a, rounding);
    integer.fpsr = a.fpsr | select(0u, FPSR_IXC, exact && integer.rest != 0lu);
    if integer.significand == 0lu {
        return fp_zero(a.sign, integer.fpsr);
    }
    integer.rest = 0lu;
    return normalized(integer);
}

/// `FPToFixed()`: returns a number times 2^`fbits` as an integer of `intsize` bits, 16 to 64, saturated.
///
/// Twin: `kvrm_arm64::semantics::float::integer::fp_to_fixed`.
fn fp_to_fixed(a: Number, fbits: u32, intsize: u32, unsigned: bool, rounding: u32) -> FpResult {
    if is_nan(a) {
        return FpResult(0lu, a.fpsr | FPSR_IOC);
    }
    if a.kind == KIND_ZERO {
        return FpResult(0lu, a.fpsr);
    }
    let is_negative = a.sign == 1u;
    // The largest magnitude with this sign.
    let positive = ones(intsize) >> u32(!unsigned);
    let negative = select(positive + 1lu, 0lu, unsigned);
    let limit = select(positive, negative, is_negative);

    let exponent = a.exponent + i32(fbits);
    let is_far = a.kind == KIND_INFINITY || exponent > INTEGER;
    var scaled = a;
    scaled.exponent = select(exponent, INTEGER, is_far);
    let integer = nearest_integer(scaled, rounding);
    let is_saturated = is_far || integer.significand > limit;
    let magnitude = select(integer.significand, limit, is_saturated);
    let exception = select(select(0u, FPSR_IXC, integer.rest != 0lu), FPSR_IOC, is_saturated);
    let value = select(magnitude, 0lu - magnitude, is_negative);
    return FpResult(value & ones(intsize), a.fpsr | exception);
}

/// `FixedToFP()` before rounding: returns an integer of `intsize` bits, 16 to 64, divided by 2^`fbits`.
///
/// Twin: `kvrm_arm64::semantics::float::integer::fixed_to_fp`.
fn fixed_to_fp(integer: u64, fbits: u32, intsize: u32, unsigned: bool) -> Number {
    let extended = select(sign_extend(integer, intsize), integer & ones(intsize), unsigned);
    if extended == 0lu {
        return fp_zero(0u, 0u);
    }
    let is_negative = !unsigned && (extended >> 63u) == 1lu;
    let magnitude = select(extended, 0lu - extended, is_negative);
    return normalized(Number(KIND_FINITE, u32(is_negative), INTEGER - i32(fbits), magnitude, 0lu, 0u));
}
