//! The weights that come with KVRM.

use kvrm_weights::FILES;

use crate::weights::manifest::sha256;
use crate::{Architecture, Error, MANIFEST, Manifest, Weights};

impl Manifest {
    /// That of the weights that come with KVRM.
    ///
    /// # Errors
    ///
    /// Never, in what was released: a test reads it.
    pub fn builtin() -> Result<Self, Error> {
        Self::parse(MANIFEST, kvrm_weights::MANIFEST)
    }
}

impl Weights {
    /// Those of a network that come with KVRM, if there are any, and the sha256 of their flat form that the
    /// manifest states.
    ///
    /// # Errors
    ///
    /// If the file is not the one in the manifest; never, in what was released: a test reads them all.
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
