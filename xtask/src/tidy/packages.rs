//! The packages of the workspace, according to `cargo metadata`.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::files::File;
use crate::metadata::{self, list, string};

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

impl Package {
    /// Returns the folder of the package, with `/` at its end.
    pub(super) fn folder(&self) -> &str {
        self.manifest.path.strip_suffix("Cargo.toml").unwrap_or_default()
    }

    /// Returns the files in Rust below `src/`.
    pub(super) fn sources<'a>(&self, files: &'a [File]) -> Vec<&'a File> {
        let folder = format!("{}src/", self.folder());
        files.iter().filter(|file| file.path.starts_with(&folder) && file.path.ends_with(".rs")).collect()
    }

    /// Returns the root files of the targets below `src/`: libraries and binaries.
    pub(super) fn source_targets(&self) -> impl Iterator<Item = &str> {
        let folder = format!("{}src/", self.folder());
        self.targets.iter().map(String::as_str).filter(move |target| target.starts_with(&folder))
    }

    /// Returns the lines of a section of the manifest, such as `[package]`.
    pub(super) fn section(&self, name: &str) -> impl Iterator<Item = &str> {
        let lines = self.manifest.text.lines().skip_while(move |line| *line != name).skip(1);
        lines.take_while(|line| !line.starts_with('['))
    }

    /// Returns whether the package is for registries.
    pub(super) fn is_published(&self) -> bool {
        !self.section("[package]").any(|line| line.starts_with("publish = false"))
    }

    /// Returns a package for tests, without targets and dependencies.
    #[cfg(test)]
    pub(super) fn of_manifest(path: &str, text: &str) -> Self {
        let manifest = File::new(path, text);
        Self { name: "a".to_owned(), manifest, targets: Vec::new(), dependencies: Vec::new() }
    }
}

/// Reads the packages of the workspace in `root`.
pub(super) fn read(root: &Path) -> Result<Vec<Package>> {
    let metadata = metadata::read(&root.join("Cargo.toml"), &["--no-deps"])?;
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
