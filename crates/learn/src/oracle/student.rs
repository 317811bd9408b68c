//! A network that learns from samples, round by round.

use std::collections::VecDeque;
use std::sync::Arc;

use kvrm_models::MemoryOracle;
use rayon::prelude::*;

use super::accuracy::Accuracy;
use super::learned::Learned;
use super::loss::loss_gradient;
use super::sample::Sample;
use crate::adam::Adam;
use crate::random::Random;

/// The largest number of samples that are remembered, about 10 MiB.
const REMEMBERED: usize = 2048;
/// Of so many samples, one is never learned from.
const TESTED: usize = 4;
/// The largest number of samples that are kept for comparisons.
const TESTS: usize = 256;
/// The number of steps of the optimizer in a round.
const STEPS: usize = 32;
/// The number of samples of a step.
const BATCH: usize = 16;
/// The learning rate, a quarter of the largest one of the training.
const RATE: f32 = 5e-4;
/// The number of rounds without a better network after which the weights go back to those of the network in use.
const PATIENCE: u32 = 8;

/// A network that learns. It is kept apart from the network in use, and replaces it when it is better on samples from which neither
/// has learned: those of the last round, and some of the rounds before, because a program has phases that come again.
#[derive(Debug)]
pub(super) struct Student {
    /// The network without learning, and the one in use, both with weights in half precision.
    first: Arc<MemoryOracle>,
    in_use: Arc<MemoryOracle>,
    /// The weights of the network in use before they were rounded.
    kept: Vec<f32>,
    /// The weights that learn.
    weights: Vec<f32>,
    adam: Adam,
    random: Random,
    remembered: VecDeque<Sample>,
    tests: VecDeque<Test>,
    /// The number of rounds since the last better network.
    waited: u32,
    pub(super) learned: Learned,
}

/// A sample that is kept for comparisons, with the accuracies of the first network and of the one in use.
#[derive(Debug)]
struct Test {
    sample: Sample,
    first: Accuracy,
    in_use: Accuracy,
}

impl Student {
    pub(super) fn new(network: &Arc<MemoryOracle>, seed: u64) -> Self {
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
    pub(super) const fn in_use(&self) -> &Arc<MemoryOracle> {
        &self.in_use
    }

    /// Does a round with samples that are new: compares the network that has learned with the one in use, and learns.
    pub(super) fn round(&mut self, samples: Vec<Sample>) {
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
    fn examine(&self, samples: Vec<Sample>) -> Vec<Test> {
        let is_first = Arc::ptr_eq(&self.first, &self.in_use);
        let test = |sample: Sample| {
            let first = Accuracy::of(&self.first, &sample);
            let in_use = if is_first { first } else { Accuracy::of(&self.in_use, &sample) };
            Test { sample, first, in_use }
        };
        samples.into_par_iter().map(test).collect()
    }

    /// Takes the network that has learned into use, or the first one again, if more of the pages that it names are used.
    fn compare(&mut self, fresh: &mut [Test]) {
        let sum = |tests: &[Test], of: fn(&Test) -> Accuracy| tests.iter().map(of).sum::<Accuracy>();
        let of_round = [sum(fresh, |test| test.first), sum(fresh, |test| test.in_use)];
        self.learned.history.push(of_round);
        let mut tests: Vec<&mut Test> = self.tests.iter_mut().chain(fresh).collect();
        let learned = MemoryOracle::from_flat(&self.weights).and_then(|network| network.rounded_to_half());
        let learned = learned.ok().map(|network| {
            let accuracy = |test: &&mut Test| Accuracy::of(&network, &test.sample);
            let accuracies: Vec<Accuracy> = tests.par_iter().map(accuracy).collect();
            (network, accuracies)
        });
        let used = |of: fn(&Test) -> u64| tests.iter().map(|test| of(test)).sum::<u64>();
        let (first, in_use) = (used(|test| test.first.used), used(|test| test.in_use.used));
        if let Some((network, accuracies)) = learned
            && accuracies.iter().map(|accuracy| accuracy.used).sum::<u64>() > in_use.max(first)
        {
            tests.iter_mut().zip(accuracies).for_each(|(test, accuracy)| test.in_use = accuracy);
            self.in_use = Arc::new(network);
            self.kept.clone_from(&self.weights);
            self.learned.adopted += 1;
            self.waited = 0;
            return;
        }
        if first > in_use {
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
        let samples: Vec<&Sample> =
            (0..BATCH).filter_map(|_| self.remembered.get(random.below(self.remembered.len()))).collect();
        // Weights that are not finite make no network, and are given up after some rounds.
        let Ok(network) = MemoryOracle::from_flat(&self.weights) else { return };
        let mut gradient = vec![0.0; self.weights.len()];
        let _ = loss_gradient(&network, &samples, &mut gradient);
        self.adam.step(&mut self.weights, &gradient, RATE);
        self.learned.steps += 1;
    }
}
