//! `manifest.toml`, which lists each file of a folder of weights with its origin and its SHA-256.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::Problem;
use crate::{Architecture, Error, files};

/// The file name of a manifest.
pub const MANIFEST: &str = "manifest.toml";

/// The list of all files of a folder of weights.
///
/// ```
/// use kvrm_models::Manifest;
///
/// let manifest = Manifest::builtin()?;
/// let names: Vec<&str> = manifest.files.iter().map(|file| file.name.as_str()).collect();
/// assert!(names.contains(&"dispatch.safetensors"));
/// assert!(names.contains(&"memory-oracle.safetensors"));
/// # Ok::<(), kvrm_models::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// One entry for each file.
    #[serde(default, rename = "file")]
    pub files: Vec<Entry>,
}

/// The entry of a file of weights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The name of the file in the folder.
    pub name: String,
    /// The name of the network's [`Architecture`].
    pub architecture: String,
    /// The SHA-256 of the file, in lower-case hexadecimal digits.
    pub sha256: String,
    /// The SHA-256 of the weights as little-endian `f32` in flat form, which certificates state. It does not depend on
    /// the format of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights_sha256: Option<String>,
    /// The command that makes the file.
    pub recipe: String,
    /// The seed of the random numbers of the training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The domain on which the network is proved to be right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_domain: Option<String>,
    /// The result of the training, in a sentence.
    pub result: String,
}

/// Returns the SHA-256 of `bytes` in lower-case hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Entry {
    /// Returns an entry for a file with these bytes; the other fields are empty.
    pub fn new(name: &str, architecture: Architecture, bytes: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            architecture: architecture.name().to_owned(),
            sha256: sha256(bytes),
            weights_sha256: None,
            recipe: String::new(),
            seed: None,
            verified_domain: None,
            result: String::new(),
        }
    }

    fn check(&self, file: &str) -> Result<(), Error> {
        let wrong = |key: &str, expected: &str, found: &str| {
            Err(Error::metadata(file, &format!("{}.{key}", self.name), expected, format!("`{found}`")))
        };
        // A path instead of a plain name could lead out of the folder.
        let plain = !self.name.starts_with('.') && !self.name.contains(['/', '\\', ':', '\0']);
        if !plain || !self.name.ends_with(".safetensors") {
            return wrong("name", "the name of a .safetensors file in this folder", &self.name);
        }
        if self.sha256.len() != 64 || !self.sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return wrong("sha256", "64 lower-case hexadecimal digits", &self.sha256);
        }
        if Architecture::from_name(&self.architecture).is_none() {
            let expected = format!("one of {}", Architecture::names());
            return wrong("architecture", &expected, &self.architecture);
        }
        Ok(())
    }
}

impl Manifest {
    /// Parses a manifest. `file` is the name used in messages.
    ///
    /// # Errors
    ///
    /// If `text` is not TOML, has unknown keys, names an unknown architecture, or lists a file twice; if a file name is
    /// not the plain name of a `.safetensors` file, or a SHA-256 is malformed.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let manifest: Self = toml::from_str(text)
            .map_err(|error| Error::file(file, "a manifest of weights", error.to_string()))?;
        let mut names = BTreeSet::new();
        for entry in &manifest.files {
            entry.check(file)?;
            if !names.insert(&entry.name) {
                return Err(Error::metadata(file, &entry.name, "one entry", "two"));
            }
        }
        Ok(manifest)
    }

    /// Loads a manifest.
    ///
    /// # Errors
    ///
    /// As for [`Manifest::parse`]; also if the file cannot be read or is not UTF-8.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let file = path.display().to_string();
        let text = String::from_utf8(files::read(path)?)
            .map_err(|error| Error::file(&file, "UTF-8", error.to_string()))?;
        Self::parse(&file, &text)
    }

    /// Returns the manifest as TOML.
    ///
    /// # Errors
    ///
    /// If TOML cannot represent the manifest: its integers end at 2^63 - 1.
    pub fn to_toml(&self) -> Result<String, Error> {
        toml::to_string(self)
            .map_err(|error| Error::file(MANIFEST, "values that TOML can represent", error.to_string()))
    }

    /// Returns the entry of the file called `name`.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.files.iter().find(|entry| entry.name == name)
    }

    /// Compares the manifest with the weights in `folder`.
    ///
    /// # Errors
    ///
    /// [`Error::Manifest`] with all files that differ, are missing, or are not listed; another error if the folder
    /// cannot be read.
    pub fn verify(&self, folder: &Path) -> Result<(), Error> {
        let there = weight_files(folder)?;
        let mut problems = Vec::new();
        for entry in &self.files {
            if !there.contains(&entry.name) {
                problems.push(Problem::Missing(entry.name.clone()));
                continue;
            }
            let found = sha256(&files::read(&folder.join(&entry.name))?);
            if found != entry.sha256 {
                let (name, expected) = (entry.name.clone(), entry.sha256.clone());
                problems.push(Problem::Different { name, expected, found });
            }
        }
        let unlisted = there.into_iter().filter(|name| self.entry(name).is_none());
        problems.extend(unlisted.map(Problem::Unlisted));
        if problems.is_empty() {
            return Ok(());
        }
        Err(Error::Manifest { file: folder.join(MANIFEST).display().to_string(), problems })
    }
}

/// Returns the names of the weight files of a folder, sorted.
pub(crate) fn weight_files(folder: &Path) -> Result<BTreeSet<String>, Error> {
    let entries = fs::read_dir(folder).map_err(|source| Error::read(folder, source))?;
    let mut names = BTreeSet::new();
    for entry in entries {
        let entry = entry.map_err(|source| Error::read(folder, source))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".safetensors") && !name.starts_with('.') {
            names.insert(name);
        }
    }
    Ok(names)
}
