//! Names and paths that the tasks about records share.

/// The command of these tasks as a user types it.
pub(crate) const PROGRAM: &str = "cargo xtask";

/// The path of the folder with the records.
pub(super) const FOLDER: &str = "docs/records";

/// The path of the document with the tables.
pub(crate) const DOCUMENT: &str = "docs/benchmarks.md";
