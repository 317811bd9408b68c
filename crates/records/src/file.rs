//! Reading of files of records, and the errors of reading and writing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

use crate::record::{Record, SCHEMA};

/// An error of a file of records.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the records in {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot append records to {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A line is not a record.
    #[error("{path}:{line}: no benchmark record: {source}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// The error of the JSON parser.
        source: serde_json::Error,
    },
    /// A line is a record of another schema version.
    #[error("{path}:{line}: a record of schema {found}; this version of KVRM reads schema {SCHEMA}")]
    Schema {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// The schema version of the line.
        found: u32,
    },
}

/// The field of a record that all schema versions have.
#[derive(Deserialize)]
struct Version {
    schema: u32,
}

/// Reads all records of a file.
///
/// # Errors
///
/// If the file cannot be read, or a line is not a record of this schema version.
pub fn read(path: &Path) -> Result<Vec<Record>, Error> {
    let text = fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    parse(path, &text)
}

/// Parses the records in `text`, the content of the file `path`.
///
/// # Errors
///
/// If a line is not a record of this schema version.
pub fn parse(path: &Path, text: &str) -> Result<Vec<Record>, Error> {
    let record = |(index, line)| {
        let (path, number) = (|| path.to_owned(), index + 1);
        let malformed = |source| Error::Malformed { path: path(), line: number, source };
        let version: Version = serde_json::from_str(line).map_err(malformed)?;
        if version.schema != SCHEMA {
            return Err(Error::Schema { path: path(), line: number, found: version.schema });
        }
        serde_json::from_str(line).map_err(malformed)
    };
    text.lines().enumerate().map(record).collect()
}
