//! Where the workspace is.

use std::env;
use std::path::PathBuf;

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    // Cargo says where the sources are now; they may have been moved since xtask was compiled.
    let manifest_dir = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let mut root = PathBuf::from(manifest_dir);
    root.pop();
    root
}
