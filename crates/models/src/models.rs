//! A set of networks that are used together: at most one of each architecture.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::weights::manifest::weight_files;
use crate::{Architecture, Dtype, Entry, Error, MANIFEST, Manifest, Weights, files, sha256_of};

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
        models.load_folder(folder)?;
        Ok(models)
    }

    /// Loads all `.safetensors` files of `folder` into the slots of their architectures, as [`Models::load_dir`] does, and
    /// returns the path of each file. Other slots keep their weights, and all do if there is an error.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or is invalid, or two files have the same architecture.
    pub fn load_folder(&mut self, folder: &Path) -> Result<BTreeMap<Architecture, PathBuf>, Error> {
        let mut loaded: BTreeMap<Architecture, (PathBuf, Weights)> = BTreeMap::new();
        for name in weight_files(folder)? {
            let path = folder.join(&name);
            let weights = Weights::load(&path)?;
            let architecture = weights.architecture();
            if let Some((other, _)) = loaded.get(&architecture) {
                let other = other.file_name().unwrap_or_default().display();
                let found = format!("`{other}` has them too");
                let expected = format!("the only weights of {architecture} in the folder");
                return Err(Error::file(&path.display().to_string(), expected, found));
            }
            loaded.insert(architecture, (path, weights));
        }
        let insert = |(architecture, (path, weights))| {
            self.insert(weights);
            (architecture, path)
        };
        Ok(loaded.into_iter().map(insert).collect())
    }

    /// Saves all weights in half precision into a folder, which is made if it does not exist, each as the name of its architecture with
    /// `.safetensors`, and the manifest of them.
    ///
    /// # Errors
    ///
    /// If a value is too large for half precision, or a file cannot be written.
    pub fn save_dir(&self, folder: &Path) -> Result<Manifest, Error> {
        fs::create_dir_all(folder).map_err(|source| Error::write(folder, source))?;
        let mut manifest = Manifest::default();
        for weights in self.iter() {
            let name = format!("{}.safetensors", weights.architecture());
            let bytes = weights.to_bytes(Dtype::F16)?;
            files::write(&folder.join(&name), &bytes)?;
            let rounded = Weights::from_bytes(&name, &bytes)?;
            let metadata = &weights.metadata;
            let metrics = metadata.metrics.iter().map(|(name, value)| format!("{name} {value}"));
            manifest.files.push(Entry {
                weights_sha256: Some(sha256_of(rounded.values())),
                recipe: metadata.recipe.clone().unwrap_or_default(),
                seed: metadata.seed,
                verified_domain: metadata.verified_domain.clone(),
                result: metrics.collect::<Vec<_>>().join(", "),
                ..Entry::new(&name, weights.architecture(), &bytes)
            });
        }
        files::write(&folder.join(MANIFEST), manifest.to_toml()?.as_bytes())?;
        Ok(manifest)
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
