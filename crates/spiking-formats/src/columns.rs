//! Columns of numbers from the files of others: NumPy's `.npz` and Parquet.

mod npz;
mod parquet;

use std::path::Path;

use crate::FileError as Error;

/// More rows than any file that fits in memory has.
const ROWS_MAX: usize = 1 << 31;

/// A column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Column {
    Integers(Vec<i64>),
    Floats(Vec<f64>),
}

/// Columns by name, in the order asked for; each has as many numbers as the first.
///
/// # Errors
///
/// If the file is neither or damaged, or a column is not there, no numbers, or of another length.
pub(crate) fn read(path: &Path, names: &[&str]) -> Result<Vec<Column>, Error> {
    let file = path.display().to_string();
    let columns = match path.extension().and_then(|extension| extension.to_str()) {
        Some("npz") => npz::read(path, &file, names)?,
        Some("parquet") => parquet::read(path, &file, names)?,
        _ => {
            let found = path.extension().map_or("none".into(), |end| format!(".{}", end.display()));
            return Err(Error::content(&file, "its name", "an end of .npz or .parquet", found));
        }
    };
    let rows = columns.first().map_or(0, Column::len);
    for (column, name) in columns.iter().zip(names) {
        if column.len() != rows {
            let expected = format!("{rows} numbers, as column `{}` has", names[0]);
            return Err(Error::content(&file, place(name), expected, column.len().to_string()));
        }
    }
    Ok(columns)
}

/// How messages name a column.
fn place(name: &str) -> String {
    format!("column `{name}`")
}

/// A column that is not there.
fn missing(file: &str, name: &str, there: impl Iterator<Item = impl AsRef<str>>) -> Error {
    let there: Vec<String> = there.map(|name| format!("`{}`", name.as_ref())).collect();
    Error::content(file, place(name), "such a column", format!("only {}", there.join(", ")))
}

impl Column {
    pub(crate) const fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Floats(values) => values.len(),
        }
    }

    /// The numbers, if all are whole and below `end`.
    pub(crate) fn below(&self, file: &str, name: &str, end: u32) -> Result<Vec<u32>, Error> {
        let expected = || format!("whole numbers from 0 to {}", i64::from(end) - 1);
        let Self::Integers(values) = self else {
            return Err(Error::content(file, place(name), expected(), "floating point"));
        };
        let number = |(row, &value): (usize, &i64)| {
            let number = u32::try_from(value).ok().filter(|number| *number < end);
            number
                .ok_or_else(|| Error::content(file, place(name), expected(), format!("{value} in row {row}")))
        };
        values.iter().enumerate().map(number).collect()
    }

    /// The numbers, if all are finite.
    pub(crate) fn finite(&self, file: &str, name: &str) -> Result<Vec<f64>, Error> {
        match self {
            Self::Integers(values) => Ok(values.iter().map(|&value| value as f64).collect()),
            Self::Floats(values) => match values.iter().position(|value| !value.is_finite()) {
                Some(row) => {
                    let found = format!("{} in row {row}", values[row]);
                    Err(Error::content(file, place(name), "finite numbers", found))
                }
                None => Ok(values.clone()),
            },
        }
    }
}
