//! Reader and writer of the safetensors format. Both work piece by piece, so that no data is in memory twice.
//!
//! Headers are checked by the crate `safetensors`. They are written here, in a fixed order, because the crate writes
//! them in the order of a hash map, and the same network has to give the same file.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::str::FromStr;

use safetensors::Dtype;
use safetensors::tensor::Metadata;

use super::FileError;

/// The largest length of a header, in bytes. There are few tensors, but there may be many populations.
const HEADER_MAX: u64 = 1 << 28;
/// The number of values that are converted at once when they are written.
const CHUNK: usize = 1 << 16;
/// The key of the header for the metadata, which is not a tensor.
const METADATA: &str = "__metadata__";

/// An element type of tensors.
pub(super) trait Word: bytemuck::Pod {
    const DTYPE: Dtype;
    /// Converts a number between the byte orders of the host and of the file.
    fn swap(self) -> Self;
}

macro_rules! word {
    ($($word:ty, $dtype:ident;)*) => {$(
        impl Word for $word {
            const DTYPE: Dtype = Dtype::$dtype;
            fn swap(self) -> Self {
                self.to_le()
            }
        }
    )*};
}
word!(u32, U32; i32, I32; u64, U64;);

/// A function that writes the values of a tensor.
type Values<'a> = Box<dyn Fn(&mut dyn Write) -> io::Result<()> + 'a>;

/// A tensor to write.
pub(super) struct Tensor<'a> {
    name: &'static str,
    dtype: Dtype,
    dims: Vec<usize>,
    bytes: usize,
    write: Values<'a>,
}

impl<'a> Tensor<'a> {
    pub(super) fn new<T: Word>(name: &'static str, dims: &[usize], values: &'a [T]) -> Self {
        let write = move |out: &mut dyn Write| {
            values.chunks(CHUNK).try_for_each(|chunk| {
                let swapped: Vec<T> = chunk.iter().map(|value| value.swap()).collect();
                out.write_all(bytemuck::cast_slice(&swapped))
            })
        };
        let (dims, bytes) = (dims.to_vec(), size_of_val(values));
        Self { name, dtype: T::DTYPE, dims, bytes, write: Box::new(write) }
    }
}

/// Writes a temporary file next to `path` and renames it, so that nobody sees an incomplete file.
pub(super) fn write(
    path: &Path,
    metadata: &BTreeMap<&str, String>,
    tensors: &[Tensor<'_>],
) -> Result<(), FileError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let result = File::create(&part).and_then(|file| {
        let mut out = BufWriter::new(file);
        write_to(&mut out, metadata, tensors)?;
        out.into_inner()?.sync_data()?;
        fs::rename(&part, path)
    });
    result.map_err(|source| {
        // Best effort: the first error is the one to report.
        let _ = fs::remove_file(&part);
        FileError::write(path, source)
    })
}

pub(super) fn write_to(
    out: &mut dyn Write,
    metadata: &BTreeMap<&str, String>,
    tensors: &[Tensor<'_>],
) -> io::Result<()> {
    let mut entries = vec![format!("\"{METADATA}\":{}", serde_json::to_string(metadata)?)];
    let mut offset = 0;
    for Tensor { name, dtype, dims, bytes, .. } in tensors {
        let end = offset + bytes;
        let info =
            format!("{{\"dtype\":\"{dtype:?}\",\"shape\":{dims:?},\"data_offsets\":[{offset},{end}]}}");
        entries.push(format!("\"{name}\":{info}"));
        offset = end;
    }
    let mut header = format!("{{{}}}", entries.join(",")).into_bytes();
    // The format needs aligned data and allows spaces as padding.
    header.resize(header.len().next_multiple_of(8), b' ');
    out.write_all(&(header.len() as u64).to_le_bytes())?;
    out.write_all(&header)?;
    tensors.iter().try_for_each(|tensor| (tensor.write)(out))
}

/// A file with a header that has been read and checked.
pub(super) struct Reader<'a, R> {
    file: &'a str,
    source: R,
    header: Metadata,
    /// The offset of the data in the file.
    data: u64,
}

/// Opens a file. Returns its name, for messages, and the file.
pub(super) fn open(path: &Path) -> Result<(String, File), FileError> {
    let file = File::open(path).map_err(|source| FileError::read(path, source))?;
    Ok((path.display().to_string(), file))
}

