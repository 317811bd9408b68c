//! Networks as an advisor of the acceleration of loops.

use std::sync::Mutex;

use kvrm_arm64::Features;
use kvrm_arm64::lowering::lower;
use kvrm_learn::Learning;
use kvrm_loops::{Distance, Loop, micro_op_registers};
use kvrm_machine::{LoopAdvice, LoopAdvisor, LoopCandidate, LoopEntry};
use kvrm_models::inputs::iteration_input;
use kvrm_models::{LoopKind, LoopPattern, Weights};

use super::learning::PredictorLearning;
use super::look::{Evaluator, OnDevice, Seen};
use super::weights::Networks;
use super::{opinions, rule};
use crate::device::Device;
use crate::device::error::Error;

/// The steps that take the time of an evaluation on a CPU, 5 to 10 ms. No loop with fewer of them is worth one.
const STEPS_MIN: u64 = 1 << 22;

/// The loops that an advisor proposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proposes {
    /// Those that its networks propose.
    Loops,
    /// Those whose most likely kind is not none, or whose most likely pattern is not UNKNOWN, however long they are.
    Likely,
    /// Those that its networks do not propose, with confident opinions that are wrong.
    Opposite,
    /// All.
    All,
}

/// An advisor that asks networks: it proposes the bodies that look like loops to the loop detector or to the pattern recogniser,
/// unless the iteration predictor expects too few iterations.
///
/// Results of runs depend neither on the weights nor on the device.
///
/// ```
/// use kvrm_gpu::loop_advice::NetworkAdvisor;
/// use kvrm_machine::{Loops, Machine, Program};
///
/// // A countdown of x0: subs x0, x0, #1; b.ne to it; hlt #0
/// let program = Program::from_code(0x1000, &[0xd2c0_0200, 0xf100_0400, 0x54ff_ffe1, 0xd440_0000])?; // from 2^36
/// let loops = Loops::advised_at_once("networks", NetworkAdvisor::builtin()?);
/// let report = Machine::builder(program).loops(loops.clone()).build()?.run(u64::MAX)?;
/// assert_eq!(report.steps, 1 + (2 << 36));
/// println!("{}", loops.hot()[0].opinions[0]); // loop detector: countdown with x0 (99.9 %)
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NetworkAdvisor {
    networks: Networks,
    evaluator: Evaluator,
    proposes: Proposes,
    steps_min: u64,
    /// What the iteration predictor learns, if it does.
    learning: Option<PredictorLearning>,
}

impl NetworkAdvisor {
    /// Returns an advisor with the weights that come with KVRM. The host evaluates the networks.
    ///
    /// # Errors
    ///
    /// This build has no such weights.
    pub fn builtin() -> Result<Self, Error> {
        Networks::builtin().map(Self::new)
    }

    /// Returns an advisor with random weights. It proposes the loops whose most likely kind is not none, or whose most likely pattern is
    /// not UNKNOWN.
    ///
    /// # Errors
    ///
    /// Never: random weights are small.
    pub fn random(seed: u64) -> Result<Self, Error> {
        Ok(Self { proposes: Proposes::Likely, ..Self::new(Networks::random(seed)?) })
    }

    /// Returns an advisor whose weights are zero. It proposes all loops, because all kinds and patterns are equally likely to it.
    ///
    /// # Errors
    ///
    /// Never: zeros are valid weights.
    pub fn zero() -> Result<Self, Error> {
        Ok(Self { proposes: Proposes::Likely, ..Self::new(Networks::zero()?) })
    }

    const fn new(networks: Networks) -> Self {
        let (evaluator, proposes, steps_min) = (Evaluator::Host, Proposes::Loops, STEPS_MIN);
        Self { networks, evaluator, proposes, steps_min, learning: None }
    }

