//! The rule that the tables of `docs/benchmarks.md` match the records.

use anyhow::Result;

use super::files::File;
use super::violation::Violation;
use crate::records::{self, DOCUMENT, Problem};

pub(super) fn check(files: &[File]) -> Result<Vec<Violation>> {
    let text = files.iter().find(|file| file.path == DOCUMENT).map_or("", |file| &file.text);
    let violation = |Problem { line, message }| Violation::new(DOCUMENT, line, message);
    Ok(records::check(text)?.into_iter().map(violation).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_figure_that_no_record_has_is_found() {
        let text = fs::read_to_string(crate::root::root().join(DOCUMENT)).expect("it is there");
        let check = |text: &str| {
            let file = File::new(DOCUMENT, text);
            check(&[file]).expect("the records can be read")
        };
        assert_eq!(check(&text), [], "the tables are what the records give");
        // The first figure of the first table.
        let row = text.lines().position(|line| line.starts_with("| bubble_sort |")).expect("it is a guest");
        let changed: Vec<String> = text
            .lines()
            .enumerate()
            .map(|(n, line)| if n == row { line.replace(',', "") } else { line.to_owned() })
            .collect();
        let lines: Vec<usize> =
            check(&(changed.join("\n") + "\n")).iter().map(|violation| violation.line).collect();
        assert_eq!(lines, [row + 1], "where it stands");
        assert_eq!(check("").len(), 1, "a document without tables");
    }
}
