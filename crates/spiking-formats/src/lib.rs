//! Networks from the files of others and of people: TOML descriptions, edge lists in NumPy's `.npz` and Parquet, and
//! NIR graphs. Parquet needs the Cargo feature `parquet`, and NIR graphs need `nir`: they take long to compile.
//!
//! [`open`] takes any of them, and the files that [`Network::save`] writes. Files may come from anywhere: what is
//! wrong is an error that names the file, the place in it, and what was expected.

#[cfg(not(all(feature = "nir", feature = "parquet")))]
mod absent;
mod columns;
mod description;
#[cfg(feature = "nir")]
mod nir;
mod spikes;

use std::path::Path;

pub use kvrm_spiking::FileError;
use kvrm_spiking::Network;

pub use description::describe;
#[cfg(feature = "nir")]
pub use nir::import;
pub use spikes::{write_firings, write_spikes};

/// The length of a step of a NIR graph unless said otherwise, ms: that of most programs that write them.
pub const NIR_DT: f64 = 0.1;

/// Opens a network; the end of the file's name says what it is. `dt` is the length of a step in ms, for NIR graphs,
/// which have none.
///
/// # Errors
/// The file cannot be read, is no network, or has another kind of name.
pub fn open(path: &Path, dt: Option<f64>) -> Result<Network, FileError> {
    let file = path.display().to_string();
    let wrong = |expected: &str, found: &str| Err(FileError::content(&file, "its name", expected, found));
    match path.extension().and_then(|end| end.to_str()) {
        Some("toml") => describe(path),
        Some("safetensors") => Network::load(path),
        Some("nir" | "h5" | "hdf5") => import(path, dt.unwrap_or(NIR_DT)),
        Some(end @ ("npz" | "parquet")) => wrong(
            "a .toml file that says what the neurons are and names this list as `edges`",
            &format!(".{end}"),
        ),
        end => wrong(
            "an end of .toml, .safetensors or .nir",
            &end.map_or("none".to_owned(), |end| format!(".{end}")),
        ),
    }
}

/// The network of a NIR graph: an error, as this needs the feature `nir`.
///
/// # Errors
/// Always.
#[cfg(not(feature = "nir"))]
pub fn import(path: &Path, _dt: f64) -> Result<Network, FileError> {
    Err(absent::feature(&path.display().to_string(), "nir"))
}