    /// Replaces the weights of one of the networks: of the loop detector, the pattern recogniser or the iteration predictor.
    ///
    /// # Errors
    ///
    /// - [`Error::NotALoopNetwork`]: the weights are those of another network.
    /// - [`Error::UnsuitableWeights`]: a weight is too large for half precision.
    pub fn with_weights(mut self, weights: &Weights) -> Result<Self, Error> {
        self.networks.replace(weights)?;
        Ok(self)
    }

    /// Evaluates detector and recogniser on a device, for all candidates together. The first candidates compile the kernels.
    /// If the device fails, the host takes over.
    #[must_use]
    pub fn with_device(self, device: &Device) -> Self {
        Self { evaluator: Evaluator::Device(Mutex::new(OnDevice::New(device.clone()))), ..self }
    }

    /// Lets the iteration predictor learn from the loops that lanes enter, in spare threads of the host. It learns from one machine at
    /// a time, and there from the first GPU, or from the first lane on a CPU.
    ///
    /// ```
    /// use kvrm_gpu::loop_advice::{LoopMode, NetworkAdvisor};
    /// use kvrm_learn::Learning;
    ///
    /// let learning = Learning::new(1);
    /// let advisor = NetworkAdvisor::builtin()?.with_learning(&learning);
    /// let loops = LoopMode::Networks.advised_by(advisor, None);
    /// // After a run: learning.iterations() says what was learned, and learning.weights() has the weights.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_learning(self, learning: &Learning) -> Self {
        Self { learning: Some(PredictorLearning::new(learning)), ..self }
    }

    /// Returns whether the iteration predictor learns.
    pub(super) const fn learns(&self) -> bool {
        self.learning.is_some()
    }

    /// Sets the number of steps that lanes take in a loop before it is looked at. The default is four million.
    #[must_use]
    pub fn asked_after(self, steps: u64) -> Self {
        Self { steps_min: steps, ..self }
    }

    /// Proposes exactly the loops that the networks do not propose, with confident opinions that are wrong.
    #[must_use]
    pub fn adversarial(self) -> Self {
        Self { proposes: Proposes::Opposite, ..self }
    }

    /// Proposes all loops, whatever the networks say about them.
    #[must_use]
    pub fn proposing_all(self) -> Self {
        Self { proposes: Proposes::All, ..self }
    }

    fn advice(&self, candidate: &LoopCandidate<'_>, seen: Option<&Seen>) -> LoopAdvice {
        let mut all = Vec::new();
        let is_loop = match seen {
            None => {
                all.push(opinions::about_length(candidate.words.len()));
                rule::PROPOSES_LONG
            }
            Some(seen) if self.proposes == Proposes::Opposite => {
                let Seen { proposal, matched } = seen;
                let other = |number: usize, count: usize| other(number, count, candidate.words.len());
                let kind = LoopKind::ALL[other(proposal.kind() as usize, LoopKind::ALL.len())];
                let pattern = LoopPattern::ALL[other(matched.pattern() as usize, LoopPattern::ALL.len())];
                all.push(opinions::about_kind(kind, other(proposal.counter_register(), 32) as u32, 1.0));
                all.push(opinions::about_pattern(pattern, 1.0));
                rule::is_loop(seen)
            }
            Some(seen) => {
                all.push(opinions::of_detector(&seen.proposal));
                all.push(opinions::of_recogniser(&seen.matched));
                if self.proposes == Proposes::Likely {
                    rule::is_likely_loop(seen)
                } else {
                    rule::is_loop(seen)
                }
            }
        };
        // The predictor is asked about loops with a counter only. It has learnt that no function of registers knows how often others
        // iterate, and its inputs take the analysis of the body.
        let has_counter = |seen: &&Seen| is_loop && seen.proposal.kind() != LoopKind::None;
        let iterations = seen.filter(has_counter).map(|seen| self.iterations(candidate, seen));
        all.extend(iterations.map(opinions::of_predictor));
        let is_long = self.proposes == Proposes::Likely || iterations.is_none_or(rule::pays);
        let proposes = is_loop && is_long;
        let proposes = if self.proposes == Proposes::Opposite { !proposes } else { proposes };
        let proposes = proposes || rule::has_inner_loop(candidate.words);
        all.push(opinions::about_proposal(proposes));
        LoopAdvice::new(proposes || self.proposes == Proposes::All, all)
    }

    /// Returns the number of iterations that the predictor expects.
    fn iterations(&self, candidate: &LoopCandidate<'_>, seen: &Seen) -> f32 {
        let Distance { distance, step } = distance(candidate);
        let input = iteration_input(&seen.matched.embedding, distance, step, candidate.head);
        let learned = self.learning.as_ref().and_then(PredictorLearning::network);
        learned.as_deref().unwrap_or(&self.networks.predictor).iterations(&input)
    }
}

