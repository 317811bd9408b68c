//! NaN propagation: the result of an operation whose operands include NaNs.

use super::control::{FPCR_DN, FPSR_IOC};
use super::number::{KIND_QUIET, KIND_SIGNALLING, Number, QUIET, fp_default_nan, is_nan};

/// `FPProcessNaN()`: returns the result of an operation that propagates `nan`.
#[must_use]
#[inline(always)]
pub const fn fp_process_nan(nan: Number, fpcr: u32) -> Number {
    let fpsr = nan.fpsr | if nan.kind == KIND_SIGNALLING { FPSR_IOC } else { 0 };
    if fpcr & FPCR_DN != 0 {
        return fp_default_nan(fpsr);
    }
    Number { kind: KIND_QUIET, significand: nan.significand | QUIET, fpsr, ..nan }
}

/// `FPProcessNaNs3()`: returns the NaN that an operation on three operands propagates, or `a` if none is a NaN.
///
/// Signalling NaNs come before quiet ones, and earlier operands before later ones. For an operation on two operands,
/// the caller passes one of them twice.
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
