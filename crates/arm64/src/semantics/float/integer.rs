//! Conversions between floating-point numbers and integers.

use super::control::{FPSR_IOC, FPSR_IXC};
use super::number::{
    KIND_FINITE, KIND_INFINITY, KIND_ZERO, Number, denormalized, fp_zero, is_nan, normalized,
};
use super::round::{FpResult, is_rounded_up};
use crate::semantics::bitmask::ones;
use crate::semantics::sign_extend;

/// The exponent of a number whose significand is its value.
const INTEGER: i32 = 63;

/// Rounds a finite number below 2^64 to an integer. The `significand` of the result is the integer; its `rest` is the
/// fraction before rounding.
#[must_use]
#[inline]
pub const fn nearest_integer(a: Number, rounding: u32) -> Number {
    let parts = denormalized(a, (INTEGER - a.exponent) as u32);
    let increment = is_rounded_up(rounding, a.sign, parts.significand, parts.rest) as u64;
    Number { significand: parts.significand + increment, ..parts }
}

/// `FPRoundInt()` of a number that is not a NaN. If `exact` is set and the number is not an integer, it raises Inexact.
#[must_use]
#[inline]
pub const fn fp_round_int(a: Number, rounding: u32, exact: bool) -> Number {
    if a.kind != KIND_FINITE || a.exponent >= INTEGER {
        return a;
    }
    let integer = nearest_integer(a, rounding);
    let fpsr = a.fpsr | if exact && integer.rest != 0 { FPSR_IXC } else { 0 };
    if integer.significand == 0 {
        return fp_zero(a.sign, fpsr);
    }
    normalized(Number { rest: 0, fpsr, ..integer })
}

/// `FPToFixed()`: converts a number times 2^`fbits` to an integer of `intsize` bits, 16 to 64. A number that does not
/// fit becomes the nearest integer that does.
#[must_use]
#[inline]
pub const fn fp_to_fixed(a: Number, fbits: u32, intsize: u32, unsigned: bool, rounding: u32) -> FpResult {
    if is_nan(a) {
        return FpResult { value: 0, fpsr: a.fpsr | FPSR_IOC };
    }
    if a.kind == KIND_ZERO {
        return FpResult { value: 0, fpsr: a.fpsr };
    }
    let is_negative = a.sign == 1;
    // The largest magnitude with this sign.
    let positive = ones(intsize) >> !unsigned as u32;
    let negative = if unsigned { 0 } else { positive + 1 };
    let limit = if is_negative { negative } else { positive };

    let exponent = a.exponent + fbits as i32;
    let is_far = a.kind == KIND_INFINITY || exponent > INTEGER;
    let scaled = Number { exponent: if is_far { INTEGER } else { exponent }, ..a };
    let integer = nearest_integer(scaled, rounding);
    let is_saturated = is_far || integer.significand > limit;
    let magnitude = if is_saturated { limit } else { integer.significand };
    let exception = if is_saturated {
        FPSR_IOC
    } else if integer.rest != 0 {
        FPSR_IXC
    } else {
        0
    };
    let value = if is_negative { magnitude.wrapping_neg() } else { magnitude };
    FpResult { value: value & ones(intsize), fpsr: a.fpsr | exception }
}

/// `FixedToFP()` without rounding: returns an integer of `intsize` bits, 16 to 64, divided by 2^`fbits`.
#[must_use]
#[inline]
pub const fn fixed_to_fp(integer: u64, fbits: u32, intsize: u32, unsigned: bool) -> Number {
    let extended = if unsigned { integer & ones(intsize) } else { sign_extend(integer, intsize) };
    if extended == 0 {
        return fp_zero(0, 0);
    }
    let is_negative = !unsigned && extended >> 63 == 1;
    normalized(Number {
        kind: KIND_FINITE,
        sign: is_negative as u32,
        exponent: INTEGER - fbits as i32,
        significand: if is_negative { extended.wrapping_neg() } else { extended },
        rest: 0,
        fpsr: 0,
    })
}
