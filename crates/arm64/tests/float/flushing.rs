//! `FPCR.FZ`: denormal operands and results are flushed to zero.

use kvrm_arm64::semantics::float::control::{
    FPCR_FZ, FPSR_DZC, FPSR_IDC, FPSR_IXC, FPSR_UFC, ROUND_TIE_EVEN,
};
use kvrm_arm64::semantics::float::format::{HALF, SINGLE};
use kvrm_arm64::semantics::float::named::{
    fp_add, fp_compare, fp_convert, fp_div, fp_mul, fp_recip_estimate, fp_round_int, fp_sub,
};
use kvrm_arm64::semantics::float::round::FpResult;

const MINUS: u64 = 1 << 31;
const ONE: u64 = 0x3f80_0000;
const SMALLEST_NORMAL: u64 = 0x80_0000;
const DENORMAL: u64 = 0x7f_ffff;

#[test]
fn operands_are_flushed() {
    let result = |value, fpsr| FpResult { value, fpsr };
    assert_eq!(fp_add(DENORMAL, ONE, SINGLE, FPCR_FZ), result(ONE, FPSR_IDC), "and nothing is inexact");
    assert_eq!(
        fp_div(ONE, MINUS | DENORMAL, SINGLE, FPCR_FZ),
        result(0xff80_0000, FPSR_IDC | FPSR_DZC),
        "divided by"
    );
    assert_eq!(
        fp_compare(DENORMAL, MINUS, false, SINGLE, FPCR_FZ),
        result(0b0110, FPSR_IDC),
        "equal to zero"
    );
    assert_eq!(
        fp_round_int(DENORMAL, SINGLE, ROUND_TIE_EVEN, true, FPCR_FZ),
        result(0, FPSR_IDC),
        "an integer"
    );
    let quiet = 0x7fc0_0001;
    assert_eq!(fp_add(DENORMAL, quiet, SINGLE, FPCR_FZ), result(quiet, FPSR_IDC), "even beside a NaN");
}

#[test]
fn results_are_flushed_before_they_are_rounded() {
    let flushed = |value| FpResult { value, fpsr: FPSR_UFC };
    let difference = fp_sub(SMALLEST_NORMAL, SMALLEST_NORMAL + 1, SINGLE, FPCR_FZ);
    assert_eq!(difference, flushed(MINUS), "an exact result, of its sign");
    // Just below the smallest normal number, to which it would be rounded.
    let product = fp_mul(SMALLEST_NORMAL, ONE - 1, SINGLE, FPCR_FZ);
    assert_eq!(product, flushed(0), "a result that is tiny before it is rounded");
    let without = FpResult { value: SMALLEST_NORMAL, fpsr: FPSR_UFC | FPSR_IXC };
    assert_eq!(fp_mul(SMALLEST_NORMAL, ONE - 1, SINGLE, 0), without, "the same with FZ clear");
    assert_eq!(fp_recip_estimate(0x7e80_0001, SINGLE, FPCR_FZ), flushed(0), "an estimate");
}

#[test]
fn half_precision_is_never_flushed() {
    let to_single = fp_convert(0x0001, HALF, SINGLE, ROUND_TIE_EVEN, FPCR_FZ);
    assert_eq!(to_single, FpResult { value: 0x3380_0000, fpsr: 0 }, "as an operand");
    let to_half = fp_convert(0x3380_0000, SINGLE, HALF, ROUND_TIE_EVEN, FPCR_FZ);
    assert_eq!(to_half, FpResult { value: 0x0001, fpsr: 0 }, "as a result");
}
