//! Whole files: read within a limit, written whole or not at all.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::Error;

/// The largest file that is read: far more than any network here needs.
pub const MAX_BYTES: u64 = 1 << 30;

/// Reads a file of at most [`MAX_BYTES`].
///
/// # Errors
///
/// If the file cannot be read or is larger.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    // What is no ordinary file may have no length; therefore the limit is on what is read.
    let file = File::open(path).map_err(|source| Error::read(path, source))?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|source| Error::read(path, source))?;
    if bytes.len() as u64 > MAX_BYTES {
        let expected = format!("at most {MAX_BYTES} bytes");
        return Err(Error::file(&path.display().to_string(), expected, "more"));
    }
    Ok(bytes)
}

/// Writes a file beside its place and moves it there, so that nobody finds half of it.
///
/// # Errors
///
/// If the file cannot be written; what was there before is then still there.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part: PathBuf = path.with_file_name(name);
    let result =
        File::create(&part).and_then(|mut file| file.write_all(bytes)).and_then(|()| fs::rename(&part, path));
    result.map_err(|source| {
        // Best effort: the first error is the one to tell.
        let _ = fs::remove_file(&part);
        Error::write(path, source)
    })
}
