//! Comparison with the floating point of the host, and the operations that the reference computes on the host.

use kvrm_arm64::semantics::float::arithmetic::{FP_ADD, FP_DIV, FP_MUL, FP_SUB};
use kvrm_arm64::semantics::float::control::{
    FPCR_DN, FPCR_FZ, FPSR_IXC, ROUND_NEGATIVE, ROUND_ODD, ROUND_POSITIVE, ROUND_TIE_AWAY, ROUND_TIE_EVEN,
    ROUND_ZERO,
};
use kvrm_arm64::semantics::float::format::{DOUBLE, Format, SINGLE};
use kvrm_arm64::semantics::float::host::arithmetic::{
    careful, careful_fused, careful_roots, quick, quick_fused, quick_roots,
};
use kvrm_arm64::semantics::float::host::convert;
use kvrm_arm64::semantics::float::host::number::HostFloat;
use kvrm_arm64::semantics::float::named::{self, Fixed, fp_add, fp_div, fp_mul, fp_mul_add, fp_sqrt, fp_sub};
use kvrm_arm64::semantics::float::order;
use kvrm_testkit::numbers::{float, floats};
use kvrm_testkit::random::Random;

use crate::{is_nan, sign_bit};

/// The operations that are compared.
const NAMES: [&str; 6] = ["add", "sub", "mul", "div", "sqrt", "fused"];

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
        for ((name, actual), expected) in NAMES.into_iter().zip(actual).zip(host(x, y, z)) {
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

/// Returns random operands of sums, products and quotients: `x`, `y`, and an addend.
fn operands(format: Format, edges: &[u64], random: &mut Random) -> [u64; 3] {
    let [x, mut y, z] = [(); 3].map(|()| float(format, edges, random));
    let ones = (1 << format.exponent_bits) - 1;
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
    // An addend that all but cancels the product, or any.
    let product = fp_mul(x, y, format, 0).value;
    let addend =
        if random.below(2) == 0 { product.wrapping_add(random.below(3)) ^ sign_bit(format) } else { z };
    [x, y, addend & (sign_bit(format) | (sign_bit(format) - 1))]
}

/// Checks that operations on the host, where they return results, agree with integers.
fn compare_host_with_integers<F: HostFloat>() {
    let (format, mut random, edges) = (F::FORMAT, Random::new(6), floats(F::FORMAT));
    let mut counts = [[0; 6]; 2];
    for _ in 0..500_000 {
        let [x, y, addend] = operands(format, &edges, &mut random);
        let [a, b, c] = [x, y, addend].map(|bits| [F::of(bits)]);
        let careful_fpcr = *random.pick(&[0, 1 << 22, 2 << 22, 3 << 22, FPCR_FZ, FPCR_DN]);
        let quick_fpcr = *random.pick(&[0, FPCR_DN]);
        let careful = [
            careful::<FP_ADD, F, 1>(a, b, careful_fpcr),
            careful::<FP_SUB, F, 1>(a, b, careful_fpcr),
            careful::<FP_MUL, F, 1>(a, b, careful_fpcr),
            careful::<FP_DIV, F, 1>(a, b, careful_fpcr),
            careful_roots(a, careful_fpcr),
            careful_fused(c, a, b, careful_fpcr),
        ];
        let quick = [
            quick::<FP_ADD, F, 1>(a, b),
            quick::<FP_SUB, F, 1>(a, b),
            quick::<FP_MUL, F, 1>(a, b),
            quick::<FP_DIV, F, 1>(a, b),
            quick_roots(a),
            quick_fused(c, a, b),
        ];
        // Quick functions are called if FPSR.IXC is set already.
        let quick = quick.map(|results| results.map(|results| (results, FPSR_IXC)));
        for (way, (fpcr, fpsr, outcomes)) in
            [(careful_fpcr, 0, careful), (quick_fpcr, FPSR_IXC, quick)].into_iter().enumerate()
        {
            let expected = [
                fp_add(x, y, format, fpcr),
                fp_sub(x, y, format, fpcr),
                fp_mul(x, y, format, fpcr),
                fp_div(x, y, format, fpcr),
                fp_sqrt(x, format, fpcr),
                fp_mul_add(addend, x, y, format, fpcr),
            ];
            for (operation, (outcome, expected)) in outcomes.into_iter().zip(expected).enumerate() {
                let Some(([actual], exceptions)) = outcome else { continue };
                assert_eq!(
                    (actual.pattern(), exceptions),
                    (expected.value, expected.fpsr | fpsr),
                    "{} of {x:#x}, {y:#x} and {addend:#x}, FPCR {fpcr:#x}, FPSR {fpsr:#x}",
                    NAMES[operation]
                );
                counts[way][operation] += 1;
            }
        }
    }
    assert!(
        counts.as_flattened().iter().all(|count| *count > 10_000),
        "the host computes too few results: {counts:?}"
    );
}

#[test]
fn the_host_agrees_with_integers_in_single_precision() {
    compare_host_with_integers::<f32>();
}

#[test]
fn the_host_agrees_with_integers_in_double_precision() {
    compare_host_with_integers::<f64>();
}

/// Fused products in single precision whose sum, rounded to double precision, is halfway between two numbers.
#[test]
fn fused_products_are_rounded_once() {
    let mut refused = 0;
    let mut random = Random::new(7);
    for _ in 0..200_000 {
        // 1 + 2^-24, and a term that is too small for double precision: the sum of 1 and these is above halfway, or below.
        let [x, y] = [1.0 + random.below(8) as f32 * 2_f32.powi(-23), 2_f32.powi(-(random.below(40) as i32))];
        let addend =
            2_f32.powi(random.below(60) as i32 - 30) * (1.0 + random.below(4) as f32 * 2_f32.powi(-23));
        let [x, y] = if random.below(2) == 0 { [x, y] } else { [-x, y] };
        let [a, b, c] = [x, y, addend].map(|number| u64::from(number.to_bits()));
        match quick_fused([addend], [x], [y]) {
            Some([sum]) => assert_eq!(
                u64::from(sum.to_bits()),
                fp_mul_add(c, a, b, SINGLE, 0).value,
                "{addend:e} + {x:e} * {y:e}"
            ),
            None => refused += 1,
        }
    }
    assert!((100..100_000).contains(&refused), "{refused} sums are halfway");
}

#[test]
fn the_host_tells_which_results_are_exact() {
    let ask = |x: f64, y: f64| careful::<FP_MUL, f64, 1>([x], [y], 0);
    assert_eq!(ask(3.0, 5.0), Some(([15.0], 0)), "integers");
    assert_eq!(ask(0.1, 0.5), Some(([0.05], 0)), "half of a number");
    assert_eq!(ask(0.1, 3.0), Some(([0.1 * 3.0], FPSR_IXC)), "a number times three");
    assert_eq!(ask(-0.0, 0.1), Some(([-0.0], 0)), "zero");
    let ask = |x: f64, y: f64| careful::<FP_DIV, f64, 1>([x], [y], 0);
    assert_eq!(ask(15.0, 5.0), Some(([3.0], 0)), "an integer");
    assert_eq!(ask(1.0, 3.0), Some(([1.0 / 3.0], FPSR_IXC)), "a third");
    let ask = |x: f64, y: f64| careful::<FP_ADD, f64, 1>([x], [y], 0);
    assert_eq!(ask(1.0, f64::EPSILON), Some(([1.0 + f64::EPSILON], 0)), "the next number");
    assert_eq!(ask(1.0, f64::EPSILON / 4.0), Some(([1.0], FPSR_IXC)), "less than half of the way");
    assert_eq!(careful_roots([6.25], 0), Some(([2.5], 0)), "a square");
    assert_eq!(careful_roots([2.0], 0), Some(([2_f64.sqrt()], FPSR_IXC)), "no square");
    assert_eq!(careful_fused([0.5], [3.0], [5.0], 0), Some(([15.5], 0)), "a fused sum of short numbers");
    assert_eq!(careful_fused([0.5], [0.1], [0.1], 0), None, "a fused sum of others");
}

#[test]
fn the_host_does_not_compute_where_another_exception_is_possible() {
    let fpcr_up = 1 << 22;
    assert_eq!(careful::<FP_DIV, f64, 1>([1.0], [3.0], fpcr_up), None, "a third that is rounded up");
    let least = f64::MIN_POSITIVE;
    assert_eq!(
        careful::<FP_ADD, f64, 1>([least / 2.0], [1.0], 0),
        None,
        "a denormal number that may be flushed"
    );
    assert_eq!(
        careful::<FP_SUB, f64, 1>([least * 1.5], [least], 0),
        None,
        "a difference that may be flushed"
    );
    for (what, result) in [
        ("infinity", quick::<FP_ADD, f64, 1>([f64::INFINITY], [3.0])),
        ("a NaN", quick::<FP_ADD, f64, 1>([f64::NAN], [3.0])),
        ("an overflow", quick::<FP_MUL, f64, 1>([f64::MAX], [3.0])),
        ("a product that is zero", quick::<FP_MUL, f64, 1>([least], [least])),
        ("the least normal number", quick::<FP_MUL, f64, 1>([least], [1.0 - f64::EPSILON / 2.0])),
        ("a quotient by zero", quick::<FP_DIV, f64, 1>([1.0], [0.0])),
        ("a quotient that is zero", quick::<FP_DIV, f64, 1>([least], [f64::MAX])),
        ("a root of a negative number", quick_roots([-1.0])),
        ("a fused sum that is zero", quick_fused([-1.0], [1.0], [1.0])),
    ] {
        assert_eq!(result, None, "{what}");
    }
    assert_eq!(quick::<FP_MUL, f64, 1>([least], [0.0]), Some([0.0]), "a product with zero");
    assert_eq!(
        quick::<FP_SUB, f64, 1>([least * 1.5], [least]),
        Some([least / 2.0]),
        "a tiny difference is exact"
    );
}

/// Checks that conversions and comparisons of a number agree with those of `named`, and returns how many the quick
/// functions computed.
fn compare_conversions(x: u64, y: u64, format: Format, fpcr: u32, fixed: Fixed) -> [bool; 6] {
    let other = if format == SINGLE { DOUBLE } else { SINGLE };
    let modes = [ROUND_TIE_EVEN, ROUND_POSITIVE, ROUND_NEGATIVE, ROUND_ZERO, ROUND_TIE_AWAY, ROUND_ODD];
    let mode = modes[(x ^ y) as usize % modes.len()];
    let exact = y & 1 == 0;
    let pairs = [
        (convert::fp_convert(x, format, other, mode), named::fp_convert(x, format, other, mode, fpcr)),
        (convert::fp_to_fixed(x, fixed, mode, format), named::fp_to_fixed(x, fixed, mode, format, fpcr)),
        (convert::fixed_to_fp(x, fixed, format, fpcr), named::fixed_to_fp(x, fixed, format, fpcr)),
        (convert::fp_round_int(x, format, mode, exact), named::fp_round_int(x, format, mode, exact, fpcr)),
        (order::fp_compare(x, y, format, fpcr), named::fp_compare(x, y, exact, format, fpcr)),
        (
            order::fp_extremum(x, y, exact, format, fpcr),
            if exact { named::fp_min_num(x, y, format, fpcr) } else { named::fp_max(x, y, format, fpcr) },
        ),
    ];
    let mut is_quick = [false; 6];
    for (index, (quick, expected)) in pairs.into_iter().enumerate() {
        if let Some(quick) = quick {
            let what = ["convert", "to fixed", "from fixed", "round", "compare", "extremum"][index];
            assert_eq!(
                quick, expected,
                "{what} {x:#x}, {y:#x}, FPCR {fpcr:#x}, mode {mode}, {fixed:?}, {format:?}"
            );
            is_quick[index] = true;
        }
    }
    is_quick
}

/// Returns a random format of integers or fixed-point numbers.
fn any_fixed(random: &mut Random) -> Fixed {
    let intsize = *random.pick(&[16, 32, 64]);
    let fbits = if random.below(2) == 0 { 0 } else { random.below(u64::from(intsize) + 1) as u32 };
    Fixed { fbits, intsize, unsigned: random.below(2) == 0 }
}

#[test]
fn quick_conversions_and_comparisons_agree_with_the_others() {
    let mut random = Random::new(8);
    for format in [SINGLE, DOUBLE] {
        let edges = floats(format);
        let mut counts = [0; 6];
        for _ in 0..1_000_000 {
            let x = if random.below(4) == 0 {
                // An integer or half of one.
                let integer = (random.bits() >> random.below(64)) as i64 as f64 / 2.0;
                if format == SINGLE { (integer as f32).to_bits().into() } else { integer.to_bits() }
            } else {
                float(format, &edges, &mut random)
            };
            let y = match random.below(3) {
                0 => x,
                1 => x ^ sign_bit(format),
                _ => float(format, &edges, &mut random),
            };
            let fpcr = *random.pick(&[0, 1 << 22, 2 << 22, 3 << 22, FPCR_FZ, FPCR_DN]);
            let is_quick = compare_conversions(x, y, format, fpcr, any_fixed(&mut random));
            for (count, is_quick) in counts.iter_mut().zip(is_quick) {
                *count += usize::from(is_quick);
            }
        }
        assert!(
            counts.iter().all(|count| *count > 50_000),
            "quick functions compute too few results: {counts:?}"
        );
    }
}

/// One number of single precision in 4093 with all signs, exponents and ends of fractions, or with `KVRM_NUMBERS=1` each.
#[test]
fn all_numbers_of_single_precision_are_converted_and_rooted_as_integers_do() {
    let step = std::env::var("KVRM_NUMBERS").map_or(4093, |step| step.parse().expect("a number"));
    let mut random = Random::new(9);
    for x in (0..1_u64 << 32).step_by(step) {
        let y = random.bits() & 0xffff_ffff;
        let fixed = any_fixed(&mut random);
        compare_conversions(x, y, SINGLE, 0, fixed);
        let root = fp_sqrt(x, SINGLE, 0);
        if let Some(([actual], fpsr)) = careful_roots([f32::of(x)], 0) {
            assert_eq!((actual.pattern(), fpsr), (root.value, root.fpsr), "the root of {x:#x}");
        }
        if let Some([actual]) = quick_roots([f32::of(x)]) {
            assert_eq!((actual.pattern(), root.fpsr & !FPSR_IXC), (root.value, 0), "the root of {x:#x}");
        }
    }
}
