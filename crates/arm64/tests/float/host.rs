//! Comparison with the floating point of the host, and the operations that the reference computes on the host.

use kvrm_arm64::semantics::float::arithmetic::{FP_ADD, FP_DIV, FP_MUL, FP_SQRT, FP_SUB, fp_operation};
use kvrm_arm64::semantics::float::control::{FPCR_DN, FPCR_FZ, FPSR_IOC, FPSR_IXC, fp_rounding_mode};
use kvrm_arm64::semantics::float::format::{DOUBLE, Format, SINGLE};
use kvrm_arm64::semantics::float::host::fp_operation_on_host;
use kvrm_arm64::semantics::float::named::{fp_add, fp_div, fp_mul, fp_mul_add, fp_sqrt, fp_sub};
use kvrm_testkit::numbers::{float, floats};
use kvrm_testkit::random::Random;

use crate::is_nan;

/// Compares operations on random operands with the host. `host` returns the results in the order of `names`.
fn compare(format: Format, host: impl Fn(u64, u64, u64) -> [u64; 6]) {
    let edges = floats(format);
    let mut random = Random::new(5);
    for _ in 0..300_000 {
        let [x, y, z] = [(); 3].map(|()| float(format, &edges, &mut random));
        let actual = [
            fp_add(x, y, format, 0),
            fp_sub(x, y, format, 0),
            fp_mul(x, y, format, 0),
            fp_div(x, y, format, 0),
            fp_sqrt(x, format, 0),
            fp_mul_add(z, x, y, format, 0),
        ];
        let names = ["add", "sub", "mul", "div", "sqrt", "fused"];
        for ((name, actual), expected) in names.into_iter().zip(actual).zip(host(x, y, z)) {
            // Hosts differ in which NaN they return.
            let agree = actual.value == expected || is_nan(actual.value, format) && is_nan(expected, format);
            assert!(
                agree,
                "{name} of {x:#x}, {y:#x}, {z:#x}: {:#x}, and {expected:#x} on the host",
                actual.value
            );
        }
    }
}

#[test]
fn single_precision() {
    compare(SINGLE, |x, y, z| {
        let [x, y, z] = [x, y, z].map(|bits| f32::from_bits(bits as u32));
        [x + y, x - y, x * y, x / y, x.sqrt(), x.mul_add(y, z)].map(|result| result.to_bits().into())
    });
}

#[test]
fn double_precision() {
    compare(DOUBLE, |x, y, z| {
        let [x, y, z] = [x, y, z].map(f64::from_bits);
        [x + y, x - y, x * y, x / y, x.sqrt(), x.mul_add(y, z)].map(f64::to_bits)
    });
}

/// Checks that [`fp_operation_on_host`], where it returns a value, agrees with [`fp_operation`], and that the operation
/// then raises no exception that FPSR does not have yet.
fn compare_host_with_integers(format: Format) {
    const OPERATIONS: [u32; 4] = [FP_ADD, FP_SUB, FP_MUL, FP_DIV];
    let edges = floats(format);
    let mut random = Random::new(6);
    let ones = (1 << format.exponent_bits) - 1;
    let mut results = [0; OPERATIONS.len()];
    for _ in 0..500_000 {
        let x = float(format, &edges, &mut random);
        let mut y = float(format, &edges, &mut random);
        let field = |bits: u64| bits >> format.fraction_bits & ones;
        if random.below(2) == 0 {
            // Makes the product or the quotient about as large as the least or the largest number.
            let bias = ones / 2;
            let target = [0, ones][random.below(2) as usize] + random.below(5);
            let product = (target + bias).wrapping_sub(field(x));
            let quotient = (field(x) + bias).wrapping_sub(target);
            let near = if random.below(2) == 0 { product } else { quotient }.wrapping_sub(2) & ones;
            y = y & !(ones << format.fraction_bits) | near << format.fraction_bits;
        }
        let fpcr = [0, 0, 0, 1 << 22, 2 << 22, 3 << 22, FPCR_FZ, FPCR_DN][random.below(8) as usize];
        let fpsr = [0, FPSR_IXC, FPSR_IXC, FPSR_IXC | FPSR_IOC][random.below(4) as usize];
        for (operation, results) in OPERATIONS.into_iter().zip(&mut results) {
            let Some(value) = fp_operation_on_host(operation, [x, y], format, fpcr, fpsr) else { continue };
            let actual = fp_operation(operation, x, y, y, format, format, fp_rounding_mode(fpcr), fpcr);
            let what = format!("{operation} of {x:#x} and {y:#x}, FPCR {fpcr:#x}, FPSR {fpsr:#x}");
            assert_eq!((value, fpsr), (actual.value, fpsr | actual.fpsr), "{what}");
            *results += 1;
        }
    }
    assert!(
        results.into_iter().all(|count| count > 20_000),
        "the host computes too few results: {results:?}"
    );
}

#[test]
fn the_host_agrees_with_integers_in_single_precision() {
    compare_host_with_integers(SINGLE);
}

#[test]
fn the_host_agrees_with_integers_in_double_precision() {
    compare_host_with_integers(DOUBLE);
}

#[test]
fn the_host_does_not_compute_where_an_exception_is_possible() {
    let [one, three] = [1.0, 3.0].map(f64::to_bits);
    let ask = |operation, x, fpcr, fpsr| fp_operation_on_host(operation, [x, three], DOUBLE, fpcr, fpsr);
    assert_eq!(ask(FP_DIV, one, 0, FPSR_IXC), Some((1.0f64 / 3.0).to_bits()), "a third");
    assert_eq!(ask(FP_DIV, one, 0, 0), None, "a third that is the first inexact number");
    assert_eq!(ask(FP_DIV, one, 1 << 22, FPSR_IXC), None, "a third that is rounded up");
    assert_eq!(ask(FP_SQRT, one, 0, FPSR_IXC), None, "another operation");
    assert_eq!(ask(FP_ADD, f64::INFINITY.to_bits(), 0, FPSR_IXC), None, "infinity");
    assert_eq!(ask(FP_ADD, 1, 0, FPSR_IXC), None, "a denormal number, which may be flushed");
    assert_eq!(ask(FP_MUL, f64::MAX.to_bits(), 0, FPSR_IXC), None, "an overflow");
    assert_eq!(ask(FP_DIV, f64::MIN_POSITIVE.to_bits(), 0, FPSR_IXC), None, "an underflow");
}
