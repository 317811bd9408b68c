//! Operations of [`named`], computed without unpacking numbers where the result is certain to be the same.

use super::format::Format;
use super::named::{self, Fixed};
use super::round::FpResult;
use super::{host, order};

/// Defines functions with the parameters of those of [`named`]: the quick way to compute them. Calls of [`named`] are
/// not inlined, so that the registers that they need are saved only then.
macro_rules! quick { ($(
    $(#[doc = $doc:literal])* $name:ident($($parameter:ident: $type:ty),*) = $quick:expr;
)*) => { $(
    $(#[doc = $doc])*
    #[must_use]
    #[inline(always)]
    pub fn $name($($parameter: $type),*) -> FpResult {
        #[cold]
        #[inline(never)]
        fn slow($($parameter: $type),*) -> FpResult {
            named::$name($($parameter),*)
        }
        match $quick {
            Some(result) => result,
            None => slow($($parameter),*),
        }
    }
)* } }
quick! {
    /// `FPMax()`.
    fp_max(x: u64, y: u64, format: Format, fpcr: u32) = order::fp_extremum(x, y, false, format, fpcr);
    /// `FPMin()`.
    fp_min(x: u64, y: u64, format: Format, fpcr: u32) = order::fp_extremum(x, y, true, format, fpcr);
    /// `FPMaxNum()`: of a number and a quiet NaN, the number.
    fp_max_num(x: u64, y: u64, format: Format, fpcr: u32) = order::fp_extremum(x, y, false, format, fpcr);
    /// `FPMinNum()`: of a number and a quiet NaN, the number.
    fp_min_num(x: u64, y: u64, format: Format, fpcr: u32) = order::fp_extremum(x, y, true, format, fpcr);
    /// `FPCompare()`: returns N, Z, C and V as 8, 4, 2 and 1.
    fp_compare(x: u64, y: u64, signal_nans: bool, format: Format, fpcr: u32) = order::fp_compare(x, y, format, fpcr);
    /// `FPRoundInt()`. If `exact` is set and the number is not an integer, it raises Inexact.
    fp_round_int(x: u64, format: Format, rounding: u32, exact: bool, fpcr: u32) =
        host::convert::fp_round_int(x, format, rounding, exact);
    /// `FPConvert()`: converts between formats.
    fp_convert(x: u64, from: Format, to: Format, rounding: u32, fpcr: u32) =
        host::convert::fp_convert(x, from, to, rounding);
    /// `FPToFixed()`: converts a number times 2^`fbits` to an integer.
    fp_to_fixed(x: u64, to: Fixed, rounding: u32, format: Format, fpcr: u32) =
        host::convert::fp_to_fixed(x, to, rounding, format);
    /// `FixedToFP()`: returns an integer divided by 2^`fbits`.
    fixed_to_fp(integer: u64, from: Fixed, format: Format, fpcr: u32) =
        host::convert::fixed_to_fp(integer, from, format, fpcr);
}
