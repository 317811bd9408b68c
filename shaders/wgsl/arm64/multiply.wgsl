//! Multiplication.

import package::arm64::numbers::{sign_extend};

/// The high half of the product of two numbers.
///
/// Drivers inline every call, so a kernel that needs both kinds calls this once.
///
/// Twin: `kvrm_arm64::semantics::multiply::multiply_high`.
fn multiply_high(x: u64, y: u64, signed: bool) -> u64 {
    let x_low = x & 0xfffffffflu;
    let x_high = x >> 32u;
    let y_low = y & 0xfffffffflu;
    let y_high = y >> 32u;
    // None of these sums overflows: the largest product of words leaves room for two words.
    let low = x_high * y_low + ((x_low * y_low) >> 32u);
    let middle = x_low * y_high + (low & 0xfffffffflu);
    let high = x_high * y_high + (low >> 32u) + (middle >> 32u);
    // A negative number is the unsigned one of the same bits less 2^64.
    let x_excess = select(0lu, y, signed && (x >> 63u) == 1lu);
    let y_excess = select(0lu, x, signed && (y >> 63u) == 1lu);
    return high - x_excess - y_excess;
}

/// The high half of the product of two unsigned numbers.
///
/// Twin: `kvrm_arm64::semantics::multiply::multiply_high_unsigned`.
fn multiply_high_unsigned(x: u64, y: u64) -> u64 {
    return multiply_high(x, y, false);
}

/// The product of the low words of two numbers, which both extend to 64 bits.
///
/// Twin: `kvrm_arm64::semantics::multiply::long_product`.
fn long_product(x: u64, y: u64, signed: bool) -> u64 {
    let multiplicand = select(x & 0xfffffffflu, sign_extend(x, 32u), signed);
    return multiplicand * select(y & 0xfffffffflu, sign_extend(y, 32u), signed);
}
