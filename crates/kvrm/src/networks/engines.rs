//! Parts of engines that ask the loaded networks.

use kvrm_gpu::loop_advice::{LoopMode, NetworkAdvisor};
use kvrm_gpu::{ClassSelection, Device, Error, Prefetch, SelectionMode};
use kvrm_machine::Loops;
use kvrm_models::{Architecture, Weights};
use kvrm_prefetch::Degree;

use super::loaded::Networks;
use super::network::Network;

impl Networks {
    /// Returns a class selection that asks the dispatch network.
    ///
    /// ```
    /// use kvrm::prefetch::Degree;
    /// use kvrm::{GpuEngine, Networks, SelectionMode};
    ///
    /// /// Opens a GPU whose lanes ask the dispatch network in each step, and prefetch what the memory oracle names.
    /// fn open(networks: &Networks) -> Result<GpuEngine, kvrm::gpu::Error> {
    ///     Ok(GpuEngine::open(None)?
    ///         .with_class_selection(networks.class_selection(SelectionMode::Network)?)
    ///         .with_prefetch(networks.prefetch(Degree::default())?))
    /// }
    ///
    /// let networks = Networks::builtin()?;
    /// assert_eq!(networks.class_selection(SelectionMode::Hybrid)?.mode(), SelectionMode::Hybrid);
    /// assert!(Networks::new().class_selection(SelectionMode::Hybrid).is_err(), "there is no network");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::UnsuitableWeights`]: no dispatch network is loaded.
    pub fn class_selection(&self, mode: SelectionMode) -> Result<ClassSelection, Error> {
        ClassSelection::with_weights(mode, self.weights(Architecture::Dispatch)?.clone())
    }

    /// Returns an advisor that asks the loop detector, the pattern recogniser and the iteration predictor. The host evaluates
    /// them.
    ///
    /// # Errors
    ///
    /// [`Error::UnsuitableWeights`]: one of the three is not loaded, or has a weight that is too large for half precision.
    pub fn advisor(&self) -> Result<NetworkAdvisor, Error> {
        let mut advisor = NetworkAdvisor::builtin()?;
        for architecture in
            [Architecture::LoopDetector, Architecture::PatternRecogniser, Architecture::IterationPredictor]
        {
            advisor = advisor.with_weights(self.weights(architecture)?)?;
        }
        Ok(advisor)
    }

    /// Returns the acceleration of loops that these networks propose to the checker. They are evaluated on `device`, or on the
    /// host without one.
    ///
    /// # Errors
    ///
    /// As for [`Networks::advisor`].
    pub fn loops(&self, device: Option<&Device>) -> Result<Loops, Error> {
        Ok(LoopMode::Networks.advised_by(self.advisor()?, device))
    }

    /// Returns the prefetching of pages that the memory oracle names, at most `degree` for each access of which it hears.
    ///
    /// # Errors
    ///
    /// [`Error::UnsuitableWeights`]: no memory oracle is loaded, or it has a weight that is too large for half precision.
    pub fn prefetch(&self, degree: Degree) -> Result<Prefetch, Error> {
        Prefetch::with_weights(self.weights(Architecture::MemoryOracle)?, degree)
    }

    /// Returns the weights of a network that has to be loaded.
    fn weights(&self, architecture: Architecture) -> Result<&Weights, Error> {
        let network = self.get(architecture).map(Network::weights);
        network.ok_or_else(|| Error::UnsuitableWeights {
            network: architecture.name(),
            reason: "no weights of it are loaded".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use kvrm_prefetch::Policy;

    use super::*;

    #[test]
    fn each_part_asks_the_loaded_weights() {
        let mut networks = Networks::builtin().expect("all weights are valid");
        let prefetch = networks.prefetch(Degree::ONE).expect("the oracle is built in");
        assert_eq!((prefetch.policy(), prefetch.degree()), (Policy::Oracle, Degree::ONE), "the oracle");
        assert!(networks.loops(None).is_ok_and(|loops| loops.report().mode == "networks"), "all three");

        // Weights that no device can store show which network a part asks.
        let too_large = |architecture: Architecture| {
            let mut networks = networks.clone();
            let values = vec![1e6; architecture.parameters()];
            networks.insert(Weights::from_flat(architecture, values).expect("the number is right"));
            networks
        };
        let error = too_large(Architecture::MemoryOracle).prefetch(Degree::ONE).expect_err("it is too large");
        assert!(error.to_string().contains("memory-oracle"), "{error}");
        for architecture in
            [Architecture::LoopDetector, Architecture::PatternRecogniser, Architecture::IterationPredictor]
        {
            let error = too_large(architecture).advisor().expect_err("it is too large");
            assert!(error.to_string().contains(architecture.name()), "{error}");
        }
        networks = Networks::new();
        let error = networks.advisor().expect_err("there is none").to_string();
        assert!(error.contains("loop-detector") && error.contains("no weights of it are loaded"), "{error}");
    }
}
