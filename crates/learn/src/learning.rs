//! What a user holds while networks learn.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kvrm_models::{Error, MemoryOracle, Weights};
use kvrm_prefetch::PageAccess;

use crate::oracle::{Learned, OracleLearner};

/// Learning of the networks of one machine while it runs. All clones are the same.
///
/// Only the first engine that begins learns. Several engines run at the same time in no fixed order, so weights learned from all of
/// them could not be repeated.
#[derive(Clone, Debug)]
pub struct Learning(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    seed: u64,
    oracle: Mutex<Option<OracleLearner>>,
}

impl Learning {
    /// Creates a value of which no engine knows. The seed chooses the samples of each step.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Shared { seed, oracle: Mutex::default() }))
    }

    /// Begins to learn from a memory oracle, whose weights are in half precision. Returns whether the caller is the first, and has
    /// to tell of accesses.
    #[must_use]
    pub fn begin_oracle(&self, network: &Arc<MemoryOracle>) -> bool {
        let mut oracle = self.lock();
        let is_first = oracle.is_none();
        oracle.get_or_insert_with(|| OracleLearner::new(network, self.0.seed));
        is_first
    }

    /// Tells of accesses, each of a lane. Returns the network to use from now on, if it is another one than before.
    pub fn hear(&self, accesses: impl IntoIterator<Item = (usize, PageAccess)>) -> Option<Arc<MemoryOracle>> {
        let mut oracle = self.lock();
        let learner = oracle.as_mut()?;
        let before = learner.network().clone();
        accesses.into_iter().for_each(|(lane, access)| learner.hear(lane, access));
        let network = learner.network();
        (!Arc::ptr_eq(&before, network)).then(|| network.clone())
    }

    /// Tells that lanes begin anew.
    pub fn forget(&self, lanes: impl IntoIterator<Item = usize>) {
        if let Some(learner) = &mut *self.lock() {
            lanes.into_iter().for_each(|lane| learner.forget(lane));
        }
    }

    /// Returns what the memory oracle has learned. Returns `None` if no engine has begun with one.
    #[must_use]
    pub fn oracle(&self) -> Option<Learned> {
        self.lock().as_mut().map(OracleLearner::learned)
    }

    /// Returns the weights of the networks that have learned.
    ///
    /// # Errors
    ///
    /// Never: they are those of networks.
    pub fn weights(&self) -> Result<Vec<Weights>, Error> {
        self.lock().as_mut().map(OracleLearner::weights).into_iter().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Option<OracleLearner>> {
        self.0.oracle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
