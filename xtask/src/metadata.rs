//! The output of `cargo metadata`.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::steps::cargo;

/// Runs `cargo metadata` with more options for a manifest.
pub(crate) fn read(manifest: &Path, options: &[&str]) -> Result<Value> {
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--manifest-path"])
        .arg(manifest)
        .args(options)
        .output()
        .context("cannot run cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")
}

/// Returns the string `key` of an object in the output.
pub(crate) fn string<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value[key].as_str().with_context(|| format!("cargo metadata lacks the string `{key}`"))
}

/// Returns the list `key` of an object in the output.
pub(crate) fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    value[key].as_array().with_context(|| format!("cargo metadata lacks the list `{key}`"))
}
