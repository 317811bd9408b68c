//! Training of the networks over tuples.

use kvrm_models::{FEATURE_BITS, TUPLES, Tuple, TupleNetwork, margin};
use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator,
};
use rayon::slice::ParallelSlice;

use crate::adam::{Adam, rate};
use crate::gradient::{Forms, Gradient, HIDDEN, add};
use crate::progress::{NotExact, Progress, Trained};
use crate::random::Random;

const EMBEDDING: usize = 32;
const INPUTS: usize = EMBEDDING + FEATURE_BITS.len();
const BATCH: usize = 4_096;
/// Samples of a batch that one thread works on: fixed, so that sums have one order.
const PIECE: usize = 256;
/// Steps between evaluations of the whole domain.
const INTERVAL: u32 = 100;
/// Tuples of less margin are hard: a quarter of each batch is theirs.
const HARD: f32 = 4.0;
/// Sums of so many units of 2^-12 are exact in `f32`.
const EXACT_UNITS: i64 = 1 << 24;

/// What is chosen about a training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// The most steps.
    pub steps: u32,
    /// The rate of learning at the start.
    pub rate: f32,
    /// Variance of the embedding at the start. A small one lets top bytes begin as one.
    pub embedding: f32,
}

impl Recipe {
    /// Of the dispatch network.
    pub const DISPATCH: Self = Self { steps: 50_000, rate: 6e-3, embedding: 0.1 };
    /// Of the decoder network.
    pub const DECODER: Self = Self { steps: 50_000, rate: 6e-3, embedding: 0.1 };
}

/// Trains a network over tuples, whose labels are given by tuple. Of all rounded networks that are exact, the one
/// with the greatest margin is kept.
///
/// # Errors
/// It is not exact after the steps of the recipe.
pub fn train_tuples<const H: usize, const C: usize>(
    recipe: &Recipe,
    labels: &[u8],
    seed: u64,
    observer: &mut dyn FnMut(&Progress),
) -> Result<Trained, NotExact> {
    let mut random = Random::new(seed);
    let mut weights = initial::<H, C>(recipe, &mut random);
    let mut adam = Adam::new(weights.len());
    let mut flat_gradient = vec![0.0; weights.len()];
    let mut pieces: Vec<Gradient<H, C>> = (0..BATCH / PIECE).map(|_| Gradient::new()).collect();
    let ambiguous = ambiguous_bytes(labels);
    let mut hard = Vec::new();
    let mut best: Option<Trained> = None;
    let mut loss = 0.0;
    for step in 0.. {
        if step % INTERVAL == 0 || step == recipe.steps {
            let rounded = rounded(&weights);
            let evaluation = evaluate::<H, C>(&rounded, labels);
            let progress = Progress {
                step,
                steps: recipe.steps,
                errors: evaluation.errors,
                margin: evaluation.margin,
                loss: loss / INTERVAL as f32,
            };
            observer(&progress);
            loss = 0.0;
            hard = evaluation.hard;
            let is_better = best.as_ref().is_none_or(|best| progress.margin > best.progress.margin);
            if progress.errors == 0 && is_better {
                best = Some(Trained { weights: rounded, progress });
            }
            if step == recipe.steps {
                let exact = best.filter(|best| is_exact::<H, C>(&best.weights));
                return exact.ok_or(NotExact(progress));
            }
        }

        let batch = draw(&mut random, &hard, &ambiguous);
        // Forward and backward see the weights as they will be, on the grid; what is learned moves finer ones.
        let Ok(network) = TupleNetwork::<H, C>::from_flat(&rounded(&weights)) else { break };
        let forms = Forms::new(network.fold());
        pieces.par_iter_mut().zip(batch.par_chunks(PIECE)).for_each(|(piece, samples)| {
            piece.clear();
            for tuple in samples {
                piece.sample(&forms, *tuple, usize::from(labels[tuple.index()]));
            }
        });
        let (sum, others) = pieces.split_at_mut(1);
        for other in others {
            sum[0].merge(other);
        }
        loss += sum[0].loss / BATCH as f32;
        flatten(&sum[0], network.flat(), &mut flat_gradient);
        adam.step(&mut weights, &flat_gradient, rate(recipe.rate, step, recipe.steps));
    }
    // Only weights that are no longer finite lead here.
    let errors = TUPLES as u32;
    Err(NotExact(Progress { step: 0, steps: recipe.steps, errors, margin: f32::NEG_INFINITY, loss }))
}

/// He initialisation: variance 2 / inputs before a ReLU; biases 0.
fn initial<const H: usize, const C: usize>(recipe: &Recipe, random: &mut Random) -> Vec<f32> {
    let mut weights = Vec::with_capacity(TupleNetwork::<H, C>::PARAMETERS);
    let mut fill = |count: usize, variance: f32, biases: usize| {
        let deviation = variance.sqrt();
        weights.extend((0..count).map(|_| random.normal() * deviation));
        weights.extend((0..biases).map(|_| 0.0));
    };
    fill(256 * EMBEDDING, recipe.embedding, 0);
    fill(HIDDEN * INPUTS, 2.0 / INPUTS as f32, HIDDEN);
    fill(H * HIDDEN, 2.0 / HIDDEN as f32, H);
    fill(C * H, 2.0 / H as f32, C);
    weights
}

