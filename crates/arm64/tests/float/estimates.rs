//! Estimates, compared with their definitions in the manual.

use kvrm_arm64::semantics::float::estimate::{
    recip_estimate, recip_sqrt_estimate, unsigned_recip_estimate, unsigned_rsqrt_estimate,
};

#[test]
fn reciprocals_are_nearest_to_the_middle_of_an_interval() {
    for a in 256..512_u32 {
        let exact = 131_072.0 / (f64::from(a) + 0.5);
        assert!((f64::from(recip_estimate(a)) - exact).abs() <= 1.0, "of {a}: nearly {exact}");
    }
    let corners = [256, 257, 384, 510, 511].map(recip_estimate);
    assert_eq!(corners, [511, 509, 341, 257, 256], "of some");
}

#[test]
fn reciprocal_roots_equal_a_linear_search() {
    for operand in 128..512_u32 {
        let a = if operand < 256 { operand * 2 + 1 } else { ((operand >> 1 << 1) + 1) * 2 };
        let mut b = 512;
        while a * (b + 1) * (b + 1) < 1 << 28 {
            b += 1;
        }
        assert_eq!(recip_sqrt_estimate(operand), b.div_ceil(2), "of {operand}");
    }
}

#[test]
fn small_operands_give_the_largest_estimate() {
    assert_eq!(unsigned_recip_estimate(0x7fff_ffff), u32::MAX, "below a half");
    assert_eq!(unsigned_recip_estimate(0x8000_0000), 0xff80_0000, "a half");
    assert_eq!(unsigned_rsqrt_estimate(0x3fff_ffff), u32::MAX, "below a quarter");
    assert_eq!(unsigned_rsqrt_estimate(0x4000_0000), 0xff80_0000, "a quarter");
}
