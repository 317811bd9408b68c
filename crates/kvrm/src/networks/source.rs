//! The origins of weights.

use std::fmt;
use std::path::PathBuf;

/// The origin of the weights of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// They come with KVRM.
    BuiltIn,
    /// They are those of a file.
    File(PathBuf),
    /// The program has made them.
    Memory,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Memory => f.write_str("in memory"),
        }
    }
}
