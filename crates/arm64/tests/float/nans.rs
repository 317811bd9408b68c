//! NaN propagation, rule by rule.

use kvrm_arm64::semantics::float::control::{FPCR_AHP, FPCR_DN, FPSR_IOC};
use kvrm_arm64::semantics::float::format::{DOUBLE, Format, HALF, SINGLE};
use kvrm_arm64::semantics::float::named::{
    Fixed, fp_add, fp_convert, fp_max, fp_max_num, fp_min_num, fp_mul, fp_mul_add, fp_mulx,
    fp_recip_step_fused, fp_sub, fp_to_fixed,
};
use kvrm_arm64::semantics::float::round::FpResult;

const ONE: u64 = 0x3f80_0000;
const INFINITY: u64 = 0x7f80_0000;
const DEFAULT: u64 = 0x7fc0_0000;
/// Quiet NaNs.
const QUIET: [u64; 3] = [0xffc0_0001, 0x7fc0_0002, 0xffc0_0003];
/// Signalling NaNs.
const SIGNALLING: [u64; 3] = [0x7f80_0011, 0xff80_0012, 0x7f80_0013];
/// The quiet NaNs that operations make of [`SIGNALLING`].
const QUIETED: [u64; 3] = [0x7fc0_0011, 0xffc0_0012, 0x7fc0_0013];

const fn valid(value: u64) -> FpResult {
    FpResult { value, fpsr: 0 }
}

const fn invalid(value: u64) -> FpResult {
    FpResult { value, fpsr: FPSR_IOC }
}

#[test]
fn the_first_signalling_nan_is_propagated_else_the_first_quiet_one() {
    let add = |x, y| fp_add(x, y, SINGLE, 0);
    assert_eq!(add(QUIET[0], ONE), valid(QUIET[0]), "the only one");
    assert_eq!(add(ONE, QUIET[1]), valid(QUIET[1]), "the only one");
    assert_eq!(add(QUIET[0], QUIET[1]), valid(QUIET[0]), "the first quiet one");
    assert_eq!(add(SIGNALLING[0], SIGNALLING[1]), invalid(QUIETED[0]), "the first signalling one");
    assert_eq!(add(QUIET[0], SIGNALLING[1]), invalid(QUIETED[1]), "the signalling one");
    assert_eq!(fp_sub(ONE, QUIET[0], SINGLE, 0), valid(QUIET[0]), "a difference keeps its sign");
    assert_eq!(fp_add(QUIET[0], SIGNALLING[1], SINGLE, FPCR_DN), invalid(DEFAULT), "with FPCR.DN");
    assert_eq!(fp_add(QUIET[0], ONE, SINGLE, FPCR_DN), valid(DEFAULT), "with FPCR.DN");
}

#[test]
fn nans_of_the_addend_come_before_nans_of_the_factors() {
    let fused = |addend, x, y| fp_mul_add(addend, x, y, SINGLE, 0);
    assert_eq!(fused(QUIET[0], QUIET[1], QUIET[2]), valid(QUIET[0]), "the addend");
    assert_eq!(fused(ONE, QUIET[1], QUIET[2]), valid(QUIET[1]), "the first factor");
    assert_eq!(fused(QUIET[0], QUIET[1], SIGNALLING[2]), invalid(QUIETED[2]), "the signalling one");
    assert_eq!(fused(QUIET[0], SIGNALLING[1], SIGNALLING[2]), invalid(QUIETED[1]), "the first of these");
}

#[test]
fn infinity_times_zero_beats_a_quiet_addend_only() {
    let fused = |addend, x, y| fp_mul_add(addend, x, y, SINGLE, 0);
    assert_eq!(fused(QUIET[0], INFINITY, 0), invalid(DEFAULT), "a quiet addend");
    assert_eq!(fused(QUIET[0], 0, INFINITY), invalid(DEFAULT), "in any order");
    assert_eq!(fused(SIGNALLING[0], 0, INFINITY), invalid(QUIETED[0]), "a signalling addend");
    assert_eq!(fused(ONE, 0, INFINITY), invalid(DEFAULT), "a number");
    assert_eq!(fp_mul(INFINITY, 0, SINGLE, 0), invalid(DEFAULT), "a product alone");
    assert_eq!(fp_mulx(INFINITY, 1 << 31, SINGLE, 0), valid(0xc000_0000), "but two for FMULX");
    assert_eq!(fp_recip_step_fused(INFINITY, 0, SINGLE, 0), valid(0x4000_0000), "and for FRECPS");
}

#[test]
fn steps_change_the_sign_of_their_first_operand_even_if_it_is_a_nan() {
    let step = |x, y| fp_recip_step_fused(x, y, SINGLE, 0);
    assert_eq!(step(QUIET[0], ONE), valid(QUIET[0] ^ 1 << 31), "the first");
    assert_eq!(step(ONE, QUIET[0]), valid(QUIET[0]), "the second");
}

#[test]
fn the_larger_number_is_preferred_to_a_quiet_nan_and_not_to_a_signalling_one() {
    assert_eq!(fp_max(ONE, QUIET[0], SINGLE, 0), valid(QUIET[0]), "FMAX propagates the NaN");
    for select in [fp_max_num, fp_min_num] {
        assert_eq!(select(ONE, QUIET[0], SINGLE, 0), valid(ONE), "a quiet one is missing data");
        assert_eq!(select(QUIET[0], ONE, SINGLE, 0), valid(ONE), "in any order");
        assert_eq!(select(QUIET[0], QUIET[1], SINGLE, 0), valid(QUIET[0]), "two are not");
        assert_eq!(select(QUIET[0], SIGNALLING[1], SINGLE, 0), invalid(QUIETED[1]), "a signalling one");
        assert_eq!(select(ONE, SIGNALLING[1], SINGLE, 0), invalid(QUIETED[1]), "a signalling one");
    }
}

#[test]
fn conversion_keeps_the_top_of_a_nan() {
    let convert = |x, from: Format, to: Format, fpcr| fp_convert(x, from, to, 0, fpcr);
    assert_eq!(convert(0xffc0_2001, SINGLE, HALF, 0), valid(0xfe01), "cut");
    assert_eq!(convert(0xffc0_0001, SINGLE, DOUBLE, 0), valid(0xfff8_0000_2000_0000), "extended");
    assert_eq!(convert(0xff80_0001, SINGLE, HALF, 0), invalid(0xfe00), "made quiet");
    assert_eq!(convert(0xff80_0001, SINGLE, HALF, FPCR_DN), invalid(0x7e00), "with FPCR.DN");
    assert_eq!(convert(QUIET[0], SINGLE, HALF, FPCR_AHP), invalid(0x8000), "zero in a format without NaNs");
    assert_eq!(convert(QUIET[0], SINGLE, HALF, FPCR_AHP | FPCR_DN), invalid(0x8000), "of its own sign");
    const WORD: Fixed = Fixed { fbits: 0, intsize: 32, unsigned: false };
    assert_eq!(fp_to_fixed(QUIET[0], WORD, 0, SINGLE, 0), invalid(0), "and as an integer");
}
