//! The rule about generated files: the files of `cargo xtask codegen` have the banner, and no others do.

use super::files::File;
use super::violation::Violation;
use crate::codegen::BANNER;

/// The number of lines at the top that may contain the banner; a title or an attribute may precede it.
const BANNER_LINES: usize = 5;

pub(super) fn check(files: &[File], generated: &[&str]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        let is_generated = generated.contains(&file.path.as_str());
        let banner = file.text.lines().take(BANNER_LINES).position(|line| line.contains(BANNER));
        match (is_generated, banner) {
            (true, None) => violations.push(Violation::new(&file.path, 1, format!("`{BANNER}` is missing"))),
            (false, Some(index)) => {
                let message = "the file has the banner of generated files, but codegen does not write it";
                violations.push(Violation::new(&file.path, index + 1, message));
            }
            _ => {}
        }
    }
    let absent = generated.iter().filter(|path| !files.iter().any(|file| file.path == **path));
    violations.extend(absent.map(|path| Violation::new(path, 1, "missing; run `cargo xtask codegen`")));
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, generated: &[&str]) -> Vec<usize> {
        let file = File::new("a.md", text);
        check(&[file], generated).iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn the_banner_marks_generated_files_and_no_others() {
        let (with, without) = (format!("# A\n\n{BANNER} from b.\n"), "# A\n");
        assert_eq!(lines(&with, &["a.md"]), [0; 0], "generated and says so");
        assert_eq!(lines(without, &[]), [0; 0], "neither");
        assert_eq!(lines(without, &["a.md"]), [1], "generated and does not say so");
        assert_eq!(lines(&with, &[]), [3], "says so and is not");
    }

    #[test]
    fn a_generated_file_that_is_missing_is_found() {
        assert_eq!(lines("# A\n", &["b.md"]), [1], "b.md does not exist");
    }
}
