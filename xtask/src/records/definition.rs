//! `docs/records/tables.toml`: the tables, and the code that benchmarks measure.

use std::collections::BTreeMap;

use kvrm_records::{Kind, Record, Value};
use serde::Deserialize;

/// The parameters a record must have.
pub(super) type Conditions = BTreeMap<String, Value>;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Definitions {
    #[serde(default, rename = "table")]
    pub(super) tables: Vec<Table>,
    /// Parts of the repository by name: their files and folders, from its root on.
    #[serde(default)]
    pub(super) code: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(super) measures: Vec<Measures>,
}

/// A table of the document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// What the marker in the document calls it.
    pub(super) name: String,
    /// The file of its records.
    pub(super) file: String,
    /// The kind of its records.
    pub(super) kind: Kind,
    #[serde(default, rename = "where")]
    pub(super) conditions: Conditions,
    /// The heads of the columns in which rows have their labels.
    pub(super) labels: Vec<String>,
    /// The rows, in order.
    #[serde(default)]
    pub(super) rows: Vec<Row>,
    /// Instead of rows: a parameter, each value of which is a row labelled with it.
    pub(super) rows_by: Option<String>,
    pub(super) columns: Vec<Column>,
}

/// A row of a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// The texts of the first columns, as many as the table has `labels`.
    pub(super) label: Vec<String>,
    /// The kind of its records, if it is not that of the table.
    pub(super) kind: Option<Kind>,
    #[serde(default, rename = "where")]
    pub(super) conditions: Conditions,
}

/// A column of a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Column {
    pub(super) head: String,
    #[serde(default, rename = "where")]
    pub(super) conditions: Conditions,
    /// The name of the figure whose median is shown, or of a parameter.
    pub(super) show: String,
    /// Numbers are divided by it, for larger units.
    #[serde(default = "one")]
    pub(super) divide: f64,
    /// How many significant digits are shown. Digits before the decimal point always are.
    #[serde(default = "three")]
    pub(super) digits: usize,
    /// Whether cells without a record, or whose record does not have it, are empty. Otherwise they are an error.
    #[serde(default)]
    pub(super) optional: bool,
}

const fn one() -> f64 {
    1.0
}

const fn three() -> usize {
    3
}

/// The code that some records measure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Measures {
    pub(super) kind: Kind,
    #[serde(default, rename = "where")]
    pub(super) conditions: Conditions,
    /// Names of parts of the repository; none if it is code of others.
    pub(super) code: Vec<String>,
}

impl Measures {
    /// Whether it is the code that `record` measured.
    pub(super) fn is_of(&self, record: &Record) -> bool {
        self.kind == record.kind && has(record, &self.conditions)
    }
}

/// Whether a record has all of these parameters.
pub(super) fn has(record: &Record, conditions: &Conditions) -> bool {
    conditions.iter().all(|(name, value)| record.parameters.get(name) == Some(value))
}
