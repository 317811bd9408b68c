//! Which pages a machine prefetches.

use std::sync::Arc;

use kvrm_learn::Learning;
use kvrm_models::{Architecture, MemoryOracle, Weights};
use kvrm_prefetch::{Degree, Policy};

use crate::device::error::Error;

/// Which pages a machine with [`MemoryLimits`](crate::MemoryLimits) brings back from the host before a lane needs them.
///
/// Prefetching never changes a result: it only decides which frames are on the device.
///
/// ```
/// use kvrm_gpu::Prefetch;
/// use kvrm_prefetch::{Degree, Policy};
///
/// let oracle = Prefetch::new(Policy::Oracle, Degree::new(4)?)?;
/// assert_eq!((oracle.policy(), oracle.degree().get()), (Policy::Oracle, 4));
/// assert_eq!(Prefetch::default().policy(), Policy::Stride);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Prefetch {
    policy: Policy,
    degree: Degree,
    oracle: Option<Arc<MemoryOracle>>,
    learning: Option<Learning>,
}

impl Prefetch {
    /// No page is prefetched.
    pub const NONE: Self = Self { policy: Policy::None, degree: Degree::ONE, oracle: None, learning: None };

    /// Returns a prefetcher without a network.
    const fn of(policy: Policy, degree: Degree) -> Self {
        Self { policy, degree, oracle: None, learning: None }
    }

    /// Lets a prefetcher name at most `degree` pages for each access that it hears of. The memory oracle has the weights that come with
    /// KVRM. It is evaluated on the GPU for all lanes together, or by the threads of the host if each lane can have one.
    ///
    /// # Errors
    ///
    /// [`Error::UnsuitableWeights`]: never in a release, where the weights are tested.
    pub fn new(policy: Policy, degree: Degree) -> Result<Self, Error> {
        if policy != Policy::Oracle {
            return Ok(Self::of(policy, degree));
        }
        let builtin = Weights::builtin(Architecture::MemoryOracle).map_err(|error| unsuitable(&error))?;
        let (weights, _) = builtin.ok_or_else(|| unsuitable(&"KVRM comes without them"))?;
        Self::with_weights(&weights, degree)
    }

    /// Lets a memory oracle with these weights name at most `degree` pages for each access that it hears of.
    ///
    /// # Errors
    ///
    /// [`Error::UnsuitableWeights`]: they are of another network, or a weight is too large for half precision.
    pub fn with_weights(weights: &Weights, degree: Degree) -> Result<Self, Error> {
        if weights.architecture() != Architecture::MemoryOracle {
            let found = weights.architecture().name();
            return Err(unsuitable(&format!("expected those of a memory oracle, found those of {found}")));
        }
        let network = MemoryOracle::from_flat(weights.values()).and_then(|network| network.rounded_to_half());
        let network = network.map_err(|error| unsuitable(&error))?;
        Ok(Self { policy: Policy::Oracle, degree, oracle: Some(Arc::new(network)), learning: None })
    }

    /// Lets the memory oracle learn while lanes run, in spare threads of the host. The first machine that is built learns, and no
    /// other one. Without a memory oracle, nothing is learned.
    ///
    /// ```
    /// use kvrm_gpu::Prefetch;
    /// use kvrm_learn::Learning;
    /// use kvrm_prefetch::{Degree, Policy};
    ///
    /// let learning = Learning::new(1);
    /// let prefetch = Prefetch::new(Policy::Oracle, Degree::new(4)?)?.with_learning(&learning);
    /// // After a run: learning.oracle() says what was learned, and learning.weights() has the weights.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_learning(self, learning: &Learning) -> Self {
        Self { learning: Some(learning.clone()), ..self }
    }

    /// Returns the policy.
    #[must_use]
    pub const fn policy(&self) -> Policy {
        self.policy
    }

    /// Returns the largest number of pages for each access.
    #[must_use]
    pub const fn degree(&self) -> Degree {
        self.degree
    }

    /// Returns whether anything is prefetched.
    pub(crate) fn is_active(&self) -> bool {
        self.policy != Policy::None
    }

    /// Returns the memory oracle, if it is what names pages.
    pub(crate) const fn network(&self) -> Option<&Arc<MemoryOracle>> {
        self.oracle.as_ref()
    }

    /// Returns the learning that begins with this engine, if it is the first one.
    pub(crate) fn begin_learning(&self) -> Option<Learning> {
        let (network, learning) = (self.oracle.as_ref()?, self.learning.as_ref()?);
        learning.begin_oracle(network).then(|| learning.clone())
    }
}

impl Default for Prefetch {
    /// Returns the default policy with the default degree. Neither needs weights.
    fn default() -> Self {
        Self::of(Policy::default(), Degree::default())
    }
}

/// Returns the error of weights that cannot be used.
fn unsuitable(reason: &dyn ToString) -> Error {
    Error::UnsuitableWeights { network: Architecture::MemoryOracle.name(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_another_network_are_refused() {
        let (weights, _) = Weights::builtin(Architecture::LoopDetector)
            .expect("the weights are there")
            .expect("KVRM has them");
        let error = Prefetch::with_weights(&weights, Degree::ONE).expect_err("of another network");
        assert!(error.to_string().contains("found those of loop-detector"), "{error}");
    }
}
