//! The format of `docs/records/tables.toml`, which defines the tables and the code that benchmarks measure.

use std::collections::BTreeMap;

use kvrm_records::{Kind, Record, Value};
use serde::Deserialize;

/// The parameters that a record must have.
pub(super) type Conditions = BTreeMap<String, Value>;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Definitions {
    #[serde(default, rename = "table")]
    pub(super) tables: Vec<Table>,
    /// Named parts of the repository: paths of files and folders, relative to its root.
    #[serde(default)]
    pub(super) code: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(super) measures: Vec<MeasuredCode>,
}

/// A table of the document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// The name in the marker of the document.
    pub(super) name: String,
    /// The name of the file with its records.
    pub(super) file: String,
    /// The kind of its records.
    pub(super) kind: Kind,
    #[serde(default, rename = "where")]
    pub(super) conditions: Conditions,
    /// The heads of the columns with the labels of rows.
    pub(super) labels: Vec<String>,
    /// The rows, in order.
    #[serde(default)]
    pub(super) rows: Vec<Row>,
    /// A parameter, as an alternative to `rows`: each of its values becomes a row with the value as label.
    pub(super) rows_by: Option<String>,
    pub(super) columns: Vec<Column>,
}

/// A row of a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// The texts of the first columns, as many as the table has `labels`.
    pub(super) label: Vec<String>,
    /// The kind of its records, if it differs from the table's.
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
    /// The name of the shown figure, of which the median is shown, or of the shown parameter.
    pub(super) show: String,
    /// The divisor of numbers, for larger units.
    #[serde(default = "one")]
    pub(super) divide: f64,
    /// The number of significant digits. Digits before the decimal point are always shown.
    #[serde(default = "three")]
    pub(super) digits: usize,
    /// Whether a cell may be empty because there is no record or its record lacks the figure. Otherwise that is an
    /// error.
    #[serde(default)]
    pub(super) optional: bool,
}

const fn one() -> f64 {
    1.0
}

const fn three() -> usize {
    3
}

/// The code that the records of a kind measure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MeasuredCode {
    pub(super) kind: Kind,
    #[serde(default, rename = "where")]
    pub(super) conditions: Conditions,
    /// The names of the measured parts of the repository; empty for third-party code.
    pub(super) code: Vec<String>,
}

impl MeasuredCode {
    /// Returns whether `record` measured this code.
    pub(super) fn applies_to(&self, record: &Record) -> bool {
        self.kind == record.kind && has(record, &self.conditions)
    }
}

/// Returns whether a record has all of these parameters.
pub(super) fn has(record: &Record, conditions: &Conditions) -> bool {
    conditions.iter().all(|(name, value)| record.parameters.get(name) == Some(value))
}
