//! `cargo xtask guests --sysroot`: unpacks packages of Debian for arm64 into `target/sysroot/`, where they form a system
//! that `kvrm run --sysroot` runs. No script of a package is executed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::apt::{Apt, unpack};
use crate::folders::recreate;
use crate::root::root;

/// The list of packages, relative to the root of the repository.
const LIST: &str = "xtask/userland/packages.toml";
/// The directories of the root that are links into `usr`, as Debian's installer makes them.
const MERGED: [&str; 3] = ["bin", "sbin", "lib"];

/// The contents of the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    packages: Vec<String>,
    /// Patterns of files that are not unpacked.
    without: Vec<String>,
    /// Links: their paths, with their targets.
    links: BTreeMap<String, String>,
    /// Files: their paths, with their contents.
    files: BTreeMap<String, String>,
}

/// Unpacks the packages, unless the system was made from the same list before. Returns the folder of the system.
pub(crate) fn make() -> Result<PathBuf> {
    let folder = root().join("target/sysroot");
    let state = root().join("target/sysroot-packages");
    // The stamp is outside of the system, which it would change.
    let stamp = state.join("list");
    let text = fs::read_to_string(root().join(LIST)).with_context(|| format!("cannot read {LIST}"))?;
    if folder.exists() && fs::read_to_string(&stamp).is_ok_and(|made| made == text) {
        return Ok(folder);
    }
    let list: List = toml::from_str(&text).with_context(|| format!("{LIST} is not valid"))?;
    let packages: Vec<&str> = list.packages.iter().map(String::as_str).collect();
    let apt = Apt::new(state, "arm64").with_context(|| format!("{} cannot be made", folder.display()))?;
    let archives = apt.download_with_dependencies(&packages)?;
    recreate(&folder)?;
    fill(&folder, &list, &archives)?;
    println!("target/sysroot: {} packages", archives.len());
    fs::write(&stamp, text).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(folder)
}

fn fill(folder: &Path, list: &List, archives: &[PathBuf]) -> Result<()> {
    for name in MERGED {
        let inside = format!("usr/{name}");
        fs::create_dir_all(folder.join(&inside)).with_context(|| format!("cannot create {inside}"))?;
        symlink(&inside, folder.join(name)).with_context(|| format!("cannot create the link {name}"))?;
    }
    for archive in archives {
        unpack(archive, folder, &list.without)?;
    }
    for (path, target) in &list.links {
        symlink(target, folder.join(path)).with_context(|| format!("cannot create the link {path}"))?;
    }
    for (path, contents) in &list.files {
        fs::write(folder.join(path), contents).with_context(|| format!("cannot write {path}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_list_names_each_package_once() {
        let text = fs::read_to_string(root().join(LIST)).expect("the list exists");
        let list: List = toml::from_str(&text).expect("the list is valid");
        let distinct: BTreeSet<_> = list.packages.iter().collect();
        assert_eq!(distinct.len(), list.packages.len(), "packages in {LIST}");
        assert!(
            list.links.keys().chain(list.files.keys()).all(|path| !path.starts_with('/')),
            "paths in {LIST}"
        );
    }
}
