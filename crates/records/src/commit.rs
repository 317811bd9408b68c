//! The commit that is measured.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A commit, and whether the files were those of the commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// Its hash, whole or the first digits of it.
    pub id: String,
    /// Whether tracked files outside `docs/` had changes that were not committed.
    pub dirty: bool,
}

impl Commit {
    /// The commit of the repository that `directory` is in; nothing if it is no repository of KVRM, or if there is no
    /// git. Records are documents, so to append some does not make the commit dirty.
    #[must_use]
    pub fn of(directory: &Path) -> Option<Self> {
        let root = PathBuf::from(git(directory, &["rev-parse", "--show-toplevel"])?);
        if !root.join("docs/records").is_dir() {
            return None;
        }
        let id = git(&root, &["rev-parse", "HEAD"])?;
        let status = ["status", "--porcelain", "--untracked-files=no", "--", ".", ":(exclude)docs"];
        Some(Self { id, dirty: !git(&root, &status)?.is_empty() })
    }
}

/// Of a hash of 7 to 40 digits, with `-dirty` behind it if files were changed.
impl FromStr for Commit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (id, dirty) = text.strip_suffix("-dirty").map_or((text, false), |id| (id, true));
        if (7..=40).contains(&id.len()) && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            Ok(Self { id: id.to_owned(), dirty })
        } else {
            Err("expected 7 to 40 lower-case hexadecimal digits, followed by -dirty if files were changed"
                .to_owned())
        }
    }
}

/// What a git command prints, if it succeeds.
fn git(directory: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(directory).args(arguments).output().ok()?;
    if !output.status.success() {
        return None;
    }
    Some(String::from_utf8(output.stdout).ok()?.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_commit_is_that_of_the_repository_and_dirty_if_its_code_has_changed() {
        let folder = tempfile::tempdir().expect("there is room");
        let root = folder.path();
        let write = |path: &str, text: &str| {
            let file = root.join(path);
            fs::create_dir_all(file.parent().expect("it is in a folder")).expect("there is room");
            fs::write(file, text).expect("there is room");
        };
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let commit = || {
            git(root, &["add", "."]).expect("git is installed");
            let commit = ["commit", "--quiet", "--no-verify", "-m", "x"];
            git(root, &[&identity[..], &commit].concat()).expect("it can be committed");
            git(root, &["rev-parse", "HEAD"]).expect("there is a commit")
        };
        git(root, &["init", "--quiet"]).expect("git is installed");
        write("src/a", "1");
        commit();
        assert_eq!(Commit::of(root), None, "a repository of something else");
        write("docs/records/a.jsonl", "1");
        let id = commit();
        let clean = Some(Commit { id: id.clone(), dirty: false });
        assert_eq!(Commit::of(&root.join("src")), clean, "as committed");
        write("docs/records/a.jsonl", "2");
        assert_eq!(Commit::of(root), clean, "a record was appended");
        write("src/a", "2");
        assert_eq!(Commit::of(root), Some(Commit { id, dirty: true }), "code was changed");
    }

    #[test]
    fn a_commit_is_a_hash_and_may_be_dirty() {
        let commit = |id: &str, dirty| Ok(Commit { id: id.to_owned(), dirty });
        assert_eq!("0efd351".parse::<Commit>(), commit("0efd351", false), "short");
        assert_eq!("0efd351-dirty".parse::<Commit>(), commit("0efd351", true), "with changes");
        for text in ["", "main", "0efd35", "0EFD351", "0efd351+dirty", &"0".repeat(41)] {
            assert!(text.parse::<Commit>().is_err(), "{text:?} is no hash");
        }
    }
}
