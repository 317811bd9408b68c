//! [`FileError`], the errors of files. Messages name the file, the place in it, the expectation and the finding.

use std::path::Path;

use crate::Error;

/// An error of reading, writing or interpreting a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// A file could not be read.
    #[error("cannot read {file}")]
    Read {
        /// The file.
        file: String,
        /// The cause.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {file}")]
    Write {
        /// The file.
        file: String,
        /// The cause.
        source: std::io::Error,
    },
    /// A part of a file has unexpected contents.
    #[error("{file}: {place}: expected {expected}, found {found}")]
    Content {
        /// The file.
        file: String,
        /// The part, such as ``tensor `words` ``.
        place: String,
        /// The expected contents.
        expected: String,
        /// The contents of the file.
        found: String,
    },
    /// A line of a text file is invalid.
    #[error("{file}: line {line}: {message}")]
    Text {
        /// The file.
        file: String,
        /// The line number, from 1.
        line: usize,
        /// The reason.
        message: String,
    },
    /// A file describes an invalid network, or a state that does not match the network.
    #[error("{file}: {place}: {source}")]
    Network {
        /// The file.
        file: String,
        /// The part of the file.
        place: String,
        /// The reason.
        source: Error,
    },
    /// The reader of a format found a file damaged. The message of the reader names the file.
    #[error(transparent)]
    Damaged(Box<dyn std::error::Error + Send + Sync>),
}

impl FileError {
    /// Returns the error of a file that could not be read.
    #[must_use]
    pub fn read(path: &Path, source: std::io::Error) -> Self {
        Self::Read { file: path.display().to_string(), source }
    }

    /// Returns the error of a file that could not be written.
    #[must_use]
    pub fn write(path: &Path, source: std::io::Error) -> Self {
        Self::Write { file: path.display().to_string(), source }
    }

    /// Returns the error of a part of a file with unexpected contents.
    pub fn content(
        file: &str,
        place: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        let (file, place) = (file.to_owned(), place.into());
        Self::Content { file, place, expected: expected.into(), found: found.into() }
    }

    /// Returns the error of a part of a file that describes an invalid network.
    pub fn network(file: &str, place: impl Into<String>, source: Error) -> Self {
        Self::Network { file: file.to_owned(), place: place.into(), source }
    }
}
