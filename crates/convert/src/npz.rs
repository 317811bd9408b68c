//! NumPy's `.npz` format for several arrays: a zip archive of `.npy` files.

use std::collections::BTreeMap;

use kvrm_models::{Dtype, Error, NamedTensor, TensorFile};

use crate::archive::{self, Archive};
use crate::npy;

/// Reads all arrays of an archive.
pub(crate) fn read(file: &str, archive: &mut Archive<'_>) -> Result<TensorFile, Error> {
    let names: Vec<String> = archive.names().map(str::to_owned).collect();
    let mut tensors = Vec::new();
    for entry in names {
        let Some(name) = entry.strip_suffix(".npy") else {
            return Err(Error::tensor(file, &entry, "a .npy file in the archive", "another one"));
        };
        tensors.push(npy::read(file, name, &archive.take(&entry)?)?);
    }
    Ok(TensorFile { tensors, metadata: BTreeMap::new() })
}

/// Returns the bytes of an archive with `tensors`.
pub(crate) fn write(file: &str, tensors: &[NamedTensor], dtype: Dtype) -> Result<Vec<u8>, Error> {
    let entries = tensors.iter().map(|tensor| {
        let bytes = npy::write(file, tensor, dtype)?;
        Ok((format!("{}.npy", tensor.name), bytes))
    });
    archive::write(file, &entries.collect::<Result<Vec<_>, Error>>()?)
}
