//! The corpus files with the answers of oracles.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use flate2::{Compression, GzBuilder};

use crate::root::root;

/// Returns the path of a corpus file.
pub(super) fn corpus(name: &str) -> PathBuf {
    root().join("tests/corpus").join(name)
}

/// Writes a compressed corpus file. The same text always gives the same bytes.
pub(super) fn write_corpus(name: &str, text: &str) -> Result<()> {
    let path = corpus(name);
    let mut gz = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    gz.write_all(text.as_bytes())?;
    std::fs::write(&path, gz.finish()?).with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}
