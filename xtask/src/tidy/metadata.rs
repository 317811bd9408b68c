//! The packages of the workspace, according to `cargo metadata`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::files::File;
use crate::steps::cargo;

/// A package of the workspace.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) manifest: File,
    /// The root files of targets: `src/lib.rs`, `src/main.rs`, `tests/decode.rs`, ...
    pub(super) targets: Vec<String>,
    pub(super) dependencies: Vec<Dependency>,
}

/// A dependency of a package.
#[derive(Debug)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// Whether it is for tests, examples and benchmarks only.
    pub(super) is_dev: bool,
    /// Whether it is a package of this workspace.
    pub(super) is_workspace_package: bool,
}

/// Reads the packages of the workspace in `root`.
pub(super) fn read(root: &Path) -> Result<Vec<Package>> {
    let output = cargo()
        .current_dir(root)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .context("cannot run cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")?;
    // The root as cargo writes it, which may differ from `root` because of symbolic links.
    let root = Path::new(string(&metadata, "workspace_root")?);
    list(&metadata, "packages")?.iter().map(|package| parse(package, root)).collect()
}

fn parse(package: &Value, root: &Path) -> Result<Package> {
    let manifest_path = string(package, "manifest_path")?;
    let text = fs::read_to_string(manifest_path).with_context(|| format!("cannot read {manifest_path}"))?;
    let targets = list(package, "targets")?.iter().map(|target| relative(string(target, "src_path")?, root));
    let dependencies = list(package, "dependencies")?.iter().map(|dependency| {
        Ok(Dependency {
            name: string(dependency, "name")?.to_owned(),
            is_dev: dependency["kind"] == "dev",
            is_workspace_package: dependency["path"].is_string(),
        })
    });
    Ok(Package {
        name: string(package, "name")?.to_owned(),
        manifest: File { path: relative(manifest_path, root)?, text },
        targets: targets.collect::<Result<_>>()?,
        dependencies: dependencies.collect::<Result<_>>()?,
    })
}

/// Returns `path` relative to `root`, with `/` on every system.
fn relative(path: &str, root: &Path) -> Result<String> {
    let path =
        Path::new(path).strip_prefix(root).with_context(|| format!("{path} is outside the workspace"))?;
    Ok(path.to_string_lossy().replace('\\', "/"))
}

fn string<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value[key].as_str().with_context(|| format!("cargo metadata lacks the string `{key}`"))
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    value[key].as_array().with_context(|| format!("cargo metadata lacks the list `{key}`"))
}
