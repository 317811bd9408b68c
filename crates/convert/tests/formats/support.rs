//! Builders of PyTorch files, valid and malicious.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A tensor of a PyTorch file to build.
#[derive(Clone)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) storage: &'static str,
    pub(crate) key: &'static str,
    pub(crate) len: i32,
    pub(crate) offset: i32,
    pub(crate) dims: Vec<i32>,
    pub(crate) strides: Vec<i32>,
}

impl Tensor {
    /// Returns a matrix of two rows and three columns in a storage of six values.
    pub(crate) fn matrix(name: &str, key: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            storage: "FloatStorage",
            key,
            len: 6,
            offset: 0,
            dims: vec![2, 3],
            strides: vec![3, 1],
        }
    }

    /// Returns the pickle instructions that build the tensor, as `torch.save` writes them.
    pub(crate) fn instructions(&self) -> Vec<u8> {
        let mut code = b"ctorch._utils\n_rebuild_tensor_v2\n((".to_vec();
        text("storage", &mut code);
        code.extend(format!("ctorch\n{}\n", self.storage).as_bytes());
        text(self.key, &mut code);
        text("cpu", &mut code);
        int(self.len, &mut code);
        code.extend(b"tQ");
        int(self.offset, &mut code);
        for sizes in [&self.dims, &self.strides] {
            code.push(b'(');
            sizes.iter().for_each(|size| int(*size, &mut code));
            code.push(b't');
        }
        // requires_grad, and no backward hooks.
        code.extend(b"\x89ccollections\nOrderedDict\n)RtR");
        code
    }
}

pub(crate) fn text(text: &str, code: &mut Vec<u8>) {
    code.push(b'X');
    code.extend(u32::try_from(text.len()).expect("short").to_le_bytes());
    code.extend(text.as_bytes());
}

pub(crate) fn int(number: i32, code: &mut Vec<u8>) {
    code.push(b'J');
    code.extend(number.to_le_bytes());
}

/// Returns the instructions of an ordered dict of tensors, with a state dict's attribute `_metadata`.
pub(crate) fn state_dict(tensors: &[Tensor]) -> Vec<u8> {
    let mut code = b"ccollections\nOrderedDict\n)Rq\x00(".to_vec();
    for tensor in tensors {
        text(&tensor.name, &mut code);
        code.extend(tensor.instructions());
    }
    code.extend(b"u}");
    text("_metadata", &mut code);
    code.extend(b"ccollections\nOrderedDict\n)Rsb");
    code
}

/// Returns a complete pickle of `code`.
pub(crate) fn pickle(code: &[u8]) -> Vec<u8> {
    [b"\x80\x02".as_slice(), code, b"."].concat()
}

/// Returns an archive as `torch.save` writes it.
pub(crate) fn archive(pickle: &[u8], storages: &[(&str, &[u8])]) -> Vec<u8> {
    let mut entries = vec![("net/data.pkl".to_owned(), pickle), ("net/byteorder".to_owned(), b"little")];
    entries.extend(storages.iter().map(|(key, bytes)| (format!("net/data/{key}"), *bytes)));
    entries.push(("net/version".to_owned(), b"3\n"));
    zip(&entries)
}

pub(crate) fn zip(entries: &[(String, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        zip.start_file(name.as_str(), SimpleFileOptions::default()).expect("a name");
        zip.write_all(bytes).expect("memory");
    }
    zip.finish().expect("memory").into_inner()
}

pub(crate) fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}
