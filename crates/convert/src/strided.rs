//! Strided tensors: the layout of values in a storage, and reading them in row-major order.

use kvrm_models::{Dtype, Error, NamedTensor};

/// The largest number of dimensions: more than any network of KVRM has, and few enough for messages.
pub(crate) const MAX_DIMS: usize = 8;

/// The layout of a tensor's values in a storage. Offset and strides count values, not bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) dtype: Dtype,
    pub(crate) big_endian: bool,
    pub(crate) offset: usize,
    pub(crate) dims: Vec<usize>,
    pub(crate) strides: Vec<usize>,
}

impl Layout {
    /// Returns the strides of a tensor without gaps, or `None` if its size overflows. The last index varies fastest, or
    /// the first if `first_fastest`.
    pub(crate) fn contiguous(dims: &[usize], first_fastest: bool) -> Option<Vec<usize>> {
        let mut strides = vec![0; dims.len()];
        let mut stride = 1_usize;
        let mut place = |index: usize| -> Option<()> {
            strides[index] = stride;
            stride = stride.checked_mul(dims[index].max(1))?;
            Some(())
        };
        if first_fastest {
            (0..dims.len()).try_for_each(&mut place)?;
        } else {
            (0..dims.len()).rev().try_for_each(&mut place)?;
        }
        Some(strides)
    }

    /// Returns the number of values of the tensor, or `None` if it overflows.
    pub(crate) fn len(&self) -> Option<usize> {
        self.dims.iter().try_fold(1_usize, |len, dim| len.checked_mul(*dim))
    }

    /// Returns the index after the last value of the storage that the tensor uses, or `None` if it overflows.
    fn end(&self) -> Option<usize> {
        if self.dims.contains(&0) {
            return Some(self.offset);
        }
        let last =
            self.dims.iter().zip(&self.strides).try_fold(self.offset, |last, (dim, stride)| {
                last.checked_add((dim - 1).checked_mul(*stride)?)
            });
        last?.checked_add(1)
    }

    /// Decodes the tensor from the bytes of a storage.
    pub(crate) fn read(&self, file: &str, name: &str, storage: &[u8]) -> Result<NamedTensor, Error> {
        let wrong = |expected: String, found: String| Err(Error::tensor(file, name, expected, found));
        let (dims, strides) = (&self.dims, &self.strides);
        if dims.len() > MAX_DIMS {
            return wrong(format!("at most {MAX_DIMS} dimensions"), dims.len().to_string());
        }
        if strides.len() != dims.len() {
            return wrong(format!("{} strides, one per dimension", dims.len()), strides.len().to_string());
        }
        let there = storage.len() / self.dtype.bytes();
        let end = self.end();
        if end.is_none_or(|end| end > there) {
            let end = end.map_or("2^64 or more".to_owned(), |end| end.to_string());
            let found = format!("{end} for {dims:?} with strides {strides:?} from {}", self.offset);
            return wrong(format!("at most the {there} values of the storage"), found);
        }
        // With a stride of zero, a small storage could expand to a large tensor.
        let Some(len) = self.len().filter(|len| *len <= there) else {
            return wrong(format!("at most the {there} values of the storage"), format!("{dims:?} of them"));
        };
        let mut values = Vec::with_capacity(len);
        let mut index = vec![0; dims.len()];
        let mut at = self.offset;
        for _ in 0..len {
            values.push(self.value(storage, at));
            for axis in (0..dims.len()).rev() {
                index[axis] += 1;
                at += strides[axis];
                if index[axis] < dims[axis] {
                    break;
                }
                at -= strides[axis] * dims[axis];
                index[axis] = 0;
            }
        }
        let tensor = NamedTensor { name: name.to_owned(), dims: dims.clone(), dtype: self.dtype, values };
        tensor.check(file)?;
        Ok(tensor)
    }

    fn value(&self, storage: &[u8], at: usize) -> f32 {
        let bytes = self.dtype.bytes();
        let value = storage.get(at * bytes..(at + 1) * bytes).unwrap_or_default();
        if self.big_endian {
            let mut reversed = value.to_vec();
            reversed.reverse();
            self.dtype.decode(&reversed)
        } else {
            self.dtype.decode(value)
        }
    }
}
