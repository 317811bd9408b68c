//! Division. Division by zero gives zero, and the only overflow, of the smallest number by -1, wraps.

import package::wide::{quotient};

/// Returns the quotient of two numbers, rounded towards zero.
///
/// Drivers inline every call, so a kernel that needs signed and unsigned division calls this function in one place.
///
/// Twin: `kvrm_arm64::semantics::divide::divide`.
fn divide(dividend: u64, divisor: u64, signed: bool) -> u64 {
    let dividend_negative = signed && (dividend >> 63u) == 1lu;
    let divisor_negative = signed && (divisor >> 63u) == 1lu;
    let magnitude = quotient(
        select(dividend, 0lu - dividend, dividend_negative),
        select(divisor, 0lu - divisor, divisor_negative),
    );
    return select(magnitude, 0lu - magnitude, dividend_negative != divisor_negative);
}
