//! The programs whose page accesses are recorded.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::compilers::{self, Compiler, Source};
use crate::folders;
use crate::root::root;
use crate::{programs, third_party};

/// The levels at which guests are compiled. The first one is that of the tables, and of third-party programs.
const LEVELS: [(Compiler, &str); 4] =
    [(Compiler::Gcc, "O2"), (Compiler::Gcc, "O0"), (Compiler::Clang, "O2"), (Compiler::Clang, "O1")];

/// Guests of `guests/` with sizes for which their data fills some MiB.
const SIZED_GUESTS: &[(&str, u64)] =
    &[("quicksort", 300_000), ("sieve", 20_000_000), ("lz", 1 << 20), ("sha256", 1 << 20), ("matmul", 256)];

/// Runs of third-party programs.
const PROGRAMS: &[Run] = &[
    Run { program: "lua", arguments: &["pages.lua"], input: None },
    Run { program: "sqlite", arguments: &[], input: Some("pages.sql") },
    Run { program: "zstandard", arguments: &["3"], input: None },
    Run { program: "deflate", arguments: &["3"], input: None },
    Run { program: "json", arguments: &["7", "40"], input: None },
    Run { program: "regex", arguments: &["7", "8"], input: None },
];

/// A run of a third-party program, in a folder with the files of `guests/programs/`.
#[derive(Clone, Copy)]
pub(super) struct Run {
    program: &'static str,
    pub(super) arguments: &'static [&'static str],
    pub(super) input: Option<&'static str>,
}

/// A run that is recorded.
pub(super) struct Job {
    pub(super) program: String,
    /// The compiler with its level.
    pub(super) level: String,
    pub(super) file: PathBuf,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// A guest with a size, if it is not the default.
    Guest(Option<u64>),
    /// A third-party program.
    Program(Run),
}

/// Returns the level of the tables.
pub(super) fn table_level() -> String {
    level(LEVELS[0])
}

fn level((compiler, optimization): (Compiler, &str)) -> String {
    format!("{}-{optimization}", compiler.name())
}

/// Returns the folder with the files that third-party programs read.
pub(super) fn files() -> PathBuf {
    root().join("guests/programs")
}

/// Compiles the programs whose names contain a text, and returns their runs.
pub(super) fn jobs(folder: &Path, only: Option<&str>) -> Result<Vec<Job>> {
    let is_wanted = |program: &str| only.is_none_or(|text| program.contains(text));
    let mut jobs = Vec::new();
    let mut guests: Vec<(PathBuf, Option<u64>)> = Vec::new();
    for path in folders::entries(&root().join("guests/pages"))? {
        if third_party::is_source(&path) {
            guests.push((path, None));
        }
    }
    let sized = SIZED_GUESTS.iter();
    guests.extend(sized.map(|(name, size)| (root().join(format!("guests/{name}.c")), Some(*size))));
    guests.retain(|(path, _)| is_wanted(&stem(path)));
    if !guests.is_empty() {
        compilers::ensure_installed()?;
    }
    for (path, size) in &guests {
        for (compiler, optimization) in LEVELS {
            let level = level((compiler, optimization));
            let binaries = folder.join(&level);
            fs::create_dir_all(&binaries).with_context(|| format!("cannot create {}", binaries.display()))?;
            let (program, source) = (stem(path), Source { path, has_floats: false, is_linux: false });
            let file = binaries.join(&program);
            source.compile(compiler, optimization, &file)?;
            jobs.push(Job { program, level, file, kind: Kind::Guest(*size) });
        }
    }
    let runs: Vec<&Run> = PROGRAMS.iter().filter(|run| is_wanted(run.program)).collect();
    if !runs.is_empty() {
        programs::run()?;
        let binaries = third_party::folder()?;
        jobs.extend(runs.into_iter().map(|run| Job {
            program: run.program.to_owned(),
            level: table_level(),
            file: binaries.join(run.program),
            kind: Kind::Program(*run),
        }));
    }
    Ok(jobs)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn programs_have_different_names_and_exist() {
        let pages = folders::entries(&root().join("guests/pages")).expect("the folder exists");
        let pages = pages.iter().filter(|path| third_party::is_source(path)).map(|path| stem(path));
        let sized = SIZED_GUESTS.iter().map(|(name, _)| (*name).to_owned());
        let run = PROGRAMS.iter().map(|run| run.program.to_owned());
        let names: Vec<String> = pages.chain(sized).chain(run).collect();
        assert_eq!(
            names.iter().collect::<BTreeSet<_>>().len(),
            names.len(),
            "each name is used once: {names:?}"
        );
        for (name, _) in SIZED_GUESTS {
            assert!(root().join(format!("guests/{name}.c")).is_file(), "{name} is a guest");
        }
        let known: BTreeSet<&str> = programs::names().collect();
        assert!(PROGRAMS.iter().all(|run| known.contains(run.program)), "third-party programs are known");
    }
}
