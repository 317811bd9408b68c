//! Folders of files: creation, copies, and their contents for comparisons.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// The contents of a folder: paths with the contents of files, or with `None` for directories. Links are left out.
pub(crate) type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// Creates an empty folder, in place of an existing one.
pub(crate) fn recreate(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

/// Copies files and folders, with their times.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    let status = Command::new("cp").args(["-a", "--"]).arg(from.join(".")).arg(to).status()?;
    ensure!(status.success(), "cannot copy {}", from.display());
    Ok(())
}

/// Returns the paths of the entries of a folder, sorted.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}

/// Reads the contents of a folder.
pub(crate) fn tree(folder: &Path) -> Result<Tree> {
    let (mut files, mut left) = (Tree::new(), vec![folder.to_owned()]);
    while let Some(inside) = left.pop() {
        for path in entries(&inside)? {
            let kind = fs::symlink_metadata(&path)?.file_type();
            let contents = if kind.is_dir() {
                left.push(path.clone());
                None
            } else if kind.is_file() {
                Some(fs::read(&path)?)
            } else {
                continue;
            };
            files.insert(path.strip_prefix(folder)?.to_owned(), contents);
        }
    }
    Ok(files)
}
