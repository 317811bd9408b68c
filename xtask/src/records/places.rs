//! Names that the tasks of records share.

/// How a user calls these tasks.
pub(crate) const PROGRAM: &str = "cargo xtask";

/// The folder of the records.
pub(super) const FOLDER: &str = "docs/records";

/// The document with the tables.
pub(crate) const DOCUMENT: &str = "docs/benchmarks.md";
