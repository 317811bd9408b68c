//! The weights of one network, and their files.

pub(crate) mod manifest;
pub(crate) mod metadata;
pub mod safetensors;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::tensor::{check_finite, encode};
use crate::{Architecture, Dtype, Error, Metadata, NamedTensor, TensorFile, files};

/// The weights of one network: as many as its architecture has, all finite.
///
/// ```
/// use kvrm_models::{Architecture, Dtype, Weights};
///
/// let weights = Weights::from_flat(Architecture::SmallDispatch, vec![0.5; 135])?;
/// let bytes = weights.to_bytes(Dtype::F16)?;
/// assert_eq!(Weights::from_bytes("a.safetensors", &bytes)?.tensor("fc1.bias"), Some(&[0.5; 8][..]));
/// # Ok::<(), kvrm_models::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    architecture: Architecture,
    values: Vec<f32>,
    /// The origin of the weights and their measured quality.
    pub metadata: Metadata,
}

impl Weights {
    /// Builds weights from the flat form of `architecture`.
    ///
    /// # Errors
    ///
    /// If the number of values is not the number of parameters, or a value is NaN or infinite.
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

    /// Builds weights from the tensors of any file: named tensors, or a single tensor in flat form.
    ///
    /// The architecture is `architecture` if given, else the one that the metadata names, else the one that has these
    /// tensors. `file` is the name used in messages.
    ///
    /// # Errors
    ///
    /// If a tensor is missing, unknown, duplicated, of another shape, or not finite; if metadata in KVRM's format is
    /// invalid or names another architecture.
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

    /// Builds weights from the bytes of a safetensors file. `file` is the name used in messages.
    ///
    /// # Errors
    ///
    /// As for [`Weights::from_tensors`]; also if the file is damaged, or has values that are neither f32 nor f16.
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
    /// As for [`Weights::from_bytes`]; also if the file cannot be read.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::from_bytes(&path.display().to_string(), &files::read(path)?)
    }

    /// Returns the bytes of a safetensors file. The same weights always give the same bytes.
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

    /// Saves a safetensors file atomically.
    ///
    /// # Errors
    ///
    /// If a value is too large for `dtype`, or the file cannot be written.
    pub fn save(&self, path: &Path, dtype: Dtype) -> Result<(), Error> {
        files::write(path, &self.bytes(&path.display().to_string(), dtype)?)
    }

    /// Returns the architecture of the network.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// Returns the weights in flat form.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns the weights in flat form, without a copy.
    pub fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// Returns the values of the tensor called `name`, in row-major order.
    pub fn tensor(&self, name: &str) -> Option<&[f32]> {
        let spec = self.architecture.tensor(name)?;
        Some(self.slice(spec.offset, spec.len()))
    }

    fn slice(&self, offset: usize, len: usize) -> &[f32] {
        &self.values[offset..offset + len]
    }

    /// Returns the weights as named tensors, with metadata.
    pub fn to_tensors(&self) -> TensorFile {
        let tensors = self.architecture.tensors().iter().map(|spec| NamedTensor {
            name: spec.name.to_owned(),
            dims: spec.dims.to_vec(),
            dtype: Dtype::F32,
            values: self.slice(spec.offset, spec.len()).to_vec(),
        });
        TensorFile { tensors: tensors.collect(), metadata: self.metadata.to_map(self.architecture) }
    }

    /// Returns the weights as a single tensor called `flat`, with metadata.
    pub fn to_flat_tensor(&self) -> TensorFile {
        let values = self.values.clone();
        let tensor =
            NamedTensor { name: FLAT.to_owned(), dims: vec![values.len()], dtype: Dtype::F32, values };
        TensorFile { tensors: vec![tensor], metadata: self.metadata.to_map(self.architecture) }
    }
}

/// The name of the tensor that holds a flat form, in files written here. Readers accept any name.
const FLAT: &str = "flat";

/// Returns whether `tensors` is a single tensor in flat form.
fn is_flat(tensors: &[NamedTensor], architecture: Architecture) -> bool {
    matches!(tensors, [tensor] if tensor.dims == [architecture.parameters()])
}

/// Returns the architecture that has the most of these tensors, or the one whose flat form they are.
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
    // The architecture with the most matching tensors: if one tensor is wrong, the message is about that tensor.
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

/// Returns the flat form of named tensors, or of a single flat tensor.
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
