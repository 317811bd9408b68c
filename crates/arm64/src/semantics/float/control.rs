//! What FPCR asks for, and what FPSR is told.

/// FPCR.AHP: half precision has no infinities and NaNs, and twice the range.
pub const FPCR_AHP: u32 = 1 << 26;
/// FPCR.DN: every NaN that comes out is the default one.
pub const FPCR_DN: u32 = 1 << 25;
/// FPCR.FZ: denormal numbers of single and double precision are taken as zeros, and made zeros.
pub const FPCR_FZ: u32 = 1 << 24;

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

/// To the nearest number, and of two to the even one. This and the next three are as in `FPCR.RMode`.
pub const ROUND_TIE_EVEN: u32 = 0;
/// Towards plus infinity.
pub const ROUND_POSITIVE: u32 = 1;
/// Towards minus infinity.
pub const ROUND_NEGATIVE: u32 = 2;
/// Towards zero.
pub const ROUND_ZERO: u32 = 3;
/// To the nearest number, and of two to the one further from zero.
pub const ROUND_TIE_AWAY: u32 = 4;
/// Of the two neighbours to the odd one: what is rounded again later is so rounded as if it were once.
pub const ROUND_ODD: u32 = 5;

/// `FPRoundingMode()`: the rounding that FPCR asks for.
#[must_use]
#[inline(always)]
pub const fn fp_rounding_mode(fpcr: u32) -> u32 {
    fpcr >> 22 & 3
}
