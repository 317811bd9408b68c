//! An iteration predictor that learns while lanes run.

use std::collections::VecDeque;
use std::sync::Arc;

use kvrm_models::{IterationPredictor, Weights};

use super::entry::Entry;
use super::errors::Errors;
use crate::learned::Learned;
use crate::rounds::Rounds;

/// The number of entries that are remembered, to recognise those that come again.
const RECENT: usize = 64;

/// An iteration predictor that learns while lanes run.
///
/// Entries that are equal to one of the last 64 are not learned from: many lanes do the same, and would leave no room for others.
/// The network learns from the rest in rounds of 32. What it learns depends on nothing but the entries and the seed.
#[derive(Debug)]
pub struct IterationLearner {
    recent: VecDeque<Entry>,
    rounds: Rounds<IterationPredictor>,
}

impl IterationLearner {
    /// Begins to learn from a network, whose weights are in half precision.
    #[must_use]
    pub fn new(network: &Arc<IterationPredictor>, seed: u64) -> Self {
        Self { recent: VecDeque::new(), rounds: Rounds::new(network, seed) }
    }

    /// Hears of an entry of a loop. If a round begins, waits for the one before.
    pub fn hear(&mut self, entry: &Entry) {
        let inputs = entry.input.iter().map(|value| value.to_bits().into());
        self.rounds.note(inputs.chain([entry.iterations]));
        if self.recent.contains(entry) {
            return;
        }
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(*entry);
        self.rounds.add([*entry]);
    }

    /// Returns the network to use.
    #[must_use]
    pub const fn network(&self) -> &Arc<IterationPredictor> {
        self.rounds.network()
    }

    /// Returns what was learned, after the round that is not finished.
    pub fn learned(&mut self) -> Learned<Errors> {
        self.rounds.learned()
    }

    /// Returns the weights of the network to use, after the round that is not finished, with what was learned as metadata. Its
    /// `config.parent` is the SHA-256 of the weights from which they were learned, and the data hash that of the entries.
    ///
    /// # Errors
    ///
    /// Never: the network has as many weights as it needs.
    pub fn weights(&mut self) -> Result<Weights, kvrm_models::Error> {
        self.rounds.weights()
    }
}

#[cfg(test)]
mod tests {
    use kvrm_models::inputs::iteration_input;
    use kvrm_models::{Architecture, PatternRecogniser};

    use super::*;
    use crate::Random;

    /// Returns a network with small weights and a bias of its output.
    fn network(bias: f32) -> Arc<IterationPredictor> {
        let value = |index: usize| ((index * 7919 + 13) % 1000) as f32 / 4000.0 - 0.125;
        let mut flat: Vec<f32> = (0..IterationPredictor::PARAMETERS).map(value).collect();
        flat[IterationPredictor::PARAMETERS - 1] = bias;
        let network = IterationPredictor::from_flat(&flat).and_then(|network| network.rounded_to_half());
        Arc::new(network.expect("small weights"))
    }

    /// Returns the network that comes with KVRM, and what the recogniser sees in a countdown and in a fill.
    fn builtin() -> (Arc<IterationPredictor>, [[f32; 128]; 2]) {
        let weights = |architecture| {
            let (weights, _) = Weights::builtin(architecture).expect("valid weights").expect("KVRM has them");
            weights.into_values()
        };
        let recogniser = PatternRecogniser::from_flat(&weights(Architecture::PatternRecogniser));
        let recogniser = recogniser.expect("as many weights as it has");
        let embedding = |words: &[u32]| recogniser.recognise(words).expect("a short body").embedding;
        let countdown = embedding(&[0xf100_0400, 0x54ff_ffe1]); // subs x0, x0, #1; b.ne to the first
        let fill = embedding(&[0xf800_8402, 0xeb01_001f, 0x54ff_ffc3]); // str x2, [x0], #8; cmp x0, x1; b.lo
        let network = IterationPredictor::from_flat(&weights(Architecture::IterationPredictor));
        let network = network.and_then(|network| network.rounded_to_half()).expect("small weights");
        (Arc::new(network), [countdown, fill])
    }

