//! The loss of the iteration predictor, and its gradient.

use kvrm_models::IterationPredictor;
use rayon::prelude::*;

use super::entry::Entry;
use crate::parts::sum_of_parts;

/// The scale of the loss, in powers of ten. Smaller errors count with their squares, larger ones with their size.
pub const LOG10_SCALE: f32 = 0.02;
/// The number of entries whose gradients one thread adds. It does not depend on the number of threads, as the sum must not.
const PART: usize = 8;

/// Returns the loss of a network on entries of loops, and adds its gradient to `gradient`, in flat form.
///
/// The loss is the mean of the errors e of the decimal logarithms, in units of [`LOG10_SCALE`]: sqrt(e² + 1) - 1.
///
/// The gradient does not depend on the number of threads: those of parts of the entries are added in their order.
#[must_use]
pub fn loss_gradient(network: &IterationPredictor, entries: &[&Entry], gradient: &mut [f32]) -> f32 {
    let share = 1.0 / entries.len().max(1) as f32;
    let of_parts: Vec<(f32, Vec<f32>)> = entries
        .par_chunks(PART)
        .map(|entries| {
            let mut gradient = vec![0.0; IterationPredictor::PARAMETERS];
            let mut loss = 0.0;
            for entry in entries {
                let trace = network.trace(&entry.input);
                let error = (trace.log10_iterations() - entry.log10_iterations()) / LOG10_SCALE;
                let root = (error * error + 1.0).sqrt();
                trace.add_gradient(share * error / (root * LOG10_SCALE), &mut gradient);
                loss += share * (root - 1.0);
            }
            (loss, gradient)
        })
        .collect();
    sum_of_parts(&of_parts, gradient)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More entries than a thread takes.
    fn entries() -> Vec<Entry> {
        let input = |n: usize| std::array::from_fn(|at| ((at * 31 + n * 17) % 64) as f32 / 64.0 - 0.5);
        let iterations = [3, 1000, 250].into_iter().cycle();
        iterations
            .take(3 * PART / 2)
            .zip(0..)
            .map(|(of, n)| Entry { input: input(n), iterations: of })
            .collect()
    }

    fn flat() -> Vec<f32> {
        let value = |index: usize| ((index * 7919 + 13) % 1000) as f32 / 4000.0 - 0.125;
        (0..IterationPredictor::PARAMETERS).map(value).collect()
    }

    fn loss(flat: &[f32]) -> (f32, Vec<f32>) {
        let network = IterationPredictor::from_flat(flat).expect("as many weights as it has");
        let mut gradient = vec![0.0; flat.len()];
        let entries = entries();
        let loss = loss_gradient(&network, &entries.iter().collect::<Vec<_>>(), &mut gradient);
        (loss, gradient)
    }

    #[test]
    fn the_gradient_of_the_last_bias_is_the_slope_of_the_loss() {
        const STEP: f32 = 1.0 / 256.0;
        let (_, gradient) = loss(&flat());
        let last = IterationPredictor::PARAMETERS - 1;
        let at = |step: f32| {
            let mut moved = flat();
            moved[last] += step;
            f64::from(loss(&moved).0)
        };
        let slope = (at(STEP) - at(-STEP)) / f64::from(2.0 * STEP);
        let error = (slope - f64::from(gradient[last])).abs();
        assert!(error < 1e-2 * slope.abs(), "{} and {slope}", gradient[last]);
    }

    #[test]
    fn steps_against_the_gradient_make_the_loss_smaller() {
        let mut flat = flat();
        let mut adam = crate::Adam::new(flat.len());
        let before = loss(&flat).0;
        for _ in 0..40 {
            let (_, gradient) = loss(&flat);
            adam.step(&mut flat, &gradient, 1e-3);
        }
        let after = loss(&flat).0;
        assert!(after < 0.5 * before, "{before}, then {after}");
    }

    #[test]
    fn the_gradient_does_not_depend_on_the_number_of_threads() {
        let of_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| loss(&flat()))
        };
        assert_eq!(of_threads(1), of_threads(3), "bit for bit");
    }
}
