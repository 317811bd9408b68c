//! The commit at which a benchmark was measured.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A commit, and whether the working tree differed from it.
///
/// ```
/// use kvrm_records::Commit;
///
/// let commit: Commit = "0efd351-dirty".parse()?;
/// assert_eq!((commit.id.as_str(), commit.dirty), ("0efd351", true));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// The hash, complete or abbreviated.
    pub id: String,
    /// Whether tracked files outside `docs/` had uncommitted changes.
    pub dirty: bool,
}

impl Commit {
    /// Returns the commit of the repository that contains `directory`, or `None` if it is not KVRM's repository or git
    /// is not installed. Files in `docs/` do not make the commit dirty, so that appended records do not.
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

/// Parses a hash of 7 to 40 digits, followed by `-dirty` if files were changed.
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

/// Returns the output of a git command, if it succeeds.
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
    fn changed_code_makes_the_commit_dirty_and_records_do_not() {
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
        assert_eq!(Commit::of(root), None, "another project's repository");
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
            assert!(text.parse::<Commit>().is_err(), "{text:?} is not a hash");
        }
    }
}
