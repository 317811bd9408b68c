//! Comparison with LLVM's floating point, which compilers use to fold constants: results and flags of all operations
//! that LLVM has, for operands that are not NaNs.

use kvrm_arm64::semantics::float::control::{
    FPSR_DZC, FPSR_IOC, FPSR_IXC, FPSR_OFC, FPSR_UFC, ROUND_TIE_AWAY,
};
use kvrm_arm64::semantics::float::format::{DOUBLE, Format, HALF, SINGLE};
use kvrm_arm64::semantics::float::named::{
    Fixed, fixed_to_fp, fp_add, fp_compare, fp_convert, fp_div, fp_mul, fp_mul_add, fp_round_int, fp_sub,
    fp_to_fixed,
};
use kvrm_arm64::semantics::float::round::FpResult;
use kvrm_testkit::numbers::{float, floats};
use kvrm_testkit::random::Random;
use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status, StatusAnd};

use crate::{ROUNDINGS, for_each, for_pairs, fpcr, is_nan, sign_bit};

/// A floating-point type of LLVM.
trait LlvmFloat: Float + FloatConvert<Half> + FloatConvert<Single> + FloatConvert<Double> {
    const FORMAT: Format;

    fn of(word: u64) -> Self {
        Self::from_bits(word.into())
    }
}

impl LlvmFloat for Half {
    const FORMAT: Format = HALF;
}

impl LlvmFloat for Single {
    const FORMAT: Format = SINGLE;
}

impl LlvmFloat for Double {
    const FORMAT: Format = DOUBLE;
}

/// Returns LLVM's rounding mode for one of FPCR or `ROUND_TIE_AWAY`.
const fn mode(rounding: u32) -> Round {
    match rounding {
        0 => Round::NearestTiesToEven,
        1 => Round::TowardPositive,
        2 => Round::TowardNegative,
        3 => Round::TowardZero,
        _ => Round::NearestTiesToAway,
    }
}

/// Returns the bits of FPSR for LLVM's status, without underflow.
const fn flags(status: Status) -> u32 {
    let mut fpsr = 0;
    let bits = [
        (Status::INVALID_OP, FPSR_IOC),
        (Status::DIV_BY_ZERO, FPSR_DZC),
        (Status::OVERFLOW, FPSR_OFC),
        (Status::INEXACT, FPSR_IXC),
    ];
    let mut index = 0;
    while index < bits.len() {
        if status.contains(bits[index].0) {
            fpsr |= bits[index].1;
        }
        index += 1;
    }
    fpsr
}

/// Returns LLVM's result of an operation with the conventions of Arm. `actual` is the result of KVRM.
fn llvm_result<T: Float>(
    actual: FpResult,
    rounding: u32,
    compute: impl Fn(Round) -> StatusAnd<T>,
) -> FpResult {
    let result = compute(mode(rounding));
    if result.value.is_nan() {
        let default = T::qnan(None).to_bits() as u64 & !(1 << (T::BITS - 1));
        return FpResult { value: default, fpsr: flags(result.status) };
    }
    // LLVM detects underflow after rounding, Arm before. A result is tiny before rounding if it is tiny when rounded
    // towards zero.
    let cut = compute(Round::TowardZero);
    let is_tiny = !cut.value.is_normal() && cut.value.is_finite();
    let is_underflow = is_tiny && cut.status.contains(Status::INEXACT);
    let mut fpsr = flags(result.status) | if is_underflow { FPSR_UFC } else { 0 };
    // LLVM does not report an overflow if the result is the largest number. Arm does if the exact result is at least
    // the next power of two, which only a format with a larger exponent could show. So OFC is taken from `actual`.
    let is_largest = result.value.is_largest() || (-result.value).is_largest();
    if is_largest && result.status.contains(Status::INEXACT) {
        fpsr |= actual.fpsr & FPSR_OFC;
    }
    FpResult { value: result.value.to_bits() as u64, fpsr }
}

