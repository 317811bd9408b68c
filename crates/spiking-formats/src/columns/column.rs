//! [`Column`], and the errors of columns.

use crate::FileError as Error;

/// The largest number of rows, which is more than fits in memory.
pub(super) const ROWS_MAX: usize = 1 << 31;

/// A column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Column {
    Integers(Vec<i64>),
    Floats(Vec<f64>),
}

/// Returns the name of a column in messages.
pub(super) fn place(name: &str) -> String {
    format!("column `{name}`")
}

/// Returns the error of a missing column; `existing` are the names of the existing columns.
pub(super) fn missing(file: &str, name: &str, existing: impl Iterator<Item = impl AsRef<str>>) -> Error {
    let existing: Vec<String> = existing.map(|name| format!("`{}`", name.as_ref())).collect();
    Error::content(file, place(name), "this column", format!("only {}", existing.join(", ")))
}

impl Column {
    pub(crate) const fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Floats(values) => values.len(),
        }
    }

    /// Returns the numbers, which have to be integers from 0 to `end - 1`.
    pub(crate) fn below(&self, file: &str, name: &str, end: u32) -> Result<Vec<u32>, Error> {
        let expected = || format!("integers from 0 to {}", i64::from(end) - 1);
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

    /// Returns the numbers, which have to be finite.
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
