//! Numbers without a format: operands as they are unpacked, results before they are rounded.

use super::control::FPSR_IOC;

/// `FPType_Zero`. Kinds up to infinity are in the order of magnitudes.
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
/// The bit below, which a quiet NaN has and a signalling one has not.
pub const QUIET: u64 = 1 << 62;

/// A number and what exceptions there were on the way to it.
///
/// A finite one is 2^`exponent` times `significand`.`rest`, whose point is behind the top bit. That bit is set
/// unless a function says otherwise, so of each number there is one form. What of a result is too small for `rest`
/// has set the lowest bit of it: more is not needed to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// `KIND_ZERO` to `KIND_SIGNALLING`.
    pub kind: u32,
    /// 1 for a minus.
    pub sign: u32,
    /// The power of two.
    pub exponent: i32,
    /// The top 64 bits; of a NaN its fraction, below the top bit.
    pub significand: u64,
    /// The 64 bits below.
    pub rest: u64,
    /// What becomes set in FPSR.
    pub fpsr: u32,
}

/// A number of a kind that says all but its sign.
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

/// A finite number whose significand has its top bit set.
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

/// What an operation gives that has no meaning: `FPDefaultNaN()`, with Invalid Operation.
#[must_use]
#[inline(always)]
pub const fn fp_invalid(fpsr: u32) -> Number {
    fp_default_nan(fpsr | FPSR_IOC)
}

/// The number with other flags of FPSR.
#[must_use]
#[inline(always)]
pub const fn with_fpsr(number: Number, fpsr: u32) -> Number {
    Number { fpsr, ..number }
}

/// Whether a number is none.
#[must_use]
#[inline(always)]
pub const fn is_nan(number: Number) -> bool {
    number.kind >= KIND_QUIET
}

/// The same number with the top bit set, of one whose bits are not all zero.
#[must_use]
#[inline]
pub const fn normalized(number: Number) -> Number {
    let is_small = number.significand == 0;
    let high = if is_small { number.rest } else { number.significand };
    let low = if is_small { 0 } else { number.rest };
    let shift = high.leading_zeros() & 63;
    Number {
        exponent: number.exponent - shift as i32 - if is_small { 64 } else { 0 },
        // In two steps, as a shift by 64 is none.
        significand: high << shift | low >> 1 >> (63 - shift),
        rest: low << shift,
        ..number
    }
}

/// The same number with a greater exponent, and `amount` zeros above its significand. What falls out at the end sets
/// the lowest bit.
#[must_use]
#[inline]
pub const fn denormalized(number: Number, amount: u32) -> Number {
    let is_far = amount & 64 != 0;
    let high = if is_far { 0 } else { number.significand };
    let low = if is_far { number.significand } else { number.rest };
    let shift = amount & 63;
    // In two steps, as a shift by 64 is none.
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
