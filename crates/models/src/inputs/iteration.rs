//! The input of the iteration predictor.

use super::magnitude;

/// The number of values in the embedding of a body.
const EMBEDDING: usize = 128;

/// The number of inputs of the iteration predictor.
pub const ITERATION_INPUTS: usize = EMBEDDING + 3;

/// Returns the input of the iteration predictor: the embedding of the body from the pattern recogniser, then
///
/// - log2(|distance| + 1) / 64 and log2(|step| + 1) / 64, for signed numbers, with errors below 1e-7,
/// - the low 20 bits of the address of the first word, divided by 2^20.
///
/// The distance is the difference of the two sides of the comparison of the exit that is reached first, and the step is its
/// change in an iteration. Both are 0 if they are not known. The published network has the values of a counter and of its limit
/// in their places. If both are addresses, the logarithms of these are nearly equal and say nothing of the difference.
///
/// ```
/// let input = kvrm_models::inputs::iteration_input(&[0.5; 128], u64::MAX, 255, 0x7_0008_0000);
/// assert_eq!(input[127..], [0.5, 1.0 / 64.0, 8.0 / 64.0, 0.5]);
/// ```
#[must_use]
pub fn iteration_input(
    embedding: &[f32; EMBEDDING],
    distance: u64,
    step: u64,
    pc: u64,
) -> [f32; ITERATION_INPUTS] {
    let scaled = |number: u64| magnitude(number as i64) / 64.0;
    let place = (pc & 0xf_ffff) as f32 / 1_048_576.0;
    let mut input = [0.0; ITERATION_INPUTS];
    input[..EMBEDDING].copy_from_slice(embedding);
    input[EMBEDDING..].copy_from_slice(&[scaled(distance), scaled(step), place]);
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magnitudes_have_no_sign_and_no_overflow() {
        for value in [0, 1, -1, 1_000_000, i64::MAX, i64::MIN] {
            let input = iteration_input(&[0.0; 128], value as u64, 0, u64::MAX);
            let right = (value.unsigned_abs() as f64 + 1.0).log2() / 64.0;
            assert!((f64::from(input[128]) - right).abs() < 1e-7, "{value}: {}", input[128]);
            assert_eq!(input[129], 0.0, "the step is zero");
            assert!(input[130] < 1.0, "the last byte below a multiple of 2^20");
        }
    }
}
