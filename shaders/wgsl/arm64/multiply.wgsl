//! Multiplication.

import package::arm64::numbers::{sign_extend};

/// Returns the high half of the product of two numbers.
///
/// Drivers inline every call, so a kernel that needs signed and unsigned products calls this function in one place.
///
/// Twin: `kvrm_arm64::semantics::multiply::multiply_high`.
fn multiply_high(x: u64, y: u64, signed: bool) -> u64 {
    let x_low = x & 0xfffffffflu;
    let x_high = x >> 32u;
    let y_low = y & 0xfffffffflu;
    let y_high = y >> 32u;
    // None of these sums overflows: two words can be added to the largest product of words.
    let low = x_high * y_low + ((x_low * y_low) >> 32u);
    let middle = x_low * y_high + (low & 0xfffffffflu);
    let high = x_high * y_high + (low >> 32u) + (middle >> 32u);
    // A negative number is the unsigned number with the same bits, minus 2^64.
    let x_excess = select(0lu, y, signed && (x >> 63u) == 1lu);
    let y_excess = select(0lu, x, signed && (y >> 63u) == 1lu);
    return high - x_excess - y_excess;
}

/// Returns the high half of the product of two unsigned numbers.
///
/// Twin: `kvrm_arm64::semantics::multiply::multiply_high_unsigned`.
fn multiply_high_unsigned(x: u64, y: u64) -> u64 {
    return multiply_high(x, y, false);
}

/// Returns the product of the low words of two numbers, each extended to 64 bits.
///
/// Twin: `kvrm_arm64::semantics::multiply::long_product`.
fn long_product(x: u64, y: u64, signed: bool) -> u64 {
    let multiplicand = select(x & 0xfffffffflu, sign_extend(x, 32u), signed);
    return multiplicand * select(y & 0xfffffffflu, sign_extend(y, 32u), signed);
}
