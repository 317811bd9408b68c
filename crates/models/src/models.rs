//! A set of networks that are used together: at most one of each architecture.

use std::collections::BTreeMap;
use std::path::Path;

use crate::weights::manifest::weight_files;
use crate::{Architecture, Error, Weights};

/// The weights of at most one network of each architecture.
///
/// ```
/// use kvrm_models::{Architecture, Models, Weights};
///
/// let mut models = Models::new();
/// models.insert(Weights::from_flat(Architecture::SmallDispatch, vec![0.0; 135])?);
/// assert!(models.get(Architecture::SmallDispatch).is_some());
/// assert!(models.get(Architecture::Decoder).is_none());
/// # Ok::<(), kvrm_models::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Models {
    slots: BTreeMap<Architecture, Weights>,
}

impl Models {
    /// Returns a collection with all slots empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// Loads all `.safetensors` files of `folder`, each into the slot of its architecture: the one that the metadata
    /// names or, without metadata, the one with these tensors. The manifest is not read.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or is invalid, or two files have the same architecture.
    pub fn load_dir(folder: &Path) -> Result<Self, Error> {
        let mut models = Self::new();
        let mut from: BTreeMap<Architecture, String> = BTreeMap::new();
        for name in weight_files(folder)? {
            let path = folder.join(&name);
            let weights = Weights::load(&path)?;
            let architecture = weights.architecture();
            if let Some(other) = from.insert(architecture, name) {
                let found = format!("`{other}` has them too");
                let expected = format!("the only weights of {architecture} in the folder");
                return Err(Error::file(&path.display().to_string(), expected, found));
            }
            models.insert(weights);
        }
        Ok(models)
    }

    /// Loads a file into the slot of its architecture and returns that architecture. The previous weights of the slot
    /// are dropped, but kept if there is an error.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is invalid.
    pub fn load_file(&mut self, path: &Path) -> Result<Architecture, Error> {
        let weights = Weights::load(path)?;
        let architecture = weights.architecture();
        self.insert(weights);
        Ok(architecture)
    }

    /// Puts weights into the slot of their architecture and returns the previous ones.
    pub fn insert(&mut self, weights: Weights) -> Option<Weights> {
        self.slots.insert(weights.architecture(), weights)
    }

    /// Empties a slot and returns its weights.
    pub fn remove(&mut self, architecture: Architecture) -> Option<Weights> {
        self.slots.remove(&architecture)
    }

    /// Returns the weights in a slot.
    pub fn get(&self, architecture: Architecture) -> Option<&Weights> {
        self.slots.get(&architecture)
    }

    /// Returns the weights in all filled slots, in the order of [`Architecture`].
    pub fn iter(&self) -> impl Iterator<Item = &Weights> {
        self.slots.values()
    }
}
