//! Conversions between formats, and between numbers and integers.

use super::number::HostFloat;
use crate::semantics::bitmask::ones;
use crate::semantics::float::control::{
    FPSR_IXC, ROUND_NEGATIVE, ROUND_POSITIVE, ROUND_TIE_AWAY, ROUND_TIE_EVEN, ROUND_ZERO, fp_rounding_mode,
};
use crate::semantics::float::format::{DOUBLE, Format, SINGLE};
use crate::semantics::float::named::Fixed;
use crate::semantics::float::round::FpResult;
use crate::semantics::sign_extend;

/// The magnitudes for which a conversion to a signed integer of 64 bits, and rounding it up or down, cannot overflow.
const INTEGERS: f64 = (1_u64 << 62) as f64;

/// `FPConvert()` between single and double precision.
#[must_use]
#[inline(always)]
pub fn fp_convert(x: u64, from: Format, to: Format, rounding: u32) -> Option<FpResult> {
    match (from, to) {
        (SINGLE, DOUBLE) => {
            let x = f32::of(x);
            x.is_usual().then(|| FpResult { value: f64::from(x).pattern(), fpsr: 0 })
        }
        (DOUBLE, SINGLE) => {
            let x = f64::of(x);
            let result = x as f32;
            let is_fine = x.is_zero() | (x.is_usual() & result.is_in_range());
            (is_fine && rounding == ROUND_TIE_EVEN)
                .then(|| FpResult { value: result.pattern(), fpsr: inexact(f64::from(result) == x) })
        }
        _ => None,
    }
}

/// `FPToFixed()`, if the number fits.
#[must_use]
#[inline(always)]
pub fn fp_to_fixed(x: u64, to: Fixed, rounding: u32, format: Format) -> Option<FpResult> {
    let x = usual_double(x, format)? * power_of_two(to.fbits as i32);
    let (integer, is_exact) = nearest_integer(x, rounding)?;
    let least = if to.unsigned { 0 } else { -1 << (to.intsize - 1) };
    let greatest = (ones(to.intsize) >> !to.unsigned as u32).min(i64::MAX as u64) as i64;
    let fits = least <= integer && integer <= greatest;
    fits.then(|| FpResult { value: integer as u64 & ones(to.intsize), fpsr: inexact(is_exact) })
}

/// `FixedToFP()`.
#[must_use]
#[inline(always)]
pub fn fixed_to_fp(integer: u64, from: Fixed, format: Format, fpcr: u32) -> Option<FpResult> {
    let value = if from.unsigned { integer & ones(from.intsize) } else { sign_extend(integer, from.intsize) };
    let magnitude = if from.unsigned { value } else { (value as i64).unsigned_abs() };
    let bits = 64 - magnitude.leading_zeros() - if magnitude == 0 { 0 } else { magnitude.trailing_zeros() };
    let is_exact = bits <= format.fraction_bits + 1;
    if !is_exact && fp_rounding_mode(fpcr) != ROUND_TIE_EVEN {
        return None;
    }
    let scale = power_of_two(-(from.fbits as i32));
    let value = match (format, from.unsigned) {
        (DOUBLE, false) => (value as i64 as f64 * scale).pattern(),
        (DOUBLE, true) => (value as f64 * scale).pattern(),
        (SINGLE, false) => (value as i64 as f32 * scale as f32).pattern(),
        (SINGLE, true) => (value as f32 * scale as f32).pattern(),
        _ => return None,
    };
    Some(FpResult { value, fpsr: inexact(is_exact) })
}

/// `FPRoundInt()`.
#[must_use]
#[inline(always)]
pub fn fp_round_int(x: u64, format: Format, rounding: u32, exact: bool) -> Option<FpResult> {
    let number = usual_double(x, format)?;
    if !(-INTEGERS < number && number < INTEGERS) {
        // Numbers as large as this are integers.
        return Some(FpResult { value: x, fpsr: 0 });
    }
    let (integer, is_exact) = nearest_integer(number, rounding)?;
    let sign = x & 1 << (format.fraction_bits + format.exponent_bits);
    let magnitude = integer.unsigned_abs();
    let value = if format == DOUBLE { (magnitude as f64).pattern() } else { (magnitude as f32).pattern() };
    Some(FpResult { value: sign | value, fpsr: inexact(is_exact || !exact) })
}

/// Returns FPSR.IXC unless a result is exact.
#[inline(always)]
const fn inexact(is_exact: bool) -> u32 {
    if is_exact { 0 } else { FPSR_IXC }
}

/// Returns 2^`exponent`.
#[inline(always)]
const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << DOUBLE.fraction_bits)
}

/// Returns a number in double precision if it is a zero or normal.
#[inline(always)]
fn usual_double(x: u64, format: Format) -> Option<f64> {
    match format {
        DOUBLE => Some(f64::of(x)).filter(|x| x.is_usual()),
        SINGLE => Some(f32::of(x)).filter(|x| x.is_usual()).map(f64::from),
        _ => None,
    }
}

/// Rounds a number to an integer, and returns whether it was one. Returns `None` for numbers
/// that may not fit, and for rounding to odd.
#[inline(always)]
fn nearest_integer(x: f64, rounding: u32) -> Option<(i64, bool)> {
    if !(-INTEGERS < x && x < INTEGERS) {
        return None;
    }
    let integer = x as i64;
    // This difference is exact, and so are its comparisons.
    let fraction = x - integer as f64;
    let is_more_than_half = !(-0.5..=0.5).contains(&fraction);
    let is_half = fraction == 0.5 || fraction == -0.5;
    let is_moved = match rounding {
        ROUND_TIE_EVEN => is_more_than_half || is_half && integer & 1 == 1,
        ROUND_POSITIVE => fraction > 0.0,
        ROUND_NEGATIVE => fraction < 0.0,
        ROUND_ZERO => false,
        ROUND_TIE_AWAY => is_more_than_half || is_half,
        _ => return None,
    };
    let step = if !is_moved {
        0
    } else if fraction > 0.0 {
        1
    } else {
        -1
    };
    Some((integer + step, fraction == 0.0))
}
