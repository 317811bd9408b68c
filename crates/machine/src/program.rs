//! Programs: the memory of a guest before its first step, and the address of its first instruction.

mod builder;

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use kvrm_arm64::Features;
use kvrm_arm64::text::Assembly;
use serde::{Deserialize, Serialize};

use crate::elf::{self, Symbol, SymbolKind};
use crate::error::Error;
use crate::permissions::Permissions;
use crate::segment::Segment;
use crate::system::{LinuxProgram, System};

pub use self::builder::ProgramBuilder;

/// A program: the memory of a guest before its first step, and the address of its first instruction.
///
/// [`Program::open`] loads an ELF file, [`Program::assemble`] takes assembly text, [`Program::from_code`] takes instruction
/// words, and [`Program::builder`] puts together everything else.
///
/// ```
/// use kvrm_machine::Program;
///
/// let program = Program::from_code(0x1000, &[0xd503_201f, 0xd440_0000])?; // nop; hlt #0
/// assert_eq!(program.entry, 0x1000);
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Program {
    /// The name that the guest sees as its first argument.
    pub name: String,
    /// The address of the first instruction.
    pub entry: u64,
    /// The segments of memory. Where their data overlaps, the later one wins.
    pub segments: Vec<Segment>,
    /// The functions and variables that the file names, sorted by address.
    pub symbols: Vec<Symbol>,
    /// The data for the auxiliary vector of a Linux program; `None` for a bare-metal program, which uses semihosting.
    pub linux: Option<LinuxProgram>,
    /// The path of the program interpreter, if a Linux program is dynamically linked. The machine needs it in its file system.
    pub interpreter: Option<String>,
    /// The bytes of the file, which a Linux program can execute again; empty if there is no file.
    #[serde(with = "crate::interned")]
    pub(crate) file: Arc<Vec<u8>>,
}

impl Program {
    /// Creates a program of instruction words. They are loaded at `address`, a multiple of 4, and execution begins
    /// there.
    ///
    /// Its pages may be read, written and executed. [`Program::builder`] gives more control.
    ///
    /// # Errors
    /// [`Error::RawRange`]: there are no words, or they do not fit the 48-bit address space.
    pub fn from_code(address: u64, words: &[u32]) -> Result<Self, Error> {
        let data: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Self::raw("program", data, address, 0)
    }

    /// Assembles a program from text, which is loaded at `address`, a multiple of 4. Execution begins there.
    /// [`kvrm_arm64::text`] has the syntax. The labels become symbols; each reaches to the next one, and one at the end is none.
    ///
    /// Its pages may be read, written and executed.
    ///
    /// ```
    /// use kvrm_machine::{Machine, Program};
    ///
    /// let program = Program::assemble(
    ///     0x1000,
    ///     "
    ///         adr x1, numbers
    ///         ldp x2, x3, [x1]
    ///         add x0, x2, x3
    ///         hlt #0
    ///         .balign 8
    ///     numbers:
    ///         .quad 40, 2
    ///     ",
    /// )?;
    /// assert_eq!(program.symbol("numbers").map(|symbol| (symbol.address, symbol.bytes)), Some((0x1010, 16)));
    /// let mut machine = Machine::builder(program).build()?;
    /// machine.run(10)?;
    /// assert_eq!(machine.cpu(0)?.x(0), 42);
    /// # Ok::<(), kvrm_machine::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::Assembly`]: a line is not understood; the source says which, and what was expected.
    /// - [`Error::RawRange`]: there are no words, or they do not fit the 48-bit address space.
    pub fn assemble(address: u64, text: &str) -> Result<Self, Error> {
        let assembly = Assembly::parse(address, text).map_err(|source| Error::Assembly { source })?;
        let mut program = Self::from_code(address, &assembly.words)?;
        let end = program.end();
        // Labels are in the order of their addresses. One at the end names nothing.
        let labels = assembly.labels.iter().filter(|label| label.address < end);
        let symbols = labels.map(|label| {
            let after = assembly.labels.partition_point(|other| other.address <= label.address);
            let next = assembly.labels.get(after).map_or(end, |other| other.address);
            Symbol {
                kind: if label.is_code { SymbolKind::Function } else { SymbolKind::Data },
                address: label.address,
                bytes: next - label.address,
                name: label.name.clone(),
            }
        });
        program.symbols = symbols.collect();
        Ok(program)
    }

