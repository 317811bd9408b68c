//! Import of networks from TOML descriptions, edge lists (NumPy's `.npz` and Parquet) and NIR graphs, and export of
//! spikes. Parquet needs the Cargo feature `parquet` and NIR graphs need `nir`, because their crates take long to
//! compile.
//!
//! [`open`] reads all these files and those that [`Network::save`] writes. Files may come from anywhere: an error names
//! the file, the place in it, and the expected contents.
//!
//! ```no_run
//! let network = kvrm_spiking_formats::open("network.toml".as_ref(), None)?;
//! println!("{} neurons, {} synapses", network.neurons(), network.synapses().count());
//! # Ok::<(), kvrm_spiking_formats::FileError>(())
//! ```

mod columns;
mod description;
#[cfg(not(all(feature = "nir", feature = "parquet")))]
mod missing_feature;
#[cfg(feature = "nir")]
mod nir;
mod spikes;

use std::path::Path;

pub use kvrm_spiking::FileError;
use kvrm_spiking::Network;

pub use description::describe;
#[cfg(feature = "nir")]
pub use nir::import;
pub use spikes::{write_sampled_spikes, write_spikes};

/// The default length of a step of NIR graphs, in ms. Most programs that write such graphs use it.
pub const NIR_DT: f64 = 0.1;

/// Opens a network. The extension of the file selects the format. `dt` is the length of a step in ms for NIR graphs,
/// which do not contain it; without it, [`NIR_DT`] is used.
///
/// # Errors
/// The file cannot be read, contains no valid network, or has an unknown extension.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir();
/// let path = folder.join(format!("kvrm-example-{}.toml", std::process::id()));
/// std::fs::write(&path, "dt = 0.1\n[[population]]\nname = \"cells\"\nneurons = 20\nlif = {}\n")?;
/// let network = kvrm_spiking_formats::open(&path, None)?;
/// assert_eq!(network.neurons(), 20);
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
pub fn open(path: &Path, dt: Option<f64>) -> Result<Network, FileError> {
    let file = path.display().to_string();
    let wrong = |expected: &str, found: &str| Err(FileError::content(&file, "file name", expected, found));
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => describe(path),
        Some("safetensors") => Network::load(path),
        Some("nir" | "h5" | "hdf5") => import(path, dt.unwrap_or(NIR_DT)),
        Some(extension @ ("npz" | "parquet")) => wrong(
            "a .toml file that describes the neurons and names this list under `edges`",
            &format!(".{extension}"),
        ),
        extension => wrong(
            "the extension .toml, .safetensors or .nir",
            &extension.map_or("none".to_owned(), |extension| format!(".{extension}")),
        ),
    }
}

/// Returns the error that importing a NIR graph needs the feature `nir`.
///
/// # Errors
/// Always.
#[cfg(not(feature = "nir"))]
pub fn import(path: &Path, _dt: f64) -> Result<Network, FileError> {
    Err(missing_feature::missing_feature(&path.display().to_string(), "nir"))
}

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
