//! Activations of whole slices.

use crate::elementary::exp;

/// Replaces negative values by zero.
pub(crate) fn relu(values: &mut [f32]) {
    values.iter_mut().for_each(|value| *value = value.max(0.0));
}

/// Replaces logits by probabilities, which add up to 1.
pub(crate) fn softmax(values: &mut [f32]) {
    let greatest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for value in values.iter_mut() {
        *value = exp(*value - greatest);
        sum += *value;
    }
    let scale = 1.0 / sum;
    values.iter_mut().for_each(|value| *value *= scale);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_have_the_ratios_of_their_logits() {
        let mut values = [1000.0, 1000.0 + std::f32::consts::LN_2, 0.0];
        softmax(&mut values);
        for (value, right) in values.iter().zip([1.0 / 3.0, 2.0 / 3.0, 0.0]) {
            assert!((value - right).abs() < 2e-5, "{value} instead of {right}");
        }
        relu(&mut values);
        assert!(values.iter().all(|value| *value >= 0.0), "none was negative");
    }
}
