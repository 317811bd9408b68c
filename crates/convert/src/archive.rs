//! Zip archives, which `.npz` and PyTorch files are.

use std::collections::HashSet;
use std::io::{Cursor, Read, Write};

use kvrm_models::Error;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

/// How an archive begins, and how one without files does.
pub(crate) const MAGIC: &[u8] = b"PK\x03\x04";
pub(crate) const EMPTY: &[u8] = b"PK\x05\x06";

/// More files than any network here has tensors.
const MAX_ENTRIES: usize = 65_534;

/// What may be inflated from a small archive. Deflate makes a thousand bytes of one, and zeros are fair weights.
const MAX_INFLATED: u64 = 64 << 20;

/// An archive in memory, of files that are read one by one.
#[derive(Debug)]
pub struct Archive<'a> {
    file: &'a str,
    zip: ZipArchive<Cursor<&'a [u8]>>,
    names: Vec<String>,
    /// How many bytes may still be read.
    left: u64,
}

impl<'a> Archive<'a> {
    /// Reads the list of files; `file` is for messages.
    ///
    /// # Errors
    ///
    /// If the bytes are no archive, or one with two files of a name.
    pub fn open(file: &'a str, bytes: &'a [u8]) -> Result<Self, Error> {
        Self::open_within(file, bytes, MAX_INFLATED)
    }

    /// The same for archives whose files may have `inflated_max` bytes together, or as many as the archive has.
    ///
    /// # Errors
    ///
    /// As of [`Self::open`].
    pub fn open_within(file: &'a str, bytes: &'a [u8], inflated_max: u64) -> Result<Self, Error> {
        let listed = entries_listed(bytes);
        let zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| Error::file(file, "a zip archive", error.to_string()))?;
        if zip.len() > MAX_ENTRIES {
            return Err(Error::file(file, format!("at most {MAX_ENTRIES} files"), zip.len().to_string()));
        }
        let names = zip.file_names().map(|name| name.map(|name| name.into_owned()));
        let names = names
            .collect::<Result<Vec<String>, _>>()
            .map_err(|error| Error::file(file, "names that can be read", error.to_string()))?;
        let mut seen = HashSet::new();
        if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(Error::tensor(file, name, "one of this name in the archive", "two"));
        }
        // Of files with the same name the zip crate keeps the last.
        if let Some(listed) = listed.filter(|listed| *listed != names.len()) {
            let found = format!("{listed} files with {} names", names.len());
            return Err(Error::file(file, "an archive without duplicate names", found));
        }
        Ok(Self { file, zip, names, left: inflated_max.max(bytes.len() as u64) })
    }

    /// The names of all files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The content of a file. It counts against what the archive may be inflated to.
    ///
    /// # Errors
    ///
    /// If there is no such file, it is damaged, or larger than what is left.
    pub fn take(&mut self, name: &str) -> Result<Vec<u8>, Error> {
        let file = self.file;
        let wrong = |expected: &str, found: String| Error::tensor(file, name, expected, found);
        let entry = self.zip.by_name(name).map_err(|e| wrong("a file in the archive", e.to_string()))?;
        let size = entry.size();
        if size > self.left {
            return Err(wrong(&format!("at most {} more bytes when inflated", self.left), size.to_string()));
        }
        let mut bytes = Vec::new();
        // The size is only what the archive says.
        entry
            .take(size + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| wrong("a file that is whole", e.to_string()))?;
        if bytes.len() as u64 != size {
            return Err(wrong(
                &format!("{size} bytes, as the archive says"),
                format!("{} or more", bytes.len()),
            ));
        }
        self.left -= size;
        Ok(bytes)
    }
}

/// How many files the end of the archive says there are, where that end is a plain one.
fn entries_listed(bytes: &[u8]) -> Option<usize> {
    let tail = &bytes[bytes.len().saturating_sub(22 + usize::from(u16::MAX))..];
    let at = tail.windows(4).rposition(|window| window == EMPTY)?;
    let count = tail.get(at + 10..at + 12)?.first_chunk::<2>()?;
    // All ones: the number is in another record, which such archives as ours do not have.
    Some(usize::from(u16::from_le_bytes(*count))).filter(|count| *count != usize::from(u16::MAX))
}

/// An archive of stored files, without times, so that the same content always gives the same bytes.
///
/// # Errors
///
/// If a name is one that archives cannot have.
pub fn write(file: &str, entries: &[(String, Vec<u8>)]) -> Result<Vec<u8>, Error> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default());
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        zip.start_file(name.as_str(), options)
            .map_err(|error| Error::tensor(file, name, "a name that zip can store", error.to_string()))?;
        zip.write_all(bytes)
            .map_err(|error| Error::tensor(file, name, "content that zip can store", error.to_string()))?;
    }
    let cursor = zip.finish().map_err(|error| Error::file(file, "what zip can store", error.to_string()))?;
    Ok(cursor.into_inner())
}
