//! The alternative half precision: no infinities and no NaNs.

use kvrm_arm64::semantics::float::control::{FPCR_AHP, FPSR_IOC, FPSR_IXC, ROUND_TIE_EVEN, ROUND_ZERO};
use kvrm_arm64::semantics::float::format::{DOUBLE, HALF, SINGLE};
use kvrm_arm64::semantics::float::named::fp_convert;
use kvrm_arm64::semantics::float::round::FpResult;

/// Returns the value of a number of alternative half precision, by definition.
fn number(half: u64) -> f64 {
    let sign = if half >> 15 == 0 { 1.0 } else { -1.0 };
    let (field, fraction) = (half >> 10 & 31, (half & 1023) as f64 / 1024.0);
    let magnitude = if field == 0 { fraction * 2.0 } else { 1.0 + fraction };
    sign * magnitude * f64::powi(2.0, field as i32 - 15)
}

#[test]
fn all_bit_patterns_are_finite_numbers() {
    for half in 0..1 << 16 {
        let exact = |value| FpResult { value, fpsr: 0 };
        let double = number(half).to_bits();
        assert_eq!(fp_convert(half, HALF, DOUBLE, ROUND_TIE_EVEN, FPCR_AHP), exact(double), "{half:#x}");
        assert_eq!(fp_convert(double, DOUBLE, HALF, ROUND_TIE_EVEN, FPCR_AHP), exact(half), "{half:#x}");
    }
}

#[test]
fn too_large_numbers_raise_invalid_operation() {
    let largest = |sign: u64| FpResult { value: sign | 0x7fff, fpsr: FPSR_IOC };
    for rounding in ROUND_TIE_EVEN..=ROUND_ZERO {
        let convert = |single: f32| fp_convert(single.to_bits().into(), SINGLE, HALF, rounding, FPCR_AHP);
        assert_eq!(convert(f32::INFINITY), largest(0), "infinity");
        assert_eq!(convert(f32::NEG_INFINITY), largest(0x8000), "minus infinity");
        assert_eq!(convert(131_072.0), largest(0), "the next power of two");
        assert_eq!(convert(-1e9), largest(0x8000), "far off");
    }
    let convert = |single: f32| fp_convert(single.to_bits().into(), SINGLE, HALF, ROUND_ZERO, FPCR_AHP);
    assert_eq!(convert(131_071.0), FpResult { value: 0x7fff, fpsr: FPSR_IXC }, "rounded to the largest");
}
