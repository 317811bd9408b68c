//! The conversion of bit patterns to numbers.

import package::arm64::float::constants::{
    FPCR_FZ, FPCR_FZ16, FPSR_IDC, KIND_QUIET, KIND_SIGNALLING, QUIET, TOP,
};
import package::arm64::float::format::{Format, exponent_bias, exponent_ones};
import package::arm64::float::number::{Number, fp_finite, fp_infinity, fp_zero, normalized};

/// `FPUnpack()`: returns the number that a bit pattern represents. Bits above those of the format are ignored.
///
/// Twin: `kvrm_arm64::semantics::float::unpack::fp_unpack`.
fn fp_unpack(value: u64, format: Format, fpcr: u32) -> Number {
    let sign = u32(value >> (format.fraction_bits + format.exponent_bits)) & 1u;
    let field = u32(value >> format.fraction_bits) & exponent_ones(format);
    // The fraction lies directly below the top bit, which normal numbers do not store.
    let fraction = (value << (63u - format.fraction_bits)) & ~TOP;
    if field == 0u {
        if fraction == 0lu {
            return fp_zero(sign, 0u);
        }
        if is_flushed(format, fpcr) {
            // Half precision does not raise Input Denormal.
            return fp_zero(sign, select(FPSR_IDC, 0u, format.exponent_bits == 5u));
        }
        return normalized(fp_finite(sign, 1i - exponent_bias(format), fraction, 0u));
    }
    if field == exponent_ones(format) && !format.alternative {
        if fraction == 0lu {
            return fp_infinity(sign, 0u);
        }
        let kind = select(KIND_QUIET, KIND_SIGNALLING, (fraction & QUIET) == 0lu);
        return Number(kind, sign, 0i, TOP | fraction, 0lu, 0u);
    }
    return fp_finite(sign, i32(field) - exponent_bias(format), TOP | fraction, 0u);
}

/// Whether denormal numbers of a format are flushed to zero.
///
/// Twin: `kvrm_arm64::semantics::float::unpack::is_flushed`.
fn is_flushed(format: Format, fpcr: u32) -> bool {
    return (fpcr & select(FPCR_FZ, FPCR_FZ16, format.exponent_bits == 5u)) != 0u;
}
