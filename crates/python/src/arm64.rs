//! Functions on instruction words.

use pyo3::prelude::*;

/// Returns the assembly text of a word at an address.
#[pyfunction]
pub(crate) fn disassemble(word: u32, address: u64) -> String {
    kvrm::arm64::disassemble(word, address).to_string()
}

/// Returns the name of the encoding of a word in Arm's specification, and its class; `None` if it is undefined.
#[pyfunction]
pub(crate) fn decode(word: u32) -> Option<(String, String)> {
    let op = kvrm::arm64::decode(word)?;
    Some((op.encoding().name.to_owned(), op.class().name().to_owned()))
}
