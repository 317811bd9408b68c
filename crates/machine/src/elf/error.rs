//! The errors of the ELF loader.

use std::fmt;
use std::ops::Range;

use object::elf;

use super::limits::MEMORY_LIMIT;
use crate::pages::ADDRESS_BITS;

/// The reason that a file cannot be loaded.
///
/// Addresses are those in the file, as readelf shows them: without [`PIE_BASE`](super::PIE_BASE).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ElfError {
    /// The file does not begin with the ELF magic number.
    #[error("{}", magic(.found))]
    Magic {
        /// The first four bytes of the file, or all if there are fewer.
        found: Vec<u8>,
    },
    /// The file is for a 32-bit machine.
    #[error(
        "the ELF class is {found}{}, expected 2 (64-bit): build the program for 64-bit Arm (aarch64)",
        if *found == elf::ELFCLASS32.0 { " (32-bit)" } else { "" }
    )]
    Class {
        /// `EI_CLASS`.
        found: u8,
    },
    /// The file is for a big-endian machine.
    #[error(
        "the ELF data encoding is {found}{}, expected 1 (little-endian): build the program for aarch64, not for aarch64_be",
        if *found == elf::ELFDATA2MSB.0 { " (big-endian)" } else { "" }
    )]
    ByteOrder {
        /// `EI_DATA`.
        found: u8,
    },
    /// The file is for another processor.
    #[error(
        "the ELF machine is {found}{}, expected 183 (AArch64): build the program for aarch64, for example with \
         aarch64-linux-gnu-gcc -static",
        machine_name(.found)
    )]
    Machine {
        /// `e_machine`.
        found: u16,
    },
    /// The file is not an executable program.
    #[error(
        "the ELF type is {found}{}, expected 2 (executable) or 3 (position independent){}",
        type_name(.found), type_advice(.found)
    )]
    Type {
        /// `e_type`.
        found: u16,
    },
    /// The file ends before a part that it refers to.
    #[error(
        "the file is truncated: {part} takes {bytes:#x} bytes from {offset:#x}, but the file has {file:#x}: copy or build \
         it again"
    )]
    Truncated {
        /// The part that is cut off.
        part: Part,
        /// The file offset of the part.
        offset: u64,
        /// The size of the part, in bytes.
        bytes: u64,
        /// The size of the file, in bytes.
        file: u64,
    },
    /// The size of a program header is wrong.
    #[error("program headers have {found} bytes each, expected 56")]
    ProgramHeaderSize {
        /// `e_phentsize`.
        found: u16,
    },
    /// No segment is loaded.
    #[error("there are no segments to load, expected at least one PT_LOAD")]
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
    /// A segment leaves the address space, at its address plus the base.
    #[error(
        "segment {segment} has {bytes:#x} bytes at {address:#x} + {base:#x}, expected an end within the {ADDRESS_BITS}-bit \
         address space"
    )]
    AddressSpace {
        /// The number of its program header, from 0.
        segment: usize,
        /// `p_vaddr`.
        address: u64,
        /// `p_memsz`.
        bytes: u64,
        /// The offset that is added to the address: [`PIE_BASE`](super::PIE_BASE) or zero.
        base: u64,
    },
    /// The segments take too much memory.
    #[error("segments take {bytes:#x} bytes of memory or more, expected at most {MEMORY_LIMIT:#x}")]
    MemoryLimit {
        /// The size of the segments up to the first that exceeds the limit.
        bytes: u64,
    },
    /// Two segments overlap.
    #[error("segments overlap: {:#x} to {:#x} and {:#x} to {:#x}",
        .first.start, .first.end, .second.start, .second.end)]
    Overlap {
        /// The addresses of the segment that begins first.
        first: Range<u64>,
        /// The addresses of the other segment.
        second: Range<u64>,
    },
    /// Segments refer to the same bytes of the file too often, or relocations lengthen their data too much.
    #[error(
        "segments have {bytes:#x} bytes of data or more, expected at most {limit:#x} for a file of this size"
    )]
    DataLimit {
        /// The size of their data, up to the first excess.
        bytes: u64,
        /// The size of the file plus [`DATA_SLACK`](super::DATA_SLACK).
        limit: u64,
    },
    /// The entry point is not aligned.
    #[error("the entry point is {entry:#x}, expected a multiple of 4")]
    EntryAlignment {
        /// `e_entry`.
        entry: u64,
    },
    /// The entry point is not in an executable segment.
    #[error("the entry point is {entry:#x}, expected an address in an executable segment")]
    EntryPermission {
        /// `e_entry`.
        entry: u64,
    },
    /// The program is dynamically linked.
    #[error(
        "the program is dynamically linked and needs the dynamic loader {path:?}, expected a static program: link it \
         with -static"
    )]
    Interpreter {
        /// The path in `PT_INTERP`.
        path: String,
    },
    /// The program needs a shared library.
    #[error("the program needs the shared library {name:?}, expected a static program: link it with -static")]
    Library {
        /// The name in the first `DT_NEEDED`.
        name: String,
    },
    /// The file is a shared library.
    #[error(
        "the file is a shared library{}, expected a program: link an executable, with -static",
        .name.as_ref().map_or(String::new(), |name| format!(" ({name:?})"))
    )]
    SharedLibrary {
        /// The name in `DT_SONAME`, if there is one.
        name: Option<String>,
    },
    /// A table of the dynamic section is not in the file data of one segment.
    #[error(
        "{table} has {bytes:#x} bytes at address {address:#x}, expected an address in the file data of one segment"
    )]
    TableAddress {
        /// The name of the table.
        table: &'static str,
        /// The address of the table.
        address: u64,
        /// The size of the table.
        bytes: u64,
    },
    /// A table of the dynamic section has entries of the wrong size.
    #[error(
        "{table} has {bytes:#x} bytes in entries of {entry}, expected a multiple of entries of {expected}"
    )]
    TableEntry {
        /// The name of the table.
        table: &'static str,
        /// The size of the table.
        bytes: u64,
        /// The size of an entry according to the file.
        entry: u64,
        /// The size of an entry according to the format.
        expected: u64,
    },
    /// The program has relocations without addends, which AArch64 does not use.
    #[error("relocations are in DT_REL, expected DT_RELA or DT_RELR")]
    Rel,
    /// A relocation has a type whose value only a dynamic linker or startup code can compute.
    #[error("the relocation at {address:#x} is {kind}{}, expected 1027 (R_AARCH64_RELATIVE)", kind_name(.kind))]
    Relocation {
        /// The type of the relocation.
        kind: u32,
        /// The address to relocate.
        address: u64,
    },
    /// A relocation refers to memory outside all segments.
    #[error("the relocation at {address:#x} is of 8 bytes, expected them within one segment")]
    RelocationAddress {
        /// The address to relocate.
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

/// Returns the message about a file that does not begin with the ELF magic number.
fn magic(found: &[u8]) -> String {
    if found.is_empty() {
        return "the file is empty, expected an ELF file".to_owned();
    }
    let (kind, advice) = kind_of_file(found);
    format!("not an ELF file{kind}: it begins with the bytes {found:02x?}, expected [7f, 45, 4c, 46]{advice}")
}

/// Returns the kind of a file that begins with these bytes, and advice. Both are suffixes, and empty for unknown files.
fn kind_of_file(found: &[u8]) -> (&'static str, &'static str) {
    const BUILD: &str = ": build the program for aarch64 Linux or for bare metal";
    match found {
        [0xfe, 0xed, 0xfa, 0xce | 0xcf] | [0xce | 0xcf, 0xfa, 0xed, 0xfe] => {
            (" but a Mach-O file of macOS", BUILD)
        }
        [0xca, 0xfe, 0xba, 0xbe] => {
            (" but a universal Mach-O file of macOS, or a Java class, which begins the same", BUILD)
        }
        [b'M', b'Z', ..] => (" but a PE file of Windows (.exe)", BUILD),
        [0, b'a', b's', b'm'] => (" but a WebAssembly module", BUILD),
        [b'B', b'C', 0xc0, 0xde] => (" but LLVM bitcode", ": compile it to an executable"),
        [b'!', b'<', b'a', b'r'] => {
            (" but an archive of object files (.a)", ": link the objects into an executable")
        }
        [b'#', b'!', ..] => {
            (" but a script", ": run its interpreter, a static AArch64 program, and give it the script")
        }
        [0x1f, 0x8b, ..] | [b'P', b'K', 3, 4] | [0xfd, b'7', b'z', b'X'] => {
            (" but a compressed file", ": unpack it")
        }
        _ if found.iter().all(|byte| byte.is_ascii_graphic() || b"\t\n\r ".contains(byte)) => {
            (" but text", ": give the executable, not its source")
        }
        _ => ("", ""),
    }
}

/// Returns the suffix that names a machine in messages, for common processors.
fn machine_name(found: &u16) -> &'static str {
    match elf::Machine(*found) {
        elf::EM_386 => " (x86)",
        elf::EM_X86_64 => " (x86-64)",
        elf::EM_ARM => " (32-bit Arm)",
        elf::EM_RISCV => " (RISC-V)",
        elf::EM_PPC64 => " (64-bit PowerPC)",
        elf::EM_S390 => " (s390x)",
        elf::EM_LOONGARCH => " (LoongArch)",
        elf::EM_MIPS => " (MIPS)",
        _ => "",
    }
}

/// Returns the suffix that explains a file type in messages.
fn type_name(found: &u16) -> &'static str {
    match elf::FileType(*found) {
        elf::ET_REL => " (relocatable)",
        elf::ET_CORE => " (core)",
        _ => "",
    }
}

/// Returns the suffix that says how to make a program of a file type that is none.
fn type_advice(found: &u16) -> &'static str {
    match elf::FileType(*found) {
        elf::ET_REL => ": link the object into an executable, with -static",
        elf::ET_CORE => ": give the program that was dumped",
        _ => "",
    }
}

/// Returns the suffix that explains a relocation type in messages, for the types that dynamic linkers process.
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
