//! The text files that the rules check.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// A text file of the repository.
#[derive(Debug)]
pub(super) struct File {
    /// The path relative to the root, with `/` on every system.
    pub(super) path: String,
    pub(super) text: String,
}

#[cfg(test)]
impl File {
    pub(super) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }
}

/// The extensions of the files that people read and edit.
const EXTENSIONS: &[&str] = &["md", "rs", "toml", "wgsl", "yml"];

/// Folders without files of the repository.
const SKIPPED: &[&str] = &[".git", "target"];

/// Reads all text files below `root`, sorted by path.
pub(super) fn read(root: &Path) -> Result<Vec<File>> {
    let mut files = Vec::new();
    collect(root, "", &mut files)?;
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<File>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() && !SKIPPED.contains(&name.as_str()) {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file()
            && EXTENSIONS.iter().any(|extension| name.ends_with(&format!(".{extension}")))
        {
            let text =
                fs::read_to_string(entry.path()).with_context(|| format!("cannot read {path} as UTF-8"))?;
            files.push(File { path, text });
        }
    }
    Ok(())
}
