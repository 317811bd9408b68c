//! The glossary: names in its column "in code" exist, and retired names do not.

use std::collections::BTreeSet;

use super::files::File;
use super::violation::Violation;

const GLOSSARY: &str = "docs/glossary.md";
/// The header of the table of retired names.
const RETIRED: &str = "| retired |";
/// Files that may speak of retired names: the glossary, the history, and this rule.
const EXEMPT: [&str; 3] = [GLOSSARY, "CHANGELOG.md", "xtask/src/tidy/glossary.rs"];

pub(super) fn check(files: &[File]) -> Vec<Violation> {
    let Some(glossary) = files.iter().find(|file| file.path == GLOSSARY) else {
        return vec![Violation::new(GLOSSARY, 1, "the glossary is missing")];
    };
    let is_code = |file: &&File| file.path.ends_with(".rs") && !file.path.starts_with("xtask/");
    let identifiers: BTreeSet<&str> =
        files.iter().filter(is_code).flat_map(|file| words(&file.text)).collect();
    let (mut violations, mut is_retired) = (Vec::new(), false);
    for (index, line) in glossary.text.lines().enumerate() {
        is_retired |= line.starts_with(RETIRED);
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        // A row begins and ends with a bar.
        match (&cells[..], is_retired) {
            ([_, _, _, in_code, _], false) => {
                for name in quoted(in_code).filter(|name| !identifiers.contains(name)) {
                    let message =
                        format!("`{name}` is no identifier in crates/ or shaders/; correct the glossary");
                    violations.push(Violation::new(GLOSSARY, index + 1, message));
                }
            }
            ([_, names, now, _], true) => {
                for name in quoted(names) {
                    violations.extend(files.iter().flat_map(|file| uses(file, name, now)));
                }
            }
            _ => {}
        }
    }
    violations
}

/// The uses of a retired name in a file.
fn uses(file: &File, name: &str, now: &str) -> Vec<Violation> {
    if EXEMPT.contains(&file.path.as_str()) {
        return Vec::new();
    }
    let is_used = |line: &str| match name.contains(' ') {
        true => line.contains(name),
        // A word of prose may be equal to a retired name in code.
        false => {
            file.path.ends_with(".rs")
                && words(line.split("//").next().unwrap_or("")).any(|word| word == name)
        }
    };
    let lines = file.text.lines().enumerate().filter(|(_, line)| is_used(line));
    lines
        .map(|(index, _)| {
            Violation::new(&file.path, index + 1, format!("`{name}` is retired; the glossary says {now}"))
        })
        .collect()
}

/// The identifiers and other words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The names in backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(glossary: &str, code: &str) -> Vec<String> {
        let files = [File::new(GLOSSARY, glossary), File::new("crates/a/src/lib.rs", code)];
        check(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_that_are_not_in_the_code_are_reported() {
        let table = "| term | meaning | in code |\n| --- | --- | --- |\n| lane | a guest | `Lane`, `Cpu` |\n";
        assert_eq!(messages(table, "struct Lane(Cpu);"), [""; 0], "both exist");
        let found = messages(table, "struct Lane;");
        assert!(
            found.len() == 1 && found[0].contains("docs/glossary.md:3") && found[0].contains("`Cpu`"),
            "{found:?}"
        );
    }

    #[test]
    fn retired_names_are_reported_where_they_are_used() {
        let table = "| retired | now |\n| --- | --- |\n| `Kept`, `old term` | `Present` |\n";
        assert_eq!(
            messages(table, "// Kept alive.\nstruct KeptState;\n"),
            [""; 0],
            "prose, and a longer name"
        );
        let found = messages(table, "// The old term.\nstruct Kept;\n");
        assert!(found.len() == 2 && found[0].contains(":2:") && found[1].contains(":1:"), "{found:?}");
    }
}
