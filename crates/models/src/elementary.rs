//! Elementary functions from basic arithmetic, which every device computes alike up to rounding.
//!
//! Devices may fuse operations and round differently then. So the same functions in a kernel agree with these within a
//! tolerance, and not bit by bit.

use crate::tanh::tanh;

/// Returns e^x with a relative error below 2e-7. Beyond ±87 the result is that of ±87.
///
/// x is split into n ln 2 + r with |r| <= (ln 2) / 2. A polynomial gives e^r, and n becomes the exponent.
#[must_use]
#[inline]
pub fn exp(x: f32) -> f32 {
    // Adding 1.5 * 2^23 leaves no bits for a fraction, so n is the nearest integer. A compiler for a device may
    // remove the two additions; a kernel has to use `round`.
    const NO_FRACTION: f32 = 12_582_912.0;
    // The first part of ln 2 has few bits, so its product with n is exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 87.0);
    let n = (x * std::f32::consts::LOG2_E + NO_FRACTION) - NO_FRACTION;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let cubic = ((r / 5_040.0 + 1.0 / 720.0) * r + 1.0 / 120.0) * r + 1.0 / 24.0;
    let power = (((cubic * r + 1.0 / 6.0) * r + 0.5) * r + 1.0) * r + 1.0;
    power * f32::from_bits(((n as i32 + 127) as u32) << 23)
}

/// Returns 10^x, at most 6e37.
pub(crate) fn exp10(x: f32) -> f32 {
    exp(x * std::f32::consts::LN_10)
}

/// Returns the binary logarithm of a positive normal number. The error is below 2e-7 plus half a unit in the last place,
/// so below 2.2e-6 up to 2^64.
///
/// x is 2^e m with m between sqrt(1/2) and sqrt(2). The logarithm of m is an odd series in (m - 1) / (m + 1).
#[must_use]
#[inline]
pub fn log2(x: f32) -> f32 {
    let bits = x.to_bits();
    let (mut exponent, mut mantissa) =
        ((bits >> 23) as i32 - 127, f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000));
    if mantissa > std::f32::consts::SQRT_2 {
        (exponent, mantissa) = (exponent + 1, mantissa * 0.5);
    }
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let series = (((square / 9.0 + 1.0 / 7.0) * square + 0.2) * square + 1.0 / 3.0) * square + 1.0;
    exponent as f32 + 2.0 * std::f32::consts::LOG2_E * s * series
}

/// Returns 1 / (1 + e^-x) with an error below 5e-6, by way of [`tanh`].
#[must_use]
#[inline]
pub fn sigmoid(x: f32) -> f32 {
    0.5 + 0.5 * tanh(0.5 * x)
}

/// Returns the error function with an error below 6e-7.
///
/// This is formula 7.1.26 of Abramowitz and Stegun, Handbook of Mathematical Functions.
#[must_use]
#[inline]
pub fn erf(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let polynomial =
        ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_8) * t - 0.284_496_72) * t + 0.254_829_6) * t;
    (1.0 - polynomial * exp(-x * x)).copysign(x)
}

/// Returns the Gaussian error linear unit, x (1 + erf(x / sqrt(2))) / 2, with an error below 1e-6 where |x| <= 6.
/// PyTorch's `nn.GELU()` is this function.
#[must_use]
#[inline]
pub fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the largest of `error` over 400,001 numbers between `low` and `high`, both included.
    fn worst(low: f32, high: f32, error: impl Fn(f32) -> f64) -> f64 {
        let at = |step: u32| low + (high - low) * (step as f32 / 400_000.0);
        (0..=400_000).map(|step| error(at(step)).abs()).fold(0.0, f64::max)
    }

    /// The error function in `f64`, as a series of positive terms.
    fn erf_f64(x: f64) -> f64 {
        let (mut term, mut sum, mut n) = (x, 0.0, 0.0);
        while f64::abs(term) > 1e-18 {
            sum += term;
            n += 1.0;
            term *= 2.0 * x * x / (2.0 * n + 1.0);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp()
    }

    #[test]
    fn exp_is_within_its_tolerance() {
        let error = worst(-87.0, 87.0, |x| f64::from(exp(x)) / f64::from(x).exp() - 1.0);
        assert!(error < 2e-7, "{error:e}");
        assert_eq!(
            (exp(0.0), exp(-1e30), exp(1e30)),
            (1.0, exp(-87.0), exp(87.0)),
            "at zero and at the ends"
        );
    }

    #[test]
    fn log2_is_within_its_tolerance() {
        let of = |x: f32| f64::from(log2(x)) - f64::from(x).log2();
        let error = worst(2_f32.powi(63), 2_f32.powi(64), of);
        assert!(error < 2.2e-6, "{error:e} where a unit in the last place is 3.8e-6");
        let error = worst(0.5, 2.0, of);
        assert!(error < 2e-7, "{error:e} near 1");
        for power in 0..64 {
            assert_eq!(log2((1_u64 << power) as f32), power as f32, "a power of two");
        }
    }

    #[test]
    fn sigmoid_is_within_its_tolerance() {
        let error = worst(-20.0, 20.0, |x| f64::from(sigmoid(x)) - 1.0 / (1.0 + (-f64::from(x)).exp()));
        assert!(error < 5e-6, "{error:e}");
        let error = worst(-8.0, 8.0, |x| f64::from(sigmoid(x)) - 1.0 / (1.0 + (-f64::from(x)).exp()));
        assert!(error < 2e-7, "{error:e} where cells of an LSTM mostly are");
    }

    #[test]
    fn erf_and_gelu_are_within_their_tolerances() {
        let error = worst(-5.0, 5.0, |x| f64::from(erf(x)) - erf_f64(f64::from(x)));
        assert!(error < 6e-7, "{error:e}");
        let right = |x: f64| 0.5 * x * (1.0 + erf_f64(x * std::f64::consts::FRAC_1_SQRT_2));
        let error = worst(-6.0, 6.0, |x| f64::from(gelu(x)) - right(f64::from(x)));
        assert!(error < 1e-6, "{error:e}");
        assert_eq!((gelu(0.0), gelu(1e30), gelu(-1e30)), (0.0, 1e30, 0.0), "at zero and far out");
    }
}
