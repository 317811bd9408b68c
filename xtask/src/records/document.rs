//! The tables in the document. Each is between a line `<!-- records: NAME -->` and a line `<!-- end of records -->`.

use std::collections::BTreeSet;

const BEGIN: &str = "<!-- records: ";
const BEGIN_END: &str = " -->";
const END: &str = "<!-- end of records -->";

/// A problem at a line of a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The number of the line, from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl Problem {
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }

    /// Converts the problem to an error with the path of the document.
    pub(super) fn at(self, path: &str) -> anyhow::Error {
        anyhow::anyhow!("{path}:{}: {}", self.line, self.message)
    }
}

/// Returns the document `text` with these tables. It must have exactly one pair of markers for each.
pub(super) fn render(text: &str, tables: &[(String, String)]) -> Result<String, Problem> {
    let mut rendered = String::with_capacity(text.len());
    let mut seen = BTreeSet::new();
    let mut lines = text.split_inclusive('\n').enumerate();
    while let Some((index, line)) = lines.next() {
        rendered.push_str(line);
        let marker = line.trim_end().strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(BEGIN_END));
        let Some(name) = marker else {
            if line.trim_end() == END {
                return Err(Problem::new(
                    index + 1,
                    format!("`{END}` without a `{BEGIN}NAME{BEGIN_END}` before it"),
                ));
            }
            continue;
        };
        let found = tables.iter().find(|(other, _)| other == name);
        let (_, table) = found
            .ok_or_else(|| Problem::new(index + 1, format!("no table of tables.toml is called {name}")))?;
        if !seen.insert(name) {
            return Err(Problem::new(index + 1, format!("table {name} appears for the second time")));
        }
        rendered.push_str(&format!("\n{table}\n"));
        let end = lines
            .by_ref()
            .map(|(_, line)| line)
            .find(|line| line.trim_end() == END || line.starts_with(BEGIN));
        match end {
            Some(end) if end.trim_end() == END => rendered.push_str(end),
            _ => return Err(Problem::new(index + 1, format!("table {name} has no `{END}`"))),
        }
    }
    match tables.iter().find(|(name, _)| !seen.contains(&**name)) {
        Some((name, _)) => Err(Problem::new(1, format!("`{BEGIN}{name}{BEGIN_END}` is missing"))),
        None => Ok(rendered),
    }
}

/// Returns the first difference between the tables in the document `text` and these tables, or a problem of markers.
pub(super) fn check(text: &str, tables: &[(String, String)]) -> Vec<Problem> {
    match render(text, tables) {
        Err(problem) => vec![problem],
        Ok(rendered) if rendered == text => Vec::new(),
        Ok(rendered) => {
            let same = rendered.lines().zip(text.lines()).take_while(|(new, old)| new == old).count();
            let message = "the table does not match the records; run `cargo xtask codegen`";
            vec![Problem::new(same + 1, message)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A\n\n<!-- records: a -->\n\n| old |\n\n<!-- end of records -->\n\nEnd.\n";

    fn tables() -> Vec<(String, String)> {
        vec![("a".to_owned(), "| new |\n".to_owned())]
    }

    fn problem(text: &str) -> (usize, String) {
        let problem = render(text, &tables()).expect_err("something is wrong");
        (problem.line, problem.message)
    }

    #[test]
    fn tables_go_between_their_markers() {
        let rendered = render(TEXT, &tables()).expect("there is a place for it");
        assert_eq!(rendered, TEXT.replace("old", "new"), "all else stays");
        assert_eq!(render(&rendered, &tables()), Ok(rendered.clone()), "a second time changes nothing");
    }

    #[test]
    fn a_table_that_differs_from_its_records_is_found() {
        let rendered = render(TEXT, &tables()).expect("there is a place for it");
        assert_eq!(check(&rendered, &tables()), [], "it is what the records give");
        let problems = check(TEXT, &tables());
        assert_eq!(problems.len(), 1, "once");
        assert_eq!(problems[0].line, 5, "where it begins to differ");
        assert!(problems[0].message.contains("cargo xtask codegen"), "{problems:?}");
    }

    #[test]
    fn markers_must_fit_the_tables() {
        let (line, message) = problem(&TEXT.replace("records: a", "records: b"));
        assert!(line == 3 && message.contains("called b"), "{line}: {message}");
        let (line, message) = problem(&format!("{TEXT}{TEXT}"));
        assert!(line == 12 && message.contains("second time"), "{line}: {message}");
        let (line, message) = problem("# A\n");
        assert!(line == 1 && message.contains("records: a"), "{line}: {message}");
        let (line, message) = problem(&TEXT.replace("end of records", "end"));
        assert!(line == 3 && message.contains("has no"), "{line}: {message}");
        let (line, message) = problem(&TEXT.replace("<!-- records: a -->", ""));
        assert!(line == 7 && message.contains("without"), "{line}: {message}");
    }
}
