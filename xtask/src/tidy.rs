//! `cargo xtask tidy`: checks the rules of the repository that the compiler and clippy do not check.
//!
//! Each rule is a file with a pure function from the files of the repository to violations, and with tests that show
//! that it can fail.

mod circles;
mod documented;
mod facts;
mod files;
mod generated;
mod glossary;
mod guests;
mod layers;
mod manifests;
mod modules;
mod packages;
mod publishing;
mod records;
mod shaders;
mod text;
mod unsafety;
mod violation;
mod words;

use anyhow::{Result, bail};

use self::violation::Violation;
use crate::codegen;
use crate::root::root;

/// The message about a generated file that is not up to date.
const STALE: &str = "not up to date; run `cargo xtask codegen` and commit";

pub(crate) fn run() -> Result<()> {
    let root = root();
    let files = files::read(&root)?;
    let packages = packages::read(&root)?;

    let mut violations = Vec::new();
    for file in &files {
        violations.extend(text::check(file));
        violations.extend(words::check(file));
        violations.extend(unsafety::check(file));
    }
    for package in &packages {
        violations.extend(layers::check(package));
        violations.extend(manifests::check(package));
        violations.extend(publishing::check(package, &files));
        violations.extend(documented::check(package, &files));
        violations.extend(modules::check(package, &files));
        violations.extend(circles::check(package, &files));
    }
    violations.extend(facts::check(&files));
    violations.extend(glossary::check(&files));
    violations.extend(generated::check(&files, &codegen::paths()));
    let stale = codegen::stale()?;
    violations.extend(stale.into_iter().map(|path| Violation::new(path, 1, STALE)));
    violations.extend(guests::check(&root)?);
    violations.extend(records::check(&files)?);
    violations.extend(shaders::check(&files)?);

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
