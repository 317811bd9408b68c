//! The weights that come with KVRM.

use kvrm_weights::FILES;

use crate::weights::manifest::sha256;
use crate::{Architecture, Error, MANIFEST, Manifest, Weights};

impl Manifest {
    /// Returns the manifest of the weights that come with KVRM.
    ///
    /// # Errors
    ///
    /// Never in a release: a test parses the manifest.
    pub fn builtin() -> Result<Self, Error> {
        Self::parse(MANIFEST, kvrm_weights::MANIFEST)
    }
}

impl Weights {
    /// Returns the weights of a network that come with KVRM, with the SHA-256 of their flat form from the manifest.
    /// Returns `None` if KVRM has no weights for this architecture.
    ///
    /// # Errors
    ///
    /// If the file's SHA-256 differs from the manifest's, or the file is damaged. Never in a release: a test loads all
    /// files.
    pub fn builtin(architecture: Architecture) -> Result<Option<(Self, String)>, Error> {
        let manifest = Manifest::builtin()?;
        let Some(entry) = manifest.files.iter().find(|entry| entry.architecture == architecture.name())
        else {
            return Ok(None);
        };
        let Some((name, bytes)) = FILES.iter().find(|(name, _)| *name == entry.name) else { return Ok(None) };
        let found = sha256(bytes);
        if found != entry.sha256 {
            return Err(Error::metadata(name, "sha256", &entry.sha256, found));
        }
        let digest = entry.weights_sha256.clone().unwrap_or_default();
        Ok(Some((Self::from_bytes(name, bytes)?, digest)))
    }
}
