//! The commands that programs are run with, here and under QEMU.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::root::root;
use crate::steps::cargo;

/// A processor of Armv8.0, as the machine is. The one QEMU has unless told otherwise puts more into frames of signals.
pub(super) const QEMU_CPU: [&str; 2] = ["-cpu", "cortex-a53"];

/// The command, built from the sources as they are.
pub(crate) fn kvrm() -> Result<PathBuf> {
    let arguments = ["build", "--release", "--quiet", "--package", "kvrm-cli"];
    ensure!(cargo().args(arguments).status()?.success(), "kvrm does not build");
    let target = std::env::var_os("CARGO_TARGET_DIR");
    Ok(target.map_or_else(|| root().join("target"), Into::into).join("release/kvrm"))
}
