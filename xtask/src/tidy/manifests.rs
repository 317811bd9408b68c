//! The rule that every package inherits version, edition, licence and lints from the workspace.

use super::files::File;
use super::violation::{Violation, line_where};

/// Sections of a manifest, and lines that they must have.
const INHERITED: &[(&str, &str)] = &[
    ("[package]", "version.workspace = true"),
    ("[package]", "edition.workspace = true"),
    ("[package]", "license.workspace = true"),
    ("[lints]", "workspace = true"),
];

pub(super) fn check(manifest: &File) -> Vec<Violation> {
    let missing = INHERITED.iter().filter(|(section, line)| !has_line(&manifest.text, section, line));
    let report = |(section, line): &(&str, &str)| {
        let message = format!("`{line}` is missing in {section}");
        Violation::new(&manifest.path, line_where(&manifest.text, |line| line == *section), message)
    };
    missing.map(report).collect()
}

fn has_line(text: &str, section: &str, line: &str) -> bool {
    let body = text.lines().skip_while(|other| *other != section).skip(1);
    body.take_while(|other| !other.starts_with('[')).any(|other| other == line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        let manifest = File { path: "Cargo.toml".to_owned(), text: text.to_owned() };
        check(&manifest).into_iter().map(|violation| violation.message).collect()
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
