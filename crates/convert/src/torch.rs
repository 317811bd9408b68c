//! Reading of PyTorch's files. They are zip archives with a pickle and a file for each storage. The legacy format
//! consists of five pickles, followed by the storages.

use std::collections::HashMap;

use kvrm_models::{Error, TensorFile};

use crate::archive::Archive;
use crate::pickle::{self, Object, Pickle, Value};
use crate::state_dict;

/// Returns whether `name` is the file name of the pickle that PyTorch's archives contain.
pub(crate) fn is_pickle(name: &str) -> bool {
    name == PICKLE || name.strip_suffix(PICKLE).is_some_and(|folder| folder.ends_with('/'))
}

/// The name of the pickle in an archive, without the folder.
const PICKLE: &str = "data.pkl";

/// The size in bytes of the largest pickle: far more than the names and shapes of any network of KVRM need.
const MAX_PICKLE: usize = 16 << 20;

/// Reads an archive.
pub(crate) fn read(file: &str, archive: &mut Archive<'_>) -> Result<TensorFile, Error> {
    let pickles: Vec<String> = archive.names().filter(|name| is_pickle(name)).map(str::to_owned).collect();
    let [name] = pickles.as_slice() else {
        return Err(Error::file(file, "one data.pkl in the archive", pickles.join(", ")));
    };
    // All files are in a folder whose name is the original file name.
    let folder = name.strip_suffix(PICKLE).unwrap_or_default();
    let bytes = archive.take(name)?;
    if bytes.len() > MAX_PICKLE {
        let expected = format!("at most {MAX_PICKLE} bytes");
        return Err(Error::tensor(file, name, expected, bytes.len().to_string()));
    }
    let order = format!("{folder}byteorder");
    let big_endian = if archive.names().any(|name| name == order) {
        match archive.take(&order)?.trim_ascii() {
            b"little" => false,
            b"big" => true,
            other => {
                let found = String::from_utf8_lossy(&other[..other.len().min(16)]).into_owned();
                return Err(Error::tensor(file, &order, "little or big", found));
            }
        }
    } else {
        false
    };
    let pickle = pickle::read(file, &bytes)?;
    state_dict::read(file, &pickle, big_endian, |key| archive.take(&format!("{folder}data/{key}")))
}

/// The ten-byte number in the first pickle of the legacy format.
const LEGACY_MAGIC: &[u8] = &[0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];
/// The pickle instructions before the number: protocol 2, and an integer of ten bytes.
const LEGACY_START: &[u8] = &[0x80, 0x02, 0x8a, 0x0a];

/// Returns whether a file has the legacy format.
pub(crate) fn is_legacy(bytes: &[u8]) -> bool {
    bytes.strip_prefix(LEGACY_START).is_some_and(|rest| rest.starts_with(LEGACY_MAGIC))
}

/// The number in the second pickle of the legacy format.
const LEGACY_VERSION: i64 = 1001;

/// Reads a file of the legacy format.
pub(crate) fn read_legacy(file: &str, bytes: &[u8]) -> Result<TensorFile, Error> {
    let mut rest = bytes;
    let mut next = || -> Result<Pickle, Error> {
        let pickle = pickle::read(file, rest)?;
        rest = &rest[pickle.bytes..];
        Ok(pickle)
    };
    let magic = next()?;
    if !matches!(magic.object(magic.root), Some(Object::Bytes(number)) if number == LEGACY_MAGIC) {
        return Err(Error::file(file, "PyTorch's magic number", "another one"));
    }
    let version = next()?.root;
    if version != Value::Int(LEGACY_VERSION) {
        return Err(Error::file(file, format!("version {LEGACY_VERSION}"), format!("{version:?}")));
    }
    let system = next()?;
    let big_endian = is_big_endian(&system);
    let content = next()?;
    let keys = next()?;

    let Some(Object::List(keys_in_order)) = keys.object(keys.root) else {
        return Err(Error::file(file, "a list of storages", "something else"));
    };
    let sizes = content.storage_sizes();
    let mut storages: HashMap<&str, &[u8]> = HashMap::new();
    for key in keys_in_order {
        let key = keys.text(*key).unwrap_or_default();
        let storage = || format!("storage {key}");
        let Some(size) = sizes.get(key) else {
            return Err(Error::tensor(file, &storage(), "a storage that a tensor uses", "an unused storage"));
        };
        let (len, data) = rest.split_first_chunk::<8>().ok_or_else(|| {
            Error::tensor(file, &storage(), "8 bytes with its length", rest.len().to_string())
        })?;
        let len = u64::from_le_bytes(*len);
        let wanted = usize::try_from(len).ok().and_then(|len| len.checked_mul(*size));
        let Some((data, behind)) = wanted.and_then(|wanted| data.split_at_checked(wanted)) else {
            let expected = format!("{len} values of {size} bytes");
            return Err(Error::tensor(file, &storage(), expected, format!("{} bytes", data.len())));
        };
        storages.insert(key, data);
        rest = behind;
    }
    state_dict::read(file, &content, big_endian, |key| match storages.get(key) {
        Some(data) => Ok(data.to_vec()),
        None => Err(Error::tensor(file, &format!("storage {key}"), "a storage in the file", "none")),
    })
}

fn is_big_endian(system: &Pickle) -> bool {
    let Some(Object::Dict(entries)) = system.object(system.root) else { return false };
    entries
        .iter()
        .any(|(key, value)| system.text(*key) == Some("little_endian") && *value == Value::Bool(false))
}
