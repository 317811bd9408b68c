//! The hyperbolic tangent from basic arithmetic, which every device computes alike.

/// Returns tanh x within 1e-5. Uses only the four basic operations of `f32`, and so no platform's maths library.
///
/// This is Lambert's continued fraction, cut off after its ninth level. Where the fraction would exceed 1, from about
/// |x| = 6.3, the result is 1 or -1.
#[must_use]
#[inline]
pub fn tanh(x: f32) -> f32 {
    let square = x * x;
    let above = (((square + 990.0) * square + 135_135.0) * square + 4_729_725.0) * square + 34_459_425.0;
    let below =
        (((45.0 * square + 13_860.0) * square + 945_945.0) * square + 16_216_200.0) * square + 34_459_425.0;
    let value = x * above / below;
    // Infinities and overflows give a NaN or a large x, so they take the second branch, too.
    if value.abs() < 1.0 && x.abs() < 8.0 { value } else { 1f32.copysign(x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tanh_is_odd_and_within_its_tolerance() {
        for i in 0..=100_000 {
            let x = i as f32 / 5_000.0;
            let error = f64::from(tanh(x)) - f64::from(x).tanh();
            assert!(error.abs() < 1e-5, "{error} at {x}");
            assert_eq!(tanh(-x).to_bits(), (-tanh(x)).to_bits(), "at {x}");
        }
        assert_eq!((tanh(f32::INFINITY), tanh(-3e38)), (1.0, -1.0), "at the ends");
    }
}
