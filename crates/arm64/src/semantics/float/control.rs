//! The bits of FPCR and FPSR, and the rounding modes.

/// FPCR.RMode: the rounding mode.
pub const FPCR_RMODE: u32 = 3 << 22;
/// FPCR.AHP: half precision has no infinities and NaNs, and twice the range.
pub const FPCR_AHP: u32 = 1 << 26;
/// FPCR.DN: every NaN result is the default NaN.
pub const FPCR_DN: u32 = 1 << 25;
/// FPCR.FZ: denormal operands and results of single and double precision are flushed to zero.
pub const FPCR_FZ: u32 = 1 << 24;

/// FPCR.FZ16: denormal operands and results of half precision are flushed to zero, except by conversions.
pub const FPCR_FZ16: u32 = 1 << 19;

/// FPSR.IOC: an invalid operation.
pub const FPSR_IOC: u32 = 1;
/// FPSR.DZC: a finite number divided by zero.
pub const FPSR_DZC: u32 = 1 << 1;
/// FPSR.OFC: a result too large for its format.
pub const FPSR_OFC: u32 = 1 << 2;
/// FPSR.UFC: a result that was tiny before it was rounded, and inexact or flushed.
pub const FPSR_UFC: u32 = 1 << 3;
/// FPSR.IXC: a result that was rounded.
pub const FPSR_IXC: u32 = 1 << 4;
/// FPSR.IDC: an operand that was flushed.
pub const FPSR_IDC: u32 = 1 << 7;

/// To the nearest number; a tie to the even one. This mode and the next three have the numbers of `FPCR.RMode`.
pub const ROUND_TIE_EVEN: u32 = 0;
/// Towards plus infinity.
pub const ROUND_POSITIVE: u32 = 1;
/// Towards minus infinity.
pub const ROUND_NEGATIVE: u32 = 2;
/// Towards zero.
pub const ROUND_ZERO: u32 = 3;
/// To the nearest number; a tie to the one further from zero.
pub const ROUND_TIE_AWAY: u32 = 4;
/// An inexact result to the adjacent number whose last bit is odd. A second rounding then gives the same as a single
/// one.
pub const ROUND_ODD: u32 = 5;

/// As [`ROUND_ODD`], except that results too large for their format become infinite. Products of bfloat16 are rounded so.
pub const ROUND_ODD_INFINITY: u32 = 6;

/// `FPRoundingMode()`: returns the rounding mode of FPCR.
#[must_use]
#[inline(always)]
pub const fn fp_rounding_mode(fpcr: u32) -> u32 {
    fpcr >> 22 & 3
}
