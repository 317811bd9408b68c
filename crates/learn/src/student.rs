//! A network that learns from samples, round by round.

use std::collections::VecDeque;
use std::sync::Arc;

use rayon::prelude::*;

use crate::adam::Adam;
use crate::learned::Learned;
use crate::network::Network;
use crate::random::Random;
use crate::score::Score as _;

/// The largest number of samples that are remembered. Those of the memory oracle take about 10 MiB.
const REMEMBERED: usize = 2048;
/// Of so many samples, one is never learned from.
const TESTED: usize = 4;
/// The largest number of samples that are kept for comparisons.
const TESTS: usize = 256;
/// The number of steps of the optimizer in a round.
const STEPS: usize = 32;
/// The number of rounds without a better network after which the weights go back to those of the network in use.
const PATIENCE: u32 = 8;

/// A network that learns. It is kept apart from the network in use, and replaces it when it is better on samples from which neither
/// has learned: those of the last round, and some of the rounds before, because a program has phases that come again.
#[derive(Debug)]
pub(crate) struct Student<N: Network> {
    /// The network without learning, and the one in use, both with weights in half precision.
    first: Arc<N>,
    in_use: Arc<N>,
    /// The weights of the network in use before they were rounded.
    kept: Vec<f32>,
    /// The weights that learn.
    weights: Vec<f32>,
    adam: Adam,
    random: Random,
    remembered: VecDeque<N::Sample>,
    tests: VecDeque<Test<N>>,
    /// The number of rounds since the last better network.
    waited: u32,
    pub(crate) learned: Learned<N::Score>,
}

/// A sample that is kept for comparisons, with the measures of the first network and of the one in use.
#[derive(Debug)]
struct Test<N: Network> {
    sample: N::Sample,
    first: N::Score,
    in_use: N::Score,
}

impl<N: Network> Student<N> {
    pub(crate) fn new(network: &Arc<N>, seed: u64) -> Self {
        let weights = network.flat().to_vec();
        Self {
            first: network.clone(),
            in_use: network.clone(),
            kept: weights.clone(),
            adam: Adam::new(weights.len()),
            weights,
            random: Random::new(seed),
            remembered: VecDeque::new(),
            tests: VecDeque::new(),
            waited: 0,
            learned: Learned::default(),
        }
    }

    /// Returns the network in use.
    pub(crate) const fn in_use(&self) -> &Arc<N> {
        &self.in_use
    }

    /// Does a round with samples that are new: compares the network that has learned with the one in use, and learns.
    pub(crate) fn round(&mut self, samples: Vec<N::Sample>) {
        let mut fresh = self.examine(samples);
        if self.learned.rounds > 0 {
            self.compare(&mut fresh);
        }
        for (number, test) in fresh.into_iter().enumerate() {
            if number % TESTED == 0 {
                self.tests.push_back(test);
            } else {
                self.remembered.push_back(test.sample);
            }
        }
        let surplus = self.remembered.len().saturating_sub(REMEMBERED);
        self.remembered.drain(..surplus);
        let surplus = self.tests.len().saturating_sub(TESTS);
        self.tests.drain(..surplus);
        for _ in 0..STEPS {
            self.step();
        }
        self.learned.rounds += 1;
    }

    /// Measures the first network and the one in use on samples.
    fn examine(&self, samples: Vec<N::Sample>) -> Vec<Test<N>> {
        let is_first = Arc::ptr_eq(&self.first, &self.in_use);
        let test = |sample: N::Sample| {
            let first = self.first.score(&sample);
            let in_use = if is_first { first } else { self.in_use.score(&sample) };
            Test { sample, first, in_use }
        };
        samples.into_par_iter().map(test).collect()
    }

    /// Takes the network that has learned into use, or the first one again, if it is better on the samples that are kept for
    /// comparisons and on the new ones.
    fn compare(&mut self, fresh: &mut [Test<N>]) {
        let of_round = [
            fresh.iter().map(|test| test.first).sum::<N::Score>(),
            fresh.iter().map(|test| test.in_use).sum::<N::Score>(),
        ];
        self.learned.history.push(of_round);
        let mut tests: Vec<&mut Test<N>> = self.tests.iter_mut().chain(fresh).collect();
        let learned = N::of_rounded(&self.weights).ok().map(|network| {
            let scores: Vec<N::Score> = tests.par_iter().map(|test| network.score(&test.sample)).collect();
            (network, scores)
        });
        let first: N::Score = tests.iter().map(|test| test.first).sum();
        let in_use: N::Score = tests.iter().map(|test| test.in_use).sum();
        if let Some((network, scores)) = learned {
            let score: N::Score = scores.iter().copied().sum();
            if score.is_better_than(&in_use) && score.is_better_than(&first) {
                tests.iter_mut().zip(scores).for_each(|(test, score)| test.in_use = score);
                self.in_use = Arc::new(network);
                self.kept.clone_from(&self.weights);
                self.learned.adopted += 1;
                self.waited = 0;
                return;
            }
        }
        if first.is_better_than(&in_use) {
            tests.iter_mut().for_each(|test| test.in_use = test.first);
            self.in_use = self.first.clone();
            self.kept = self.first.flat().to_vec();
            self.learned.dropped += 1;
        }
        self.waited += 1;
        if self.waited == PATIENCE {
            self.weights.clone_from(&self.kept);
            self.adam = Adam::new(self.weights.len());
            self.waited = 0;
        }
    }

    /// Takes a step of the optimizer, on samples chosen at random.
    fn step(&mut self) {
        let random = &mut self.random;
        let samples: Vec<&N::Sample> =
            (0..N::BATCH).filter_map(|_| self.remembered.get(random.below(self.remembered.len()))).collect();
        // Weights that are not finite make no network, and are given up after some rounds.
        let Ok(network) = N::of_flat(&self.weights) else { return };
        let mut gradient = vec![0.0; self.weights.len()];
        network.add_gradient(&samples, &mut gradient);
        self.adam.step(&mut self.weights, &gradient, N::RATE);
        self.learned.steps += 1;
    }
}