impl<'a, R: Read + Seek> Reader<'a, R> {
    pub(super) fn new(file: &'a str, mut source: R) -> Result<Self, FileError> {
        let cannot_read = |source| FileError::Read { file: file.to_owned(), source };
        let wrong = |found: String| FileError::content(file, "header", "a safetensors header", found);
        let end = source.seek(SeekFrom::End(0)).map_err(cannot_read)?;
        source.rewind().map_err(cannot_read)?;
        let mut length = [0; 8];
        if end < 8 {
            return Err(wrong(format!("a file of {end} bytes")));
        }
        source.read_exact(&mut length).map_err(cannot_read)?;
        let length = u64::from_le_bytes(length);
        if length > HEADER_MAX || length > end - 8 {
            return Err(wrong(format!("a header length of {length} bytes in a file of {end}")));
        }
        let mut header = vec![0; length as usize];
        source.read_exact(&mut header).map_err(cannot_read)?;
        let header: Metadata = serde_json::from_slice(&header).map_err(|error| wrong(error.to_string()))?;
        let data_len = end - 8 - length;
        if header.data_len() as u64 != data_len {
            let expected = format!("{} bytes, as the header says", header.data_len());
            return Err(FileError::content(file, "data", expected, data_len.to_string()));
        }
        Ok(Self { file, source, header, data: 8 + length })
    }

    /// Returns the size of the data of all tensors in bytes.
    pub(super) fn data_bytes(&self) -> u64 {
        self.header.data_len() as u64
    }

    /// Returns the first dimension of a tensor; 0 if there is no such tensor.
    pub(super) fn length(&self, name: &str) -> u64 {
        self.header.info(name).and_then(|info| info.shape.first()).map_or(0, |&length| length as u64)
    }

    /// Returns a value of the metadata.
    pub(super) fn text(&self, key: &str) -> Result<&str, FileError> {
        let value = self.header.metadata().as_ref().and_then(|metadata| metadata.get(key));
        value.map(String::as_str).ok_or_else(|| self.wrong_key(key, "a value", "none"))
    }

    /// Returns a number of the metadata.
    pub(super) fn number<T: FromStr<Err: Display>>(&self, key: &str) -> Result<T, FileError> {
        let text = self.text(key)?;
        text.parse().map_err(|error| self.wrong_key(key, "a number", format!("`{text}`: {error}")))
    }

    /// Returns a value of the metadata that is in JSON.
    pub(super) fn json<T: serde::de::DeserializeOwned>(&self, key: &str) -> Result<T, FileError> {
        serde_json::from_str(self.text(key)?)
            .map_err(|error| self.wrong_key(key, "a list in JSON", error.to_string()))
    }

    pub(super) fn wrong_key(
        &self,
        key: &str,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> FileError {
        FileError::content(self.file, format!("metadata `{key}`"), expected, found)
    }

    /// Checks the kind and version of the file, and that it has no tensors but these.
    pub(super) fn check(&self, format: &str, version: u32, tensors: &[&str]) -> Result<(), FileError> {
        let found = self.text("format")?;
        if found != format {
            return Err(self.wrong_key("format", format!("`{format}`"), format!("`{found}`")));
        }
        let found: u32 = self.number("format_version")?;
        if found != version {
            return Err(self.wrong_key("format_version", version.to_string(), found.to_string()));
        }
        match self.header.offset_keys().iter().find(|name| !tensors.contains(&name.as_str())) {
            Some(name) => {
                Err(self.wrong_tensor(name, format!("only {}", tensors.join(", ")), "an unknown tensor"))
            }
            None => Ok(()),
        }
    }

    /// Reads the values of a tensor. `dims` are its expected dimensions, where `None` is any number.
    pub(super) fn take<T: Word>(&mut self, name: &str, dims: &[Option<usize>]) -> Result<Vec<T>, FileError> {
        let info = self.header.info(name).ok_or_else(|| self.wrong_tensor(name, "this tensor", "none"))?;
        let expected = || {
            let dims = dims.iter().map(|dim| dim.map_or("any".to_owned(), |dim| dim.to_string()));
            format!("{:?} [{}]", T::DTYPE, dims.collect::<Vec<_>>().join(", "))
        };
        let fits = info.shape.len() == dims.len()
            && info.shape.iter().zip(dims).all(|(found, dim)| dim.is_none_or(|dim| dim == *found));
        if info.dtype != T::DTYPE || !fits {
            let found = format!("{:?} {:?}", info.dtype, info.shape);
            return Err(self.wrong_tensor(name, expected(), found));
        }
        // The header was checked: the file is as long as it says.
        let (begin, end) = info.data_offsets;
        let mut values = vec![T::zeroed(); (end - begin) / size_of::<T>()];
        let read = self.source.seek(SeekFrom::Start(self.data + begin as u64));
        read.and_then(|_| self.source.read_exact(bytemuck::cast_slice_mut(&mut values)))
            .map_err(|source| FileError::Read { file: self.file.to_owned(), source })?;
        values.iter_mut().for_each(|value| *value = value.swap());
        Ok(values)
    }

    pub(super) fn wrong_tensor(
        &self,
        name: &str,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> FileError {
        FileError::content(self.file, format!("tensor `{name}`"), expected, found)
    }
}
