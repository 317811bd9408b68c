//! Square roots.

use super::number::{KIND_INFINITY, KIND_ZERO, Number, fp_finite, fp_invalid};

/// The number of root bits that are computed: two more than the longest significand has.
const ROOT_BITS: u32 = 55;

/// Returns the square root of a number that is not a NaN and is exact in some format.
#[must_use]
#[inline]
pub fn square_root(a: Number) -> Number {
    if a.kind == KIND_ZERO {
        return a;
    }
    if a.sign == 1 {
        return fp_invalid(a.fpsr);
    }
    if a.kind == KIND_INFINITY {
        return a;
    }
    // The radicand is 1 to 4, with the point after two bits, so that the remaining exponent is even.
    let mut radicand = if a.exponent & 1 == 0 { a.significand >> 1 } else { a.significand };
    let mut remainder = 0;
    let mut root = 0;
    // Each two bits of the radicand give one bit of the root.
    for _ in 0..ROOT_BITS {
        remainder = remainder << 2 | radicand >> 62;
        radicand <<= 2;
        let trial = root << 2 | 1;
        let fits = remainder >= trial;
        remainder -= if fits { trial } else { 0 };
        root = root << 1 | u64::from(fits);
    }
    // The remainder only decides whether the root is exact.
    let significand = root << (64 - ROOT_BITS) | u64::from(remainder != 0);
    fp_finite(0, a.exponent >> 1, significand, a.fpsr)
}
