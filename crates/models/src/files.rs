//! Reading of files up to a size limit, and atomic writing.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::Error;

/// The size in bytes of the largest file that [`read`] accepts: far more than any network needs.
pub const MAX_BYTES: u64 = 1 << 30;

/// Reads a file of at most [`MAX_BYTES`] bytes.
///
/// # Errors
///
/// If the file cannot be read or is larger.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    // Special files may report no length, so the limit applies to the bytes read.
    let file = File::open(path).map_err(|source| Error::read(path, source))?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|source| Error::read(path, source))?;
    if bytes.len() as u64 > MAX_BYTES {
        let expected = format!("at most {MAX_BYTES} bytes");
        return Err(Error::file(&path.display().to_string(), expected, "more"));
    }
    Ok(bytes)
}

/// Writes a file atomically: writes a temporary file in the same folder, then renames it to `path`.
///
/// # Errors
///
/// If the file cannot be written. A file that existed at `path` is then unchanged.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part: PathBuf = path.with_file_name(name);
    let result =
        File::create(&part).and_then(|mut file| file.write_all(bytes)).and_then(|()| fs::rename(&part, path));
    result.map_err(|source| {
        // Best effort: the first error is the one to report.
        let _ = fs::remove_file(&part);
        Error::write(path, source)
    })
}
