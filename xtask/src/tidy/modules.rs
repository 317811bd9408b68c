//! The rule against dead files: source files that no `mod` declaration includes, which cargo silently ignores.

use std::collections::BTreeSet;

use super::files::File;
use super::packages::Package;
use super::violation::Violation;

pub(super) fn check(package: &Package, files: &[File]) -> Vec<Violation> {
    let sources = package.sources(files);
    let mut reached = BTreeSet::new();
    for target in package.source_targets() {
        let (folder, _) = target.rsplit_once('/').unwrap_or_default();
        follow(target, folder, &sources, &mut reached);
    }
    let dead = sources.iter().filter(|file| !reached.contains(&file.path));
    dead.map(|file| Violation::new(&file.path, 1, "no `mod` includes this file; declare or delete it"))
        .collect()
}

/// Marks the file at `path` and the files of its child modules, which are in `folder`.
fn follow(path: &str, folder: &str, files: &[&File], reached: &mut BTreeSet<String>) {
    let Some(file) = files.iter().find(|file| file.path == path) else { return };
    if reached.insert(path.to_owned()) {
        for module in declared_modules(&file.text) {
            let folder = format!("{folder}/{module}");
            follow(&format!("{folder}.rs"), &folder, files, reached);
        }
    }
}

/// Returns the names of the modules that a file declares without an inline body.
fn declared_modules(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        // `mod a;`, `pub mod a;`, `pub(crate) mod a;`
        let (before, after) = line.trim().split_once("mod ")?;
        let is_item = before.is_empty() || (before.starts_with("pub") && before.ends_with(' '));
        let name = after.split_once(';')?.0;
        (is_item && name.chars().all(|c| c.is_alphanumeric() || c == '_')).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead(files: &[File]) -> Vec<String> {
        let targets = vec!["crates/a/src/lib.rs".to_owned(), "crates/a/tests/t.rs".to_owned()];
        let package = Package { targets, ..Package::of_manifest("crates/a/Cargo.toml", "") };
        check(&package, files).into_iter().map(|violation| violation.path).collect()
    }

    #[test]
    fn files_that_modules_lead_to_pass() {
        let files = [
            File::new("crates/a/src/lib.rs", "//! A.\n\nmod b; // First.\npub(crate) mod c;\n"),
            File::new("crates/a/src/b.rs", "pub mod d;\n"),
            File::new("crates/a/src/b/d.rs", ""),
            File::new("crates/a/src/c.rs", ""),
            File::new("crates/a/tests/t.rs", ""),
        ];
        assert_eq!(dead(&files), [""; 0], "all are reached");
    }

    #[test]
    fn files_that_no_module_leads_to_are_found() {
        let files = [
            File::new("crates/a/src/lib.rs", "mod b;\n// mod c;\nmod e { }\nuse x::remod d;\n"),
            File::new("crates/a/src/b.rs", ""),
            File::new("crates/a/src/b/d.rs", ""),
            File::new("crates/a/src/c.rs", "mod f;\n"),
            File::new("crates/a/src/f.rs", ""),
        ];
        assert_eq!(
            dead(&files),
            ["crates/a/src/b/d.rs", "crates/a/src/c.rs", "crates/a/src/f.rs"],
            "one in the wrong folder, one in a comment, one below a dead file"
        );
    }
}