/// Top bytes whose tuples do not all have one label.
fn ambiguous_bytes(labels: &[u8]) -> Vec<usize> {
    let bytes = labels.chunks_exact(1 << FEATURE_BITS.len()).enumerate();
    bytes.filter(|(_, labels)| labels.iter().any(|label| *label != labels[0])).map(|(byte, _)| byte).collect()
}

/// A quarter hard tuples, an eighth any, the rest of ambiguous top bytes.
fn draw(random: &mut Random, hard: &[Tuple], ambiguous: &[usize]) -> Vec<Tuple> {
    let pick = |index: usize| {
        if index < BATCH / 4 && !hard.is_empty() {
            hard[random.below(hard.len())]
        } else if index < BATCH / 4 + BATCH / 8 || ambiguous.is_empty() {
            Tuple::new(random.below(TUPLES) as u32)
        } else {
            let byte = ambiguous[random.below(ambiguous.len())];
            Tuple::new((byte << FEATURE_BITS.len() | random.below(1 << FEATURE_BITS.len())) as u32)
        }
    };
    (0..BATCH).map(pick).collect()
}

/// Weights on the grid of 2^-6, without negative zeros.
fn rounded(weights: &[f32]) -> Vec<f32> {
    weights.iter().map(|weight| (weight * 64.0).round() / 64.0 + 0.0).collect()
}

struct Evaluation {
    errors: u32,
    margin: f32,
    hard: Vec<Tuple>,
}

/// What a network on the grid says of all tuples.
fn evaluate<const H: usize, const C: usize>(weights: &[f32], labels: &[u8]) -> Evaluation {
    let Ok(network) = TupleNetwork::<H, C>::from_flat(weights) else {
        return Evaluation { errors: TUPLES as u32, margin: f32::NEG_INFINITY, hard: Vec::new() };
    };
    let folded = network.fold();
    let of_byte = |byte: u8| {
        let mut found = Evaluation { errors: 0, margin: f32::INFINITY, hard: Vec::new() };
        folded.for_each(byte, |tuple, logits| {
            let margin = margin(logits, usize::from(labels[tuple.index()]));
            found.margin = if margin < found.margin { margin } else { found.margin };
            found.errors += u32::from(margin <= 0.0);
            if margin < HARD {
                found.hard.push(tuple);
            }
        });
        found
    };
    let bytes: Vec<Evaluation> = (0..=u8::MAX).into_par_iter().map(of_byte).collect();
    Evaluation {
        errors: bytes.iter().map(|byte| byte.errors).sum(),
        margin: bytes.iter().map(|byte| byte.margin).fold(f32::INFINITY, f32::min),
        hard: bytes.iter().flat_map(|byte| &byte.hard).copied().collect(),
    }
}

/// Whether no sum of any tuple can round.
fn is_exact<const H: usize, const C: usize>(weights: &[f32]) -> bool {
    let integers = TupleNetwork::<H, C>::from_flat(weights).and_then(|network| network.to_integers());
    let all_fit = |largest: [i64; 3]| largest.iter().all(|sum| *sum < EXACT_UNITS);
    integers.is_ok_and(|network| {
        let of_tuple = |tuple| all_fit(network.evaluate(Tuple::new(tuple)).1);
        all_fit(network.bounds()) || (0..TUPLES as u32).into_par_iter().all(of_tuple)
    })
}

/// The gradient in the order of flat weights, of the mean loss. What the fold took together comes apart here.
fn flatten<const H: usize, const C: usize>(sum: &Gradient<H, C>, weights: &[f32], flat: &mut [f32]) {
    let scale = 1.0 / BATCH as f32;
    let (embedding, rest) = flat.split_at_mut(256 * EMBEDDING);
    let (fc1, rest) = rest.split_at_mut(HIDDEN * INPUTS);
    let (fc1_weights, _) = weights[256 * EMBEDDING..].split_at(HIDDEN * INPUTS);
    let mut by_input = [[0.0; HIDDEN]; INPUTS];
    let mut bias = [0.0; HIDDEN];
    for (byte, row) in sum.first.iter().enumerate() {
        add(&mut bias, scale, row);
        let values = &weights[byte * EMBEDDING..][..EMBEDDING];
        for (value, column) in values.iter().zip(&mut by_input) {
            add(column, value * scale, row);
        }
        let mut d_values = [0.0; EMBEDDING];
        for (d, weights) in row.iter().zip(fc1_weights.chunks_exact(INPUTS)) {
            for (sum, weight) in d_values.iter_mut().zip(weights) {
                *sum += d * scale * weight;
            }
        }
        embedding[byte * EMBEDDING..][..EMBEDDING].copy_from_slice(&d_values);
    }
    for feature in 0..FEATURE_BITS.len() {
        add(&mut by_input[EMBEDDING + feature], scale, &sum.feature(feature));
    }
    for (out, row) in fc1.chunks_exact_mut(INPUTS).enumerate() {
        for (weight, column) in row.iter_mut().zip(&by_input) {
            *weight = column[out];
        }
    }
    let others = sum.second.iter().flatten().chain(&sum.second_bias);
    let others = others.chain(sum.third.iter().flatten()).chain(&sum.third_bias).map(|d| d * scale);
    for (slot, d) in rest.iter_mut().zip(bias.into_iter().chain(others)) {
        *slot = d;
    }
}
