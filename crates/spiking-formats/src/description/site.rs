//! What is known while a description becomes a network, and how to say what is wrong with it.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use kvrm_spiking::{Builder, Error, FileError, PopulationId};

/// A network that is being built, and what is known of it.
pub(super) struct Site {
    pub(super) builder: Builder,
    /// By name.
    pub(super) populations: HashMap<String, PopulationId>,
    /// In order, with their neurons.
    pub(super) ranges: Vec<(PopulationId, Range<u32>)>,
    pub(super) dt: f64,
    pub(super) fraction_bits: u32,
}

/// Why a part of a description is none of a network.
pub(super) enum Refused {
    Text(String),
    Spiking(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Spiking(error)
    }
}

/// A file, to say where in it something is wrong.
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
    pub(super) folder: &'a Path,
}

impl Place<'_> {
    fn line(&self, at: usize) -> usize {
        1 + self.text.bytes().take(at).filter(|byte| *byte == b'\n').count()
    }

    pub(super) fn at(&self, span: &Range<usize>, message: String) -> FileError {
        FileError::Text { file: self.file.to_owned(), line: self.line(span.start), message }
    }

    pub(super) fn syntax(&self, error: &toml::de::Error) -> FileError {
        // Lines that are not there stand at the end of what should have them.
        let span = error.span().unwrap_or(0..0);
        self.at(&span, error.message().trim_end().replace('\n', ", "))
    }

    pub(super) fn network(&self, span: &Range<usize>, within: &str, source: Error) -> FileError {
        let place = format!("line {}: {within}", self.line(span.start));
        FileError::network(self.file, place, source)
    }
}
