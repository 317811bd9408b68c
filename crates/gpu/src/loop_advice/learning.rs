//! The iteration predictor of an advisor, which may learn from entries of loops.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use kvrm_learn::Learning;
use kvrm_learn::iterations::Entry;
use kvrm_machine::LoopEntry;
use kvrm_models::inputs::iteration_input;
use kvrm_models::{IterationPredictor, PatternMatch};

/// The learning of an iteration predictor.
#[derive(Debug)]
pub(super) struct PredictorLearning {
    learning: Learning,
    /// Whether this is the learning that has begun first.
    is_first: OnceLock<bool>,
    /// What the recogniser has seen in bodies, by their words.
    embeddings: Mutex<HashMap<Vec<u32>, Embedding>>,
    /// The network in use, if it is not the first one.
    learned: Mutex<Option<Arc<IterationPredictor>>>,
}

/// What the recogniser sees in a body.
type Embedding = [f32; 128];

impl PredictorLearning {
    pub(super) fn new(learning: &Learning) -> Self {
        Self {
            learning: learning.clone(),
            is_first: OnceLock::new(),
            embeddings: Mutex::default(),
            learned: Mutex::default(),
        }
    }

    /// Begins to learn from a network, unless that was done before. Returns whether it learns.
    pub(super) fn begin(&self, network: &IterationPredictor) -> bool {
        *self.is_first.get_or_init(|| self.learning.begin_iterations(&Arc::new(network.clone())))
    }

    /// Remembers what the recogniser has seen in a body.
    pub(super) fn note(&self, words: &[u32], matched: &PatternMatch) {
        lock(&self.embeddings).insert(words.to_vec(), matched.embedding);
    }

    /// Hears of an entry of a loop, and takes what was learned into use.
    pub(super) fn hear(&self, entry: &LoopEntry<'_>) {
        // The recogniser does not see bodies that are too long.
        let Some(embedding) = lock(&self.embeddings).get(entry.words).copied() else { return };
        let input = iteration_input(&embedding, entry.distance, entry.step, entry.head);
        let entry = Entry { input, iterations: entry.iterations };
        if let Some(network) = self.learning.hear_entry(&entry) {
            *lock(&self.learned) = Some(network);
        }
    }

    /// Returns the network in use, if it has learned.
    pub(super) fn network(&self) -> Option<Arc<IterationPredictor>> {
        lock(&self.learned).clone()
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
