//! `cargo xtask records stale`: lists table rows that are older than the code they measured.
//!
//! A row is stale if a commit after the one of its record changed that code. `code` and `measures` in
//! `docs/records/tables.toml` define the code of each kind of benchmark.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use kvrm_records::Commit;

use super::book::Book;
use super::paths::FOLDER;
use crate::root::root;

/// Arguments of `cargo xtask records stale`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Fail if there is a stale row.
    #[arg(long)]
    deny: bool,
}

/// A table row whose figures may not hold for the current code.
#[derive(Debug, PartialEq, Eq)]
struct StaleRow {
    table: String,
    row: String,
    reason: Reason,
}

/// The reason for which a row is stale.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reason {
    /// The record names no commit.
    NoCommit,
    /// The measured files had uncommitted changes.
    Dirty(Commit),
    /// The commit is not in this repository, or the history is incomplete.
    Unknown(Commit),
    /// Later commits have changed the code.
    Older {
        /// The measured commit.
        commit: Commit,
        /// The number of commits that have changed the code.
        changes: usize,
        /// The last of these commits, with its day and subject.
        last: String,
    },
}

impl fmt::Display for StaleRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, row, reason } = self;
        write!(f, "table {table}, row {row}: ")?;
        let short = |commit: &Commit| commit.id.get(..7).unwrap_or(&commit.id).to_owned();
        match reason {
            Reason::NoCommit => write!(f, "its record names no commit"),
            Reason::Dirty(commit) => write!(f, "measured at {} with uncommitted changes", short(commit)),
            Reason::Unknown(commit) => {
                write!(f, "measured at {}, which is not in this repository", short(commit))
            }
            Reason::Older { commit, changes, last } => {
                let commits = if *changes == 1 { "commit has" } else { "commits have" };
                write!(
                    f,
                    "measured at {}; {changes} later {commits} changed the code, the last {last}",
                    short(commit)
                )
            }
        }
    }
}

pub(super) fn run(args: &Args) -> Result<()> {
    let root = root();
    let book = Book::load(&root.join(FOLDER))?;
    let (stale, rows) = find(&book, &root)?;
    for row in &stale {
        println!("{row}");
    }
    println!("{} of {rows} rows are older than the code they measure", stale.len());
    if args.deny && !stale.is_empty() {
        bail!("{} rows are older than the code they measure; measure again with --record", stale.len());
    }
    Ok(())
}

/// Returns the rows that say nothing of the code in the repository at `root`, and how many rows there are.
fn find(book: &Book, root: &Path) -> Result<(Vec<StaleRow>, usize)> {
    let mut known = BTreeMap::new();
    let (mut stale, mut count) = (Vec::new(), 0);
    for table in book.tables() {
        for row in book.rows(table)? {
            count += 1;
            // A row may have several records; the first that is too old is reason enough.
            for record in row.cells.iter().flatten() {
                let paths = book.measured_paths(table, record)?;
                let key = (record.commit.clone(), paths.clone());
                if !known.contains_key(&key) {
                    known.insert(key.clone(), reason(root, record.commit.as_ref(), &paths)?);
                }
                if let Some(reason) = known[&key].clone() {
                    stale.push(StaleRow { table: table.name.clone(), row: row.labels.join(", "), reason });
                    break;
                }
            }
        }
    }
    Ok((stale, count))
}

