//! Zip archives, the container of `.npz` and PyTorch files.

use std::collections::HashSet;
use std::io::{Cursor, Read, Write};

use kvrm_models::Error;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

/// The first bytes of an archive with files.
pub(crate) const MAGIC: &[u8] = b"PK\x03\x04";
/// The first bytes of an archive without files: the signature of the end record.
pub(crate) const EMPTY: &[u8] = b"PK\x05\x06";

/// The largest number of files in an archive: more than any network of KVRM has tensors.
const MAX_ENTRIES: usize = 65_534;

/// The number of bytes that a small archive may be inflated to. Deflate can expand one byte to a thousand, and weights
/// of zeros are legitimate.
const MAX_INFLATED: u64 = 64 << 20;

/// An archive in memory, whose files are read one by one.
///
/// ```
/// use kvrm_convert::{Archive, write_archive};
///
/// let bytes = write_archive("a.zip", &[("greeting.txt".to_owned(), b"hello".to_vec())])?;
/// let mut archive = Archive::open("a.zip", &bytes)?;
/// assert_eq!(archive.names().collect::<Vec<_>>(), ["greeting.txt"]);
/// assert_eq!(archive.take("greeting.txt")?, b"hello");
/// # Ok::<(), kvrm_models::Error>(())
/// ```
#[derive(Debug)]
pub struct Archive<'a> {
    file: &'a str,
    zip: ZipArchive<Cursor<&'a [u8]>>,
    names: Vec<String>,
    /// The number of bytes that may still be inflated.
    left: u64,
}

impl<'a> Archive<'a> {
    /// Reads the list of files. Inflated files may have 64 MiB together, or as many bytes as the archive if that is
    /// more. `file` is the name used in messages.
    ///
    /// # Errors
    ///
    /// If the bytes are not a zip archive, if it has more than 65,534 files, or if two files have the same name.
    pub fn open(file: &'a str, bytes: &'a [u8]) -> Result<Self, Error> {
        Self::open_within(file, bytes, MAX_INFLATED)
    }

    /// Reads the list of files, like [`Self::open`], but with a limit of `inflated_max` bytes for all inflated files
    /// together, or of the size of the archive if that is more.
    ///
    /// # Errors
    ///
    /// As for [`Self::open`].
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
        // If files have the same name, the zip crate keeps only the last.
        if let Some(listed) = listed.filter(|listed| *listed != names.len()) {
            let found = format!("{listed} files with {} names", names.len());
            return Err(Error::file(file, "an archive without duplicate names", found));
        }
        Ok(Self { file, zip, names, left: inflated_max.max(bytes.len() as u64) })
    }

    /// Returns the names of all files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Inflates a file and returns its content, which counts towards the archive's limit.
    ///
    /// # Errors
    ///
    /// If there is no such file, it is damaged, or it is larger than the rest of the limit.
    pub fn take(&mut self, name: &str) -> Result<Vec<u8>, Error> {
        let file = self.file;
        let wrong = |expected: &str, found: String| Error::tensor(file, name, expected, found);
        let entry = self.zip.by_name(name).map_err(|e| wrong("a file in the archive", e.to_string()))?;
        let size = entry.size();
        if size > self.left {
            return Err(wrong(&format!("at most {} more bytes when inflated", self.left), size.to_string()));
        }
        let mut bytes = Vec::new();
        // The archive may lie about the size.
        entry
            .take(size + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| wrong("an undamaged file", e.to_string()))?;
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

/// Returns the number of files according to the end record, if the record has one.
fn entries_listed(bytes: &[u8]) -> Option<usize> {
    let tail = &bytes[bytes.len().saturating_sub(22 + usize::from(u16::MAX))..];
    let at = tail.windows(4).rposition(|window| window == EMPTY)?;
    let count = tail.get(at + 10..at + 12)?.first_chunk::<2>()?;
    // All ones mean that the number is in a ZIP64 record, which archives of weights do not need.
    Some(usize::from(u16::from_le_bytes(*count))).filter(|count| *count != usize::from(u16::MAX))
}

/// Returns an archive of uncompressed files, without times, so that the same content always gives the same bytes.
///
/// # Errors
///
/// If a name or a file cannot be stored in an archive.
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
    let cursor =
        zip.finish().map_err(|error| Error::file(file, "content that zip can store", error.to_string()))?;
    Ok(cursor.into_inner())
}
