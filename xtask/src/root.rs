//! The folder of the workspace.

use std::env;
use std::path::PathBuf;

/// Returns the folder of the workspace.
pub(crate) fn root() -> PathBuf {
    // Cargo sets the variable to the current path; the sources may have moved since xtask was compiled.
    let manifest_dir = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let mut root = PathBuf::from(manifest_dir);
    root.pop();
    root
}