fn two_operands<T: LlvmFloat>() {
    for rounding in ROUNDINGS {
        let fpcr = fpcr(rounding);
        for_pairs(T::FORMAT, 50_000, |x, y| {
            if is_nan(x, T::FORMAT) || is_nan(y, T::FORMAT) {
                return;
            }
            let (a, b) = (T::of(x), T::of(y));
            let check = |name, actual, compute: &dyn Fn(Round) -> StatusAnd<T>| {
                let expected = llvm_result(actual, rounding, compute);
                assert_eq!(actual, expected, "{name} of {x:#x} and {y:#x}, {:?}", mode(rounding));
            };
            check("add", fp_add(x, y, T::FORMAT, fpcr), &|mode| a.add_r(b, mode));
            check("sub", fp_sub(x, y, T::FORMAT, fpcr), &|mode| a.sub_r(b, mode));
            check("mul", fp_mul(x, y, T::FORMAT, fpcr), &|mode| a.mul_r(b, mode));
            check("div", fp_div(x, y, T::FORMAT, fpcr), &|mode| a.div_r(b, mode));
        });
    }
}

#[test]
fn sums_products_and_quotients() {
    two_operands::<Half>();
    two_operands::<Single>();
    two_operands::<Double>();
}

fn three_operands<T: LlvmFloat>() {
    let edges = floats(T::FORMAT);
    let mut random = Random::new(7);
    for rounding in ROUNDINGS {
        for index in 0..150_000 {
            let mut number = || match index % 2 {
                0 => *random.pick(&edges),
                _ => float(T::FORMAT, &edges, &mut random),
            };
            let (mut addend, x, y) = (number(), number(), number());
            // The addend often cancels almost all of the product.
            if index % 4 < 2 {
                let product = fp_mul(x, y, T::FORMAT, 0).value ^ sign_bit(T::FORMAT);
                let all = sign_bit(T::FORMAT) | (sign_bit(T::FORMAT) - 1);
                addend = product.wrapping_add(random.below(3)).wrapping_sub(1) & all;
            }
            if [addend, x, y].iter().any(|&operand| is_nan(operand, T::FORMAT)) {
                continue;
            }
            let actual = fp_mul_add(addend, x, y, T::FORMAT, fpcr(rounding));
            let expected =
                llvm_result(actual, rounding, |mode| T::of(x).mul_add_r(T::of(y), T::of(addend), mode));
            assert_eq!(actual, expected, "{addend:#x} plus {x:#x} times {y:#x}, {:?}", mode(rounding));
        }
    }
}

#[test]
fn fused_multiplication_and_addition() {
    three_operands::<Half>();
    three_operands::<Single>();
    three_operands::<Double>();
}

fn nearest_integers<T: LlvmFloat>() {
    for rounding in ROUNDINGS.into_iter().chain([ROUND_TIE_AWAY]) {
        for_each(T::FORMAT, 100_000, |x| {
            if is_nan(x, T::FORMAT) {
                return;
            }
            let nearest = T::of(x).round_to_integral(mode(rounding)).value.to_bits() as u64;
            let inexact = if nearest == x { 0 } else { FPSR_IXC };
            for (exact, fpsr) in [(false, 0), (true, inexact)] {
                let actual = fp_round_int(x, T::FORMAT, rounding, exact, 0);
                let expected = FpResult { value: nearest, fpsr };
                assert_eq!(actual, expected, "integer near {x:#x}, {:?}, exact: {exact}", mode(rounding));
            }
        });
    }
}

#[test]
fn rounding_to_integers() {
    nearest_integers::<Half>();
    nearest_integers::<Single>();
    nearest_integers::<Double>();
}

fn to_format<T: LlvmFloat + FloatConvert<U>, U: LlvmFloat>() {
    for rounding in ROUNDINGS {
        for_each(T::FORMAT, 200_000, |x| {
            if is_nan(x, T::FORMAT) {
                return;
            }
            let actual = fp_convert(x, T::FORMAT, U::FORMAT, rounding, 0);
            let expected = llvm_result(actual, rounding, |mode| -> StatusAnd<U> {
                T::of(x).convert_r(mode, &mut false)
            });
            assert_eq!(actual, expected, "{x:#x} as {:?}, {:?}", U::FORMAT, mode(rounding));
        });
    }
}

