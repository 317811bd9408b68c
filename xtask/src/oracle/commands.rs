//! The commands that run programs in KVRM and in QEMU.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::root::root;
use crate::steps::cargo;

/// The QEMU option for an Armv8.0 processor, like KVRM's machine. QEMU's default processor has larger signal frames.
pub(super) const QEMU_CPU: [&str; 2] = ["-cpu", "cortex-a53"];

/// Builds `kvrm` from the current sources and returns its path.
pub(crate) fn kvrm() -> Result<PathBuf> {
    build("kvrm-cli", "kvrm")
}

/// Builds the program that executes a run in intervals, and returns its path.
pub(super) fn intervals() -> Result<PathBuf> {
    build("kvrm-gpu-tools", "intervals")
}

/// Builds a program of a package from the current sources and returns its path.
fn build(package: &str, program: &str) -> Result<PathBuf> {
    let arguments = ["build", "--release", "--quiet", "--package", package, "--bin", program];
    ensure!(cargo().args(arguments).status()?.success(), "{program} does not compile; the errors are above");
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| root().join("target"), Into::into);
    Ok(target.join("release").join(program))
}
