//! Export of spikes and samples to `.csv` and NumPy's `.npz`, with the same columns in both.

use std::fmt::{self, Display, Formatter, Write as _};
use std::path::Path;

use kvrm_convert::{Array, write_archive};
use kvrm_models::files;
use kvrm_spiking::{FileError, SampledSpike, Spike};

/// Writes spikes in the columns `step` and `neuron`. The extension of the file selects the format.
///
/// # Errors
/// The file cannot be written, or its extension is neither `.csv` nor `.npz`.
pub fn write_spikes(path: &Path, spikes: &[Spike]) -> Result<(), FileError> {
    let columns = [("step", "<u8"), ("neuron", "<u4")];
    write(path, columns, spikes, |spike| [Value::Long(spike.step), Value::Short(spike.neuron)])
}

/// Writes samples in the columns `step`, `neuron`, `population`, `x`, `y`, `z` and `potential`. The extension of the
/// file selects the format. The potential of a Poisson source is empty in `.csv` and NaN in `.npz`.
///
/// # Errors
/// The file cannot be written, or its extension is neither `.csv` nor `.npz`.
pub fn write_sampled_spikes(path: &Path, spikes: &[SampledSpike]) -> Result<(), FileError> {
    let columns = [
        ("step", "<u8"),
        ("neuron", "<u4"),
        ("population", "<u4"),
        ("x", "<u4"),
        ("y", "<u4"),
        ("z", "<u4"),
        ("potential", "<f8"),
    ];
    write(path, columns, spikes, |spike| {
        let SampledSpike { step, neuron, population, place: [x, y, z], potential } = *spike;
        let [neuron, population, x, y, z] = [neuron, population, x, y, z].map(Value::Short);
        [Value::Long(step), neuron, population, x, y, z, Value::Real(potential)]
    })
}

/// A value of a column.
enum Value {
    Long(u64),
    Short(u32),
    Real(Option<f64>),
}

impl Value {
    fn append_to(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Long(value) => bytes.extend(value.to_le_bytes()),
            Self::Short(value) => bytes.extend(value.to_le_bytes()),
            Self::Real(value) => bytes.extend(value.unwrap_or(f64::NAN).to_le_bytes()),
        }
    }
}

impl Display for Value {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Long(value) => value.fmt(out),
            Self::Short(value) => value.fmt(out),
            Self::Real(value) => value.map_or(Ok(()), |value| value.fmt(out)),
        }
    }
}

/// Writes a table. A column is a name and NumPy's name of its type; `values` returns the values of a row.
fn write<Row, const N: usize>(
    path: &Path,
    columns: [(&str, &str); N],
    rows: &[Row],
    values: impl Fn(&Row) -> [Value; N],
) -> Result<(), FileError> {
    let file = path.display().to_string();
    let damaged = |error: kvrm_models::Error| FileError::Damaged(Box::new(error));
    let bytes = match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => {
            let mut text = columns.map(|(name, _)| name).join(",") + "\n";
            for row in rows {
                for (place, value) in values(row).iter().enumerate() {
                    let comma = if place == 0 { "" } else { "," };
                    // Writing to a `String` cannot fail.
                    let _ = write!(text, "{comma}{value}");
                }
                text.push('\n');
            }
            text.into_bytes()
        }
        Some("npz") => {
            let mut data = [(); N].map(|()| Vec::new());
            for row in rows {
                for (column, value) in data.iter_mut().zip(values(row)) {
                    value.append_to(column);
                }
            }
            let entry = |((name, descr), data): (&(&str, &str), &Vec<u8>)| {
                (format!("{name}.npy"), Array::line(descr, rows.len(), data))
            };
            let entries: Vec<_> = columns.iter().zip(&data).map(entry).collect();
            write_archive(&file, &entries).map_err(damaged)?
        }
        extension => {
            let found = extension.map_or("none".to_owned(), |extension| format!(".{extension}"));
            return Err(FileError::content(&file, "file name", "the extension .csv or .npz", found));
        }
    };
    files::write(path, &bytes).map_err(damaged)
}
