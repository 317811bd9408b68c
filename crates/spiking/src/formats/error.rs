//! What can be wrong with files. Messages name the file, the place in it, what was expected and what was found.

use std::path::Path;

use crate::Error;

/// A file that cannot be used, or cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// A file could not be read.
    #[error("cannot read {file}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {file}")]
    Write {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// A part of a file is not what it should be.
    #[error("{file}: {place}: expected {expected}, found {found}")]
    Content {
        /// The file.
        file: String,
        /// Which part, such as ``tensor `words` ``.
        place: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A line of a text is not what it should be.
    #[error("{file}: line {line}: {message}")]
    Text {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// What a file describes is no network, or no state of this network.
    #[error("{file}: {place}: {source}")]
    Network {
        /// The file.
        file: String,
        /// Which part of it.
        place: String,
        /// What is wrong.
        source: Error,
    },
    /// A reader of a format found it damaged; its message names the file.
    #[error(transparent)]
    Damaged(Box<dyn std::error::Error + Send + Sync>),
}

impl FileError {
    /// A file that could not be read.
    #[must_use]
    pub fn read(path: &Path, source: std::io::Error) -> Self {
        Self::Read { file: path.display().to_string(), source }
    }

    /// A file that could not be written.
    #[must_use]
    pub fn write(path: &Path, source: std::io::Error) -> Self {
        Self::Write { file: path.display().to_string(), source }
    }

    /// A part of a file that is not what it should be.
    pub fn content(
        file: &str,
        place: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        let (file, place) = (file.to_owned(), place.into());
        Self::Content { file, place, expected: expected.into(), found: found.into() }
    }

    /// A part of a file that makes no network.
    pub fn network(file: &str, place: impl Into<String>, source: Error) -> Self {
        Self::Network { file: file.to_owned(), place: place.into(), source }
    }
}
