//! Networks that are used together: at most one of each architecture.

use std::collections::BTreeMap;
use std::path::Path;

use crate::weights::manifest::weight_files;
use crate::{Architecture, Error, Weights};

/// A slot for the weights of each network.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Models {
    slots: BTreeMap<Architecture, Weights>,
}

impl Models {
    /// A collection with all slots empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// Loads all `.safetensors` files of `folder`, each into the slot of the architecture that its metadata names
    /// or, without metadata, that its tensors have. A manifest is not asked for.
    ///
    /// # Errors
    ///
    /// If a file is wrong, or two are of the same architecture.
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

    /// Loads a file into the slot of its architecture, which it returns. What was in the slot is gone, unless there
    /// is an error.
    ///
    /// # Errors
    ///
    /// If the file is wrong.
    pub fn load_file(&mut self, path: &Path) -> Result<Architecture, Error> {
        let weights = Weights::load(path)?;
        let architecture = weights.architecture();
        self.insert(weights);
        Ok(architecture)
    }

    /// Puts weights into the slot of their architecture and returns what was there.
    pub fn insert(&mut self, weights: Weights) -> Option<Weights> {
        self.slots.insert(weights.architecture(), weights)
    }

    /// Empties a slot and returns what was there.
    pub fn remove(&mut self, architecture: Architecture) -> Option<Weights> {
        self.slots.remove(&architecture)
    }

    /// The weights in a slot.
    pub fn get(&self, architecture: Architecture) -> Option<&Weights> {
        self.slots.get(&architecture)
    }

    /// All weights there are.
    pub fn iter(&self) -> impl Iterator<Item = &Weights> {
        self.slots.values()
    }
}
