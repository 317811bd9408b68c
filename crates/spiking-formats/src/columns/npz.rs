//! Reader of one-dimensional arrays in NumPy's `.npz`.

use std::path::Path;

use kvrm_convert::{Archive, Array};

use super::column::{Column, ROWS_MAX, missing, place};
use crate::FileError as Error;

/// The largest inflated size of an archive, in bytes: some hundred million edges.
const INFLATED_MAX: u64 = 1 << 34;

pub(super) fn read(path: &Path, file: &str, names: &[&str]) -> Result<Vec<Column>, Error> {
    let bytes = std::fs::read(path).map_err(|source| Error::read(path, source))?;
    let mut archive = Archive::open_within(file, &bytes, INFLATED_MAX).map_err(damaged)?;
    names.iter().map(|name| column(file, name, &mut archive)).collect()
}

fn column(file: &str, name: &str, archive: &mut Archive<'_>) -> Result<Column, Error> {
    let entry = format!("{name}.npy");
    if !archive.names().any(|existing| existing == entry) {
        let existing = archive.names().map(|name| name.strip_suffix(".npy").unwrap_or(name).to_owned());
        return Err(missing(file, name, existing));
    }
    let bytes = archive.take(&entry).map_err(damaged)?;
    let array = Array::parse(file, name, &bytes).map_err(damaged)?;
    let wrong = |expected: &str, found: String| Err(Error::content(file, place(name), expected, found));
    let [rows] = *array.dims else {
        return wrong("an array of one dimension", format!("{:?}", array.dims));
    };
    let Some((kind, big_endian)) = array.kind() else {
        return wrong("numbers", format!("`{}`", array.descr));
    };
    let data = Data { bytes: array.data, big_endian };
    let (size, column) = match kind {
        "i1" => (1, Column::Integers(data.values(i8::from_le_bytes, i64::from))),
        "i2" => (2, Column::Integers(data.values(i16::from_le_bytes, i64::from))),
        "i4" => (4, Column::Integers(data.values(i32::from_le_bytes, i64::from))),
        "i8" => (8, Column::Integers(data.values(i64::from_le_bytes, |value| value))),
        "u1" => (1, Column::Integers(data.values(u8::from_le_bytes, i64::from))),
        "u2" => (2, Column::Integers(data.values(u16::from_le_bytes, i64::from))),
        "u4" => (4, Column::Integers(data.values(u32::from_le_bytes, i64::from))),
        // Values above the signed range are too large for every use, and stay too large.
        "u8" => (
            8,
            Column::Integers(
                data.values(u64::from_le_bytes, |value| i64::try_from(value).unwrap_or(i64::MAX)),
            ),
        ),
        "f4" => (4, Column::Floats(data.values(f32::from_le_bytes, f64::from))),
        "f8" => (8, Column::Floats(data.values(f64::from_le_bytes, |value| value))),
        _ => return wrong("integers, f4 or f8", format!("`{}`", array.descr)),
    };
    if rows > ROWS_MAX || rows.checked_mul(size) != Some(array.data.len()) {
        return wrong(&format!("{rows} numbers, as in the header"), format!("{} bytes", array.data.len()));
    }
    Ok(column)
}

struct Data<'a> {
    bytes: &'a [u8],
    big_endian: bool,
}

impl Data<'_> {
    fn values<const N: usize, T, U>(&self, decode: fn([u8; N]) -> T, widen: fn(T) -> U) -> Vec<U> {
        let value = |bytes: &[u8; N]| {
            let mut bytes = *bytes;
            if self.big_endian {
                bytes.reverse();
            }
            widen(decode(bytes))
        };
        self.bytes.as_chunks().0.iter().map(value).collect()
    }
}

/// Wraps an error of the readers of archives and headers, whose messages name the file.
fn damaged(error: kvrm_models::Error) -> Error {
    Error::Damaged(Box::new(error))
}
