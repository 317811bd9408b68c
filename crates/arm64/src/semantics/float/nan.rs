//! Which NaN comes out where NaNs go in.

use super::control::{FPCR_DN, FPSR_IOC};
use super::number::{KIND_QUIET, KIND_SIGNALLING, Number, QUIET, fp_default_nan, is_nan};

/// `FPProcessNaN()`: what becomes of a NaN.
#[must_use]
#[inline(always)]
pub const fn fp_process_nan(nan: Number, fpcr: u32) -> Number {
    let fpsr = nan.fpsr | if nan.kind == KIND_SIGNALLING { FPSR_IOC } else { 0 };
    if fpcr & FPCR_DN != 0 {
        return fp_default_nan(fpsr);
    }
    Number { kind: KIND_QUIET, significand: nan.significand | QUIET, fpsr, ..nan }
}

/// `FPProcessNaNs3()`: what three operands give if any is a NaN, and else `a`.
///
/// A signalling NaN goes before a quiet one, and otherwise the first before the others. Two operands are three of
/// which two are the same.
#[must_use]
#[inline]
pub const fn fp_process_nans3(a: Number, b: Number, c: Number, fpcr: u32) -> Number {
    let mut chosen = a;
    if a.kind != KIND_SIGNALLING {
        if b.kind == KIND_SIGNALLING {
            chosen = b;
        } else if c.kind == KIND_SIGNALLING {
            chosen = c;
        } else if a.kind != KIND_QUIET {
            if b.kind == KIND_QUIET {
                chosen = b;
            } else if c.kind == KIND_QUIET {
                chosen = c;
            }
        }
    }
    chosen.fpsr = a.fpsr | b.fpsr | c.fpsr;
    if is_nan(chosen) { fp_process_nan(chosen, fpcr) } else { chosen }
}
