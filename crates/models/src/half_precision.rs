//! Weights in half precision, as devices store those of the larger networks.

use half::f16;

use crate::WeightsError;

/// Returns the bits of weights in half precision, each rounded to the nearest number.
///
/// ```
/// assert_eq!(kvrm_models::half_bits(&[1.0, -0.5, 1.0 + 1e-4])?, [0x3c00, 0xb800, 0x3c00]);
/// assert!(kvrm_models::half_bits(&[65_520.0]).is_err(), "it would become infinite");
/// # Ok::<(), kvrm_models::WeightsError>(())
/// ```
///
/// # Errors
///
/// If a weight would become infinite: its magnitude is 65,520 or more.
pub fn half_bits(flat: &[f32]) -> Result<Vec<u16>, WeightsError> {
    let bits = flat.iter().enumerate().map(|(index, value)| {
        let rounded = f16::from_f32(*value);
        if rounded.is_finite() {
            Ok(rounded.to_bits())
        } else {
            Err(WeightsError::TooLargeForHalf { index, value: *value })
        }
    });
    bits.collect()
}

/// Returns weights rounded to the nearest numbers of half precision.
///
/// # Errors
///
/// As for [`half_bits`].
pub fn rounded_to_half(flat: &[f32]) -> Result<Vec<f32>, WeightsError> {
    Ok(half_bits(flat)?.into_iter().map(|bits| f16::from_bits(bits).to_f32()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_halves_and_names_what_is_too_large() {
        let exact = [0.0, -1.5, 65_504.0, 2_f32.powi(-24), 0.099_975_586];
        assert_eq!(rounded_to_half(&exact), Ok(exact.to_vec()), "numbers of half precision");
        assert_eq!(rounded_to_half(&[0.1, 65_519.0]), Ok(vec![0.099_975_586, 65_504.0]), "to the nearest");
        let error = rounded_to_half(&[1.0, -7e4]).expect_err("-7e4 is beyond half precision");
        assert_eq!(
            error.to_string(),
            "weight 1 is -70000, but devices store weights in half precision, up to ±65504; train with smaller weights"
        );
    }
}
