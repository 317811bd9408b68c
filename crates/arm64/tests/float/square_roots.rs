//! Square roots, compared with integer square roots that have more bits than any format.

use kvrm_arm64::semantics::float::control::{FPSR_IOC, FPSR_IXC};
use kvrm_arm64::semantics::float::format::{DOUBLE, Format, HALF, SINGLE, exponent_bias};
use kvrm_arm64::semantics::float::named::fp_sqrt;
use kvrm_arm64::semantics::float::round::FpResult;

use crate::{ROUNDINGS, for_each, fpcr, infinity, is_nan, sign_bit};

/// Returns the square root of a number that is not zero, infinite, negative or a NaN.
fn root(x: u64, format: Format, rounding: u32) -> FpResult {
    let field = x >> format.fraction_bits;
    let hidden = u64::from(field != 0) << format.fraction_bits;
    let significand = u128::from(x & ((1 << format.fraction_bits) - 1) | hidden);
    // The number is `significand` times 2^`exponent`. `zeros` makes the exponent even, because the root has half of it.
    let mut exponent = field.max(1) as i32 - exponent_bias(format) - format.fraction_bits as i32;
    let mut zeros = significand.leading_zeros() as i32 & !1;
    zeros += (exponent - zeros) & 1;
    zeros -= if zeros > significand.leading_zeros() as i32 { 2 } else { 0 };
    let radicand = significand << zeros;
    exponent = (exponent - zeros) / 2;
    let root = radicand.isqrt();
    // The result has as many bits of the root as a significand has.
    let extra = 128 - root.leading_zeros() - (format.fraction_bits + 1);
    let kept = root >> extra;
    let rest = root & ((1 << extra) - 1);
    let is_exact = rest == 0 && root * root == radicand;
    let half = 1 << (extra - 1);
    let is_rounded_up = match rounding {
        // A root is never halfway between two numbers: its square would have too many bits.
        0 => rest >= half,
        1 => !is_exact,
        _ => false,
    };
    let value = kept as u64 + u64::from(is_rounded_up);
    let field = exponent + extra as i32 + format.fraction_bits as i32 + exponent_bias(format);
    let packed = ((field as u64 - 1) << format.fraction_bits) + value;
    FpResult { value: packed, fpsr: if is_exact { 0 } else { FPSR_IXC } }
}

#[test]
fn square_roots() {
    for format in [HALF, SINGLE, DOUBLE] {
        for rounding in ROUNDINGS {
            for_each(format, 100_000, |x| {
                if is_nan(x, format) {
                    return;
                }
                let expected = if x & (sign_bit(format) - 1) == 0 || x == infinity(format) {
                    FpResult { value: x, fpsr: 0 }
                } else if x & sign_bit(format) != 0 {
                    let quiet = 1 << (format.fraction_bits - 1);
                    FpResult { value: infinity(format) | quiet, fpsr: FPSR_IOC }
                } else {
                    root(x, format, rounding)
                };
                let actual = fp_sqrt(x, format, fpcr(rounding));
                assert_eq!(actual, expected, "root of {x:#x} in {format:?}, rounding {rounding}");
            });
        }
    }
}
