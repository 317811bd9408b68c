//! Errors of the text assembler.

use alloc::string::String;
use core::fmt;

/// A line of assembly text that cannot be assembled, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The line without the spaces around it.
    pub text: String,
    /// What was expected, or what is wrong.
    pub problem: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: \"{}\": {}", self.line, self.text.escape_debug(), self.problem)
    }
}

impl core::error::Error for ParseError {}
