//! `cargo xtask tidy`: the rules of the repository that neither the compiler nor clippy knows.
//!
//! Each rule is a file with a pure function from what the repository holds to violations, and with tests that
//! show it can fail.

mod files;
mod generated;
mod guests;
mod layers;
mod manifests;
mod metadata;
mod modules;
mod text;
mod words;

use std::fmt::{self, Display, Formatter};

use anyhow::{Result, bail};

use crate::{codegen, root};

/// A text file of the repository.
#[derive(Debug)]
struct File {
    /// Relative to the root, with `/` on every system.
    path: String,
    text: String,
}

/// A place where a rule is broken.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    path: String,
    line: usize,
    message: String,
}

impl Violation {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl Display for Violation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { path, line, message } = self;
        write!(f, "{path}:{line}: {message}")
    }
}

pub(crate) fn run() -> Result<()> {
    let root = root();
    let files = files::read(&root)?;
    let packages = metadata::read(&root)?;

    let mut violations = Vec::new();
    for file in &files {
        violations.extend(text::check(file));
        violations.extend(words::check(file));
    }
    for package in &packages {
        violations.extend(layers::check(package));
        violations.extend(manifests::check(&package.manifest));
        violations.extend(modules::check(package, &files));
    }
    violations.extend(generated::check(&files, &codegen::paths()));
    violations.extend(guests::check(&root)?);

    violations.sort_unstable();
    for violation in &violations {
        println!("{violation}");
    }
    if !violations.is_empty() {
        bail!("{} places break the rules of this repository", violations.len());
    }
    println!("{} files of {} packages are tidy", files.len(), packages.len());
    Ok(())
}

/// The number of the first line that satisfies `predicate`, or 1.
fn line_where(text: &str, predicate: impl FnMut(&str) -> bool) -> usize {
    text.lines().position(predicate).map_or(1, |index| index + 1)
}
