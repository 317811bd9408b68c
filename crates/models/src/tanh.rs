//! The hyperbolic tangent in arithmetic that every device has.

/// tanh x within 1e-5, in four operations of `f32` that no platform's library has a hand in.
///
/// Lambert's continued fraction, cut off after its ninth level. Where it would exceed 1, at about 6.3, it stops.
#[must_use]
#[inline]
pub fn tanh(x: f32) -> f32 {
    let square = x * x;
    let above = (((square + 990.0) * square + 135_135.0) * square + 4_729_725.0) * square + 34_459_425.0;
    let below =
        (((45.0 * square + 13_860.0) * square + 945_945.0) * square + 16_216_200.0) * square + 34_459_425.0;
    let value = x * above / below;
    // Also what is left of infinities and overflows, which compare as neither.
    if value.abs() < 1.0 && x.abs() < 8.0 { value } else { 1f32.copysign(x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_close_to_the_function_and_odd() {
        for i in 0..=100_000 {
            let x = i as f32 / 5_000.0;
            let error = f64::from(tanh(x)) - f64::from(x).tanh();
            assert!(error.abs() < 1e-5, "{error} at {x}");
            assert_eq!(tanh(-x).to_bits(), (-tanh(x)).to_bits(), "at {x}");
        }
        assert_eq!((tanh(f32::INFINITY), tanh(-3e38)), (1.0, -1.0), "at the ends");
    }
}
