//! Why files cannot be loaded.

use std::fmt;
use std::ops::Range;

use object::elf;

use super::limits::MEMORY_LIMIT;
use crate::pages::ADDRESS_BITS;

/// Why a file cannot be loaded.
///
/// All addresses are those in the file, as readelf shows them: a PIE has not been moved yet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ElfError {
    /// It does not begin as every ELF file does.
    #[error("not an ELF file: it begins with the bytes {found:02x?}, expected [7f, 45, 4c, 46]")]
    Magic {
        /// Its first four bytes, or all if there are fewer.
        found: Vec<u8>,
    },
    /// It is for a 32-bit machine.
    #[error("the ELF class is {found}, expected 2 (64-bit)")]
    Class {
        /// `EI_CLASS`.
        found: u8,
    },
    /// It is for a big-endian machine.
    #[error("the ELF data encoding is {found}, expected 1 (little-endian)")]
    ByteOrder {
        /// `EI_DATA`.
        found: u8,
    },
    /// It is for another processor.
    #[error("the ELF machine is {found}, expected 183 (AArch64)")]
    Machine {
        /// `e_machine`.
        found: u16,
    },
    /// It is no program.
    #[error("the ELF type is {found}{}, expected 2 (executable) or 3 (position independent)", type_name(.found))]
    Type {
        /// `e_type`.
        found: u16,
    },
    /// It ends too early.
    #[error(
        "the file is truncated: {part} takes {bytes:#x} bytes from {offset:#x}, but the file has {file:#x}"
    )]
    Truncated {
        /// What is cut off.
        part: Part,
        /// Where that begins in the file.
        offset: u64,
        /// How long it is.
        bytes: u64,
        /// How long the file is.
        file: u64,
    },
    /// Its program headers have another layout.
    #[error("program headers have {found} bytes each, expected 56")]
    ProgramHeaderSize {
        /// `e_phentsize`.
        found: u16,
    },
    /// There is nothing to load.
    #[error("there are no segments to load, expected at least one")]
    NoSegments,
    /// A segment has more bytes in the file than in memory.
    #[error("segment {segment} has {file:#x} bytes in the file, expected at most the {memory:#x} in memory")]
    FileSize {
        /// The number of its program header, from 0.
        segment: usize,
        /// `p_filesz`.
        file: u64,
        /// `p_memsz`.
        memory: u64,
    },
    /// A segment is partly or wholly outside the address space, or a PIE would be once moved.
    #[error(
        "segment {segment} takes {bytes:#x} bytes from {address:#x} + {base:#x}, expected an end in {ADDRESS_BITS} bits"
    )]
    AddressSpace {
        /// The number of its program header, from 0.
        segment: usize,
        /// `p_vaddr`.
        address: u64,
        /// `p_memsz`.
        bytes: u64,
        /// How far it would be moved up: [`PIE_BASE`](super::PIE_BASE) or zero.
        base: u64,
    },
    /// The segments take too much memory.
    #[error("segments take {bytes:#x} bytes of memory or more, expected at most {MEMORY_LIMIT:#x}")]
    MemoryLimit {
        /// The size of those up to the one that is too much.
        bytes: u64,
    },
    /// Two segments overlap.
    #[error("segments overlap: {:#x} to {:#x} and {:#x} to {:#x}",
        .first.start, .first.end, .second.start, .second.end)]
    Overlap {
        /// The one that begins first.
        first: Range<u64>,
        /// The other.
        second: Range<u64>,
    },
    /// The file names the same bytes too often, or relocations lengthen segments too much.
    #[error(
        "segments have {bytes:#x} bytes of data or more, expected at most {limit:#x} for a file of this size"
    )]
    DataLimit {
        /// What they have, up to the one that is too much.
        bytes: u64,
        /// The file's size and [`DATA_SLACK`](super::DATA_SLACK).
        limit: u64,
    },
    /// The first instruction is not at an instruction's address.
    #[error("the entry point is {entry:#x}, expected a multiple of 4")]
    EntryAlignment {
        /// `e_entry`.
        entry: u64,
    },
    /// The first instruction could not be fetched.
    #[error("the entry point is {entry:#x}, expected an address in an executable segment")]
    EntryPermission {
        /// `e_entry`.
        entry: u64,
    },
    /// It is dynamically linked.
    #[error("the program needs the dynamic loader {path:?}, expected a static program")]
    Interpreter {
        /// What `PT_INTERP` says.
        path: String,
    },
    /// It needs a shared library.
    #[error("the program needs the shared library {name:?}, expected a static program")]
    Library {
        /// What the first `DT_NEEDED` says.
        name: String,
    },
    /// A table of the dynamic linker is not where the file has it.
    #[error(
        "{table} takes {bytes:#x} bytes from address {address:#x}, expected these in one segment in the file"
    )]
    TableAddress {
        /// Its name.
        table: &'static str,
        /// Where it should begin.
        address: u64,
        /// How long it should be.
        bytes: u64,
    },
    /// A table of the dynamic linker does not consist of the entries it should.
    #[error("{table} has {bytes:#x} bytes in entries of {entry}, expected whole entries of {expected}")]
    TableEntry {
        /// Its name.
        table: &'static str,
        /// How long it is.
        bytes: u64,
        /// How long the file says an entry is.
        entry: u64,
        /// How long an entry is.
        expected: u64,
    },
    /// It has relocations without addends, which AArch64 does not use.
    #[error("relocations are in DT_REL, expected DT_RELA or DT_RELR")]
    Rel,
    /// A relocation needs a dynamic linker, or start code, to decide on its value.
    #[error("the relocation at {address:#x} is {kind}{}, expected 1027 (R_AARCH64_RELATIVE)", kind_name(.kind))]
    Relocation {
        /// Its type.
        kind: u32,
        /// What it relocates.
        address: u64,
    },
    /// A relocation is of memory that does not exist.
    #[error("the relocation at {address:#x} is of 8 bytes there, expected these in one segment")]
    RelocationAddress {
        /// What it relocates.
        address: u64,
    },
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The file header.
    Header,
    /// The table of program headers.
    ProgramHeaders,
    /// The segment with this program header, from 0.
    Segment(usize),
    /// The name of the dynamic loader.
    Interpreter,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str("the file header"),
            Self::ProgramHeaders => f.write_str("the table of program headers"),
            Self::Segment(number) => write!(f, "segment {number}"),
            Self::Interpreter => f.write_str("the name of the dynamic loader"),
        }
    }
}

