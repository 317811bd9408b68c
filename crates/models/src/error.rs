//! What can be wrong with files of weights. Every message names the file, and the tensor if it is about one.

use std::path::Path;

use crate::weights::manifest::Problem;

/// A file that cannot be used, or cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
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
    /// A file is not what it should be.
    #[error("{file}: expected {expected}, found {found}")]
    File {
        /// The file.
        file: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A tensor is not what it should be.
    #[error("{file}: tensor `{tensor}`: expected {expected}, found {found}")]
    Tensor {
        /// The file.
        file: String,
        /// The tensor.
        tensor: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// What a file says of itself is wrong.
    #[error("{file}: metadata `{key}`: expected {expected}, found {found}")]
    Metadata {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A folder does not hold what its manifest says.
    #[error("{file} does not describe its folder: {}", list(problems))]
    Manifest {
        /// The manifest.
        file: String,
        /// All differences.
        problems: Vec<Problem>,
    },
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; ")
}

impl Error {
    /// A file that is not what it should be.
    pub fn file(file: &str, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::File { file: file.to_owned(), expected: expected.into(), found: found.into() }
    }

    /// A tensor that is not what it should be.
    pub fn tensor(file: &str, tensor: &str, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Tensor {
            file: file.to_owned(),
            tensor: tensor.to_owned(),
            expected: expected.into(),
            found: found.into(),
        }
    }

    pub(crate) fn metadata(
        file: &str,
        key: &str,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self::Metadata {
            file: file.to_owned(),
            key: key.to_owned(),
            expected: expected.into(),
            found: found.into(),
        }
    }

    pub(crate) fn read(file: &Path, source: std::io::Error) -> Self {
        Self::Read { file: file.display().to_string(), source }
    }

    pub(crate) fn write(file: &Path, source: std::io::Error) -> Self {
        Self::Write { file: file.display().to_string(), source }
    }
}
