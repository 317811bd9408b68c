//! NumPy's `.npy` format for one array: a magic number, a header that is a Python dict, and the values.
//!
//! The header uses so little of Python's syntax that this parser is shorter than the use of a Python parser would be,
//! and gives better messages.

use kvrm_models::{Dtype, Error, NamedTensor};

use crate::strided::Layout;

/// The first bytes of every `.npy` file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// The size in bytes of the largest header. NumPy's default limit is lower.
const MAX_HEADER: usize = 1 << 16;

/// The alignment of the values in bytes that NumPy prescribes.
const ALIGNMENT: usize = 64;

/// The entries of a header that have been read so far.
#[derive(Debug, Default)]
struct Header {
    descr: Option<String>,
    fortran_order: Option<bool>,
    shape: Option<Vec<usize>>,
}

/// An array with its values still encoded.
///
/// ```
/// use kvrm_convert::Array;
///
/// let bytes = Array::line("<u2", 3, &[1, 0, 2, 0, 3, 0]);
/// let array = Array::parse("a.npy", "a", &bytes)?;
/// assert_eq!(array.kind(), Some(("u2", false)));
/// assert_eq!((array.dims, array.data.len()), (vec![3], 6));
/// # Ok::<(), kvrm_models::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array<'a> {
    /// The type of the values as NumPy writes it, such as `<f4`.
    pub descr: String,
    /// Whether the first index varies fastest in memory.
    pub fortran_order: bool,
    /// The dimensions, in the order of indices.
    pub dims: Vec<usize>,
    /// All bytes after the header.
    pub data: &'a [u8],
}

impl<'a> Array<'a> {
    /// Parses the header of `bytes`. The length of the data is not compared with the header. `file` and `name` (of the
    /// tensor) are used in messages.
    ///
    /// # Errors
    ///
    /// If the header is not a valid NumPy header.
    pub fn parse(file: &str, name: &str, bytes: &'a [u8]) -> Result<Self, Error> {
        let wrong = |expected: &str, found: String| Error::tensor(file, name, expected, found);
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(wrong("NumPy's magic number", "other bytes".to_owned()));
        };
        let cut = || wrong("a NumPy header", format!("the end of the file after {} bytes", bytes.len()));
        let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
        let (length, rest) = match version {
            [1, 0] => {
                rest.split_first_chunk::<2>().map(|(l, rest)| (u32::from(u16::from_le_bytes(*l)), rest))
            }
            [2 | 3, 0] => rest.split_first_chunk::<4>().map(|(l, rest)| (u32::from_le_bytes(*l), rest)),
            [major, minor] => return Err(wrong("version 1.0, 2.0 or 3.0", format!("{major}.{minor}"))),
        }
        .ok_or_else(cut)?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > MAX_HEADER {
            return Err(wrong("a header of at most 65536 bytes", length.to_string()));
        }
        let (header, data) = rest.split_at_checked(length).ok_or_else(cut)?;
        let header =
            std::str::from_utf8(header).map_err(|error| wrong("a header in UTF-8", error.to_string()))?;
        let header =
            parse(header).map_err(|found| wrong("a dict of descr, fortran_order and shape", found))?;
        let (Some(descr), Some(fortran_order), Some(dims)) =
            (header.descr, header.fortran_order, header.shape)
        else {
            return Err(wrong("descr, fortran_order and shape in the header", "not all of them".to_owned()));
        };
        Ok(Self { descr, fortran_order, dims, data })
    }

    /// Returns a file with a one-dimensional array of `values` values, whose bytes are `data`. `descr` is their type,
    /// such as `<u4`.
    #[must_use]
    pub fn line(descr: &str, values: usize, data: &[u8]) -> Vec<u8> {
        // A header always has room for one dimension.
        let mut bytes = header(descr, &[values]).unwrap_or_default();
        bytes.extend(data);
        bytes
    }

    /// Returns the type of the values without the byte order, such as `u4`, and whether they are big-endian. Returns
    /// `None` if the byte order is unknown.
    pub fn kind(&self) -> Option<(&str, bool)> {
        let (order, kind) = self.descr.split_at_checked(1)?;
        match order {
            "<" | "=" | "|" => Some((kind, false)),
            ">" => Some((kind, true)),
            _ => None,
        }
    }
}

