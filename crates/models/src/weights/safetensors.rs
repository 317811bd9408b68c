//! Reading and writing of the safetensors format.
//!
//! The crate `safetensors` reads files. It is not used for writing, because it writes metadata in the order of a hash
//! map, which differs from run to run, and a file made again must have the same SHA-256. So this module writes the
//! header itself, in a fixed order.

use std::collections::{BTreeMap, HashSet};

use ::safetensors::{Dtype as Stored, SafeTensors};
use serde::Serialize;

use crate::{Dtype, Error, NamedTensor, TensorFile};

/// A tensor in the form in which a file stores it.
#[derive(Debug)]
pub struct Encoded<'a> {
    /// The name of the tensor.
    pub name: &'a str,
    /// The dimensions, outermost first.
    pub dims: &'a [usize],
    /// The number format of the values.
    pub dtype: Dtype,
    /// The values in row-major order, little-endian.
    pub bytes: Vec<u8>,
}

/// The entry of a tensor in the header, with the format's names.
#[derive(Serialize)]
struct Info<'a> {
    dtype: &'static str,
    shape: &'a [usize],
    data_offsets: [usize; 2],
}

/// The header's key for metadata; all other keys are tensors.
const METADATA: &str = "__metadata__";

/// Reads the bytes of a file. `file` is the name used in messages.
///
/// # Errors
///
/// If the file is damaged, or a tensor has values that are not floats or not finite.
pub fn read(file: &str, bytes: &[u8]) -> Result<TensorFile, Error> {
    let content =
        SafeTensors::deserialize(bytes).map_err(|error| diagnose(file, bytes, &error.to_string()))?;
    let (_, header) =
        SafeTensors::read_metadata(bytes).map_err(|error| diagnose(file, bytes, &error.to_string()))?;
    let metadata = header.metadata().iter().flatten();
    let metadata = metadata.map(|(key, value)| (key.clone(), value.clone())).collect();

    let mut tensors = Vec::new();
    // In the order of the data, because the header has lost its order in a hash map.
    for name in header.offset_keys() {
        let view = content.tensor(&name).map_err(|error| Error::file(file, "a tensor", error.to_string()))?;
        let dtype = match view.dtype() {
            Stored::F32 => Dtype::F32,
            Stored::F16 => Dtype::F16,
            Stored::BF16 => Dtype::Bf16,
            Stored::F64 => Dtype::F64,
            other => return Err(Error::tensor(file, &name, "f32, f16, bf16 or f64", format!("{other:?}"))),
        };
        let values = view.data().chunks_exact(dtype.bytes()).map(|bytes| dtype.decode(bytes)).collect();
        let tensor = NamedTensor { name, dims: view.shape().to_vec(), dtype, values };
        tensor.check(file)?;
        tensors.push(tensor);
    }
    Ok(TensorFile { tensors, metadata })
}

/// Returns an error that is more precise than the crate's `reason`: it names the tensor that the end of the file cuts,
/// if there is one.
fn diagnose(file: &str, bytes: &[u8], reason: &str) -> Error {
    let expected = "a safetensors file";
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
        return Error::file(file, expected, format!("{} bytes", bytes.len()));
    };
    let length = u64::from_le_bytes(*length);
    let Some(header) = usize::try_from(length).ok().and_then(|length| rest.get(..length)) else {
        let found = format!("a header of {length} bytes in a file of {}", bytes.len());
        return Error::file(file, expected, found);
    };
    let data = (rest.len() - header.len()) as u64;
    let header: serde_json::Map<String, serde_json::Value> = match serde_json::from_slice(header) {
        Ok(header) => header,
        Err(error) => return Error::file(file, expected, format!("a header that is not JSON: {error}")),
    };
    let ends = header.iter().filter(|(name, _)| *name != METADATA).filter_map(|(name, info)| {
        let end = info.get("data_offsets")?.get(1)?.as_u64()?;
        Some((name, end))
    });
    // The first of the tensors that reach beyond the end of the file.
    let cut = ends.filter(|(_, end)| *end > data).min_by_key(|(_, end)| *end);
    match cut {
        Some((name, end)) => {
            Error::tensor(file, name, format!("data up to byte {end}"), format!("{data} bytes; {reason}"))
        }
        None => Error::file(file, expected, format!("a header that does not fit its data: {reason}")),
    }
}

/// Returns the bytes of a file. The same content always gives the same bytes. `file` is the name used in messages.
///
/// # Errors
///
/// If two tensors have the same name, or one has the reserved name `__metadata__`.
pub fn write(
    file: &str,
    tensors: &[Encoded<'_>],
    metadata: &BTreeMap<String, String>,
) -> Result<Vec<u8>, Error> {
    let json_error =
        |error: serde_json::Error| Error::file(file, "values that JSON can represent", error.to_string());
    let mut names = HashSet::new();
    let mut entries = Vec::new();
    if !metadata.is_empty() {
        entries.push(format!("\"{METADATA}\":{}", serde_json::to_string(metadata).map_err(json_error)?));
    }
    let mut offset = 0;
    for tensor in tensors {
        if tensor.name == METADATA || !names.insert(tensor.name) {
            return Err(Error::tensor(
                file,
                tensor.name,
                "a unique name that is not reserved",
                "a name in use",
            ));
        }
        let dtype = match tensor.dtype {
            Dtype::F32 => "F32",
            Dtype::F16 => "F16",
            Dtype::Bf16 => "BF16",
            Dtype::F64 => "F64",
        };
        let end = offset + tensor.bytes.len();
        let info = Info { dtype, shape: tensor.dims, data_offsets: [offset, end] };
        let name = serde_json::to_string(tensor.name).map_err(json_error)?;
        entries.push(format!("{name}:{}", serde_json::to_string(&info).map_err(json_error)?));
        offset = end;
    }
    let mut header = format!("{{{}}}", entries.join(",")).into_bytes();
    // The format requires aligned data and allows spaces for padding.
    header.resize(header.len().next_multiple_of(8), b' ');

    let mut bytes = Vec::with_capacity(8 + header.len() + offset);
    bytes.extend((header.len() as u64).to_le_bytes());
    bytes.extend(header);
    for tensor in tensors {
        bytes.extend_from_slice(&tensor.bytes);
    }
    Ok(bytes)
}
