//! Programs: what is mapped before the first step, and where it starts.

use std::io::Read as _;
use std::path::Path;

use kvrm_arm64::Features;

use crate::elf::{self, Symbol};
use crate::error::Error;
use crate::permissions::Permissions;
use crate::segment::Segment;
use crate::system::{LinuxProgram, System};

/// A program: its memory before the first step, and where it starts.
#[derive(Clone, Debug)]
pub struct Program {
    /// The name the program is told it has.
    pub name: String,
    /// The address of the first instruction.
    pub entry: u64,
    /// The memory, sorted by address.
    pub segments: Vec<Segment>,
    /// Its functions, sorted by address, as far as the file names them.
    pub symbols: Vec<Symbol>,
    /// What Linux tells it, if it is a program for Linux; else it is one for bare metal, with semihosting.
    pub linux: Option<LinuxProgram>,
}

impl Program {
    /// Reads an ELF file: static, 64-bit, little-endian, for AArch64.
    ///
    /// # Errors
    /// If the file cannot be read or is no such program.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_as(path, None)
    }

    /// Reads an ELF file for a system, whatever the file says; without one, for what the file says.
    ///
    /// # Errors
    /// As [`Program::open`].
    pub fn open_as(path: impl AsRef<Path>, system: Option<System>) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::load(&path.display().to_string(), &read(path)?, system)
    }

    /// Loads an ELF file that is already in memory.
    ///
    /// # Errors
    /// If it is no static, 64-bit, little-endian program for AArch64.
    pub fn from_elf(name: &str, file: &[u8]) -> Result<Self, Error> {
        Self::load(name, file, None)
    }

    fn load(name: &str, file: &[u8], system: Option<System>) -> Result<Self, Error> {
        let executable = elf::load_as(file, system);
        let executable = executable.map_err(|source| Error::Elf { name: name.to_owned(), source })?;
        let elf::Executable { entry, segments, symbols, linux } = executable;
        Ok(Self { name: name.to_owned(), entry, segments, symbols, linux })
    }

    /// The name of its file, without folders, so that results do not depend on where that lies.
    pub(crate) fn file_name(&self) -> String {
        let name = Path::new(&self.name).file_name().and_then(|name| name.to_str());
        name.unwrap_or("program").replace('\0', "_")
    }

    /// A program that is nothing but code and data, loaded at `address` and started there.
    ///
    /// All its memory, up to `bytes` if that is more than the data, may be read, written and executed.
    ///
    /// # Errors
    /// If it is empty or does not fit the address space.
    pub fn raw(name: &str, data: Vec<u8>, address: u64, bytes: u64) -> Result<Self, Error> {
        let bytes = bytes.max(data.len() as u64);
        let segment = Segment { address, bytes, data, permissions: Permissions::RWX };
        if bytes == 0 || segment.check().is_err() {
            return Err(Error::RawRange { address, bytes });
        }
        let segments = vec![segment];
        Ok(Self { name: name.to_owned(), entry: address, segments, symbols: Vec::new(), linux: None })
    }

    /// The optional features of its machine unless told otherwise.
    ///
    /// Compilers for Linux take floating point for granted.
    #[must_use]
    pub const fn features(&self) -> Features {
        Features { fp: self.linux.is_some(), ..Features::ARMV8_0 }
    }

    /// The function that covers `address`.
    #[must_use]
    pub fn symbol(&self, address: u64) -> Option<&Symbol> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        self.symbols[..after].last().filter(|symbol| address - symbol.address < symbol.bytes.max(1))
    }

    /// The end of its highest segment.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.segments.iter().map(|segment| segment.range().end).max().unwrap_or(0)
    }
}

/// The most bytes of a file that is read as a whole.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Reads a whole file, of at most 1 GiB.
///
/// # Errors
/// If it cannot be read or is larger.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let fail = |source| Error::Read { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(fail)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Error::TooLarge { path: path.to_owned(), max: FILE_BYTES_MAX });
    }
    Ok(bytes)
}
