//! The square root of floating-point numbers.

import package::arm64::float::constants::{KIND_INFINITY, KIND_ZERO};
import package::arm64::float::number::{Number, fp_finite, fp_invalid};

/// The number of root bits that are computed: two more than the longest significand has.
const ROOT_BITS = 55u;

/// Returns the square root of a number that is not a NaN and fits a format.
///
/// Twin: `kvrm_arm64::semantics::float::square_root::square_root`.
fn square_root(a: Number) -> Number {
    if a.kind == KIND_ZERO {
        return a;
    }
    if a.sign == 1u {
        return fp_invalid(a.fpsr);
    }
    if a.kind == KIND_INFINITY {
        return a;
    }
    // The radicand is from 1 to 4, with its point behind the second bit, so that the exponent that remains is even.
    var radicand = select(a.significand, a.significand >> 1u, (a.exponent & 1i) == 0i);
    var remainder = 0lu;
    var root = 0lu;
    // Each iteration consumes two bits of the radicand and computes one bit of the root.
    for (var digit = 0u; digit < ROOT_BITS; digit += 1u) {
        remainder = (remainder << 2u) | (radicand >> 62u);
        radicand = radicand << 2u;
        let trial = (root << 2u) | 1lu;
        let fits = remainder >= trial;
        remainder -= select(0lu, trial, fits);
        root = (root << 1u) | select(0lu, 1lu, fits);
    }
    // The remainder decides only whether the root is exact.
    let significand = (root << (64u - ROOT_BITS)) | select(0lu, 1lu, remainder != 0lu);
    return fp_finite(0u, a.exponent >> 1u, significand, a.fpsr);
}
