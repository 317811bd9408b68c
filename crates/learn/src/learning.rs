//! What a user holds while networks learn.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kvrm_models::{Error, IterationPredictor, MemoryOracle, Weights};
use kvrm_prefetch::PageAccess;

use crate::iterations::{Entry, Errors, IterationLearner};
use crate::learned::Learned;
use crate::oracle::{Accuracy, OracleLearner};

/// Learning of the networks of one machine while it runs. All clones are the same.
///
/// Of each network, only the first engine that begins with it learns. Several engines run at the same time in no fixed order, so
/// weights learned from all of them could not be repeated.
#[derive(Clone, Debug)]
pub struct Learning(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    seed: u64,
    oracle: Mutex<Option<OracleLearner>>,
    iterations: Mutex<Option<IterationLearner>>,
}

impl Learning {
    /// Creates a value of which no engine knows. The seed chooses the samples of each step.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Shared { seed, oracle: Mutex::default(), iterations: Mutex::default() }))
    }

    /// Begins to learn from a memory oracle, whose weights are in half precision. Returns whether the caller is the first, and has
    /// to tell of accesses.
    #[must_use]
    pub fn begin_oracle(&self, network: &Arc<MemoryOracle>) -> bool {
        begin(&self.0.oracle, || OracleLearner::new(network, self.0.seed))
    }

    /// Begins to learn from an iteration predictor, whose weights are in half precision. Returns whether the caller is the first, and
    /// has to tell of entries of loops.
    #[must_use]
    pub fn begin_iterations(&self, network: &Arc<IterationPredictor>) -> bool {
        begin(&self.0.iterations, || IterationLearner::new(network, self.0.seed))
    }

    /// Tells of accesses, each of a lane. Returns the network to use from now on, if it is another one than before.
    pub fn hear(&self, accesses: impl IntoIterator<Item = (usize, PageAccess)>) -> Option<Arc<MemoryOracle>> {
        let mut oracle = lock(&self.0.oracle);
        let learner = oracle.as_mut()?;
        let before = learner.network().clone();
        accesses.into_iter().for_each(|(lane, access)| learner.hear(lane, access));
        changed(&before, learner.network())
    }

    /// Tells of an entry of a loop. Returns the network to use from now on, if it is another one than before.
    pub fn hear_entry(&self, entry: &Entry) -> Option<Arc<IterationPredictor>> {
        let mut iterations = lock(&self.0.iterations);
        let learner = iterations.as_mut()?;
        let before = learner.network().clone();
        learner.hear(entry);
        changed(&before, learner.network())
    }

    /// Tells that lanes begin anew.
    pub fn forget(&self, lanes: impl IntoIterator<Item = usize>) {
        if let Some(learner) = &mut *lock(&self.0.oracle) {
            lanes.into_iter().for_each(|lane| learner.forget(lane));
        }
    }

    /// Returns what the memory oracle has learned. Returns `None` if no engine has begun with one.
    #[must_use]
    pub fn oracle(&self) -> Option<Learned<Accuracy>> {
        lock(&self.0.oracle).as_mut().map(OracleLearner::learned)
    }

    /// Returns what the iteration predictor has learned. Returns `None` if no engine has begun with one.
    #[must_use]
    pub fn iterations(&self) -> Option<Learned<Errors>> {
        lock(&self.0.iterations).as_mut().map(IterationLearner::learned)
    }

    /// Returns the weights of the networks that have learned.
    ///
    /// # Errors
    ///
    /// Never: they are those of networks.
    pub fn weights(&self) -> Result<Vec<Weights>, Error> {
        let oracle = lock(&self.0.oracle).as_mut().map(OracleLearner::weights);
        let iterations = lock(&self.0.iterations).as_mut().map(IterationLearner::weights);
        oracle.into_iter().chain(iterations).collect()
    }
}

/// Makes a learner unless there is one already. Returns whether it was made.
fn begin<L>(place: &Mutex<Option<L>>, new: impl FnOnce() -> L) -> bool {
    let mut learner = lock(place);
    let is_first = learner.is_none();
    learner.get_or_insert_with(new);
    is_first
}

/// Returns the network in use if it is another one than before.
fn changed<N>(before: &Arc<N>, now: &Arc<N>) -> Option<Arc<N>> {
    (!Arc::ptr_eq(before, now)).then(|| now.clone())
}

fn lock<L>(place: &Mutex<Option<L>>) -> MutexGuard<'_, Option<L>> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}
