//! Rules about text: whitespace, long imports in shaders, and files called `mod.rs`.

use super::files::File;
use super::violation::Violation;

/// The greatest length of an import of a shader on one line. No formatter wraps these lines.
const IMPORT_COLUMNS: usize = 110;

pub(super) fn check(file: &File) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut report = |line, message| violations.push(Violation::new(&file.path, line, message));
    // `lines()` would hide carriage returns.
    for (index, line) in file.text.split('\n').enumerate() {
        if line.trim_end() != line {
            report(index + 1, "whitespace at the end of the line");
        }
        if line.trim_end().contains('\t') {
            report(index + 1, "a tab; indent and align with spaces");
        }
        if file.path.ends_with(".wgsl") && line.starts_with("import ") && line.len() > IMPORT_COLUMNS {
            report(index + 1, "an import of more than 110 columns; wrap it as docs/shaders.md shows");
        }
    }
    let lines = file.text.split('\n').count();
    if !file.text.ends_with('\n') {
        report(lines, "the file does not end with a newline");
    } else if file.text.ends_with("\n\n") {
        report(lines - 1, "the file ends with empty lines");
    }
    if file.path.ends_with("/mod.rs") {
        report(1, "name the module file `foo.rs`, beside the folder `foo/`");
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(path: &str, text: &str) -> Vec<(usize, String)> {
        let file = File::new(path, text);
        check(&file).into_iter().map(|violation| (violation.line, violation.message)).collect()
    }

    #[test]
    fn a_tidy_file_passes() {
        assert_eq!(violations("src/a.rs", "//! A.\n\nfn a() {}\n"), [], "nothing is wrong with it");
    }

    #[test]
    fn every_kind_of_stray_whitespace_is_found() {
        let cases = [
            ("a \nb\n", 1, "whitespace at the end of the line"),
            ("a\nb\r\n", 2, "whitespace at the end of the line"),
            ("a\n\tb\n", 2, "a tab; indent and align with spaces"),
            ("a\nb", 2, "the file does not end with a newline"),
            ("a\n\n", 2, "the file ends with empty lines"),
        ];
        for (text, line, message) in cases {
            assert_eq!(violations("a.md", text), [(line, message.to_owned())], "of {text:?}");
        }
    }

    #[test]
    fn a_long_import_of_a_shader_is_found() {
        let long = format!("import package::a::{{{}}};\n", "b, ".repeat(30) + "c");
        assert_eq!(violations("a.wgsl", &long).len(), 1, "{} columns", long.len());
        assert_eq!(violations("a.wgsl", "import package::a::{\n    b,\n};\n"), [], "wrapped");
        assert_eq!(violations("a.md", &long), [], "no shader");
    }

    #[test]
    fn the_old_name_of_module_files_is_found() {
        assert_eq!(violations("src/a/mod.rs", "//! A.\n").len(), 1, "mod.rs is against the rule");
    }
}
