//! Vector files.

use std::io::Read as _;
use std::path::Path;

use super::Vector;
use crate::error::Error;

/// The most text a vector file may hold once it is unpacked.
const TEXT_BYTES_MAX: u64 = 1 << 30;

/// Why a line is no vector.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct VectorError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
}

/// Reads a vector file: one JSON object a line, blank lines ignored; a name ending in `.gz` means compressed.
///
/// # Errors
/// If the file cannot be read, or a line is no vector.
pub fn open(path: &Path) -> Result<Vec<Vector>, OpenError> {
    let fail = |source| Error::Read { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(fail)?;
    let unpacked: Box<dyn std::io::Read> = if path.extension().is_some_and(|extension| extension == "gz") {
        Box::new(flate2::read::MultiGzDecoder::new(std::io::BufReader::new(file)))
    } else {
        Box::new(file)
    };
    let mut text = String::new();
    unpacked.take(TEXT_BYTES_MAX + 1).read_to_string(&mut text).map_err(fail)?;
    if text.len() as u64 > TEXT_BYTES_MAX {
        return Err(Error::TooLarge { path: path.to_owned(), max: TEXT_BYTES_MAX }.into());
    }
    Ok(parse(&path.display().to_string(), &text)?)
}

/// Why a vector file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum OpenError {
    /// The file cannot be read.
    Read(#[from] Error),
    /// A line is no vector.
    Line(#[from] VectorError),
}

/// Parses the text of a vector file.
///
/// # Errors
/// At the first line that is no vector.
pub fn parse(file: &str, text: &str) -> Result<Vec<Vector>, VectorError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            let fail = |problem| VectorError { file: file.to_owned(), line: index + 1, problem };
            let vector: Vector = serde_json::from_str(line).map_err(|error| {
                // The parser saw one line and would call it line 1.
                let text = error.to_string();
                let problem = text.rsplit_once(" at line ").map_or(&text[..], |(problem, _)| problem);
                fail(format!("{problem}, at column {}", error.column()))
            })?;
            vector.validate().map_err(fail)?;
            Ok(vector)
        })
        .collect()
}
