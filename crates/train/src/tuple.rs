//! Training of the networks over tuples.

use kvrm_models::{FEATURE_BITS, TUPLES, Tuple, TupleNetwork, margin};
use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator,
};
use rayon::slice::ParallelSlice;

use crate::adam::{Adam, rate};
use crate::gradient::{Gradient, HIDDEN, PreparedWeights, add};
use crate::progress::{NotExact, Progress, TrainedWeights};
use kvrm_learn::Random;

const EMBEDDING: usize = 32;
const INPUTS: usize = EMBEDDING + FEATURE_BITS.len();
const BATCH: usize = 4_096;
/// The number of samples in a part of a batch, for which one thread computes the gradient. It is fixed, so that sums
/// have the same order with any number of threads.
const PIECE: usize = 256;
/// The number of steps between evaluations of all tuples.
const INTERVAL: u32 = 100;
/// A tuple is hard if its margin is less than this. A quarter of each batch are hard tuples.
const HARD: f32 = 4.0;
/// A sum is exact in `f32` if it is less than this, in units of 2^-12.
const EXACT_UNITS: i64 = 1 << 24;

/// The hyperparameters of a training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// The number of steps.
    pub steps: u32,
    /// The learning rate at the start.
    pub rate: f32,
    /// The variance of the initial embedding. If it is small, all top bytes have almost the same embedding at the
    /// start.
    pub embedding: f32,
}

impl Recipe {
    /// The hyperparameters of the dispatch network.
    pub const DISPATCH: Self = Self { steps: 50_000, rate: 6e-3, embedding: 0.1 };
    /// The hyperparameters of the decoder network.
    pub const DECODER: Self = Self { steps: 50_000, rate: 6e-3, embedding: 0.1 };
    /// The hyperparameters of [`tune_tuples`]: small steps, so that weights stay near those at the start.
    pub const TUNING: Self = Self { steps: 5_000, rate: 3e-4, embedding: 0.0 };
}

/// Trains a network over tuples with `H` units in the second hidden layer and `C` classes. `labels` has the class of
/// each tuple. `observer` is called every 100 steps.
///
/// Every 100 steps the weights are rounded to the grid and evaluated on all tuples. The result is the network without
/// errors that has the largest margin.
///
/// # Errors
/// [`NotExact`] if no evaluated network is right on all tuples, or if `f32` cannot compute the best one exactly.
pub fn train_tuples<const H: usize, const C: usize>(
    recipe: &Recipe,
    labels: &[u8],
    seed: u64,
    observer: &mut dyn FnMut(&Progress),
) -> Result<TrainedWeights, NotExact> {
    let mut random = Random::new(seed);
    let weights = initial::<H, C>(recipe, &mut random);
    descend::<H, C>(recipe, (weights, random), labels, false, observer)
}

/// Fine-tunes a network as [`train_tuples`] trains one, from `weights`, and ends with the first network without errors.
///
/// A quarter of each batch are tuples that are wrong or nearly so. All tuples are evaluated, so those that a program shows to be wrong
/// are among them.
///
/// # Errors
/// As [`train_tuples`].
pub fn tune_tuples<const H: usize, const C: usize>(
    recipe: &Recipe,
    weights: &[f32],
    labels: &[u8],
    seed: u64,
    observer: &mut dyn FnMut(&Progress),
) -> Result<TrainedWeights, NotExact> {
    let start = (weights.to_vec(), Random::new(seed));
    descend::<H, C>(recipe, start, labels, true, observer)
}

/// Trains a network from weights. If it `ends_early`, the first network without errors is the result, and else the best one of all steps.
fn descend<const H: usize, const C: usize>(
    recipe: &Recipe,
    (mut weights, mut random): (Vec<f32>, Random),
    labels: &[u8],
    ends_early: bool,
    observer: &mut dyn FnMut(&Progress),
) -> Result<TrainedWeights, NotExact> {
    let mut adam = Adam::new(weights.len());
    let mut flat_gradient = vec![0.0; weights.len()];
    let mut pieces: Vec<Gradient<H, C>> = (0..BATCH / PIECE).map(|_| Gradient::new()).collect();
    let ambiguous = ambiguous_bytes(labels);
    let mut hard = Vec::new();
    let mut best: Option<TrainedWeights> = None;
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
                best = Some(TrainedWeights { weights: rounded, progress });
            }
            if step == recipe.steps || ends_early && best.is_some() {
                let exact = best.filter(|best| is_exact::<H, C>(&best.weights));
                return exact.ok_or(NotExact(progress));
            }
        }

        let batch = draw(&mut random, &hard, &ambiguous);
        // Both passes use the weights rounded to the grid, as in the result. The steps change weights that are not
        // rounded.
        let Ok(network) = TupleNetwork::<H, C>::from_flat(&rounded(&weights)) else { break };
        let prepared = PreparedWeights::new(network.fold());
        pieces.par_iter_mut().zip(batch.par_chunks(PIECE)).for_each(|(piece, samples)| {
            piece.clear();
            for tuple in samples {
                piece.add_sample(&prepared, *tuple, usize::from(labels[tuple.index()]));
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
    // The loop ends here only if a weight is no longer finite.
    let errors = TUPLES as u32;
    Err(NotExact(Progress { step: 0, steps: recipe.steps, errors, margin: f32::NEG_INFINITY, loss }))
}

/// Returns initial weights by He initialisation: variance 2 / inputs, and biases of 0. The embedding has the variance
/// of the recipe.
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

/// Returns the top bytes whose tuples do not all have the same label.
fn ambiguous_bytes(labels: &[u8]) -> Vec<usize> {
    let bytes = labels.chunks_exact(1 << FEATURE_BITS.len()).enumerate();
    bytes.filter(|(_, labels)| labels.iter().any(|label| *label != labels[0])).map(|(byte, _)| byte).collect()
}

/// Returns the tuples of a batch: a quarter are hard, an eighth are any, the others have ambiguous top bytes.
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

/// Returns the weights rounded to the grid of 2^-6, without negative zeros.
fn rounded(weights: &[f32]) -> Vec<f32> {
    weights.iter().map(|weight| (weight * 64.0).round() / 64.0 + 0.0).collect()
}

/// The result of a network on all tuples.
struct Evaluation {
    /// The number of tuples for which the network is wrong.
    errors: u32,
    /// The least margin.
    margin: f32,
    /// The tuples whose margin is less than [`HARD`].
    hard: Vec<Tuple>,
}

/// Evaluates a network, whose weights are on the grid, on all tuples.
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

/// Whether `f32` computes all sums of the network exactly, for all tuples.
fn is_exact<const H: usize, const C: usize>(weights: &[f32]) -> bool {
    let integers = TupleNetwork::<H, C>::from_flat(weights).and_then(|network| network.to_integers());
    let all_fit = |largest: [i64; 3]| largest.iter().all(|sum| *sum < EXACT_UNITS);
    integers.is_ok_and(|network| {
        let of_tuple = |tuple| all_fit(network.evaluate(Tuple::new(tuple)).1);
        all_fit(network.bounds()) || (0..TUPLES as u32).into_par_iter().all(of_tuple)
    })
}

/// Writes the gradient of the mean loss to `flat`, in the order of flat weights. The gradient of the folded first layer
/// is separated into those of the embedding, of the layer's weights and of its bias.
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
