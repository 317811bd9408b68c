//! The comparison of gradients with slopes, for tests.

use crate::Architecture;

/// The number of parts of each tensor whose slopes are measured.
const PARTS: usize = 5;
/// The distance over which slopes are measured, short enough that few units of a ReLU change sides.
const STEP: f64 = 1.0 / 2048.0;

/// Fails if the gradient of a loss differs from its slope: for each tensor and several parts of it, the slope in the direction of the
/// gradient has to be the length of the gradient.
pub(crate) fn check_gradient(
    architecture: Architecture,
    flat: &[f32],
    gradient: &[f32],
    loss: impl Fn(&[f32]) -> f64,
) {
    for spec in architecture.tensors() {
        let range = spec.offset..spec.offset + spec.len();
        for part in 0..PARTS.min(spec.len()) {
            // All values, then every second, third, ... one, in an order that does not fit rows.
            let is_part =
                |index: &usize| part == 0 || ((index * 2_654_435_761) >> 7).is_multiple_of(part + 1);
            let indices: Vec<usize> = range.clone().filter(is_part).collect();
            let squares = indices.iter().map(|index| f64::from(gradient[*index]).powi(2));
            let length = squares.sum::<f64>().sqrt();
            assert!(length > 0.0, "part {part} of {} has no gradient", spec.name);
            let at = |step: f64| {
                let mut moved = flat.to_vec();
                for index in &indices {
                    moved[*index] += (f64::from(gradient[*index]) * step / length) as f32;
                }
                loss(&moved)
            };
            let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            let error = (slope - length).abs();
            assert!(error <= 3e-2 * length, "part {part} of {}: {length} instead of {slope}", spec.name);
        }
    }
}
