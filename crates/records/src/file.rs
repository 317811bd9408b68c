//! Files of records.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

use crate::record::{Record, SCHEMA};

/// Why a file of records cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the records in {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot append records to {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line is no record.
    #[error("{path}:{line}: no benchmark record: {source}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A line is a record of another version.
    #[error("{path}:{line}: a record of schema {found}; this version of KVRM reads schema {SCHEMA}")]
    Schema {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// The schema that the line names.
        found: u32,
    },
}

/// The part of a record that is the same in all versions.
#[derive(Deserialize)]
struct Version {
    schema: u32,
}

/// Reads all records of a file.
///
/// # Errors
///
/// The file cannot be read, or a line of it is no record of this version.
pub fn read(path: &Path) -> Result<Vec<Record>, Error> {
    let text = fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    parse(path, &text)
}

/// Reads the records in `text`, which is what the file `path` holds.
///
/// # Errors
///
/// A line is no record of this version.
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
