//! Sums.

use super::control::ROUND_NEGATIVE;
use super::number::{
    KIND_INFINITY, KIND_ZERO, Number, denormalized, fp_infinity, fp_invalid, fp_zero, is_nan, is_smaller,
    normalized, with_fpsr,
};

/// Returns the sum of two numbers. `a` is not a NaN; `b` is one if it is the product of zero and infinity.
///
/// The significand of a format fills less than half of a number, and a product less than 107 of its 128 bits. So the
/// bits that are shifted out of the smaller number are far below those that decide how the sum is rounded.
#[must_use]
#[inline]
pub const fn add_numbers(a: Number, b: Number, rounding: u32) -> Number {
    let fpsr = a.fpsr | b.fpsr;
    if is_nan(b) {
        return with_fpsr(b, fpsr);
    }
    let is_difference = a.sign != b.sign;
    if a.kind == KIND_INFINITY || b.kind == KIND_INFINITY {
        if a.kind == b.kind && is_difference {
            return fp_invalid(fpsr);
        }
        return fp_infinity(if a.kind == KIND_INFINITY { a.sign } else { b.sign }, fpsr);
    }
    // The sign of a difference that is zero depends only on the rounding mode.
    let no_difference = fp_zero((rounding == ROUND_NEGATIVE) as u32, fpsr);
    if a.kind == KIND_ZERO && b.kind == KIND_ZERO {
        return if is_difference { no_difference } else { fp_zero(a.sign, fpsr) };
    }
    if a.kind == KIND_ZERO {
        return with_fpsr(b, fpsr);
    }
    if b.kind == KIND_ZERO {
        return with_fpsr(a, fpsr);
    }
    let a_is_smaller = is_smaller(a, b);
    let large = if a_is_smaller { b } else { a };
    let small = if a_is_smaller { a } else { b };
    // Both significands are shifted right by one bit, to make room for a carry.
    let distance = (large.exponent - small.exponent) as u32;
    let mut sum = denormalized(large, 1);
    let term = denormalized(small, 1 + distance);
    if is_difference {
        let borrow = (sum.rest < term.rest) as u64;
        sum.significand = sum.significand - term.significand - borrow;
        sum.rest = sum.rest.wrapping_sub(term.rest);
        if sum.significand | sum.rest == 0 {
            return no_difference;
        }
    } else {
        sum.rest = sum.rest.wrapping_add(term.rest);
        let carry = (sum.rest < term.rest) as u64;
        sum.significand = sum.significand + term.significand + carry;
    }
    sum.fpsr = fpsr;
    normalized(sum)
}
