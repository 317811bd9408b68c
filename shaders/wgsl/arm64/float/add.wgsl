//! The sum of floating-point numbers.

import package::arm64::float::constants::{KIND_INFINITY, KIND_ZERO, ROUND_NEGATIVE};
import package::arm64::float::number::{Number, denormalized, fp_infinity, fp_invalid, fp_zero};
import package::arm64::float::number::{is_nan, is_smaller, normalized, with_fpsr};

/// Returns the sum of two numbers. `a` is not a NaN; `b` may be the NaN that is the product of zero and infinity.
///
/// The bits of a format fill less than half of a number, and those of a product less than 107 of its 128. So the bits
/// that the smaller number loses are far below all bits that decide how the sum is rounded.
///
/// Twin: `kvrm_arm64::semantics::float::add::add_numbers`.
fn add_numbers(a: Number, b: Number, rounding: u32) -> Number {
    let fpsr = a.fpsr | b.fpsr;
    if is_nan(b) {
        return with_fpsr(b, fpsr);
    }
    let is_difference = a.sign != b.sign;
    if a.kind == KIND_INFINITY || b.kind == KIND_INFINITY {
        if a.kind == b.kind && is_difference {
            return fp_invalid(fpsr);
        }
        return fp_infinity(select(b.sign, a.sign, a.kind == KIND_INFINITY), fpsr);
    }
    // The difference of equal numbers is a zero, whose sign depends on the rounding.
    let no_difference = fp_zero(u32(rounding == ROUND_NEGATIVE), fpsr);
    if a.kind == KIND_ZERO && b.kind == KIND_ZERO {
        if is_difference {
            return no_difference;
        }
        return fp_zero(a.sign, fpsr);
    }
    if a.kind == KIND_ZERO {
        return with_fpsr(b, fpsr);
    }
    if b.kind == KIND_ZERO {
        return with_fpsr(a, fpsr);
    }
    var large = a;
    var small = b;
    if is_smaller(a, b) {
        large = b;
        small = a;
    }
    // One zero bit above both numbers is room for a carry.
    let distance = u32(large.exponent - small.exponent);
    var sum = denormalized(large, 1u);
    let term = denormalized(small, 1u + distance);
    if is_difference {
        let borrow = select(0lu, 1lu, sum.rest < term.rest);
        sum.significand = sum.significand - term.significand - borrow;
        sum.rest = sum.rest - term.rest;
        if (sum.significand | sum.rest) == 0lu {
            return no_difference;
        }
    } else {
        sum.rest = sum.rest + term.rest;
        let carry = select(0lu, 1lu, sum.rest < term.rest);
        sum.significand = sum.significand + term.significand + carry;
    }
    sum.fpsr = fpsr;
    return normalized(sum);
}
