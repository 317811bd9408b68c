//! The files that answers of oracles are kept in.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use flate2::{Compression, GzBuilder};

use crate::root::root;

/// Where corpora are kept.
pub(super) fn corpus(name: &str) -> PathBuf {
    root().join("tests/corpus").join(name)
}

/// Writes a compressed corpus file, the same bytes for the same text on every machine and day.
pub(super) fn write_corpus(name: &str, text: &str) -> Result<()> {
    let path = corpus(name);
    let mut gz = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    gz.write_all(text.as_bytes())?;
    std::fs::write(&path, gz.finish()?).with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}
