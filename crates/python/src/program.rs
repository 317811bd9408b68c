//! Programs.

use std::borrow::Cow;
use std::path::PathBuf;

use kvrm::elf::{Symbol, SymbolKind};
use kvrm::models::files;
use kvrm::{Segment, System};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{OrRaise as _, refused};

/// A program.
#[pyclass(frozen, module = "kvrm._native")]
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) program: kvrm::Program,
}

#[pymethods]
impl Program {
    /// Reads an ELF file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, system: Option<String>) -> PyResult<Self> {
        let system = system_named(system.as_deref())?;
        Ok(Self { program: py.detach(|| kvrm::Program::open_as(&path, system)).or_raise()? })
    }

    /// Loads the bytes of an ELF file.
    #[staticmethod]
    fn from_bytes(
        py: Python<'_>,
        name: String,
        file: Cow<'_, [u8]>,
        system: Option<String>,
    ) -> PyResult<Self> {
        let system = system_named(system.as_deref())?;
        Ok(Self { program: py.detach(|| kvrm::Program::from_elf_as(&name, &file, system)).or_raise()? })
    }

    /// Makes a program of raw bytes at an address, with so many bytes of memory.
    #[staticmethod]
    fn raw(name: &str, data: Cow<'_, [u8]>, address: u64, bytes: u64) -> PyResult<Self> {
        Ok(Self { program: kvrm::Program::raw(name, data.into_owned(), address, bytes).or_raise()? })
    }

    /// Assembles a program from text.
    #[staticmethod]
    fn assemble(text: &str, address: u64) -> PyResult<Self> {
        Ok(Self { program: kvrm::Program::assemble(address, text).or_raise()? })
    }

    /// Makes a program from its pickle.
    #[staticmethod]
    fn unpickle(pickle: Cow<'_, [u8]>) -> PyResult<Self> {
        Ok(Self { program: postcard::from_bytes(&pickle).or_raise()? })
    }

    /// Returns the program in the form for pickles.
    fn pickle<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &postcard::to_allocvec(&self.program).or_raise()?))
    }

    /// The name that the guest sees as its first argument.
    #[getter]
    fn name(&self) -> &str {
        &self.program.name
    }

    /// The address of the first instruction.
    #[getter]
    const fn entry(&self) -> u64 {
        self.program.entry
    }

    /// The system whose calls the program makes: `linux` or `semihosting`.
    #[getter]
    const fn system(&self) -> &'static str {
        if self.program.linux.is_some() { "linux" } else { "semihosting" }
    }

    /// Name, address, size and kind (`function` or `data`) of each symbol, in the order of addresses.
    fn symbols(&self) -> Vec<(String, u64, u64, &'static str)> {
        let row = |symbol: &'_ Symbol| {
            let kind = if symbol.kind == SymbolKind::Function { "function" } else { "data" };
            (symbol.name.clone(), symbol.address, symbol.bytes, kind)
        };
        self.program.symbols.iter().map(row).collect()
    }

    /// Address, size in memory, data and permissions (such as `r-x`) of each segment.
    fn segments<'py>(&self, py: Python<'py>) -> Vec<(u64, u64, Bound<'py, PyBytes>, String)> {
        let segment = |Segment { address, bytes, data, permissions }: &Segment| {
            let flags = [(permissions.read, 'r'), (permissions.write, 'w'), (permissions.execute, 'x')];
            let flags = flags.iter().map(|(is_set, flag)| if *is_set { *flag } else { '-' }).collect();
            (*address, *bytes, PyBytes::new(py, data), flags)
        };
        self.program.segments.iter().map(segment).collect()
    }
}

/// Writes a file, completely or not at all.
#[pyfunction]
pub(crate) fn write_file(py: Python<'_>, path: PathBuf, bytes: Cow<'_, [u8]>) -> PyResult<()> {
    py.detach(|| files::write(&path, &bytes).or_raise())
}

/// Returns the system with a name.
fn system_named(name: Option<&str>) -> PyResult<Option<System>> {
    match name {
        None => Ok(None),
        Some("linux") => Ok(Some(System::Linux)),
        Some("semihosting") => Ok(Some(System::Semihosting)),
        Some(other) => Err(refused(format!("system {other:?}: expected \"linux\" or \"semihosting\""))),
    }
}
