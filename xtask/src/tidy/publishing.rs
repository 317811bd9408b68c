//! The rule that every package can be published and presents itself: a README, its place in the repository, what a
//! registry shows, and no embedded file from outside of the package.

use super::files::File;
use super::packages::Package;
use super::violation::{Violation, line_where};

/// Keys that every package has, each with the beginning of its line and what to write.
const EVERY: &[(&str, &str)] = &[
    ("description = \"", "description = \"...\""),
    ("readme = \"README.md\"", "readme = \"README.md\""),
    ("repository.workspace = true", "repository.workspace = true"),
];

/// Keys that published packages have, too. Keywords and categories may be the workspace's or their own.
const PUBLISHED: &[(&str, &str)] = &[
    ("authors.workspace = true", "authors.workspace = true"),
    ("keywords", "keywords.workspace = true"),
    ("categories", "categories.workspace = true"),
];

/// The package whose documentation stands for that of packages without a library.
const FACADE: &str = "kvrm";

/// Compiles the example of a README with the tests of the documentation.
const README_TEST: &str = "#[doc = include_str!(\"../README.md\")]";

pub(super) fn check(package: &Package, files: &[File]) -> Vec<Violation> {
    let manifest = &package.manifest;
    let folder = package.folder();
    let find = |path: &str| files.iter().find(|file| file.path == path);
    let library = find(&format!("{folder}src/lib.rs"));

    let mut violations = Vec::new();
    let section = line_where(&manifest.text, |line| line == "[package]");
    let mut missing = |key: &str| {
        violations.push(Violation::new(&manifest.path, section, format!("`{key}` is missing in [package]")));
    };
    let has = |start: &str| package.section("[package]").any(|line| line.starts_with(start));
    let is_published = package.is_published();
    let published = if is_published { PUBLISHED } else { &[] };
    for (start, key) in EVERY.iter().chain(published) {
        if !has(start) {
            missing(key);
        }
    }
    if is_published {
        let documented = if library.is_some() { &package.name } else { FACADE };
        let documentation = format!("documentation = \"https://docs.rs/{documented}\"");
        if !has(&documentation) {
            missing(&documentation);
        }
    }

    let readme = format!("{folder}README.md");
    match find(&readme) {
        None => violations.push(Violation::new(&manifest.path, section, format!("{readme} is missing"))),
        Some(text) => {
            let report = |message: String| Violation::new(&readme, 1, message);
            for part in
                ["Who uses it", "## Test", "## Licence"].iter().filter(|_| folder.starts_with("crates/"))
            {
                if !text.text.contains(part) {
                    violations.push(report(format!("the README has no part \"{part}\"")));
                }
            }
            if library.is_some() && !text.text.contains("```rust") {
                violations.push(report("the README has no example in Rust".to_owned()));
            }
        }
    }
    if let Some(library) = library
        && !library.text.contains(README_TEST)
    {
        let message =
            format!("the example of the README is not compiled; add `{README_TEST}`, as other crates do");
        violations.push(Violation::new(&library.path, 1, message));
    }
    if is_published {
        violations.extend(package.sources(files).into_iter().flat_map(|file| outside(file, folder)));
    }
    violations
}

