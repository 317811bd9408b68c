//! Spikes for other programs: `.csv` and NumPy's `.npz`, both with the columns `step` and `neuron`.

use std::fmt::Write as _;
use std::path::Path;

use kvrm_convert::{Array, write_archive};
use kvrm_models::files;
use kvrm_spiking::{FileError, Spike};

/// Writes spikes; the end of the file's name says the format.
///
/// # Errors
/// The file cannot be written, or has another kind of name.
pub fn write_spikes(path: &Path, spikes: &[Spike]) -> Result<(), FileError> {
    let file = path.display().to_string();
    let damaged = |error: kvrm_models::Error| FileError::Damaged(Box::new(error));
    let bytes = match path.extension().and_then(|end| end.to_str()) {
        Some("csv") => {
            let mut text = "step,neuron\n".to_owned();
            for Spike { step, neuron } in spikes {
                // Text takes whatever is written to it.
                let _ = writeln!(text, "{step},{neuron}");
            }
            text.into_bytes()
        }
        Some("npz") => {
            let steps: Vec<u8> = spikes.iter().flat_map(|spike| spike.step.to_le_bytes()).collect();
            let neurons: Vec<u8> = spikes.iter().flat_map(|spike| spike.neuron.to_le_bytes()).collect();
            let entry =
                |name: &str, descr, data: &[u8]| (name.to_owned(), Array::line(descr, spikes.len(), data));
            let entries = [entry("step.npy", "<u8", &steps), entry("neuron.npy", "<u4", &neurons)];
            write_archive(&file, &entries).map_err(damaged)?
        }
        end => {
            let found = end.map_or("none".to_owned(), |end| format!(".{end}"));
            return Err(FileError::content(&file, "its name", "an end of .csv or .npz", found));
        }
    };
    files::write(path, &bytes).map_err(damaged)
}
