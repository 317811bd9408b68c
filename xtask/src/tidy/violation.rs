//! Violations of rules.

use std::fmt::{self, Display, Formatter};

/// A violation of a rule at a line of a file.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Violation {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) message: String,
}

impl Violation {
    pub(super) fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl Display for Violation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { path, line, message } = self;
        write!(f, "{path}:{line}: {message}")
    }
}

/// Returns the number of the first line that satisfies `predicate`, or 1.
pub(super) fn line_where(text: &str, predicate: impl FnMut(&str) -> bool) -> usize {
    text.lines().position(predicate).map_or(1, |index| index + 1)
}
