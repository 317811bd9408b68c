//! The rule that every package inherits version, edition, licence and lints from the workspace.

use super::packages::Package;
use super::violation::{Violation, line_where};

/// Sections of a manifest, and lines that they must have.
const INHERITED: &[(&str, &str)] = &[
    ("[package]", "version.workspace = true"),
    ("[package]", "edition.workspace = true"),
    ("[package]", "license.workspace = true"),
    ("[lints]", "workspace = true"),
];

pub(super) fn check(package: &Package) -> Vec<Violation> {
    let manifest = &package.manifest;
    let is_there = |section: &str, line: &str| package.section(section).any(|other| other == line);
    let missing = INHERITED.iter().filter(|(section, line)| !is_there(section, line));
    let report = |(section, line): &(&str, &str)| {
        let message = format!("`{line}` is missing in {section}");
        Violation::new(&manifest.path, line_where(&manifest.text, |line| line == *section), message)
    };
    missing.map(report).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        check(&Package::of_manifest("Cargo.toml", text))
            .into_iter()
            .map(|violation| violation.message)
            .collect()
    }

    const GOOD: &str = "[package]\nname = \"a\"\nversion.workspace = true\nedition.workspace = true\n\
                        license.workspace = true\n\n[dependencies]\n\n[lints]\nworkspace = true\n";

    #[test]
    fn a_manifest_that_inherits_passes() {
        assert_eq!(messages(GOOD), [""; 0], "nothing is wrong with it");
    }

    #[test]
    fn every_line_that_is_missing_is_found() {
        for (section, line) in INHERITED {
            let text = GOOD.replace(&format!("\n{line}\n"), "\n");
            assert_eq!(messages(&text), [format!("`{line}` is missing in {section}")], "of {text:?}");
        }
    }

    #[test]
    fn a_line_in_another_section_does_not_count() {
        let text = GOOD.replace("[lints]", "[features]");
        assert_eq!(messages(&text), ["`workspace = true` is missing in [lints]"], "of {text:?}");
    }
}
