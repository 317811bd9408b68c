//! Comparison, maximum and minimum of bit patterns without unpacking them, if no exception is possible.

use super::format::{Format, exponent_ones};
use super::round::FpResult;
use super::unpack::is_flushed;

/// Returns an integer that is in the order of numbers; both zeros are 0. Returns `None` for a NaN, and for a denormal
/// number that may be flushed to zero.
#[inline(always)]
const fn order_of(pattern: u64, format: Format, fpcr: u32) -> Option<i64> {
    let sign = 1 << (format.fraction_bits + format.exponent_bits);
    let magnitude = pattern & (sign - 1);
    let infinity = (exponent_ones(format) as u64) << format.fraction_bits;
    let is_denormal = magnitude.wrapping_sub(1) < (1 << format.fraction_bits) - 1;
    if magnitude > infinity || is_denormal && is_flushed(format, fpcr) {
        return None;
    }
    Some(if pattern & sign == 0 { magnitude as i64 } else { -(magnitude as i64) })
}

/// `FPCompare()`: returns N, Z, C and V as 8, 4, 2 and 1.
#[must_use]
#[inline(always)]
pub const fn fp_compare(x: u64, y: u64, format: Format, fpcr: u32) -> Option<FpResult> {
    let (Some(a), Some(b)) = (order_of(x, format, fpcr), order_of(y, format, fpcr)) else { return None };
    let value = if a == b {
        0b0110
    } else if a < b {
        0b1000
    } else {
        0b0010
    };
    Some(FpResult { value, fpsr: 0 })
}

/// `FPMax()` or, if `minimum` is set, `FPMin()`.
#[must_use]
#[inline(always)]
pub const fn fp_extremum(x: u64, y: u64, minimum: bool, format: Format, fpcr: u32) -> Option<FpResult> {
    let (Some(a), Some(b)) = (order_of(x, format, fpcr), order_of(y, format, fpcr)) else { return None };
    let value = if a == b {
        // Only zeros have the same order and different patterns. The negative one is less.
        if minimum { x | y } else { x & y }
    } else if (a < b) == minimum {
        x
    } else {
        y
    };
    Some(FpResult { value, fpsr: 0 })
}
