//! The values of one network.

pub(crate) mod manifest;
pub(crate) mod metadata;
pub mod safetensors;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::tensor::{check_finite, encode};
use crate::{Architecture, Dtype, Error, Metadata, NamedTensor, TensorFile, files};

/// The values of one network, as many as its architecture says and all finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    architecture: Architecture,
    values: Vec<f32>,
    /// Where they come from.
    pub metadata: Metadata,
}

impl Weights {
    /// Weights from the flat form of `architecture`.
    ///
    /// # Errors
    ///
    /// If there are more or fewer values than parameters, or one is NaN or infinite.
    pub fn from_flat(architecture: Architecture, values: Vec<f32>) -> Result<Self, Error> {
        Self::flat("the flat form", architecture, values)
    }

    fn flat(file: &str, architecture: Architecture, values: Vec<f32>) -> Result<Self, Error> {
        if values.len() != architecture.parameters() {
            let expected = format!("{} values for {architecture}", architecture.parameters());
            return Err(Error::file(file, expected, values.len().to_string()));
        }
        for tensor in architecture.tensors() {
            check_finite(file, tensor.name, &values[tensor.offset..tensor.offset + tensor.len()])?;
        }
        Ok(Self { architecture, values, metadata: Metadata::default() })
    }

    /// Weights from tensors of any file: named ones, or a single one in flat form.
    ///
    /// The architecture is the one given, else the one that the metadata names, else the one that has these
    /// tensors. `file` is for messages.
    ///
    /// # Errors
    ///
    /// If a tensor is missing, unknown, there twice, of another shape, or not finite; if metadata is not what this
    /// library writes, or names another architecture.
    pub fn from_tensors(
        file: &str,
        architecture: Option<Architecture>,
        content: TensorFile,
    ) -> Result<Self, Error> {
        let (named, metadata) = Metadata::parse(file, &content.metadata)?;
        if let (Some(wanted), Some(named)) = (architecture, named)
            && wanted != named
        {
            return Err(Error::metadata(file, "architecture", wanted.name(), named.name()));
        }
        let architecture = match architecture.or(named) {
            Some(architecture) => architecture,
            None => infer(file, &content.tensors)?,
        };
        let values = gather(file, architecture, content.tensors)?;
        Ok(Self { metadata, ..Self::flat(file, architecture, values)? })
    }

    /// Weights from the bytes of a safetensors file; `file` is for messages.
    ///
    /// # Errors
    ///
    /// As [`Weights::from_tensors`]; also if the file is damaged, or has values that are neither f32 nor f16.
    pub fn from_bytes(file: &str, bytes: &[u8]) -> Result<Self, Error> {
        let content = safetensors::read(file, bytes)?;
        for tensor in &content.tensors {
            if !matches!(tensor.dtype, Dtype::F32 | Dtype::F16) {
                return Err(Error::tensor(file, &tensor.name, "f32 or f16", tensor.dtype.to_string()));
            }
        }
        Self::from_tensors(file, None, content)
    }

    /// Loads a safetensors file.
    ///
    /// # Errors
    ///
    /// As [`Weights::from_bytes`]; also if the file cannot be read.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::from_bytes(&path.display().to_string(), &files::read(path)?)
    }

    /// A safetensors file; the same weights always give the same bytes.
    ///
    /// # Errors
    ///
    /// If a value is too large for `dtype`.
    pub fn to_bytes(&self, dtype: Dtype) -> Result<Vec<u8>, Error> {
        self.bytes("the weights", dtype)
    }

    fn bytes(&self, file: &str, dtype: Dtype) -> Result<Vec<u8>, Error> {
        let tensors = self.architecture.tensors().iter().map(|spec| {
            let bytes = encode(file, spec.name, self.slice(spec.offset, spec.len()), dtype)?;
            Ok(safetensors::Encoded { name: spec.name, dims: spec.dims, dtype, bytes })
        });
        let tensors = tensors.collect::<Result<Vec<_>, Error>>()?;
        safetensors::write(file, &tensors, &self.metadata.to_map(self.architecture))
    }

    /// Saves a safetensors file, whole or not at all.
    ///
    /// # Errors
    ///
    /// If a value is too large for `dtype`, or the file cannot be written.
    pub fn save(&self, path: &Path, dtype: Dtype) -> Result<(), Error> {
        files::write(path, &self.bytes(&path.display().to_string(), dtype)?)
    }

    /// Whose weights these are.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// The flat form.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The flat form, without a copy.
    pub fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// The values of one tensor.
    pub fn tensor(&self, name: &str) -> Option<&[f32]> {
        let spec = self.architecture.tensor(name)?;
        Some(self.slice(spec.offset, spec.len()))
    }

    fn slice(&self, offset: usize, len: usize) -> &[f32] {
        &self.values[offset..offset + len]
    }

    /// Named tensors and metadata, as a file holds them.
    pub fn to_tensors(&self) -> TensorFile {
        let tensors = self.architecture.tensors().iter().map(|spec| NamedTensor {
            name: spec.name.to_owned(),
            dims: spec.dims.to_vec(),
            dtype: Dtype::F32,
            values: self.slice(spec.offset, spec.len()).to_vec(),
        });
        TensorFile { tensors: tensors.collect(), metadata: self.metadata.to_map(self.architecture) }
    }

    /// The flat form as a single tensor called `flat`, and metadata.
    pub fn to_flat_tensor(&self) -> TensorFile {
        let values = self.values.clone();
        let tensor =
            NamedTensor { name: FLAT.to_owned(), dims: vec![values.len()], dtype: Dtype::F32, values };
        TensorFile { tensors: vec![tensor], metadata: self.metadata.to_map(self.architecture) }
    }
}