/// What follows the number of a file type.
fn type_name(found: &u16) -> &'static str {
    match elf::FileType(*found) {
        elf::ET_REL => " (relocatable)",
        elf::ET_CORE => " (core)",
        _ => "",
    }
}

/// What follows the number of a relocation type, for those that dynamic linkers see.
fn kind_name(kind: &u32) -> &'static str {
    match elf::RelocationType(*kind) {
        elf::R_AARCH64_ABS64 => " (R_AARCH64_ABS64)",
        elf::R_AARCH64_COPY => " (R_AARCH64_COPY)",
        elf::R_AARCH64_GLOB_DAT => " (R_AARCH64_GLOB_DAT)",
        elf::R_AARCH64_JUMP_SLOT => " (R_AARCH64_JUMP_SLOT)",
        elf::R_AARCH64_TLS_DTPMOD => " (R_AARCH64_TLS_DTPMOD)",
        elf::R_AARCH64_TLS_DTPREL => " (R_AARCH64_TLS_DTPREL)",
        elf::R_AARCH64_TLS_TPREL => " (R_AARCH64_TLS_TPREL)",
        elf::R_AARCH64_TLSDESC => " (R_AARCH64_TLSDESC)",
        elf::R_AARCH64_IRELATIVE => " (R_AARCH64_IRELATIVE)",
        _ => "",
    }
}