    /// Reads an ELF file: static, 64-bit, little-endian, for AArch64. The file says whether it is for Linux or for
    /// semihosting.
    ///
    /// # Errors
    /// - [`Error::Read`] and [`Error::TooLarge`]: the file cannot be read.
    /// - [`Error::Elf`]: the file is not such a program; the source says why.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_as(path, None)
    }

    /// Reads an ELF file for a given system, whatever the file says. With `None`, the file decides, as in
    /// [`Program::open`].
    ///
    /// # Errors
    /// The errors of [`Program::open`].
    pub fn open_as(path: impl AsRef<Path>, system: Option<System>) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::from_elf_as(&path.display().to_string(), &read(path)?, system)
    }

    /// Loads an ELF file whose bytes are `file`. `name` is the name that the guest sees.
    ///
    /// # Errors
    /// [`Error::Elf`]: the bytes are not a static, 64-bit, little-endian program for AArch64.
    pub fn from_elf(name: &str, file: &[u8]) -> Result<Self, Error> {
        Self::from_elf_as(name, file, None)
    }

    /// Loads the bytes of an ELF file for a given system, as [`Program::open_as`] does.
    ///
    /// # Errors
    /// The errors of [`Program::from_elf`].
    pub fn from_elf_as(name: &str, file: &[u8], system: Option<System>) -> Result<Self, Error> {
        let executable = elf::load_as(file, system);
        let executable = executable.map_err(|source| Error::Elf { name: name.to_owned(), source })?;
        let elf::Executable { entry, segments, symbols, linux, interpreter } = executable;
        let file = Arc::new(if linux.is_some() { file.to_vec() } else { Vec::new() });
        Ok(Self { name: name.to_owned(), entry, segments, symbols, linux, interpreter, file })
    }

    /// Returns the name of the file without folders, so that results do not depend on its place on the host.
    pub(crate) fn file_name(&self) -> String {
        let name = Path::new(&self.name).file_name().and_then(|name| name.to_str());
        name.unwrap_or("program").replace('\0', "_")
    }

    /// Creates a program of raw bytes, code and data, which are loaded at `address`. Execution begins there.
    ///
    /// The program has `bytes` bytes of memory, or as many as `data` if that is more; those behind `data` are zero. All
    /// may be read, written and executed.
    ///
    /// # Errors
    /// [`Error::RawRange`]: the program is empty, or does not fit the 48-bit address space.
    pub fn raw(name: &str, data: Vec<u8>, address: u64, bytes: u64) -> Result<Self, Error> {
        let bytes = bytes.max(data.len() as u64);
        let segment = Segment { address, bytes, data, permissions: Permissions::RWX };
        if bytes == 0 || segment.check().is_err() {
            return Err(Error::RawRange { address, bytes });
        }
        let segments = vec![segment];
        let (symbols, linux, interpreter, file) = (Vec::new(), None, None, Arc::default());
        Ok(Self { name: name.to_owned(), entry: address, segments, symbols, linux, interpreter, file })
    }

    /// Returns the optional features that a machine has by default: CRC32, and for Linux programs also floating point and
    /// vectors, which compilers for Linux use without asking, and LSE, whose atomics are one instruction instead of a loop.
    #[must_use]
    pub const fn features(&self) -> Features {
        let is_linux = self.linux.is_some();
        Features { fp: is_linux, lse: is_linux, ..Features::ARMV8_0 }
    }

    /// Returns the function or variable with this name; `None` if the file names no such one. If several have the name,
    /// it is the one with the lowest address.
    ///
    /// ```
    /// use kvrm_machine::{Machine, Program};
    ///
    /// # let guest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../guests/bin/sieve.elf");
    /// let mut machine = Machine::builder(Program::open(guest)?).build()?;
    /// machine.run(u64::MAX)?;
    /// let line = machine.program().symbol("line").expect("the guest has a buffer for a line of output");
    /// let mut bytes = vec![0; line.bytes as usize];
    /// let address = line.address;
    /// machine.read(0, address, &mut bytes)?;
    /// assert!(bytes.starts_with(b"sieve size="));
    /// # Ok::<(), kvrm_machine::Error>(())
    /// ```
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|symbol| symbol.name == name)
    }

    /// Returns the function that contains `address`; `None` if the file names no such function.
    #[must_use]
    pub fn function_at(&self, address: u64) -> Option<&Symbol> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let function = self.symbols[..after].iter().rfind(|symbol| symbol.kind == SymbolKind::Function);
        function.filter(|symbol| address - symbol.address < symbol.bytes.max(1))
    }

    /// Returns the first address after all segments.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.segments.iter().map(|segment| segment.range().end).max().unwrap_or(0)
    }
}

/// The size in bytes of the largest file that is read.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Reads a whole file of at most 1 GiB.
///
/// # Errors
/// - [`Error::Read`]: the file cannot be read.
/// - [`Error::TooLarge`]: the file has more than 1 GiB.
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