/// Returns one of the other numbers below `count`, which depends on the length of a body.
const fn other(number: usize, count: usize, words: usize) -> usize {
    (number + 1 + words % (count - 1)) % count
}

/// Returns the distance of a candidate from its exit, which is zero if the checker does not understand the body.
fn distance(candidate: &LoopCandidate<'_>) -> Distance {
    let words = candidate.words;
    let fetch = |pc: u64| Some(lower(*words.get(pc as usize / 4)?, Features::ALL));
    let found = Loop::find(4 * (words.len() as u64).saturating_sub(1), fetch);
    found.map_or_else(
        |_| Distance::default(),
        |found| Distance::new(&found, &micro_op_registers(candidate.registers)),
    )
}

impl LoopAdvisor for NetworkAdvisor {
    fn advise(&self, candidates: &[LoopCandidate<'_>]) -> Vec<LoopAdvice> {
        let seen = self.evaluator.look(&self.networks, candidates);
        if let Some(learning) = &self.learning {
            for (candidate, seen) in candidates.iter().zip(&seen) {
                if let Some(seen) = seen {
                    learning.note(candidate.words, &seen.matched);
                }
            }
        }
        candidates.iter().zip(seen).map(|(candidate, seen)| self.advice(candidate, seen.as_ref())).collect()
    }

    fn batch_max(&self) -> usize {
        match self.evaluator {
            // The first loop need not wait for the others.
            Evaluator::Host => 1,
            Evaluator::Device(_) => usize::MAX,
        }
    }

    fn steps_min(&self) -> u64 {
        self.steps_min
    }

    fn hears(&self) -> bool {
        self.learning.as_ref().is_some_and(|learning| learning.begin(&self.networks.predictor))
    }

    fn hear(&self, entry: &LoopEntry<'_>) {
        if let Some(learning) = &self.learning {
            learning.hear(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use kvrm_models::Architecture;

    use super::*;

    #[test]
    fn weights_of_other_networks_and_too_large_ones_are_refused() {
        let with = |architecture: Architecture, value: f32| {
            let weights = Weights::from_flat(architecture, vec![value; architecture.parameters()]);
            let advisor = NetworkAdvisor::zero().expect("zeros are small");
            advisor.with_weights(&weights.expect("the number is right"))
        };
        for architecture in
            [Architecture::LoopDetector, Architecture::PatternRecogniser, Architecture::IterationPredictor]
        {
            assert!(with(architecture, 0.5).is_ok(), "{architecture}");
            let error = with(architecture, 1e6).expect_err("it is too large").to_string();
            assert!(error.contains(architecture.name()) && error.contains("half precision"), "{error}");
        }
        for architecture in [Architecture::Dispatch, Architecture::MemoryOracle] {
            let error = with(architecture, 0.5).expect_err("it does not look at loops").to_string();
            assert!(error.contains(architecture.name()), "{error}");
        }
    }

    #[test]
    fn adversarial_opinions_are_wrong() {
        for count in [LoopKind::ALL.len(), LoopPattern::ALL.len(), 32] {
            for words in 1..=32 {
                let is_wrong = |number: usize| other(number, count, words) != number;
                assert!((0..count).all(is_wrong), "{words} words, {count} answers");
            }
        }
    }
}