/// What the tensor of a flat form is called; when one is read, its name does not matter.
const FLAT: &str = "flat";

/// The values of the flat form, if `tensors` are one.
fn is_flat(tensors: &[NamedTensor], architecture: Architecture) -> bool {
    matches!(tensors, [tensor] if tensor.dims == [architecture.parameters()])
}

/// The architecture whose tensors these are.
fn infer(file: &str, tensors: &[NamedTensor]) -> Result<Architecture, Error> {
    let matches = |architecture: Architecture| {
        let same = |tensor: &&NamedTensor| {
            architecture.tensor(&tensor.name).is_some_and(|spec| spec.dims == tensor.dims)
        };
        tensors.iter().filter(same).count()
    };
    if let Some(flat) = Architecture::ALL.into_iter().find(|architecture| is_flat(tensors, *architecture)) {
        return Ok(flat);
    }
    // The nearest one: if a tensor is wrong, the message is about that tensor.
    let mut best = None;
    for architecture in Architecture::ALL {
        let count = matches(architecture);
        if count > best.map_or(0, |(count, _)| count) {
            best = Some((count, architecture));
        }
    }
    best.map(|(_, architecture)| architecture).ok_or_else(|| {
        let names: Vec<_> = tensors.iter().take(4).map(|t| format!("{} {:?}", t.name, t.dims)).collect();
        let rest = if tensors.len() > 4 { ", ..." } else { "" };
        let found = format!("{} tensors: {}{rest}", tensors.len(), names.join(", "));
        Error::file(file, format!("the tensors of one of {}", Architecture::names()), found)
    })
}

/// The flat form from named tensors, or from a flat one.
fn gather(file: &str, architecture: Architecture, tensors: Vec<NamedTensor>) -> Result<Vec<f32>, Error> {
    if is_flat(&tensors, architecture)
        && let Some(tensor) = tensors.first()
    {
        tensor.check(file)?;
        return Ok(tensor.values.clone());
    }
    let mut names = BTreeSet::new();
    let mut by_name = BTreeMap::new();
    for tensor in &tensors {
        if architecture.tensor(&tensor.name).is_none() {
            let expected = format!("only tensors of {architecture}");
            return Err(Error::tensor(file, &tensor.name, expected, format!("one of {:?}", tensor.dims)));
        }
        if !names.insert(&tensor.name) {
            return Err(Error::tensor(file, &tensor.name, "one tensor of this name", "two"));
        }
        by_name.insert(tensor.name.as_str(), tensor);
    }
    let mut values = Vec::with_capacity(architecture.parameters());
    for spec in architecture.tensors() {
        let expected = || format!("{:?} in {architecture}", spec.dims);
        let Some(tensor) = by_name.get(spec.name) else {
            return Err(Error::tensor(file, spec.name, expected(), "no such tensor"));
        };
        if tensor.dims != spec.dims {
            return Err(Error::tensor(file, spec.name, expected(), format!("{:?}", tensor.dims)));
        }
        tensor.check(file)?;
        values.extend_from_slice(&tensor.values);
    }
    Ok(values)
}
