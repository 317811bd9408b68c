//! The folder of records: all its record files, and the definitions of the tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use kvrm_records::{Record, read};

use super::definition::{Definitions, Table};
use super::table;

const DEFINITIONS: &str = "tables.toml";

/// The records of all files, and the definitions of the tables.
#[derive(Debug)]
pub(super) struct Book {
    definitions: Definitions,
    /// The records of each file, by file name.
    records: BTreeMap<String, Vec<Record>>,
}

impl Book {
    pub(super) fn load(folder: &Path) -> Result<Self> {
        let path = folder.join(DEFINITIONS);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let definitions: Definitions =
            toml::from_str(&text).with_context(|| format!("{} does not define tables", path.display()))?;
        let mut records = BTreeMap::new();
        for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                records.insert(name, read(&path)?);
            }
        }
        let names: BTreeSet<&str> = definitions.tables.iter().map(|table| &*table.name).collect();
        ensure!(names.len() == definitions.tables.len(), "{DEFINITIONS} has two tables of one name");
        Ok(Self { definitions, records })
    }

    /// Checks that all paths of measured code exist, so that the definitions are updated when code moves.
    pub(super) fn check_paths(&self, root: &Path) -> Result<()> {
        for path in self.definitions.code.values().flatten() {
            ensure!(root.join(path).exists(), "{DEFINITIONS}: the path {path} under [code] does not exist");
        }
        Ok(())
    }

    /// Returns the names and texts of all tables.
    pub(super) fn render(&self) -> Result<Vec<(String, String)>> {
        let render = |table: &Table| {
            let rows = self.rows(table)?;
            for record in rows.iter().flat_map(|row| row.cells.iter().flatten()) {
                self.measured_paths(table, record)?;
            }
            Ok((table.name.clone(), table::render(table, &rows)))
        };
        self.tables().iter().map(render).collect()
    }

    pub(super) fn tables(&self) -> &[Table] {
        &self.definitions.tables
    }

    /// Returns the rows of a table, with their records.
    pub(super) fn rows<'a>(&'a self, table: &'a Table) -> Result<Vec<table::Cells<'a>>> {
        let Table { name, file, .. } = table;
        let records = self.records.get(file).with_context(|| format!("table {name}: there is no {file}"))?;
        table::rows(table, records)
    }

    /// Returns the paths of the files and folders that a record of a table measured.
    pub(super) fn measured_paths(&self, table: &Table, record: &Record) -> Result<Vec<&str>> {
        let found = self.definitions.measures.iter().find(|measures| measures.applies_to(record));
        let Table { name, .. } = table;
        let kind = record.kind;
        let measures = found.with_context(|| {
            format!("table {name}: {DEFINITIONS} does not say which code `{kind}` measures")
        })?;
        let mut paths = Vec::new();
        for part in &measures.code {
            let code = self.definitions.code.get(part);
            let code =
                code.with_context(|| format!("{DEFINITIONS} measures `{part}`, which is not under [code]"))?;
            paths.extend(code.iter().map(|path| &**path));
        }
        Ok(paths)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Records of `kvrm bench` for two guests.
    pub(in crate::records) const RECORDS: &str = r#"{"schema":1,"kind":"lanes","date":"2026-11-20","machine":{"cpu":"A CPU","cores":2,"memory_bytes":null,"os":null},"adapter":null,"commit":{"id":"0000000","dirty":false},"command":"kvrm bench","transcribed":true,"parameters":{"guest":"mix","lanes":1},"figures":{"mips":{"unit":"MIPS","min":null,"median":4.1,"max":null,"repetitions":null}}}
{"schema":1,"kind":"lanes","date":"2026-11-21T10:00:00Z","machine":{"cpu":"A CPU","cores":2,"memory_bytes":null,"os":null},"adapter":null,"commit":{"id":"1111111","dirty":false},"command":"kvrm bench","parameters":{"guest":"sieve","lanes":1},"figures":{"mips":{"unit":"MIPS","min":3000,"median":3417.4,"max":4000,"repetitions":3}}}
"#;

    pub(in crate::records) const TABLES: &str = r#"
        [[table]]
        name = "lanes"
        file = "here.jsonl"
        kind = "lanes"
        labels = ["guest"]
        rows = [
            { label = ["`mix`"], where = { guest = "mix" } },
            { label = ["`sieve`"], where = { guest = "sieve" } },
        ]
        columns = [{ head = "MIPS, 1 lane", show = "mips", where = { lanes = 1 } }]

        [code]
        sources = ["src"]

        [[measures]]
        kind = "lanes"
        code = ["sources"]
    "#;

    /// Loads a temporary folder with these definitions and records.
    pub(in crate::records) fn book(tables: &str, records: &str) -> Result<Book> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join(DEFINITIONS), tables)?;
        fs::write(folder.path().join("here.jsonl"), records)?;
        Book::load(folder.path())
    }

    fn refused(tables: &str, records: &str) -> String {
        let rendered = book(tables, records).and_then(|book| book.render());
        format!("{:#}", rendered.expect_err("something is wrong with it"))
    }

    #[test]
    fn records_become_tables() {
        let tables = book(TABLES, RECORDS).and_then(|book| book.render()).expect("both rows have a record");
        assert_eq!(tables.len(), 1, "one is defined");
        let (name, text) = &tables[0];
        assert_eq!(name, "lanes", "its name");
        let expected = "\
| guest | MIPS, 1 lane |
| --- | ---: |
| `mix` | 4.1 |
| `sieve` | 3,417 |

Measured on A CPU, 2 cores: 2026-11-20 at `0000000`, transcribed; 2026-11-21 at `1111111`.
";
        assert_eq!(text, expected, "its text");
    }

    #[test]
    fn the_last_record_that_matches_counts() {
        let later =
            RECORDS.lines().next().expect("a record").replace("4.1", "5.2").replace("\"mix\"", "\"sieve\"");
        let (_, text) = book(TABLES, &format!("{RECORDS}{later}\n"))
            .and_then(|book| book.render())
            .expect("all rows have a record")
            .remove(0);
        assert!(text.contains("| `mix` | 4.1 |\n| `sieve` | 5.2 |"), "{text}");
    }

    #[test]
    fn values_of_a_parameter_can_be_rows() {
        let begin = TABLES.find("rows = ").expect("it is there");
        let end = TABLES.find("columns").expect("it is there");
        let tables = format!("{}rows_by = \"guest\"\n{}", &TABLES[..begin], &TABLES[end..]);
        let records = RECORDS.replace("\"mix\"", "\"grep 'a|b'\"");
        let (_, text) = book(&tables, &records)
            .and_then(|book| book.render())
            .expect("each value has a record")
            .remove(0);
        assert!(text.contains("| `grep 'a\\|b'` | 4.1 |\n| `sieve` | 3,417 |"), "{text}");
    }

    #[test]
    fn a_cell_without_a_record_is_an_error_unless_it_is_optional() {
        let first = RECORDS.lines().next().expect("a record");
        let error = refused(TABLES, first);
        assert!(error.contains("table lanes, row \"`sieve`\", column \"MIPS, 1 lane\""), "{error}");
        let optional = TABLES.replace("show = \"mips\"", "show = \"mips\", optional = true");
        let (_, text) =
            book(&optional, first).and_then(|book| book.render()).expect("it may be empty").remove(0);
        assert!(text.contains("| `sieve` | |"), "{text}");
        let (_, text) =
            book(&optional, "").and_then(|book| book.render()).expect("all cells may be empty").remove(0);
        assert!(text.ends_with("| `mix` | |\n| `sieve` | |\n"), "without an origin: {text}");
        let error = refused(&TABLES.replace("show = \"mips\"", "show = \"speed\""), RECORDS);
        assert!(error.contains("`speed`"), "{error}");
    }

    #[test]
    fn invalid_definitions_are_refused() {
        for (from, to, expected) in [
            ("file = \"here.jsonl\"", "file = \"there.jsonl\"", "there is no there.jsonl"),
            (
                "kind = \"lanes\"\n        labels",
                "kind = \"lines\"\n        labels",
                "unknown variant `lines`",
            ),
            ("label = [\"`mix`\"]", "label = []", "has 0 labels"),
            (
                "kind = \"lanes\"\n        code",
                "kind = \"timed\"\n        code",
                "which code `lanes` measures",
            ),
            ("code = [\"sources\"]", "code = [\"source\"]", "measures `source`"),
            ("head =", "heading =", "unknown field `heading`"),
        ] {
            assert!(TABLES.contains(from), "{from}");
            let error = refused(&TABLES.replace(from, to), RECORDS);
            assert!(error.contains(expected), "{error} is not about {expected}");
        }
        let twice = format!("{TABLES}{}", TABLES.split("[code]").next().expect("the table"));
        assert!(refused(&twice, RECORDS).contains("two tables of one name"), "names are unique");
    }

    #[test]
    fn invalid_records_are_named() {
        let error = refused(TABLES, &RECORDS.replace("\"sieve\"", "sieve"));
        assert!(error.contains("here.jsonl:2: "), "{error}");
    }

    #[test]
    fn missing_code_paths_are_refused() {
        let book = book(TABLES, RECORDS).expect("it is well formed");
        let root = tempfile::tempdir().expect("there is room");
        let error = book.check_paths(root.path()).expect_err("there is no src").to_string();
        assert!(error.contains("the path src under [code] does not exist"), "{error}");
        fs::create_dir(root.path().join("src")).expect("there is room");
        book.check_paths(root.path()).expect("now it is there");
    }
}
