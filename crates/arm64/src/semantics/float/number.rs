//! Numbers without a format: unpacked operands, and results before they are rounded.

use super::control::FPSR_IOC;

/// `FPType_Zero`. The kinds from zero to infinity are in the order of magnitude.
pub const KIND_ZERO: u32 = 0;
/// `FPType_Nonzero` and `FPType_Denormal`.
pub const KIND_FINITE: u32 = 1;
/// `FPType_Infinity`.
pub const KIND_INFINITY: u32 = 2;
/// `FPType_QNaN`.
pub const KIND_QUIET: u32 = 3;
/// `FPType_SNaN`.
pub const KIND_SIGNALLING: u32 = 4;

/// The top bit of a significand.
pub const TOP: u64 = 1 << 63;
/// The bit below [`TOP`], which is set in quiet NaNs and clear in signalling ones.
pub const QUIET: u64 = 1 << 62;

/// A number, and the exceptions raised to compute it.
///
/// The value of a finite number is 2^`exponent` times `significand`:`rest`, with the point after the top bit. The top
/// bit is set unless a function says otherwise, so each number has only one representation. Bits of a result that are
/// too small for `rest` are combined into its lowest bit, which is sufficient for rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// `KIND_ZERO` to `KIND_SIGNALLING`.
    pub kind: u32,
    /// The sign: 1 for negative.
    pub sign: u32,
    /// The power of two.
    pub exponent: i32,
    /// The top 64 bits of the significand; in a NaN, the fraction below the top bit.
    pub significand: u64,
    /// The low 64 bits of the significand.
    pub rest: u64,
    /// The bits of FPSR that become set.
    pub fpsr: u32,
}

/// Returns a zero or infinity.
#[inline(always)]
const fn plain(kind: u32, sign: u32, fpsr: u32) -> Number {
    Number { kind, sign, exponent: 0, significand: 0, rest: 0, fpsr }
}

/// `FPZero()`.
#[must_use]
#[inline(always)]
pub const fn fp_zero(sign: u32, fpsr: u32) -> Number {
    plain(KIND_ZERO, sign, fpsr)
}

/// `FPInfinity()`.
#[must_use]
#[inline(always)]
pub const fn fp_infinity(sign: u32, fpsr: u32) -> Number {
    plain(KIND_INFINITY, sign, fpsr)
}

/// Returns a finite number. The top bit of `significand` is set.
#[must_use]
#[inline(always)]
pub const fn fp_finite(sign: u32, exponent: i32, significand: u64, fpsr: u32) -> Number {
    Number { kind: KIND_FINITE, sign, exponent, significand, rest: 0, fpsr }
}

/// `FPDefaultNaN()`.
#[must_use]
#[inline(always)]
pub const fn fp_default_nan(fpsr: u32) -> Number {
    Number { kind: KIND_QUIET, sign: 0, exponent: 0, significand: TOP | QUIET, rest: 0, fpsr }
}

/// Returns the result of an invalid operation: `FPDefaultNaN()`, with Invalid Operation raised.
#[must_use]
#[inline(always)]
pub const fn fp_invalid(fpsr: u32) -> Number {
    fp_default_nan(fpsr | FPSR_IOC)
}

/// Returns the number with other exceptions.
#[must_use]
#[inline(always)]
pub const fn with_fpsr(number: Number, fpsr: u32) -> Number {
    Number { fpsr, ..number }
}

/// Whether a number is a NaN.
#[must_use]
#[inline(always)]
pub const fn is_nan(number: Number) -> bool {
    number.kind >= KIND_QUIET
}

/// Normalizes a number whose significand is not zero: shifts it left until its top bit is set.
#[must_use]
#[inline]
pub const fn normalized(number: Number) -> Number {
    let is_small = number.significand == 0;
    let high = if is_small { number.rest } else { number.significand };
    let low = if is_small { 0 } else { number.rest };
    let shift = high.leading_zeros() & 63;
    Number {
        exponent: number.exponent - shift as i32 - if is_small { 64 } else { 0 },
        // In two steps, because a shift by 64 is not defined.
        significand: high << shift | low >> 1 >> (63 - shift),
        rest: low << shift,
        ..number
    }
}

/// Shifts the significand right by `amount` bits and increases the exponent by as much. If a bit that is shifted out is
/// set, so is the lowest bit of the result.
#[must_use]
#[inline]
pub const fn denormalized(number: Number, amount: u32) -> Number {
    let is_far = amount & 64 != 0;
    let high = if is_far { 0 } else { number.significand };
    let low = if is_far { number.significand } else { number.rest };
    let shift = amount & 63;
    // In two steps, because a shift by 64 is not defined.
    let is_lost = low << 1 << (63 - shift) != 0 || is_far && number.rest != 0;
    let exponent = number.exponent.wrapping_add(amount as i32);
    if amount >= 128 {
        let rest = (number.significand | number.rest != 0) as u64;
        return Number { exponent, significand: 0, rest, ..number };
    }
    let rest = low >> shift | high << 1 << (63 - shift) | is_lost as u64;
    Number { exponent, significand: high >> shift, rest, ..number }
}

/// Whether a number is nearer to zero than another. Neither is a NaN.
#[must_use]
#[inline]
pub const fn is_smaller(a: Number, b: Number) -> bool {
    if a.kind != b.kind || a.kind != KIND_FINITE {
        return a.kind < b.kind;
    }
    if a.exponent != b.exponent {
        return a.exponent < b.exponent;
    }
    if a.significand != b.significand {
        return a.significand < b.significand;
    }
    a.rest < b.rest
}
