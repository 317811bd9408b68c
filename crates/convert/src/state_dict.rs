//! Extraction of tensors from a pickle: finds the state dict and the values of its tensors.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use kvrm_models::{Error, NamedTensor, TensorFile};

use crate::pickle::{self, Kind, Object, Pickle, Tensor, Value};
use crate::strided::Layout;

/// The keys under which checkpoints keep a state dict.
const STATE_DICTS: &[&str] = &["state_dict", "model_state_dict", "model"];

/// The largest depth of nested dicts.
const MAX_DEPTH: usize = 8;

/// The largest number of dict entries visited. The same dict may be reachable through many entries.
const MAX_ENTRIES: usize = 1 << 16;

/// The length in bytes of the longest name: more than PyTorch needs for any network of KVRM.
const MAX_NAME: usize = 256;

/// Returns the tensors of the state dict that `pickle` is or contains. Names are the keys of nested dicts, joined by
/// dots.
///
/// `storage` returns the bytes of a storage by its key. It is called once for each storage.
pub(crate) fn read(
    file: &str,
    pickle: &Pickle,
    big_endian: bool,
    mut storage: impl FnMut(&str) -> Result<Vec<u8>, Error>,
) -> Result<TensorFile, Error> {
    let mut collector =
        Collector { file, pickle, tensors: Vec::new(), names: BTreeSet::new(), left: MAX_ENTRIES };
    collector.collect(state_dict(pickle), String::new(), 0)?;
    if collector.tensors.is_empty() {
        return Err(Error::file(file, "a state dict with tensors", "none"));
    }
    let mut storages: HashMap<&str, Rc<Vec<u8>>> = HashMap::new();
    let (mut bytes_read, mut values_made) = (0, 0);
    let mut tensors = Vec::new();
    for (name, tensor) in &collector.tensors {
        let key = tensor.storage.key.as_str();
        let bytes = match storages.get(key) {
            Some(bytes) => Rc::clone(bytes),
            None => {
                let bytes = Rc::new(
                    storage(key)
                        .map_err(|error| Error::tensor(file, name, "its storage", error.to_string()))?,
                );
                bytes_read += bytes.len();
                storages.insert(key, Rc::clone(&bytes));
                bytes
            }
        };
        let tensor = resolve(file, name, tensor, big_endian, &bytes)?;
        values_made += tensor.values.len();
        // Tensors may share a storage, but a small file must not expand to a large one.
        if values_made > bytes_read {
            let found = format!("{values_made} with this tensor");
            let expected = format!("at most {bytes_read} values, one per byte of storage");
            return Err(Error::tensor(file, name, expected, found));
        }
        tensors.push(tensor);
    }
    Ok(TensorFile { tensors, metadata: BTreeMap::new() })
}

/// Returns the state dict of a checkpoint, or else the root of the pickle.
fn state_dict(pickle: &Pickle) -> Value {
    if let Some(Object::Dict(entries)) = pickle.object(pickle.root) {
        for (key, value) in entries {
            let named = pickle.text(*key).is_some_and(|key| STATE_DICTS.contains(&key));
            if named && matches!(pickle.object(*value), Some(Object::Dict(_))) {
                return *value;
            }
        }
    }
    pickle.root
}

/// The traversal of nested dicts that collects tensors.
struct Collector<'a> {
    file: &'a str,
    pickle: &'a Pickle,
    tensors: Vec<(String, &'a Tensor)>,
    names: BTreeSet<String>,
    /// The number of entries that may still be visited.
    left: usize,
}

impl Collector<'_> {
    fn collect(&mut self, value: Value, name: String, depth: usize) -> Result<(), Error> {
        match self.pickle.object(value) {
            Some(Object::Tensor(tensor)) => {
                // A pickle of a single tensor has no name for it.
                let name = if name.is_empty() { "flat".to_owned() } else { name };
                if !self.names.insert(name.clone()) {
                    return Err(Error::tensor(self.file, &name, "one tensor of this name", "two"));
                }
                self.tensors.push((name, tensor));
            }
            Some(Object::Dict(entries)) => {
                if depth == MAX_DEPTH {
                    let expected = format!("dicts nested at most {MAX_DEPTH} deep");
                    return Err(Error::tensor(self.file, &name, expected, "more"));
                }
                for (key, value) in entries {
                    self.left = self.left.checked_sub(1).ok_or_else(|| {
                        Error::tensor(self.file, &name, format!("at most {MAX_ENTRIES} entries"), "more")
                    })?;
                    let key = match (self.pickle.text(*key), key) {
                        (Some(key), _) => key.to_owned(),
                        (None, Value::Int(key)) => key.to_string(),
                        _ => continue,
                    };
                    let path = if name.is_empty() { key } else { format!("{name}.{key}") };
                    if path.len() > MAX_NAME {
                        let short: String = path.chars().take(32).collect();
                        let expected = format!("a name of at most {MAX_NAME} bytes");
                        return Err(Error::tensor(self.file, &short, expected, path.len().to_string()));
                    }
                    self.collect(*value, path, depth + 1)?;
                }
            }
            // Other objects, such as numbers and settings, are not weights.
            _ => {}
        }
        Ok(())
    }
}

/// Checks a tensor against its storage and decodes its values.
fn resolve(
    file: &str,
    name: &str,
    tensor: &Tensor,
    big_endian: bool,
    bytes: &[u8],
) -> Result<NamedTensor, Error> {
    let dtype = match tensor.storage.kind {
        Kind::Float(dtype) => dtype,
        Kind::Other(found, _) => {
            return Err(Error::tensor(file, name, "f32, f16, bf16 or f64", format!("a {found}")));
        }
    };
    let there = (bytes.len() / dtype.bytes()) as u64;
    if u64::try_from(tensor.storage.len).ok() != Some(there) || !bytes.len().is_multiple_of(dtype.bytes()) {
        let expected = format!("a storage of {} values of {dtype}", tensor.storage.len);
        return Err(Error::tensor(file, name, expected, format!("{} bytes", bytes.len())));
    }
    let sizes = |what: &str, values: &[i64]| {
        let sizes = values.iter().map(|value| usize::try_from(*value)).collect::<Result<Vec<_>, _>>();
        sizes.map_err(|_| Error::tensor(file, name, format!("{what} of at least 0"), format!("{values:?}")))
    };
    let layout = Layout {
        dtype,
        big_endian,
        offset: sizes("an offset", &[tensor.offset])?.into_iter().sum(),
        dims: sizes("dimensions", &tensor.dims)?,
        strides: sizes("strides", &tensor.strides)?,
    };
    layout.read(file, name, bytes)
}

/// Reads a pickle whose storages all have the pickle's own bytes.
///
/// # Errors
///
/// If the pickle or a tensor is invalid.
pub fn fuzz(file: &str, bytes: &[u8]) -> Result<TensorFile, Error> {
    read(file, &pickle::read(file, bytes)?, false, |_| Ok(bytes.to_vec()))
}
