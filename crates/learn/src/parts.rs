//! The sum of a loss and its gradient over parts of a batch.

/// Adds the gradients of parts to `gradient`, in flat form, and returns the sum of their losses.
///
/// Threads compute the parts, but their order here is fixed, so the sums do not depend on the number of threads.
pub(crate) fn sum_of_parts(parts: &[(f32, Vec<f32>)], gradient: &mut [f32]) -> f32 {
    for (_, of_part) in parts {
        gradient.iter_mut().zip(of_part).for_each(|(sum, value)| *sum += value);
    }
    parts.iter().map(|(loss, _)| loss).sum()
}
