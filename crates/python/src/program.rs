//! Programs.

use std::borrow::Cow;
use std::path::PathBuf;

use kvrm::elf::{Symbol, SymbolKind};
use kvrm::{Segment, System};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{OrRaise as _, refused};

/// What a program was made from. Pickles have it.
#[derive(Clone, Debug)]
enum Source {
    Elf { file: Vec<u8>, system: Option<String> },
    Raw { data: Vec<u8>, address: u64, bytes: u64 },
    Assembly { text: String, address: u64 },
}

/// A program.
#[pyclass(frozen, module = "kvrm._native")]
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) program: kvrm::Program,
    source: Source,
}

#[pymethods]
impl Program {
    /// Reads an ELF file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, system: Option<String>) -> PyResult<Self> {
        let file = py.detach(|| kvrm::read(&path)).or_raise()?;
        Self::from_elf(py, path.display().to_string(), file, system)
    }

    /// Loads the bytes of an ELF file.
    #[staticmethod]
    fn from_bytes(
        py: Python<'_>,
        name: String,
        file: Cow<'_, [u8]>,
        system: Option<String>,
    ) -> PyResult<Self> {
        Self::from_elf(py, name, file.into_owned(), system)
    }

    /// Makes a program of raw bytes at an address, with so many bytes of memory.
    #[staticmethod]
    fn raw(name: &str, data: Cow<'_, [u8]>, address: u64, bytes: u64) -> PyResult<Self> {
        let data = data.into_owned();
        let program = kvrm::Program::raw(name, data.clone(), address, bytes).or_raise()?;
        Ok(Self { program, source: Source::Raw { data, address, bytes } })
    }

    /// Assembles a program from text.
    #[staticmethod]
    fn assemble(text: String, address: u64) -> PyResult<Self> {
        let program = kvrm::Program::assemble(address, &text).or_raise()?;
        Ok(Self { program, source: Source::Assembly { text, address } })
    }

    /// The function that makes the program again, and its arguments.
    fn parts<'py>(&self, py: Python<'py>) -> (&'static str, Parts<'py>) {
        let name = self.program.name.clone();
        match &self.source {
            Source::Elf { file, system } => {
                ("from_bytes", Parts::Elf(name, PyBytes::new(py, file), system.clone()))
            }
            Source::Raw { data, address, bytes } => {
                ("raw", Parts::Raw(name, PyBytes::new(py, data), *address, *bytes))
            }
            Source::Assembly { text, address } => ("assemble", Parts::Assembly(text.clone(), *address)),
        }
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

/// The arguments of the function that makes a program.
#[derive(IntoPyObject)]
enum Parts<'py> {
    Elf(String, Bound<'py, PyBytes>, Option<String>),
    Raw(String, Bound<'py, PyBytes>, u64, u64),
    Assembly(String, u64),
}

impl Program {
    fn from_elf(py: Python<'_>, name: String, file: Vec<u8>, system: Option<String>) -> PyResult<Self> {
        let wanted = match system.as_deref() {
            None => None,
            Some("linux") => Some(System::Linux),
            Some("semihosting") => Some(System::Semihosting),
            Some(other) => {
                return Err(refused(format!("system {other:?}: expected \"linux\" or \"semihosting\"")));
            }
        };
        let program = py.detach(|| kvrm::Program::from_elf_as(&name, &file, wanted)).or_raise()?;
        Ok(Self { program, source: Source::Elf { file, system } })
    }
}