/// Why what was measured at a commit says nothing of the files at `paths` as they are; nothing if it does.
fn reason(root: &Path, commit: Option<&Commit>, paths: &[&str]) -> Result<Option<Reason>> {
    if paths.is_empty() {
        return Ok(None);
    }
    let Some(commit) = commit else { return Ok(Some(Reason::NoCommit)) };
    if commit.dirty {
        return Ok(Some(Reason::Dirty(commit.clone())));
    }
    let Commit { id, .. } = commit;
    if !git(root, &["cat-file", "-e", &format!("{id}^{{commit}}")])?.status.success() {
        return Ok(Some(Reason::Unknown(commit.clone())));
    }
    let range = format!("{id}..HEAD");
    let mut arguments = vec!["log", "--format=%h of %cs, %s", &range, "--"];
    arguments.extend(paths);
    let output = git(root, &arguments)?;
    ensure!(
        output.status.success(),
        "git {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().next().map(str::to_owned);
    Ok(last.map(|last| Reason::Older { commit: commit.clone(), changes: text.lines().count(), last }))
}

fn git(root: &Path, arguments: &[&str]) -> Result<std::process::Output> {
    Command::new("git").arg("-C").arg(root).args(arguments).output().context("cannot run git")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::book::tests::{RECORDS, TABLES, book};
    use super::*;

    /// Returns a repository with a file `src/a` in its first commit.
    fn repository() -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().expect("there is room");
        succeed(folder.path(), &["init", "--quiet"]);
        let first = change(folder.path(), "src/a", "first");
        (folder, first)
    }

    fn succeed(root: &Path, arguments: &[&str]) -> String {
        let output = git(root, arguments).expect("git is installed");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Commits a change of a file; gives the commit.
    fn change(root: &Path, path: &str, subject: &str) -> String {
        let file = root.join(path);
        fs::create_dir_all(file.parent().expect("it is in a folder")).expect("there is room");
        fs::write(&file, subject).expect("there is room");
        succeed(root, &["add", "."]);
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        succeed(root, &[&identity[..], &["commit", "--quiet", "--no-verify", "-m", subject]].concat());
        succeed(root, &["rev-parse", "HEAD"])
    }

    /// Returns the lines about records, `mix` of the first commit and `sieve` of the second.
    fn stale(root: &Path, first: &str, second: &str) -> Vec<String> {
        let records = RECORDS.replace("0000000", first).replace("1111111", second);
        let book = book(TABLES, &records).expect("it is well formed");
        let (stale, rows) = find(&book, root).expect("git can tell");
        assert_eq!(rows, 2, "both are looked at");
        stale.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_row_is_stale_once_its_code_changes() {
        let (folder, first) = repository();
        let root = folder.path();
        assert_eq!(stale(root, &first, &first), [""; 0], "nothing has changed");
        let elsewhere = change(root, "docs/a", "elsewhere");
        assert_eq!(stale(root, &first, &elsewhere), [""; 0], "what is measured has not changed");
        let second = change(root, "src/b", "make it faster");
        let lines = stale(root, &first, &second);
        assert_eq!(lines.len(), 1, "the second record has the change: {lines:?}");
        let expected = format!(
            "table lanes, row `mix`: measured at {}; 1 later commit has changed the code",
            &first[..7]
        );
        assert!(lines[0].starts_with(&expected) && lines[0].ends_with("make it faster"), "{lines:?}");
        change(root, "src/a", "and again");
        let lines = stale(root, &first, &second);
        assert!(lines[0].contains("2 later commits have") && lines[0].ends_with("and again"), "{lines:?}");
        assert!(lines[1].contains("row `sieve`") && lines[1].contains("1 later commit has"), "{lines:?}");
    }

    #[test]
    fn a_commit_of_a_branch_that_was_never_merged_does_not_have_later_changes() {
        let (folder, first) = repository();
        let root = folder.path();
        let main = succeed(root, &["branch", "--show-current"]);
        succeed(root, &["checkout", "--quiet", "-b", "other"]);
        let other = change(root, "src/b", "other");
        succeed(root, &["checkout", "--quiet", &main]);
        let second = change(root, "src/a", "second");
        let lines = stale(root, &other, &second);
        assert_eq!(lines.len(), 1, "{lines:?}, from {first}");
        assert!(lines[0].ends_with("second"), "{lines:?}");
    }

    #[test]
    fn a_row_of_an_unknown_or_dirty_commit_is_stale() {
        let (folder, first) = repository();
        let lines = stale(folder.path(), "2222222", &first);
        assert_eq!(
            lines,
            ["table lanes, row `mix`: measured at 2222222, which is not in this repository"],
            "unknown"
        );
        let records = RECORDS.replace("0000000", &first).replace("1111111", &first);
        let of = |records: &str| {
            let (stale, _) =
                find(&book(TABLES, records).expect("it is well formed"), folder.path()).expect("git");
            stale.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let dirty = of(&records.replace("\"dirty\":false", "\"dirty\":true"));
        assert!(dirty.len() == 2 && dirty[0].ends_with("with uncommitted changes"), "{dirty:?}");
        let commit = format!("{{\"id\":\"{first}\",\"dirty\":false}}");
        let none = of(&records.replace(&commit, "null"));
        assert!(none.len() == 2 && none[0].ends_with("names no commit"), "{none:?}");
        let others = TABLES.replace("code = [\"sources\"]", "code = []");
        let book = book(&others, &records.replace(&commit, "null")).expect("it is well formed");
        assert_eq!(
            find(&book, folder.path()).expect("git"),
            (Vec::new(), 2),
            "code of others is not ours to date"
        );
    }
}
