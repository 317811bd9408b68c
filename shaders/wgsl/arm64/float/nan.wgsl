//! The propagation of NaNs.

import package::arm64::float::constants::{FPCR_DN, FPSR_IOC, KIND_QUIET, KIND_SIGNALLING, QUIET};
import package::arm64::float::number::{Number, fp_default_nan, is_nan};

/// `FPProcessNaN()`: returns the NaN that results from a NaN operand.
///
/// Twin: `kvrm_arm64::semantics::float::nan::fp_process_nan`.
fn fp_process_nan(nan: Number, fpcr: u32) -> Number {
    let fpsr = nan.fpsr | select(0u, FPSR_IOC, nan.kind == KIND_SIGNALLING);
    if (fpcr & FPCR_DN) != 0u {
        return fp_default_nan(fpsr);
    }
    return Number(KIND_QUIET, nan.sign, nan.exponent, nan.significand | QUIET, nan.rest, fpsr);
}

/// `FPProcessNaNs3()`: returns the NaN that results from three operands if any is a NaN, and else `a`.
///
/// Signalling NaNs take precedence over quiet ones, and then earlier operands over later ones. For two operands, pass
/// one of them twice.
///
/// Twin: `kvrm_arm64::semantics::float::nan::fp_process_nans3`.
fn fp_process_nans3(a: Number, b: Number, c: Number, fpcr: u32) -> Number {
    var chosen = a;
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
    if is_nan(chosen) {
        return fp_process_nan(chosen, fpcr);
    }
    return chosen;
}
