//! Reading and parsing vector files.

use std::io::Read as _;
use std::path::Path;

use super::Vector;
use crate::error::Error;

/// The limit on the size of an uncompressed vector file.
const TEXT_BYTES_MAX: u64 = 1 << 30;

/// An invalid line of a vector file.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
#[non_exhaustive]
pub struct VectorError {
    /// The name of the file.
    pub file: String,
    /// The number of the line, from 1.
    pub line: usize,
    /// The problem with the line.
    pub problem: String,
}

/// Reads a vector file: one JSON object per line. Blank lines are ignored. A file whose name ends in `.gz` is
/// compressed.
///
/// # Errors
/// If the file cannot be read or is larger than 1 GiB uncompressed, or at the first line that is not a valid vector.
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

/// The reason that a vector file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum OpenError {
    /// The file cannot be read.
    Read(#[from] Error),
    /// A line is not a valid vector.
    Line(#[from] VectorError),
}

/// Parses the text of a vector file. `file` is its name in errors.
///
/// # Errors
/// At the first line that is not a valid vector.
pub fn parse(file: &str, text: &str) -> Result<Vec<Vector>, VectorError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            let fail = |problem| VectorError { file: file.to_owned(), line: index + 1, problem };
            let vector: Vector = serde_json::from_str(line).map_err(|error| {
                // The parser sees a single line, so remove its own line number, which is always 1.
                let text = error.to_string();
                let problem = text.rsplit_once(" at line ").map_or(&text[..], |(problem, _)| problem);
                fail(format!("{problem}, at column {}", error.column()))
            })?;
            vector.validate().map_err(fail)?;
            Ok(vector)
        })
        .collect()
}
