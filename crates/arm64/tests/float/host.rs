//! The host's own numbers, where they are not NaNs.

use kvrm_arm64::semantics::float::format::{DOUBLE, Format, SINGLE};
use kvrm_arm64::semantics::float::named::{fp_add, fp_div, fp_mul, fp_mul_add, fp_sqrt, fp_sub};
use kvrm_testkit::inputs::{float, floats};
use kvrm_testkit::random::Random;

use crate::is_nan;

/// Random operands of every operation, and what the host makes of them.
fn compare(format: Format, host: impl Fn(u64, u64, u64) -> [u64; 6]) {
    let edges = floats(format);
    let mut random = Random::new(5);
    for _ in 0..300_000 {
        let [x, y, z] = [(); 3].map(|()| float(format, &edges, &mut random));
        let ours = [
            fp_add(x, y, format, 0),
            fp_sub(x, y, format, 0),
            fp_mul(x, y, format, 0),
            fp_div(x, y, format, 0),
            fp_sqrt(x, format, 0),
            fp_mul_add(z, x, y, format, 0),
        ];
        let names = ["add", "sub", "mul", "div", "sqrt", "fused"];
        for ((name, ours), theirs) in names.into_iter().zip(ours).zip(host(x, y, z)) {
            // Which NaN an operation gives is the host's own affair.
            let agree = ours.value == theirs || is_nan(ours.value, format) && is_nan(theirs, format);
            assert!(agree, "{name} of {x:#x}, {y:#x}, {z:#x}: {:#x}, and {theirs:#x} here", ours.value);
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
