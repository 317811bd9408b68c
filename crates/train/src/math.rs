//! Functions whose last bits differ between platforms, implemented so that they do not.

use std::f32::consts::{LN_2, LOG2_E};

/// Returns e^x for x up to 0, within a few units in the last place. Returns 0 for x up to -80.
#[inline]
pub(crate) fn exp(x: f32) -> f32 {
    // x = n ln 2 + r with |r| <= ln 2 / 2; the sum with 1.5 * 2^23 rounds to an integer.
    const ROUND: f32 = 12_582_912.0;
    let x = if x > -80.0 { x } else { -80.0 };
    let n = (x * LOG2_E + ROUND) - ROUND;
    let r = x - n * LN_2;
    let mut sum = 1.0 / 5_040.0;
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * r + coefficient;
    }
    let power = f32::from_bits(((n as i32 + 127) << 23) as u32);
    if x > -80.0 { sum * power } else { 0.0 }
}

/// Returns the natural logarithm of a positive normal number.
pub(crate) fn ln(x: f32) -> f32 {
    let bits = x.to_bits();
    // x = m 2^e with m in [0.75, 1.5); ln m = 2 artanh((m - 1) / (m + 1)).
    let e = (bits.wrapping_sub(0x3f40_0000) as i32) >> 23;
    let m = f32::from_bits(bits.wrapping_sub((e << 23) as u32));
    let t = (m - 1.0) / (m + 1.0);
    let square = t * t;
    let mut sum = 1.0 / 11.0;
    for coefficient in [1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0] {
        sum = sum * square + coefficient;
    }
    e as f32 * LN_2 + 2.0 * t * sum
}

/// Returns the cosine of x in [0, pi], by its Taylor series.
pub(crate) fn cos(x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..14 {
        term *= -x * x / f64::from(2 * n * (2 * n - 1));
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    #[test]
    fn functions_are_close_to_those_of_the_platform() {
        for i in 0..=1_000 {
            let x = -0.079 * i as f32;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-5, "exp({x})");
            let y = 1e-4 * 1.02f32.powi(i);
            assert!((ln(y) - y.ln()).abs() < 1e-5, "ln({y})");
            let z = PI * f64::from(i) / 1_000.0;
            assert!((cos(z) - z.cos()).abs() < 1e-9, "cos({z})");
        }
        assert_eq!(exp(-1e9), 0.0, "far below -80");
    }
}