    /// Returns what was learned from so many entries of two loops, and the weights. The first loop has a third of the iterations that
    /// its distance and step say, and the second one as many. Perhaps somebody asks before each entry.
    fn learn(entries: usize, seed: u64, is_asked: bool) -> (Learned<Errors>, Weights) {
        let (first, embeddings) = builtin();
        let mut learner = IterationLearner::new(&first, seed);
        let mut random = Random::new(9);
        for number in 0..entries {
            let iterations = random.magnitude(16);
            let (distance, step) = if number % 2 == 0 { (3 * iterations, 1) } else { (8 * iterations, 8) };
            let input = iteration_input(&embeddings[number % 2], distance, step, 0x40_0000);
            let before = learner.network().clone();
            if is_asked {
                let _ = learner.learned();
            }
            assert!(Arc::ptr_eq(&before, learner.network()), "only what is heard changes the network in use");
            learner.hear(&Entry { input, iterations });
        }
        (learner.learned(), learner.weights().expect("as many weights as it has"))
    }

    #[test]
    fn loops_of_a_program_are_learned_and_predicted_before_they_are_learned_from() {
        let (learned, weights) = learn(960, 1, false);
        let [before, after] = learned.of_last(10);
        assert!(learned.adopted > 0, "{learned}");
        assert!(after.mean_log10() < 0.2 * before.mean_log10(), "{before:?}, then {after:?}");
        assert!(before.share_within_2() < 0.6 && after.share_within_2() > 0.9, "{before:?}, then {after:?}");
        let metadata = &weights.metadata;
        assert_eq!((metadata.seed, metadata.config["entries"].as_str()), (Some(1), "960"), "the origin");
        let of = |name: &str| metadata.metrics[name];
        assert!(of("learning_log10_error") < of("parent_log10_error"), "{:?}", metadata.metrics);
        let bytes = weights.to_bytes(kvrm_models::Dtype::F16).expect("half precision holds them");
        let read = Weights::from_bytes("learned", &bytes).expect("a file of weights");
        assert_eq!(read, weights, "nothing is lost in a file");
    }

    #[test]
    fn the_same_entries_and_the_same_seed_give_the_same_weights() {
        let (learned, weights) = learn(160, 7, false);
        assert!(learned.adopted > 0, "otherwise all weights are the same: {learned}");
        assert_eq!(learn(160, 7, true), (learned, weights.clone()), "bit for bit, also if somebody asks");
        assert_ne!(learn(160, 8, false).1.values(), weights.values(), "the seed chooses the samples");
    }

    #[test]
    fn a_network_that_is_right_already_stays_in_use() {
        let first = network(6.0);
        let mut learner = IterationLearner::new(&first, 1);
        let mut random = Random::new(2);
        for _ in 0..320 {
            let input = std::array::from_fn(|_| random.normal());
            let log10 = f64::from(first.log10_iterations(&input));
            learner.hear(&Entry { input, iterations: 10_f64.powf(log10).round() as u64 });
        }
        let learned = learner.learned();
        assert_eq!((learned.rounds, learned.adopted, learned.dropped), (10, 0, 0), "{learned}");
        let weights = learner.weights().expect("as many weights as it has");
        assert_eq!(weights.values(), first.flat(), "those without learning");
    }

    #[test]
    fn the_network_without_learning_comes_back_when_it_is_better() {
        let first = network(6.0);
        let mut learner = IterationLearner::new(&first, 1);
        let mut random = Random::new(2);
        for number in 0..1600 {
            let input = std::array::from_fn(|_| random.normal());
            let log10 = f64::from(first.log10_iterations(&input));
            // In the first phase of the program, the network is wrong by a factor of 10,000.
            let log10 = if number < 400 { log10 - 4.0 } else { log10 };
            learner.hear(&Entry { input, iterations: 10_f64.powf(log10).round() as u64 });
        }
        let learned = learner.learned();
        assert!(learned.adopted > 0 && learned.dropped > 0, "{learned}");
        let [before, after] = learned.of_last(4);
        assert_eq!(before, after, "no other network is in use at the end: {learned}");
    }

    #[test]
    fn entries_that_come_again_leave_room_for_others() {
        let mut learner = IterationLearner::new(&network(0.0), 1);
        for number in 0..1000 {
            learner.hear(&Entry { input: [0.25; 131], iterations: 5 + number % 4 });
        }
        let learned = learner.learned();
        assert_eq!((learned.heard, learned.rounds), (1000, 0), "four different ones are no round");
    }
}
