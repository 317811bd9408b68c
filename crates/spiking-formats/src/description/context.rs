//! [`BuildContext`], a network under construction from a description, and errors with the line of the description.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use kvrm_spiking::{Builder, Error, FileError, PopulationId};

/// A network under construction from a description.
pub(super) struct BuildContext {
    pub(super) builder: Builder,
    /// The handles of populations, by name.
    pub(super) populations: HashMap<String, PopulationId>,
    /// The handles of populations, in order, with the numbers of their neurons.
    pub(super) ranges: Vec<(PopulationId, Range<u32>)>,
    pub(super) dt: f64,
    pub(super) fraction_bits: u32,
}

/// The reason why a part of a description is invalid.
pub(super) enum DescriptionError {
    Text(String),
    Network(Error),
}

impl From<Error> for DescriptionError {
    fn from(error: Error) -> Self {
        Self::Network(error)
    }
}

/// The text of a description, for error messages with line numbers.
pub(super) struct SourceText<'a> {
    pub(super) file: &'a str,
    pub(super) contents: &'a str,
    pub(super) folder: &'a Path,
}

impl SourceText<'_> {
    fn line(&self, at: usize) -> usize {
        1 + self.contents.bytes().take(at).filter(|byte| *byte == b'\n').count()
    }

    pub(super) fn error_at(&self, span: &Range<usize>, message: String) -> FileError {
        FileError::Text { file: self.file.to_owned(), line: self.line(span.start), message }
    }

    pub(super) fn syntax_error(&self, error: &toml::de::Error) -> FileError {
        // An error without a span is reported at the first line.
        let span = error.span().unwrap_or(0..0);
        let message = error.message().trim_end().replace('\n', ", ");
        let key = key_before(self.contents, span.start);
        self.error_at(&span, key.and_then(|key| wrong_number(key, &message)).unwrap_or(message))
    }

    pub(super) fn network_error(&self, span: &Range<usize>, within: &str, source: Error) -> FileError {
        let place = format!("line {}: {within}", self.line(span.start));
        FileError::network(self.file, place, source)
    }
}

/// Returns the key of the value at this place of a description.
fn key_before(contents: &str, at: usize) -> Option<&str> {
    let before = contents.get(..at)?;
    let key = before[..before.rfind('=')?].trim_end();
    let start =
        key.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').map_or(0, |at| at + 1);
    Some(&key[start..]).filter(|key| !key.is_empty())
}

/// Returns a message with key, value and limits instead of `message`, if that says that a whole number has a wrong type
/// of Rust.
fn wrong_number(key: &str, message: &str) -> Option<String> {
    let wrong = message.strip_prefix("invalid value: ").or_else(|| message.strip_prefix("invalid type: "))?;
    let (value, kind) = wrong.rsplit_once(", expected ")?;
    let limit = match kind {
        // The largest number of neurons of a network.
        "u32" if matches!(key, "neurons" | "dimensions") => u64::from(u32::MAX) - 1,
        "u8" => u8::MAX.into(),
        "u16" => u16::MAX.into(),
        "u32" => u32::MAX.into(),
        // TOML has no larger numbers.
        "u64" => i64::MAX as u64,
        _ => return None,
    };
    // Without the word before the number, such as "integer".
    let number = value.split('`').nth(1).unwrap_or(value);
    Some(format!("`{key}` is {number}, expected a whole number from 0 to {limit}"))
}
