//! The commands that run programs in KVRM and in QEMU.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::root::root;
use crate::steps::cargo;

/// The QEMU option for an Armv8.0 processor, like KVRM's machine. QEMU's default processor has larger signal frames.
pub(super) const QEMU_CPU: [&str; 2] = ["-cpu", "cortex-a53"];

/// Builds `kvrm` from the current sources and returns its path.
pub(crate) fn kvrm() -> Result<PathBuf> {
    let arguments = ["build", "--release", "--quiet", "--package", "kvrm-cli"];
    ensure!(cargo().args(arguments).status()?.success(), "kvrm does not compile; the errors are above");
    let target = std::env::var_os("CARGO_TARGET_DIR");
    Ok(target.map_or_else(|| root().join("target"), Into::into).join("release/kvrm"))
}
