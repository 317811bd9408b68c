//! The networks that are loaded together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kvrm_models::{Architecture, Error, Models, Weights, WeightsError, sha256_of};

use super::network::{Facts, Network};
use super::proof::ProofState;
use super::source::Source;

/// The networks that are used together: at most one of each [`Architecture`].
///
/// The value says of each network where its weights come from, how many there are, what an evaluation costs, whether it is
/// proved, and what it [decided](Networks::decisions) in a run. Engines are made from it: [`Networks::class_selection`],
/// [`Networks::loops`] and [`Networks::prefetch`].
///
/// ```
/// use kvrm::Networks;
/// use kvrm::models::Architecture;
/// use kvrm::networks::Source;
///
/// let networks = Networks::builtin()?;
/// let four = [
///     Architecture::Dispatch,
///     Architecture::LoopDetector,
///     Architecture::MemoryOracle,
///     Architecture::PatternRecogniser,
/// ];
/// let four: Vec<_> = four.into_iter().filter_map(|architecture| networks.get(architecture)).collect();
/// assert_eq!(four.iter().map(|network| network.parameters()).sum::<usize>(), 1_872_961);
/// for network in networks.iter() {
///     println!("{} {}: {}", network.architecture(), network.source(), network.proof());
/// }
/// assert_eq!(four[0].source(), &Source::BuiltIn);
/// # Ok::<(), kvrm::models::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Networks {
    models: Models,
    /// The facts about each of the models.
    facts: BTreeMap<Architecture, Facts>,
}

impl Networks {
    /// Returns a value without networks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the networks that come with KVRM.
    ///
    /// # Errors
    ///
    /// A file of weights is damaged. Never in a release, where tests load all of them.
    pub fn builtin() -> Result<Self, Error> {
        let mut networks = Self::new();
        for architecture in Architecture::ALL {
            if let Some((weights, expected)) = Weights::builtin(architecture)? {
                let expected = (!expected.is_empty()).then_some(expected);
                networks.put(weights, Source::BuiltIn, expected);
            }
        }
        Ok(networks)
    }

    /// Loads a `.safetensors` file, which replaces the network of its architecture, and returns the architecture.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is invalid. Nothing is replaced then.
    pub fn load_file(&mut self, path: &Path) -> Result<Architecture, Error> {
        let architecture = self.models.load_file(path)?;
        self.note(architecture, Source::File(path.to_owned()), None);
        Ok(architecture)
    }

    /// Loads all `.safetensors` files of a folder, which replace the networks of their architectures. Returns these
    /// architectures with the paths of their files. The manifest is not read.
    ///
    /// # Errors
    ///
    /// A file cannot be read or is invalid, two files have the same architecture, or there is none. Nothing is replaced then.
    pub fn load_folder(&mut self, folder: &Path) -> Result<BTreeMap<Architecture, PathBuf>, Error> {
        let loaded = self.models.load_folder(folder)?;
        if loaded.is_empty() {
            let expected = "a folder with .safetensors files of weights";
            return Err(Error::file(&folder.display().to_string(), expected, "none"));
        }
        for (architecture, path) in &loaded {
            self.note(*architecture, Source::File(path.clone()), None);
        }
        Ok(loaded)
    }

    /// Loads a file or a folder, as [`Networks::load_file`] and [`Networks::load_folder`] do.
    ///
    /// # Errors
    ///
    /// Those of the two methods.
    pub fn load(&mut self, path: &Path) -> Result<(), Error> {
        if path.is_dir() { self.load_folder(path).map(drop) } else { self.load_file(path).map(drop) }
    }

    /// Replaces the network of an architecture with weights that the program has made.
    pub fn insert(&mut self, weights: Weights) {
        self.put(weights, Source::Memory, None);
    }

    fn put(&mut self, weights: Weights, source: Source, expected: Option<String>) {
        let architecture = weights.architecture();
        self.models.insert(weights);
        self.note(architecture, source, expected);
    }

    /// Notes the facts about weights that have been put into a slot.
    fn note(&mut self, architecture: Architecture, source: Source, expected: Option<String>) {
        let Some(weights) = self.models.get(architecture) else { return };
        let (sha256, proof) = (sha256_of(weights.values()), ProofState::of(architecture));
        self.facts.insert(architecture, Facts { source, sha256, expected, proof });
    }

    /// Returns the network of an architecture, if it is loaded.
    #[must_use]
    pub fn get(&self, architecture: Architecture) -> Option<Network<'_>> {
        Some(Network::new(self.models.get(architecture)?, self.facts.get(&architecture)?))
    }

    /// Returns the loaded networks, in the order of [`Architecture`].
    pub fn iter(&self) -> impl Iterator<Item = Network<'_>> {
        Architecture::ALL.into_iter().filter_map(|architecture| self.get(architecture))
    }

    /// Returns the number of weights of all loaded networks together.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.iter().map(Network::parameters).sum()
    }

    /// Returns the number of bytes of all weights on a device.
    #[must_use]
    pub fn device_bytes(&self) -> usize {
        self.iter().map(Network::device_bytes).sum()
    }

    /// Proves the networks that can be proved and have not been: dispatch and decoder. The outcome is that of
    /// [`Network::proof`]. Returns whether no proof has failed, earlier ones included.
    ///
    /// Each proof evaluates the network on all 2^32 words, with all cores. `progress` is called with the network and the number of top bytes of
    /// words that are done, up to 256.
    ///
    /// # Errors
    ///
    /// Never: weights that are loaded have been checked.
    pub fn prove(&mut self, progress: &(dyn Fn(Architecture, u32) + Sync)) -> Result<bool, WeightsError> {
        for weights in self.models.iter() {
            let architecture = weights.architecture();
            let Some(facts) = self.facts.get_mut(&architecture) else { continue };
            if facts.proof == ProofState::Unproved {
                let progress = |done| progress(architecture, done);
                facts.proof = ProofState::prove(weights, facts.expected.as_deref(), &progress)?;
            }
        }
        Ok(!self.iter().any(|network| matches!(network.proof(), ProofState::Failed(_))))
    }
}
