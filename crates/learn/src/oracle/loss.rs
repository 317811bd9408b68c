//! The loss of the memory oracle, and its gradient.

use kvrm_models::inputs::encoded_delta;
use kvrm_models::{MemoryOracle, OracleTrace, OutputGradient};
use rayon::prelude::*;

use super::sample::Sample;
use super::window::DELTAS;
use crate::parts::sum_of_parts;

/// The scale of the loss of encoded deltas. Smaller errors count with their squares, larger ones with their size.
pub const DELTA_SCALE: f32 = 0.002;
/// The weight of the loss of deltas.
pub const DELTA_WEIGHT: f32 = 0.02;
/// The weight of the loss of confidences.
pub const CONFIDENCE_WEIGHT: f32 = 1.0;

/// Returns the loss of a network on samples, and adds its gradient to `gradient`, in flat form.
///
/// The loss is the sum of two means, each with its weight:
///
/// - of the errors e of encoded deltas, in units of [`DELTA_SCALE`]: sqrt(e² + 1) - 1;
/// - of the cross entropies of the confidences, whose targets are whether the pages that the network names *now* are used soon.
///
/// Patterns take no part: they depend on values in memory, which nobody sees while a program runs.
///
/// The gradient does not depend on the number of threads: those of samples are added in their order.
#[must_use]
pub fn loss_gradient(network: &MemoryOracle, samples: &[&Sample], gradient: &mut [f32]) -> f32 {
    let labels = samples.iter().flat_map(|sample| sample.labels.iter().flatten());
    let (windows, deltas) =
        labels.fold((0, 0), |(windows, deltas), label| (windows + 1, deltas + label.deltas.len()));
    let weights = Weights {
        delta: DELTA_WEIGHT / deltas.max(1) as f32,
        confidence: CONFIDENCE_WEIGHT / (windows * DELTAS).max(1) as f32,
    };
    let of_samples: Vec<(f32, Vec<f32>)> = samples
        .par_iter()
        .map(|sample| {
            let mut gradient = vec![0.0; MemoryOracle::PARAMETERS];
            let Some(trace) = network.trace(&sample.inputs) else { return (0.0, gradient) };
            let (loss, outputs) = weights.of_outputs(&trace, sample);
            trace.add_gradient(&outputs, &mut gradient);
            (loss, gradient)
        })
        .collect();
    sum_of_parts(&of_samples, gradient)
}

/// What each error adds to the loss.
#[derive(Clone, Copy, Debug)]
struct Weights {
    delta: f32,
    confidence: f32,
}

impl Weights {
    /// Returns the part of a sample in the loss, and the gradient with respect to the outputs.
    fn of_outputs(self, trace: &OracleTrace<'_>, sample: &Sample) -> (f32, Vec<OutputGradient>) {
        let mut loss = 0.0;
        let outputs = trace.predictions().iter().zip(&sample.labels).map(|(prediction, label)| {
            let mut output = OutputGradient::default();
            let Some(label) = label else { return output };
            for (place, delta) in label.deltas.iter().enumerate() {
                let error = (prediction.encoded_deltas[place] - encoded_delta(*delta)) / DELTA_SCALE;
                let root = (error * error + 1.0).sqrt();
                loss += self.delta * (root - 1.0);
                output.deltas[place] = self.delta * error / (root * DELTA_SCALE);
            }
            for (place, is_used) in label.are_used(&prediction.deltas()).into_iter().enumerate() {
                let confidence = prediction.confidences[place];
                let right = if is_used { confidence } else { 1.0 - confidence };
                loss -= self.confidence * right.max(f32::MIN_POSITIVE).ln();
                output.confidence_logits[place] =
                    self.confidence * (confidence - f32::from(u8::from(is_used)));
            }
            output
        });
        let outputs = outputs.collect();
        (loss, outputs)
    }
}

#[cfg(test)]
mod tests {
    use kvrm_models::Architecture;
    use kvrm_prefetch::{PageAccess, RecordedAccess};

    use super::*;

    fn samples() -> Vec<Sample> {
        let access = |n: u64| PageAccess { page: 500 + n * n % 7 + 3 * n, ..PageAccess::default() };
        let sequence: Vec<_> =
            (0..60).map(|n| RecordedAccess { access: access(n), ..RecordedAccess::default() }).collect();
        [10, 23, 40].map(|position| Sample::new(&sequence, position, 0)).to_vec()
    }

    fn flat() -> Vec<f32> {
        let value = |index: usize| ((index * 7919 + 13) % 1000) as f32 / 4000.0 - 0.125;
        (0..MemoryOracle::PARAMETERS).map(value).collect()
    }

    fn loss(flat: &[f32]) -> (f32, Vec<f32>) {
        let network = MemoryOracle::from_flat(flat).expect("as many weights as it has");
        let mut gradient = vec![0.0; flat.len()];
        let samples = samples();
        let loss = loss_gradient(&network, &samples.iter().collect::<Vec<_>>(), &mut gradient);
        (loss, gradient)
    }

    #[test]
    fn the_gradient_of_the_heads_is_the_slope_of_the_loss() {
        const STEP: f32 = 1.0 / 4096.0;
        let (_, gradient) = loss(&flat());
        for name in ["delta_head.3.bias", "confidence_head.2.bias"] {
            let tensor = Architecture::MemoryOracle.tensor(name).expect("a tensor");
            for index in tensor.offset..tensor.offset + DELTAS {
                let at = |step: f32| {
                    let mut moved = flat();
                    moved[index] += step;
                    f64::from(loss(&moved).0)
                };
                let slope = (at(STEP) - at(-STEP)) / f64::from(2.0 * STEP);
                let error = (slope - f64::from(gradient[index])).abs();
                assert!(error < 1e-2 * slope.abs().max(0.05), "{name}: {} and {slope}", gradient[index]);
            }
        }
    }

    #[test]
    fn steps_against_the_gradient_make_the_loss_smaller() {
        let mut flat = flat();
        let mut adam = crate::Adam::new(flat.len());
        let before = loss(&flat).0;
        for _ in 0..20 {
            let (_, gradient) = loss(&flat);
            adam.step(&mut flat, &gradient, 1e-3);
        }
        let after = loss(&flat).0;
        assert!(after < 0.7 * before, "{before}, then {after}");
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
