//! Reader of columns in Parquet files, which may be compressed with Snappy or deflate.

use std::fs::File;
use std::panic::catch_unwind;
use std::path::Path;

use parquet::basic::Type;
use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::column::{Column, ROWS_MAX, missing, place};
use crate::FileError as Error;

/// The number of values that are read at once.
const BATCH: usize = 1 << 16;

pub(super) fn read(path: &Path, file: &str, names: &[&str]) -> Result<Vec<Column>, Error> {
    // The reader checks most contents of a file but not all: damaged pages can make it panic. It shares no state, so a
    // panic can become an error of the file.
    catch_unwind(|| read_unguarded(path, file, names))
        .unwrap_or_else(|_| Err(Error::content(file, "contents", "a Parquet file", "damaged pages")))
}

fn read_unguarded(path: &Path, file: &str, names: &[&str]) -> Result<Vec<Column>, Error> {
    let source = File::open(path).map_err(|source| Error::read(path, source))?;
    let reader = SerializedFileReader::new(source)
        .map_err(|error| Error::content(file, "contents", "a Parquet file", error.to_string()))?;
    names.iter().map(|name| column(file, name, &reader)).collect()
}

fn column(file: &str, name: &str, reader: &SerializedFileReader<File>) -> Result<Column, Error> {
    let schema = reader.metadata().file_metadata().schema_descr();
    let columns = schema.columns();
    let Some(index) = columns.iter().position(|column| column.path().string() == name) else {
        return Err(missing(file, name, columns.iter().map(|column| column.path().string())));
    };
    let descriptor = &columns[index];
    let wrong = |expected: &str, found: String| Error::content(file, place(name), expected, found);
    let mut column = match descriptor.physical_type() {
        Type::INT32 | Type::INT64 => Column::Integers(Vec::new()),
        Type::FLOAT | Type::DOUBLE => Column::Floats(Vec::new()),
        other => return Err(wrong("integers or floating point", format!("{other}"))),
    };
    if descriptor.max_rep_level() > 0 {
        return Err(wrong("one number a row", "lists".to_owned()));
    }
    let damaged = |error: ParquetError| wrong("values that can be read", error.to_string());
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(damaged)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(usize::MAX);
        if column.len().saturating_add(rows) > ROWS_MAX {
            return Err(wrong(&format!("at most {ROWS_MAX} rows"), rows.to_string()));
        }
        let before = column.len();
        append(&mut column, group.get_column_reader(index).map_err(damaged)?).map_err(damaged)?;
        // A null row has a level but no value.
        if column.len() - before != rows {
            let found = format!("{} values in {rows} rows", column.len() - before);
            return Err(wrong("a number in each row", found));
        }
    }
    Ok(column)
}

/// Appends all values of a reader to a column.
fn append(column: &mut Column, reader: ColumnReader) -> Result<(), ParquetError> {
    macro_rules! drain {
        ($reader:ident, $values:ident, $widen:expr) => {{
            let (mut batch, mut levels) = (Vec::new(), Vec::new());
            loop {
                batch.clear();
                levels.clear();
                let (records, _, _) = $reader.read_records(BATCH, Some(&mut levels), None, &mut batch)?;
                if records == 0 {
                    return Ok(());
                }
                $values.extend(batch.iter().copied().map($widen));
            }
        }};
    }
    match (reader, column) {
        (ColumnReader::Int32ColumnReader(mut reader), Column::Integers(values)) => {
            drain!(reader, values, i64::from)
        }
        (ColumnReader::Int64ColumnReader(mut reader), Column::Integers(values)) => {
            drain!(reader, values, |value| value)
        }
        (ColumnReader::FloatColumnReader(mut reader), Column::Floats(values)) => {
            drain!(reader, values, f64::from)
        }
        (ColumnReader::DoubleColumnReader(mut reader), Column::Floats(values)) => {
            drain!(reader, values, |value| value)
        }
        _ => Err(ParquetError::General(
            "the type of the column differs from the type in the schema".to_owned(),
        )),
    }
}
