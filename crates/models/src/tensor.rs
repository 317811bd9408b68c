//! Tensors read from files, before they are checked against an architecture.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use half::{bf16, f16};

use crate::Error;

/// The number format of a stored value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dtype {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16.
    F16,
    /// bfloat16: the upper half of an F32.
    Bf16,
    /// IEEE 754 binary64.
    F64,
}

impl Dtype {
    /// Returns the size of a value in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Decodes a little-endian value, rounded to the nearest `f32`. Missing bytes count as zero.
    pub fn decode(self, bytes: &[u8]) -> f32 {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(bytes) {
            *to = *from;
        }
        let word = u64::from_le_bytes(word);
        match self {
            Self::F32 => f32::from_bits(word as u32),
            Self::F16 => f16::from_bits(word as u16).to_f32(),
            Self::Bf16 => bf16::from_bits(word as u16).to_f32(),
            Self::F64 => f64::from_bits(word) as f32,
        }
    }

    /// Appends `value` to `bytes`, little-endian.
    pub fn encode(self, value: f32, bytes: &mut Vec<u8>) {
        match self {
            Self::F32 => bytes.extend(value.to_le_bytes()),
            Self::F16 => bytes.extend(f16::from_f32(value).to_le_bytes()),
            Self::Bf16 => bytes.extend(bf16::from_f32(value).to_le_bytes()),
            Self::F64 => bytes.extend(f64::from(value).to_le_bytes()),
        }
    }
}

impl Display for Dtype {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F64 => "f64",
        })
    }
}

/// A tensor of a file, its values in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedTensor {
    /// The name in the file.
    pub name: String,
    /// The dimensions, outermost first.
    pub dims: Vec<usize>,
    /// The number format of the values in the file.
    pub dtype: Dtype,
    /// The values; their number is the product of `dims`.
    pub values: Vec<f32>,
}

impl NamedTensor {
    /// Checks that the number of values is the product of the dimensions and that all values are finite.
    ///
    /// # Errors
    ///
    /// The first problem, with the names of the file and the tensor.
    pub fn check(&self, file: &str) -> Result<(), Error> {
        let len = self.dims.iter().try_fold(1_usize, |len, dim| len.checked_mul(*dim));
        if len != Some(self.values.len()) {
            let expected = format!("as many values as {:?} has", self.dims);
            return Err(Error::tensor(file, &self.name, expected, self.values.len().to_string()));
        }
        check_finite(file, &self.name, &self.values)
    }

    /// Encodes the values as `dtype`, little-endian.
    ///
    /// # Errors
    ///
    /// If a value is too large for `dtype`.
    pub fn encode(&self, file: &str, dtype: Dtype) -> Result<Vec<u8>, Error> {
        encode(file, &self.name, &self.values, dtype)
    }
}

/// All tensors and the metadata of a file.
///
/// ```
/// use kvrm_models::{Dtype, NamedTensor, TensorFile};
///
/// let bias = NamedTensor { name: "bias".into(), dims: vec![2], dtype: Dtype::F32, values: vec![0.5, 1.0] };
/// let file = TensorFile { tensors: vec![bias], ..TensorFile::default() };
/// assert!(file.metadata.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TensorFile {
    /// The tensors, in the file's order.
    pub tensors: Vec<NamedTensor>,
    /// Metadata keys and values; empty if the format has none.
    pub metadata: BTreeMap<String, String>,
}

pub(crate) fn check_finite(file: &str, tensor: &str, values: &[f32]) -> Result<(), Error> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => {
            let found = format!("{} at index {index}", values[index]);
            Err(Error::tensor(file, tensor, "finite values that an f32 can hold", found))
        }
    }
}

pub(crate) fn encode(file: &str, tensor: &str, values: &[f32], dtype: Dtype) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::with_capacity(values.len() * dtype.bytes());
    for (index, value) in values.iter().enumerate() {
        let start = bytes.len();
        dtype.encode(*value, &mut bytes);
        if !dtype.decode(&bytes[start..]).is_finite() {
            let found = format!("{value} at index {index}");
            return Err(Error::tensor(
                file,
                tensor,
                format!("finite values that an {dtype} can hold"),
                found,
            ));
        }
    }
    Ok(bytes)
}
