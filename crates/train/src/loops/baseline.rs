//! Simple methods with which the networks are compared.

use kvrm_arm64::{Class, Word, decode};
use kvrm_models::{LoopKind, LoopPattern};

/// The number of steps of the gradient descent, each over all samples.
const ROUNDS: u32 = 400;
/// The rate of the gradient descent.
const RATE: f32 = 2.0;

/// A softmax regression on the histogram of the top bytes of a body.
#[derive(Clone, Debug)]
pub struct Histogram<const N: usize> {
    weights: Vec<[f32; N]>,
    bias: [f32; N],
}

impl<const N: usize> Histogram<N> {
    /// Fits the regression to bodies with labels, each class with the same weight, by gradient descent.
    #[must_use]
    pub fn fit(samples: &[(&[u32], usize)]) -> Self {
        let mut counts = [0.0; N];
        samples.iter().for_each(|(_, label)| counts[*label] += 1.0);
        let classes = counts.iter().filter(|count| **count > 0.0).count().max(1) as f32;
        let share = counts.map(|count: f32| if count > 0.0 { 1.0 / (count * classes) } else { 0.0 });
        let histograms: Vec<Vec<(usize, f32)>> = samples.iter().map(|(words, _)| histogram(words)).collect();
        let mut fitted = Self { weights: vec![[0.0; N]; 256], bias: [0.0; N] };
        for _ in 0..ROUNDS {
            let mut gradient = Self { weights: vec![[0.0; N]; 256], bias: [0.0; N] };
            for ((_, label), histogram) in samples.iter().zip(&histograms) {
                let mut slopes = fitted.logits(histogram);
                let top = slopes.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                slopes = slopes.map(|logit| crate::math::exp(logit - top));
                let sum: f32 = slopes.iter().sum();
                slopes = slopes.map(|power| power / sum);
                slopes[*label] -= 1.0;
                let scale = share[*label];
                for (class, slope) in slopes.iter().enumerate() {
                    gradient.bias[class] += slope * scale;
                    histogram
                        .iter()
                        .for_each(|(byte, value)| gradient.weights[*byte][class] += slope * scale * value);
                }
            }
            for class in 0..N {
                fitted.bias[class] -= RATE * gradient.bias[class];
                (0..256).for_each(|byte| fitted.weights[byte][class] -= RATE * gradient.weights[byte][class]);
            }
        }
        fitted
    }

    fn logits(&self, histogram: &[(usize, f32)]) -> [f32; N] {
        let mut logits = self.bias;
        for (byte, value) in histogram {
            logits.iter_mut().zip(self.weights[*byte]).for_each(|(logit, weight)| *logit += weight * value);
        }
        logits
    }

    /// Returns the class of a body.
    #[must_use]
    pub fn class(&self, words: &[u32]) -> usize {
        let logits = self.logits(&histogram(words));
        (0..N).fold(0, |best, class| if logits[class] > logits[best] { class } else { best })
    }
}

/// Returns how often each top byte occurs, as multiples that have length 1 together.
fn histogram(words: &[u32]) -> Vec<(usize, f32)> {
    let mut counts = [0.0_f32; 256];
    words.iter().for_each(|word| counts[(word >> 24) as usize] += 1.0);
    let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
    counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0.0)
        .map(|(byte, count)| (byte, count / length))
        .collect()
}

/// The instructions of a body that a matcher of opcodes looks at.
#[derive(Clone, Copy, Debug, Default)]
struct Outline {
    loads: usize,
    stores: usize,
    inner_branches: usize,
    /// The register of the comparison before the branch back, or of the branch.
    compared: Option<usize>,
    /// The sign of the last addition of a constant to that register.
    direction: i32,
}

fn outline(words: &[u32]) -> Outline {
    let mut outline = Outline::default();
    let last = words.len().saturating_sub(1);
    for (place, word) in words.iter().enumerate() {
        let Some(row) = decode(*word).map(|op| op.encoding()) else { continue };
        let w = Word(*word);
        match row.class {
            Class::LoadStore if row.mnemonic.starts_with("st") => outline.stores += 1,
            Class::LoadStore => outline.loads += 1,
            Class::Branch if place < last => outline.inner_branches += 1,
            Class::Branch if row.mnemonic.starts_with("cb") => outline.compared = Some(w.rt() as usize),
            Class::Arithmetic if row.mnemonic == "subs" || row.mnemonic == "adds" => {
                outline.compared = Some(w.rn() as usize);
            }
            _ => {}
        }
    }
    for word in words {
        let w = Word(*word);
        let is_constant = word & 0x1f00_0000 == 0x1100_0000 && w.rd() == w.rn();
        if is_constant && outline.compared == Some(w.rd() as usize) {
            outline.direction = if word >> 30 & 1 == 1 { -1 } else { 1 };
        }
    }
    outline
}

/// Returns the kind and the counter that a matcher of opcodes names: it looks at the last comparison, and at an addition of a
/// constant to its register.
#[must_use]
pub fn rule_kind(words: &[u32]) -> (LoopKind, usize) {
    let Outline { loads, stores, compared, direction, .. } = outline(words);
    let counter = compared.unwrap_or(0);
    let kind = match direction {
        0 => LoopKind::None,
        _ if stores > 0 && loads == 0 => LoopKind::MemoryFill,
        1 => LoopKind::CountUp,
        _ => LoopKind::Countdown,
    };
    (kind, counter)
}

/// Returns the pattern that a matcher of opcodes names: it counts loads, stores and branches.
#[must_use]
pub fn rule_pattern(words: &[u32]) -> LoopPattern {
    let Outline { loads, stores, inner_branches, direction, .. } = outline(words);
    match (loads, stores, inner_branches) {
        (2, 2, 1) => LoopPattern::BubbleSort,
        (0, 1.., 0) if direction != 0 => LoopPattern::Memset,
        (1 | 2, 1 | 2, 0) if loads == stores => LoopPattern::Memcpy,
        (1 | 2, 0, _) if direction != 0 || inner_branches > 0 => LoopPattern::Strlen,
        (1 | 2, 0, 0) => LoopPattern::Polling,
        _ => LoopPattern::Unknown,
    }
}
