//! Training of the small dispatch network.

use kvrm_models::{Agreement, SmallDispatchNetwork, argmax, margin, tanh};

use crate::adam::{Adam, rate};
use crate::math::{exp, ln};
use crate::progress::{NotExact, Progress, TrainedWeights};
use kvrm_learn::Random;

const INPUTS: usize = 8;
const HIDDEN: usize = 8;
const CLASSES: usize = 7;
const STEPS: u32 = 200_000;
const RATE: f32 = 1e-2;
/// The number of steps between reports.
const INTERVAL: u32 = 1_000;
/// The loss is computed with the right logit reduced by this, so that training continues until there is a margin.
const HANDICAP: f32 = 3.0;
/// The margin at which training ends. It is so large that devices whose arithmetic rounds differently name the same
/// classes.
const LEAD: f32 = 1.0;

/// Trains the small dispatch network to name, for each top byte, the class of most of its tuples. No function of the
/// top byte can be right for more tuples. Errors and margin of the progress are over the 256 top bytes. `observer` is
/// called every 1,000 steps and at the end.
///
/// # Errors
/// [`NotExact`] if the network is wrong for a top byte in each of 200,000 steps. Another seed may succeed.
pub fn train_small_dispatch(
    seed: u64,
    observer: &mut dyn FnMut(&Progress),
) -> Result<TrainedWeights, NotExact> {
    let labels: Vec<usize> = Agreement::counts().iter().map(most_frequent).collect();
    let mut random = Random::new(seed);
    let mut weights = initial(&mut random);
    let mut adam = Adam::new(weights.len());
    let mut progress = Progress { step: 0, steps: STEPS, errors: 256, margin: f32::NEG_INFINITY, loss: 0.0 };
    let mut best: Option<TrainedWeights> = None;
    for step in 0..=STEPS {
        let mut gradient = [0.0; SmallDispatchNetwork::PARAMETERS];
        progress = Progress { step, errors: 0, margin: f32::INFINITY, loss: 0.0, ..progress };
        for (byte, label) in labels.iter().enumerate() {
            add_sample(&weights, byte, *label, &mut gradient, &mut progress);
        }
        let is_better = best.as_ref().is_none_or(|best| progress.margin > best.progress.margin);
        if progress.errors == 0 && is_better {
            best = Some(TrainedWeights { weights: weights.to_vec(), progress });
        }
        let is_enough = best.as_ref().is_some_and(|best| best.progress.margin >= LEAD);
        if step % INTERVAL == 0 || is_enough {
            observer(&progress);
        }
        if is_enough {
            break;
        }
        adam.step(&mut weights, &gradient, rate(RATE, step, STEPS));
    }
    best.ok_or(NotExact(progress))
}

/// Returns the class that occurs most often; of several, the first.
fn most_frequent(counts: &[u32; CLASSES]) -> usize {
    (1..CLASSES).fold(0, |most, class| if counts[class] > counts[most] { class } else { most })
}

/// Returns random weights with variance 1, and biases of 0.
fn initial(random: &mut Random) -> [f32; SmallDispatchNetwork::PARAMETERS] {
    let mut weights = [0.0; SmallDispatchNetwork::PARAMETERS];
    for (at, count) in
        [(SmallDispatchNetwork::W1, HIDDEN * INPUTS), (SmallDispatchNetwork::W2, CLASSES * HIDDEN)]
    {
        weights[at..at + count].fill_with(|| random.normal());
    }
    weights
}

/// Adds a top byte to the gradient, and to the loss, errors and margin of the progress.
fn add_sample(
    weights: &[f32; SmallDispatchNetwork::PARAMETERS],
    byte: usize,
    label: usize,
    gradient: &mut [f32; SmallDispatchNetwork::PARAMETERS],
    progress: &mut Progress,
) {
    let (w1, rest) = weights.split_at(SmallDispatchNetwork::B1);
    let (b1, rest) = rest.split_at(HIDDEN);
    let (w2, b2) = rest.split_at(CLASSES * HIDDEN);
    let input: [f32; INPUTS] = std::array::from_fn(|bit| (byte >> bit & 1) as f32);
    let linear = |weights: &[f32], bias: &[f32], out: usize, input: &[f32; 8]| {
        weights[out * 8..].iter().zip(input).fold(bias[out], |sum, (weight, value)| sum + weight * value)
    };
    let hidden: [f32; HIDDEN] = std::array::from_fn(|out| tanh(linear(w1, b1, out, &input)));
    let mut logits: [f32; CLASSES] = std::array::from_fn(|out| linear(w2, b2, out, &hidden));

    progress.errors += u32::from(argmax(&logits) != label);
    progress.margin = progress.margin.min(margin(&logits, label));
    logits[label] -= HANDICAP;
    let top = logits[argmax(&logits)];
    let powers = logits.map(|logit| exp(logit - top));
    let sum: f32 = powers.iter().sum();
    progress.loss += (ln(sum) - (logits[label] - top)) / 256.0;

    let (d_w1, rest) = gradient.split_at_mut(SmallDispatchNetwork::B1);
    let (d_b1, rest) = rest.split_at_mut(HIDDEN);
    let (d_w2, d_b2) = rest.split_at_mut(CLASSES * HIDDEN);
    let mut d_hidden = [0.0; HIDDEN];
    for out in 0..CLASSES {
        let d = (powers[out] / sum - if out == label { 1.0 } else { 0.0 }) / 256.0;
        d_b2[out] += d;
        for unit in 0..HIDDEN {
            d_w2[out * HIDDEN + unit] += d * hidden[unit];
            d_hidden[unit] += d * w2[out * HIDDEN + unit];
        }
    }
    for unit in 0..HIDDEN {
        let d = d_hidden[unit] * (1.0 - hidden[unit] * hidden[unit]);
        d_b1[unit] += d;
        for bit in 0..INPUTS {
            d_w1[unit * INPUTS + bit] += d * input[bit];
        }
    }
}
