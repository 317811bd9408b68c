//! Unpacking: bit patterns to numbers.

use super::control::{FPCR_FZ, FPCR_FZ16, FPSR_IDC};
use super::format::{Format, HALF, exponent_bias, exponent_ones};
use super::number::{
    KIND_QUIET, KIND_SIGNALLING, Number, QUIET, TOP, fp_finite, fp_infinity, fp_zero, normalized,
};

/// `FPUnpack()`: returns the number of a bit pattern. Bits above those of the format are ignored.
#[must_use]
#[inline]
pub const fn fp_unpack(value: u64, format: Format, fpcr: u32) -> Number {
    let sign = (value >> (format.fraction_bits + format.exponent_bits)) as u32 & 1;
    let field = (value >> format.fraction_bits) as u32 & exponent_ones(format);
    // The fraction, moved to just below the top bit, which is implicit in normal numbers.
    let fraction = value << (63 - format.fraction_bits) & !TOP;
    if field == 0 {
        if fraction == 0 {
            return fp_zero(sign, 0);
        }
        if is_flushed(format, fpcr) {
            // Half precision does not raise Input Denormal.
            return fp_zero(sign, if format.exponent_bits == HALF.exponent_bits { 0 } else { FPSR_IDC });
        }
        return normalized(fp_finite(sign, 1 - exponent_bias(format), fraction, 0));
    }
    if field == exponent_ones(format) && !format.alternative {
        if fraction == 0 {
            return fp_infinity(sign, 0);
        }
        let kind = if fraction & QUIET == 0 { KIND_SIGNALLING } else { KIND_QUIET };
        return Number { kind, sign, exponent: 0, significand: TOP | fraction, rest: 0, fpsr: 0 };
    }
    fp_finite(sign, field as i32 - exponent_bias(format), TOP | fraction, 0)
}

/// Whether denormal numbers of a format are flushed to zero.
#[must_use]
#[inline(always)]
pub const fn is_flushed(format: Format, fpcr: u32) -> bool {
    fpcr & if format.exponent_bits == HALF.exponent_bits { FPCR_FZ16 } else { FPCR_FZ } != 0
}
