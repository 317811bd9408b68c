//! Errors of weights and of their files. Messages about a file name the file, and the tensor if they are about one.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

/// An error of a file of weights.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error("cannot read {file}")]
    Read {
        /// The file.
        file: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {file}")]
    Write {
        /// The file.
        file: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file does not have the expected content.
    #[error("{file}: expected {expected}, found {found}")]
    File {
        /// The file.
        file: String,
        /// The expected content.
        expected: String,
        /// The actual content.
        found: String,
    },
    /// A tensor does not have the expected name, shape, type or values.
    #[error("{file}: tensor `{tensor}`: expected {expected}, found {found}")]
    Tensor {
        /// The file.
        file: String,
        /// The tensor.
        tensor: String,
        /// The expected content.
        expected: String,
        /// The actual content.
        found: String,
    },
    /// A metadata entry of a file, or a field of a manifest, is wrong.
    #[error("{file}: metadata `{key}`: expected {expected}, found {found}")]
    Metadata {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// The expected content.
        expected: String,
        /// The actual content.
        found: String,
    },
    /// A folder differs from its manifest.
    #[error("{file} does not describe its folder: {}", list(problems))]
    Manifest {
        /// The manifest.
        file: String,
        /// All differences.
        problems: Vec<Problem>,
    },
}

/// A difference between a manifest and its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// A file is listed but missing.
    Missing(String),
    /// A file exists but is not listed.
    Unlisted(String),
    /// A file does not have the listed SHA-256.
    Different {
        /// The file.
        name: String,
        /// The listed SHA-256.
        expected: String,
        /// The SHA-256 of the file.
        found: String,
    },
}

impl Display for Problem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(name) => write!(f, "`{name}` is listed and missing"),
            Self::Unlisted(name) => write!(f, "`{name}` is there and not listed"),
            Self::Different { name, expected, found } => {
                write!(f, "`{name}`: expected sha256 {expected}, found {found}")
            }
        }
    }
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; ")
}

impl Error {
    /// Returns an [`Error::File`].
    pub fn file(file: &str, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::File { file: file.to_owned(), expected: expected.into(), found: found.into() }
    }

    /// Returns an [`Error::Tensor`].
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

/// The reason for which flat weights do not make a network.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The number of weights is wrong.
    #[error("the {network} network has {expected} weights, but {found} were given")]
    Count {
        /// The kind of network.
        network: &'static str,
        /// The number of weights of such a network.
        expected: usize,
        /// The number of weights given.
        found: usize,
    },
    /// A weight is NaN or infinite.
    #[error("weight {index} is {value}; all must be finite")]
    NotFinite {
        /// The index in the flat form.
        index: usize,
        /// The actual content.
        value: f32,
    },
    /// A weight is too large for half precision.
    #[error(
        "weight {index} is {value}, but devices store weights in half precision, up to ±65504; train with smaller weights"
    )]
    TooLargeForHalf {
        /// The index in the flat form.
        index: usize,
        /// The actual content.
        value: f32,
    },
    /// A weight is not a multiple of 2^-6, is negative zero, or is too large, so sums could round.
    #[error("weight {index} is {value}, which is no multiple of 2^-6 below 2^9")]
    OffGrid {
        /// The index in the flat form.
        index: usize,
        /// The actual content.
        value: f32,
    },
}

/// Checks the number of flat weights and that all are finite.
pub(crate) fn check(network: &'static str, flat: &[f32], expected: usize) -> Result<(), WeightsError> {
    if flat.len() != expected {
        return Err(WeightsError::Count { network, expected, found: flat.len() });
    }
    match flat.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(WeightsError::NotFinite { index, value: flat[index] }),
        None => Ok(()),
    }
}
