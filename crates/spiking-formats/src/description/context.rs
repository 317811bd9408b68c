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
        self.error_at(&span, error.message().trim_end().replace('\n', ", "))
    }

    pub(super) fn network_error(&self, span: &Range<usize>, within: &str, source: Error) -> FileError {
        let place = format!("line {}: {within}", self.line(span.start));
        FileError::network(self.file, place, source)
    }
}
