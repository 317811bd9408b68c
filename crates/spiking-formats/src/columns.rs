//! Reader of columns of numbers in NumPy's `.npz` and in Parquet files.

mod column;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;

use std::path::Path;

pub(crate) use self::column::Column;
use self::column::place;
use crate::FileError as Error;

/// Reads columns by name, in the order of `names`. All columns have the same length.
///
/// # Errors
/// The file is damaged or has another format, or a column is missing, is not numeric, or has another length than the
/// first one.
pub(crate) fn read(path: &Path, names: &[&str]) -> Result<Vec<Column>, Error> {
    let file = path.display().to_string();
    let columns = match path.extension().and_then(|extension| extension.to_str()) {
        Some("npz") => npz::read(path, &file, names)?,
        #[cfg(feature = "parquet")]
        Some("parquet") => parquet::read(path, &file, names)?,
        #[cfg(not(feature = "parquet"))]
        Some("parquet") => return Err(crate::missing_feature::missing_feature(&file, "parquet")),
        _ => {
            let found =
                path.extension().map_or("none".into(), |extension| format!(".{}", extension.display()));
            return Err(Error::content(&file, "file name", "the extension .npz or .parquet", found));
        }
    };
    let rows = columns.first().map_or(0, Column::len);
    for (column, name) in columns.iter().zip(names) {
        if column.len() != rows {
            let expected = format!("{rows} numbers, as in column `{}`", names[0]);
            return Err(Error::content(&file, place(name), expected, column.len().to_string()));
        }
    }
    Ok(columns)
}
