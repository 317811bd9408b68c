//! Columns of numbers from the files of others: NumPy's `.npz` and Parquet.

mod column;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;

use std::path::Path;

pub(crate) use self::column::Column;
use self::column::place;
use crate::FileError as Error;

/// Columns by name, in the order asked for; each has as many numbers as the first.
///
/// # Errors
///
/// If the file is neither or damaged, or a column is not there, no numbers, or of another length.
pub(crate) fn read(path: &Path, names: &[&str]) -> Result<Vec<Column>, Error> {
    let file = path.display().to_string();
    let columns = match path.extension().and_then(|extension| extension.to_str()) {
        Some("npz") => npz::read(path, &file, names)?,
        #[cfg(feature = "parquet")]
        Some("parquet") => parquet::read(path, &file, names)?,
        #[cfg(not(feature = "parquet"))]
        Some("parquet") => return Err(crate::absent::feature(&file, "parquet")),
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
