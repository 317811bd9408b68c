//! The files of recorded streams.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use kvrm_prefetch::AccessStream;

use crate::folders;
use crate::root::root;

/// The extension of the files of streams.
pub(super) const EXTENSION: &str = "pages";

/// Returns the folder of everything that the task makes.
pub(super) fn folder() -> PathBuf {
    root().join("target/prefetch")
}

/// Returns the folder of the streams.
pub(crate) fn streams_folder() -> PathBuf {
    folder().join("streams")
}

/// Reads all streams, in the order of their file names.
pub(super) fn read_streams() -> Result<Vec<AccessStream>> {
    const ADVICE: &str = "run `cargo xtask prefetch log`";
    let folder = streams_folder();
    ensure!(folder.is_dir(), "{} does not exist; {ADVICE}", folder.display());
    let mut paths = folders::entries(&folder)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == EXTENSION));
    ensure!(!paths.is_empty(), "{} has no streams; {ADVICE}", folder.display());
    let read = |path: &PathBuf| {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        AccessStream::from_bytes(&bytes).with_context(|| format!("{}; {ADVICE}", path.display()))
    };
    paths.iter().map(read).collect()
}
