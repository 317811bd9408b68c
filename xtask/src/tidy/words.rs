//! The rule against markers of unfinished work in code.

use super::files::File;
use super::violation::Violation;

/// Forbidden text, and the reason. The text is written in parts, so that this file does not break its own rule.
const FORBIDDEN: &[(&str, &str)] = &[
    (concat!("todo", "!("), "unfinished code; finish it or leave it out"),
    (concat!("unimplemented", "!("), "unfinished code; finish it or leave it out"),
    (concat!("dbg", "!("), "left over from debugging; remove it"),
    (concat!("keep in ", "sync"), "a duplicated fact; derive one from the other or test that they agree"),
];

pub(super) fn check(file: &File) -> Vec<Violation> {
    if !(file.path.ends_with(".rs") || file.path.ends_with(".wgsl")) {
        return Vec::new();
    }
    let mut violations = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let line = line.to_lowercase();
        for (word, message) in FORBIDDEN {
            if line.contains(word) {
                violations.push(Violation::new(&file.path, index + 1, format!("`{word}`: {message}")));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_words_are_found_in_code_and_nowhere_else() {
        let text =
            FORBIDDEN.iter().map(|(word, _)| format!("x {}\n", word.to_uppercase())).collect::<String>();
        let mut file = File::new("a.rs", &text);
        let lines: Vec<usize> = check(&file).iter().map(|violation| violation.line).collect();
        assert_eq!(lines, [1, 2, 3, 4], "each line has one");
        file.path = "a.md".to_owned();
        assert_eq!(check(&file), [], "documents may speak of them");
    }

    #[test]
    fn ordinary_code_passes() {
        let file = File::new("a.rs", "// Kept in step by a test.\nassert!(true);\n");
        assert_eq!(check(&file), [], "nothing is wrong with it");
    }
}