#[test]
fn conversion_between_formats() {
    to_format::<Half, Single>();
    to_format::<Half, Double>();
    to_format::<Single, Half>();
    to_format::<Single, Double>();
    to_format::<Double, Half>();
    to_format::<Double, Single>();
}

fn to_integers<T: LlvmFloat>() {
    for rounding in ROUNDINGS.into_iter().chain([ROUND_TIE_AWAY]) {
        for_each(T::FORMAT, 50_000, |x| {
            if is_nan(x, T::FORMAT) {
                return;
            }
            let mode = mode(rounding);
            for (intsize, unsigned) in
                [(32, true), (32, false), (64, true), (64, false), (16, true), (16, false)]
            {
                let actual = fp_to_fixed(x, Fixed { fbits: 0, intsize, unsigned }, rounding, T::FORMAT, 0);
                let (status, value) = if unsigned {
                    let result = T::of(x).to_u128_r(intsize as usize, mode, &mut false);
                    (result.status, result.value as u64)
                } else {
                    let result = T::of(x).to_i128_r(intsize as usize, mode, &mut false);
                    (result.status, result.value as u64 & (u64::MAX >> (64 - intsize)))
                };
                let expected = FpResult { value, fpsr: flags(status) };
                assert_eq!(actual, expected, "{x:#x} in {intsize} bits, unsigned: {unsigned}, {mode:?}");
            }
        });
    }
}

#[test]
fn conversion_to_integers() {
    to_integers::<Half>();
    to_integers::<Single>();
    to_integers::<Double>();
}

fn of_integers<T: LlvmFloat>() {
    let mut random = Random::new(11);
    for rounding in ROUNDINGS {
        for _ in 0..100_000 {
            // The integers have any length and are often halfway between two numbers.
            let zeros = random.below(64);
            let x = (random.bits() >> random.below(64) >> zeros << zeros).wrapping_add(random.below(3));
            let check = |intsize, unsigned, compute: &dyn Fn(Round) -> StatusAnd<T>| {
                let actual = fixed_to_fp(x, Fixed { fbits: 0, intsize, unsigned }, T::FORMAT, fpcr(rounding));
                let expected = llvm_result(actual, rounding, compute);
                assert_eq!(
                    actual,
                    expected,
                    "{x:#x} of {intsize} bits, unsigned: {unsigned}, {:?}",
                    mode(rounding)
                );
            };
            check(32, true, &|mode| T::from_u128_r(u128::from(x as u32), mode));
            check(32, false, &|mode| T::from_i128_r(i128::from(x as i32), mode));
            check(64, true, &|mode| T::from_u128_r(u128::from(x), mode));
            check(64, false, &|mode| T::from_i128_r(i128::from(x as i64), mode));
        }
    }
}

#[test]
fn conversion_of_integers() {
    of_integers::<Half>();
    of_integers::<Single>();
    of_integers::<Double>();
}

fn comparisons<T: LlvmFloat>() {
    for_pairs(T::FORMAT, 100_000, |x, y| {
        let nzcv = match T::of(x).partial_cmp(&T::of(y)) {
            Some(std::cmp::Ordering::Less) => 0b1000,
            Some(std::cmp::Ordering::Equal) => 0b0110,
            Some(std::cmp::Ordering::Greater) => 0b0010,
            None => 0b0011,
        };
        let is_signalling = T::of(x).is_signaling() || T::of(y).is_signaling();
        for signal_nans in [false, true] {
            let fpsr = if is_signalling || signal_nans && nzcv == 0b0011 { FPSR_IOC } else { 0 };
            let actual = fp_compare(x, y, signal_nans, T::FORMAT, 0);
            assert_eq!(
                actual,
                FpResult { value: nzcv, fpsr },
                "{x:#x} and {y:#x}, signalling: {signal_nans}"
            );
        }
    });
}

#[test]
fn comparison() {
    comparisons::<Half>();
    comparisons::<Single>();
    comparisons::<Double>();
}
