//! Arithmetic with the floating point of the host, where it gives the same results as the functions of this module.
//!
//! Every host rounds to the nearest number, as IEEE 754 prescribes, but Rust has no access to its exceptions. So the
//! host computes only if FPSR.IXC is already set, as it soon is in every program, and if no other exception is
//! possible, because operands and result are zeros or normal numbers.

use super::arithmetic::{FP_ADD, FP_DIV, FP_MUL, FP_SUB};
use super::control::{FPSR_IXC, ROUND_TIE_EVEN, fp_rounding_mode};
use super::format::{DOUBLE, Format, SINGLE};

/// Defines the arithmetic with a floating-point type of the host.
macro_rules! host {
    ($name:ident, $float:ident, $bits:ident) => {
        #[inline(always)]
        fn $name(operation: u32, x: u64, y: u64) -> Option<u64> {
            let [x, y] = [x, y].map(|bits| $float::from_bits(bits as $bits));
            let is_usual = |x: $float| x.is_normal() || x == 0.0;
            if !is_usual(x) || !is_usual(y) {
                return None;
            }
            let result = match operation {
                FP_ADD => x + y,
                FP_SUB => x - y,
                FP_MUL => x * y,
                FP_DIV => x / y,
                _ => return None,
            };
            // A result that is the least normal number may have been tiny before it was rounded, which is an underflow.
            // So may a product or quotient that is zero although no operand is.
            let is_normal = result.abs() > $float::MIN_POSITIVE && result.is_finite();
            let is_zero =
                || result == 0.0 && (x == 0.0 || y == 0.0 || operation == FP_ADD || operation == FP_SUB);
            (is_normal || is_zero()).then(|| result.to_bits().into())
        }
    };
}
host!(double, f64, u64);
host!(single, f32, u32);

/// Returns the value of [`fp_operation`](super::arithmetic::fp_operation) if the operation raises no exceptions that
/// are not set in `fpsr`, and `None` if the host cannot guarantee that.
#[must_use]
#[inline(always)]
pub fn fp_operation_on_host(
    operation: u32,
    [x, y]: [u64; 2],
    format: Format,
    fpcr: u32,
    fpsr: u32,
) -> Option<u64> {
    if fpsr & FPSR_IXC == 0 || fp_rounding_mode(fpcr) != ROUND_TIE_EVEN {
        return None;
    }
    match format {
        DOUBLE => double(operation, x, y),
        SINGLE => single(operation, x, y),
        _ => None,
    }
}
