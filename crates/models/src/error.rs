//! What can be wrong with weights and with their files. Messages about files name the file, and the tensor if
//! they are about one.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

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

/// A difference between a manifest and its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// A file is listed and not there.
    Missing(String),
    /// A file is there and not listed.
    Unlisted(String),
    /// A file is not the one that is listed.
    Different {
        /// The file.
        name: String,
        /// The listed sha256.
        expected: String,
        /// Its sha256.
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

/// Weights that are no network.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WeightsError {
    /// There are too few or too many.
    #[error("a {network} network has {expected} weights, but {found} were given")]
    Count {
        /// Which network.
        network: &'static str,
        /// How many it has.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// One is NaN or infinite.
    #[error("weight {index} is {value}; all must be finite")]
    NotFinite {
        /// Its place in the flat layout.
        index: usize,
        /// What it is.
        value: f32,
    },
    /// One is no multiple of 2^-6, or too large, so sums would round.
    #[error("weight {index} is {value}, which is no multiple of 2^-6 below 2^9")]
    OffGrid {
        /// Its place in the flat layout.
        index: usize,
        /// What it is.
        value: f32,
    },
}

/// Checks number and values of flat weights.
pub(crate) fn check(network: &'static str, flat: &[f32], expected: usize) -> Result<(), WeightsError> {
    if flat.len() != expected {
        return Err(WeightsError::Count { network, expected, found: flat.len() });
    }
    match flat.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(WeightsError::NotFinite { index, value: flat[index] }),
        None => Ok(()),
    }
}