/// Returns the places where a source of the package in `folder` embeds a file from outside of the package, which
/// `cargo publish` would not pack.
fn outside(file: &File, folder: &str) -> Vec<Violation> {
    let depth = file.path[folder.len()..].matches('/').count();
    let up = "../".repeat(depth + 1);
    let embeds = |line: &str| ["include_str!", "include_bytes!"].iter().any(|name| line.contains(name));
    let lines = file.text.lines().enumerate();
    let found = lines.filter(|(_, line)| embeds(line) && line.contains(&format!("\"{up}")));
    let message = "embeds a file from outside of the package; move it into a package of data";
    found.map(|(index, _)| Violation::new(&file.path, index + 1, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[package]\nname = \"a\"\ndescription = \"A.\"\nauthors.workspace = true\n\
                            repository.workspace = true\ndocumentation = \"https://docs.rs/a\"\n\
                            readme = \"README.md\"\nkeywords.workspace = true\ncategories = [\"simulation\"]\n\n\
                            [lints]\nworkspace = true\n";
    const README: &str = "# a\n\n- *Who uses it*: b.\n\n```rust\n```\n\n## Test\n\n## Licence\n\nMIT.\n";
    const LIBRARY: &str =
        "//! A.\n\n#[cfg(doctest)]\n#[doc = include_str!(\"../README.md\")]\nstruct Readme;\n";

    fn messages(manifest: &str, files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<File> = files.iter().map(|(path, text)| File::new(path, text)).collect();
        check(&Package::of_manifest("crates/a/Cargo.toml", manifest), &files)
            .into_iter()
            .map(|violation| violation.message)
            .collect()
    }

    fn of_manifest(manifest: &str) -> Vec<String> {
        messages(manifest, &[("crates/a/README.md", README), ("crates/a/src/lib.rs", LIBRARY)])
    }

    #[test]
    fn a_package_that_presents_itself_passes() {
        assert_eq!(of_manifest(MANIFEST), [""; 0], "nothing is wrong with it");
    }

    #[test]
    fn every_key_that_is_missing_is_found() {
        for line in MANIFEST.lines().filter(|line| line.contains('=') && !line.starts_with("name")) {
            if line == "workspace = true" {
                continue;
            }
            let found = of_manifest(&MANIFEST.replacen(&format!("{line}\n"), "", 1));
            let key = line.split(['.', ' ']).next().expect("a line has a key");
            assert_eq!(found.len(), 1, "{line:?} is missing: {found:?}");
            assert!(found[0].starts_with(&format!("`{key}")), "{line:?} is missing: {found:?}");
        }
    }

    #[test]
    fn packages_that_are_not_published_need_fewer_keys() {
        let manifest = "[package]\nname = \"a\"\ndescription = \"A.\"\npublish = false\n\
                        repository.workspace = true\nreadme = \"README.md\"\n";
        assert_eq!(of_manifest(manifest), [""; 0], "no registry shows them");
    }

    #[test]
    fn documentation_of_another_crate_is_found() {
        let manifest = MANIFEST.replace("docs.rs/a", "docs.rs/b");
        let expected = ["`documentation = \"https://docs.rs/a\"` is missing in [package]"];
        assert_eq!(of_manifest(&manifest), expected, "of {manifest:?}");
        let binary =
            messages(&manifest.replace("docs.rs/b", "docs.rs/kvrm"), &[("crates/a/README.md", README)]);
        assert_eq!(binary, [""; 0], "a binary has the documentation of the facade");
    }

    #[test]
    fn a_missing_readme_is_found() {
        let found = messages(MANIFEST, &[("crates/a/src/lib.rs", LIBRARY)]);
        assert_eq!(found, ["crates/a/README.md is missing"], "of a package without one");
    }

    #[test]
    fn what_a_readme_lacks_is_found() {
        let readme = README.replace("Who uses it", "Users").replace("```rust", "```text");
        let found = messages(MANIFEST, &[("crates/a/README.md", &readme), ("crates/a/src/lib.rs", LIBRARY)]);
        let expected = ["the README has no part \"Who uses it\"", "the README has no example in Rust"];
        assert_eq!(found, expected, "of {readme:?}");
    }

    #[test]
    fn embedded_files_from_outside_of_the_package_are_found() {
        let source = "fn f() {\n    include_bytes!(concat!(\"../../FILE\"));\n}\n";
        let in_file = |path: &str, text: &str, manifest: &str| {
            let text = text.replace("FILE", "data.bin");
            messages(
                manifest,
                &[("crates/a/README.md", README), ("crates/a/src/lib.rs", LIBRARY), (path, text.as_str())],
            )
        };
        let expected = ["embeds a file from outside of the package; move it into a package of data"];
        assert_eq!(in_file("crates/a/src/b.rs", source, MANIFEST), expected, "two folders up from src");
        assert_eq!(in_file("crates/a/src/b/c.rs", source, MANIFEST), [""; 0], "the folder of the package");
        assert_eq!(
            in_file("crates/a/tests/b.rs", source, MANIFEST),
            [""; 0],
            "tests are not compiled elsewhere"
        );
        let manifest = MANIFEST.replace("description", "publish = false\ndescription");
        assert_eq!(in_file("crates/a/src/b.rs", source, &manifest), [""; 0], "it is never packed");
    }

    #[test]
    fn an_example_that_nothing_compiles_is_found() {
        let found =
            messages(MANIFEST, &[("crates/a/README.md", README), ("crates/a/src/lib.rs", "//! A.\n")]);
        assert_eq!(found.len(), 1, "the library does not include the README: {found:?}");
    }
}