/// Reads the array in `bytes` as a tensor called `name`.
///
/// # Errors
///
/// If the header is invalid, the values are not floats, or their number is not the product of the dimensions.
pub fn read(file: &str, name: &str, bytes: &[u8]) -> Result<NamedTensor, Error> {
    let wrong = |expected: &str, found: String| Error::tensor(file, name, expected, found);
    let array = Array::parse(file, name, bytes)?;
    let (dtype, big_endian) = match array.kind() {
        Some(("f2", big_endian)) => (Dtype::F16, big_endian),
        Some(("f4", big_endian)) => (Dtype::F32, big_endian),
        Some(("f8", big_endian)) => (Dtype::F64, big_endian),
        _ => return Err(wrong("values of type f2, f4 or f8", format!("`{}`", array.descr))),
    };
    let Array { fortran_order, dims, data, .. } = array;
    let expected = dims.iter().try_fold(dtype.bytes(), |bytes, dim| bytes.checked_mul(*dim));
    let strides = Layout::contiguous(&dims, fortran_order);
    let (Some(expected), Some(strides)) = (expected, strides) else {
        return Err(wrong("a size of less than 2^64 bytes", format!("{dims:?}")));
    };
    if expected != data.len() {
        let found = data.len().to_string();
        return Err(wrong(&format!("{expected} bytes of data for {dims:?} of {dtype}"), found));
    }
    Layout { dtype, big_endian, offset: 0, dims, strides }.read(file, name, data)
}

/// Parses the header's dict. The error is a description of the unexpected content.
fn parse(text: &str) -> Result<Header, String> {
    let mut rest = text.trim().strip_prefix('{').ok_or("no `{`")?;
    let mut header = Header::default();
    loop {
        rest = rest.trim_start();
        if let Some(end) = rest.strip_prefix('}') {
            return if end.trim().is_empty() { Ok(header) } else { Err("text after the dict".to_owned()) };
        }
        let (key, after) = string(rest)?;
        rest = after.trim_start().strip_prefix(':').ok_or("no `:`")?.trim_start();
        let twice = match key {
            "descr" => {
                if rest.starts_with('[') {
                    return Err("an array of records".to_owned());
                }
                let (value, after) = string(rest)?;
                rest = after;
                header.descr.replace(value.to_owned()).is_some()
            }
            "fortran_order" => {
                let value = rest.starts_with("True");
                rest = rest.strip_prefix("True").or_else(|| rest.strip_prefix("False")).ok_or("no bool")?;
                header.fortran_order.replace(value).is_some()
            }
            "shape" => {
                let (inside, after) =
                    rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).ok_or("no tuple")?;
                rest = after;
                header.shape.replace(shape(inside)?).is_some()
            }
            other => return Err(format!("the key {other:?}")),
        };
        if twice {
            return Err(format!("the duplicate key {key:?}"));
        }
        rest = rest.trim_start();
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None if rest.starts_with('}') => {}
            None => return Err("no `,` and no `}`".to_owned()),
        }
    }
}

/// Parses a string without escapes. Returns it and the text after it.
fn string(text: &str) -> Result<(&str, &str), String> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"')).ok_or("no string")?;
    text[1..].split_once(quote).ok_or_else(|| "a string without an end".to_owned())
}

fn shape(text: &str) -> Result<Vec<usize>, String> {
    let text = text.trim();
    let text = text.strip_suffix(',').unwrap_or(text);
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let dims = text.split(',').map(|dim| {
        let dim = dim.trim();
        // Python 2 wrote long numbers with an L.
        let digits = dim.strip_suffix('L').unwrap_or(dim);
        digits.parse().map_err(|_| format!("the dimension {dim:?}"))
    });
    dims.collect()
}

/// Returns the bytes of a `.npy` file with `tensor`.
pub(crate) fn write(file: &str, tensor: &NamedTensor, dtype: Dtype) -> Result<Vec<u8>, Error> {
    tensor.check(file)?;
    let descr = match dtype {
        Dtype::F16 => "<f2",
        Dtype::F32 => "<f4",
        Dtype::F64 => "<f8",
        Dtype::Bf16 => {
            return Err(Error::tensor(file, &tensor.name, "a type that NumPy has", dtype.to_string()));
        }
    };
    let mut bytes = header(descr, &tensor.dims).ok_or_else(|| {
        Error::tensor(file, &tensor.name, "a short list of dimensions", tensor.dims.len().to_string())
    })?;
    bytes.extend(tensor.encode(file, dtype)?);
    Ok(bytes)
}

/// Returns the bytes before the values, or `None` if there are too many dimensions for the header's length field.
fn header(descr: &str, dims: &[usize]) -> Option<Vec<u8>> {
    let dims: String = match dims {
        [dim] => format!("{dim},"),
        dims => dims.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({dims}), }}");
    let before = MAGIC.len() + 4;
    let padded = (before + header.len() + 1).next_multiple_of(ALIGNMENT);
    header.extend(std::iter::repeat_n(' ', padded - before - header.len() - 1));
    header.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend(u16::try_from(header.len()).ok()?.to_le_bytes());
    bytes.extend(header.as_bytes());
    Some(bytes)
}
