//! Conversion of weights from and to other formats: NumPy's `.npy` and `.npz`, PyTorch's `.pt` and `.pth`, and
//! safetensors.
//!
//! [`read`] reads all of them; [`write()`] writes all but PyTorch's. Files need not be trusted: no code in them is run,
//! allocations are bounded by the size of the file, and errors name the file, the tensor, the expected and the actual
//! content.
//!
//! ```
//! use kvrm_convert::{Format, read, write};
//! use kvrm_models::{Dtype, NamedTensor, TensorFile};
//!
//! let bias = NamedTensor { name: "bias".into(), dims: vec![2], dtype: Dtype::F32, values: vec![0.5, 1.0] };
//! let content = TensorFile { tensors: vec![bias], ..TensorFile::default() };
//! let bytes = write("net.npz", Format::Npz, &content, Dtype::F32)?;
//! assert_eq!(read("net.npz", &bytes)?, content);
//! # Ok::<(), kvrm_models::Error>(())
//! ```

mod archive;
mod names;
mod npy;
mod npz;
mod pickle;
mod state_dict;
mod strided;
mod torch;

use std::collections::BTreeMap;
use std::path::Path;

use kvrm_models::safetensors::{self, Encoded};
use kvrm_models::{Dtype, Error, TensorFile};

pub use archive::{Archive, write as write_archive};
pub use names::NameMap;
pub use npy::Array;

/// A file format that [`write()`] supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// NumPy's `.npy`: one tensor.
    Npy,
    /// NumPy's `.npz`: a zip archive of named tensors.
    Npz,
    /// Safetensors: named tensors and metadata.
    Safetensors,
}

impl Format {
    /// Returns the format for the extension of a file name.
    ///
    /// # Errors
    ///
    /// If the extension is not `.npy`, `.npz` or `.safetensors`.
    pub fn of(path: &Path) -> Result<Self, Error> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("npy") => Ok(Self::Npy),
            Some("npz") => Ok(Self::Npz),
            Some("safetensors") => Ok(Self::Safetensors),
            other => {
                let found = other.map_or("none".to_owned(), |extension| format!(".{extension}"));
                Err(Error::file(&path.display().to_string(), "a name in .npy, .npz or .safetensors", found))
            }
        }
    }
}

/// Reads a file of any format, which its first bytes determine. `file` is the name used in messages.
///
/// # Errors
///
/// If the format is unknown, the file is damaged, or a tensor has other values than the file declares.
pub fn read(file: &str, bytes: &[u8]) -> Result<TensorFile, Error> {
    if bytes.starts_with(npy::MAGIC) {
        let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
        let tensor = npy::read(file, &name, bytes)?;
        return Ok(TensorFile { tensors: vec![tensor], metadata: BTreeMap::new() });
    }
    if bytes.starts_with(archive::MAGIC) || bytes.starts_with(archive::EMPTY) {
        let mut archive = Archive::open(file, bytes)?;
        return if archive.names().any(torch::is_pickle) {
            torch::read(file, &mut archive)
        } else {
            npz::read(file, &mut archive)
        };
    }
    if torch::is_legacy(bytes) {
        return torch::read_legacy(file, bytes);
    }
    // A safetensors file begins with eight bytes for the length of the header, then the header's bracket.
    if bytes.get(8) == Some(&b'{') {
        return safetensors::read(file, bytes);
    }
    let start: Vec<String> = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let expected = "a file in .npy, .npz, PyTorch's or the safetensors format";
    Err(Error::file(file, expected, format!("{} bytes that begin {}", bytes.len(), start.join(" "))))
}

/// Returns the bytes of a file with `content`. Only safetensors files keep metadata. `file` is the name used in
/// messages.
///
/// # Errors
///
/// If a value is too large for `dtype`, two tensors have the same name, or the format is `.npy` and there is not
/// exactly one tensor.
pub fn write(file: &str, format: Format, content: &TensorFile, dtype: Dtype) -> Result<Vec<u8>, Error> {
    match format {
        Format::Npy => match content.tensors.as_slice() {
            [tensor] => npy::write(file, tensor, dtype),
            tensors => {
                let found = format!("{}; use --flat to join them, or write .npz", tensors.len());
                Err(Error::file(file, "one tensor for .npy", found))
            }
        },
        Format::Npz => npz::write(file, &content.tensors, dtype),
        Format::Safetensors => {
            let tensors = content.tensors.iter().map(|tensor| {
                let bytes = tensor.encode(file, dtype)?;
                Ok(Encoded { name: &tensor.name, dims: &tensor.dims, dtype, bytes })
            });
            safetensors::write(file, &tensors.collect::<Result<Vec<_>, Error>>()?, &content.metadata)
        }
    }
}

/// Entry points of the fuzz targets.
#[doc(hidden)]
pub mod fuzz {
    pub use crate::npy::read as npy;
    pub use crate::state_dict::fuzz as pickle;
}

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
