//! Weights in the formats of others: NumPy's `.npy` and `.npz`, PyTorch's `.pt` and `.pth`, and safetensors.
//!
//! [`read`] takes the bytes of any of them, [`write()`] makes all but PyTorch's. Files may come from anywhere: no code
//! in them is run, nothing is allocated that they do not pay for in bytes, and an error names the file, the tensor,
//! what was expected and what was found.

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

/// A format that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// NumPy: one tensor.
    Npy,
    /// NumPy: a zip archive of named tensors.
    Npz,
    /// Named tensors and metadata.
    Safetensors,
}

impl Format {
    /// The format that the end of a file's name asks for.
    ///
    /// # Errors
    ///
    /// If it is none of the three.
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

/// Reads a file of any format, told apart by how they begin; `file` is for messages.
///
/// # Errors
///
/// If the file is of no known format or damaged, or a tensor is not what the file says.
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
    // Nine bytes: the length of the header, and the bracket that the header begins with.
    if bytes.get(8) == Some(&b'{') {
        return safetensors::read(file, bytes);
    }
    let start: Vec<String> = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let expected = "a file in .npy, .npz, PyTorch's or the safetensors format";
    Err(Error::file(file, expected, format!("{} bytes that begin {}", bytes.len(), start.join(" "))))
}

/// The bytes of a file with `content`. Metadata is kept where the format has any.
///
/// # Errors
///
/// If a value is too large for `dtype`, a name is there twice, or the format holds one tensor and there are more.
pub fn write(file: &str, format: Format, content: &TensorFile, dtype: Dtype) -> Result<Vec<u8>, Error> {
    match format {
        Format::Npy => match content.tensors.as_slice() {
            [tensor] => npy::write(file, tensor, dtype),
            tensors => {
                let found = format!("{}; --flat makes them one, and .npz holds many", tensors.len());
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

/// What the fuzz targets reach.
#[doc(hidden)]
pub mod fuzz {
    pub use crate::npy::read as npy;
    pub use crate::state_dict::fuzz as pickle;
}
