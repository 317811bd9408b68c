//! The ELF loader: turns an executable file into memory segments and an entry point.
//!
//! It loads 64-bit little-endian AArch64 files of two kinds, and returns an [`ElfError`] for any other:
//!
//! - programs at fixed addresses (`ET_EXEC`);
//! - position independent programs (`ET_DYN`). The loader adds [`PIE_BASE`] to their addresses, and relocates them if they are not
//!   for Linux.
//!
//! A program for Linux may name a program interpreter (`PT_INTERP`), which loads the shared libraries that it needs.
//!
//! Where the format leaves a choice, these are the rules:
//!
//! - Segments must not overlap, but the last page of one may be the first page of the next, as linkers lay them
//!   out. Such a page has the permissions of all its segments.
//! - Segments lie in the 48-bit address space and take at most [`MEMORY_LIMIT`] bytes of it. Zero bytes that are not in
//!   the file cost nothing: all `data` together is at most [`DATA_SLACK`] bytes longer than the file.
//! - The only relocations of a static program are `R_AARCH64_RELATIVE` and `R_AARCH64_NONE`. A relocation in the part
//!   of a segment that is not in the file lengthens its `data`.
//! - A program may relocate itself again. That is harmless where addends are in the table (`DT_RELA`). Where they are
//!   in the relocated words (`DT_RELR`), they would be added twice, so the loader sets `DT_RELRSZ` in memory to zero.
//! - The loader leaves the relocations of Linux programs to their startup code, as Linux does.
//! - A program is for Linux if its ABI or a note of the GNU tools says so, or if its code contains `svc #0`, the
//!   instruction of system calls, and no `hlt #0xf000`, the instruction of semihosting.
//! - Sections are read only for symbols. If they are damaged, only the symbols are lost.

pub(crate) mod error;
mod limits;

use std::ops::Range;

use object::LittleEndian as LE;
use object::elf::{self, Dyn64, FileHeader64, ProgramHeader64, Rela64, Relr64};
use object::pod::{Pod, slice_from_all_bytes};
use object::read::ReadRef;
use object::read::elf::{FileHeader, ProgramHeader, RelrIterator};
use serde::{Deserialize, Serialize};

pub use self::error::{ElfError, Part};
pub use self::limits::{DATA_SLACK, MEMORY_LIMIT, PIE_BASE};
use crate::pages::{ADDRESS_BITS, PAGE_BYTES};
use crate::permissions::Permissions;
use crate::segment::Segment;
use crate::system::{LinuxProgram, System};

/// A loaded executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// The address of the first instruction, which is in an executable segment.
    pub entry: u64,
    /// The memory before the first step, sorted by address. Segments do not overlap and are not empty.
    pub segments: Vec<Segment>,
    /// The functions and variables, sorted by address.
    pub symbols: Vec<Symbol>,
    /// The program headers, for the auxiliary vector; `None` unless it is a Linux program.
    pub linux: Option<LinuxProgram>,
    /// The path of the program interpreter, the dynamic linker, if the file names one (`PT_INTERP`).
    pub interpreter: Option<String>,
}

/// What a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SymbolKind {
    /// A function, in an executable segment.
    Function,
    /// A variable or a constant, in any segment.
    Data,
}

/// The symbol of a function or of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Whether it names a function or data.
    pub kind: SymbolKind,
    /// The address of its first byte, which is in a segment.
    pub address: u64,
    /// The size in bytes, cut at the end of the segment. Zero if the file does not give it.
    pub bytes: u64,
    /// The name.
    pub name: String,
}

type Header = FileHeader64<LE>;
type Program = ProgramHeader64<LE>;

/// Loads an executable file.
///
/// ```
/// use kvrm_machine::elf::{ElfError, load};
///
/// let error = load(b"#!/bin/sh").unwrap_err();
/// assert!(matches!(error, ElfError::Magic { .. }));
/// ```
///
/// # Errors
/// If the file is damaged or is not a static AArch64 program. The [module](self) describes the supported files.
pub fn load(file: &[u8]) -> Result<Executable, ElfError> {
    load_as(file, None)
}

/// Loads an executable file for `system`. With `None`, the file decides on the system.
///
/// # Errors
/// As [`load`].
pub fn load_as(file: &[u8], system: Option<System>) -> Result<Executable, ElfError> {
    load_at(file, system, None)
}

/// Loads the program interpreter of a Linux program, whose addresses begin at `base`.
pub(crate) fn load_interpreter(file: &[u8], base: u64) -> Result<Executable, ElfError> {
    load_at(file, Some(System::Linux), Some(base))
}

/// Returns the number of bytes from the first to the last address of a file's segments, rounded up to whole pages.
pub(crate) fn span(file: &[u8]) -> Result<u64, ElfError> {
    let loader = Loader::new(file, program_headers(file, file_header(file)?)?, 0)?;
    let end = loader.segments.last().map_or(0, |segment| segment.range().end);
    Ok(end.next_multiple_of(PAGE_BYTES as u64))
}

/// Pages of memory that show a file.
#[derive(Clone, Debug)]
pub(crate) struct FilePages {
    /// The numbers of the pages.
    pub(crate) pages: Range<u64>,
    /// The page of the file that the first of them shows.
    pub(crate) offset: u64,
}

/// Returns the pages of memory that show a file, and the path of the program interpreter that the file names. `interpreter_base` is
/// the base address if the file is a program interpreter.
pub(crate) fn pages_of_file(
    file: &[u8],
    interpreter_base: Option<u64>,
) -> Result<(Vec<FilePages>, Option<String>), ElfError> {
    let header = file_header(file)?;
    let programs = program_headers(file, header)?;
    let is_relocatable = header.e_type(LE) == elf::ET_DYN;
    let base = if is_relocatable { interpreter_base.unwrap_or(PIE_BASE) } else { 0 };
    let interpreter = programs.iter().find(|program| program.p_type(LE) == elf::PT_INTERP);
    let interpreter = interpreter.map(|program| file_part(file, program, Part::Interpreter).map(text));
    let loaded = programs.iter().filter(|program| program.p_type(LE) == elf::PT_LOAD);
    let pages = loaded.filter(|program| program.p_filesz(LE) > 0).map(|program| {
        let page = PAGE_BYTES as u64;
        let start = program.p_vaddr(LE).wrapping_add(base);
        let end = start.wrapping_add(program.p_filesz(LE));
        FilePages { pages: start / page..end.div_ceil(page), offset: program.p_offset(LE) / page }
    });
    Ok((pages.collect(), interpreter.transpose()?))
}

/// Loads a file. `interpreter_base` is the base address if it is a program interpreter, which is a shared library.
fn load_at(
    file: &[u8],
    system: Option<System>,
    interpreter_base: Option<u64>,
) -> Result<Executable, ElfError> {
    let header = file_header(file)?;
    let programs = program_headers(file, header)?;
    let find = |kind| programs.iter().find(|program| program.p_type(LE) == kind);
    let interpreter = match find(elf::PT_INTERP) {
        Some(program) if interpreter_base.is_none() => {
            let path = text(file_part(file, program, Part::Interpreter)?);
            if system == Some(System::Semihosting) {
                return Err(ElfError::Interpreter { path });
            }
            Some(path)
        }
        _ => None,
    };
    let is_relocatable = header.e_type(LE) == elf::ET_DYN;
    let base = if is_relocatable { interpreter_base.unwrap_or(PIE_BASE) } else { 0 };
    let mut loader = Loader::new(file, programs, base)?;
    if let Some(program) = find(elf::PT_DYNAMIC)
        && interpreter.is_none()
        && interpreter_base.is_none()
    {
        loader.check_dynamic(program)?;
    }
    let is_linux = interpreter.is_some()
        || match system {
            Some(system) => system == System::Linux,
            None => loader.is_linux(file, header, programs),
        };
    if let Some(program) = find(elf::PT_DYNAMIC)
        && !is_linux
    {
        loader.link(program)?;
    }
    let linux = is_linux.then(|| LinuxProgram {
        headers: loader.headers(header, programs).map_or(0, |address| address + base),
        count: programs.len() as u64,
        // Without the header, the stack of an AArch64 program is not executable.
        has_executable_stack: find(elf::PT_GNU_STACK)
            .is_some_and(|stack| stack.p_flags(LE).contains(elf::PF_X)),
    });
    let entry = header.e_entry(LE);
    if is_relocatable && entry == 0 && loader.begins_with_header() {
        return Err(ElfError::SharedLibrary { name: None });
    }
    if !entry.is_multiple_of(4) {
        return Err(ElfError::EntryAlignment { entry });
    }
    if loader.size(SymbolKind::Function, entry, 0).is_none() {
        return Err(ElfError::EntryPermission { entry });
    }
    let symbols = loader.symbols(file, header).unwrap_or_default();
    // The sums cannot overflow: every address is in a segment, and segments were checked with their base.
    let mut segments = loader.segments;
    for segment in &mut segments {
        segment.address += base;
    }
    Ok(Executable { entry: entry + base, segments, symbols, linux, interpreter })
}

fn file_header(file: &[u8]) -> Result<&Header, ElfError> {
    if !file.starts_with(&elf::ELFMAG) {
        return Err(ElfError::Magic { found: file.iter().take(4).copied().collect() });
    }
    let bytes = size_of::<Header>() as u64;
    let header: &Header = file.read_at(0).map_err(|()| truncated(file, Part::Header, 0, bytes))?;
    let (class, order) = (header.e_ident.class, header.e_ident.data);
    let (machine, kind) = (header.e_machine(LE), header.e_type(LE));
    if class != elf::ELFCLASS64 {
        Err(ElfError::Class { found: class.0 })
    } else if order != elf::ELFDATA2LSB {
        Err(ElfError::ByteOrder { found: order.0 })
    } else if machine != elf::EM_AARCH64 {
        Err(ElfError::Machine { found: machine.0 })
    } else if kind != elf::ET_EXEC && kind != elf::ET_DYN {
        Err(ElfError::Type { found: kind.0 })
    } else {
        Ok(header)
    }
}

fn program_headers<'a>(file: &'a [u8], header: &Header) -> Result<&'a [Program], ElfError> {
    let (count, size) = (header.e_phnum(LE), header.e_phentsize(LE));
    if count > 0 && usize::from(size) != size_of::<Program>() {
        return Err(ElfError::ProgramHeaderSize { found: size });
    }
    let bytes = u64::from(count) * u64::from(size);
    let error = |_| truncated(file, Part::ProgramHeaders, header.e_phoff(LE), bytes);
    header.program_headers(LE, file).map_err(error)
}

/// Returns the part of the file that a program header refers to.
fn file_part<'a>(file: &'a [u8], program: &Program, part: Part) -> Result<&'a [u8], ElfError> {
    let (offset, bytes) = program.file_range(LE);
    program.data(LE, file).map_err(|()| truncated(file, part, offset, bytes))
}

fn truncated(file: &[u8], part: Part, offset: u64, bytes: u64) -> ElfError {
    ElfError::Truncated { part, offset, bytes, file: file.len() as u64 }
}

/// Returns the text up to the first NUL, or all of it if there is none.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// The segments while they are loaded. Their addresses are those in the file, without the base.
struct Loader {
    /// The offset to add to all addresses in the end.
    base: u64,
    /// The segments, sorted by address.
    segments: Vec<Segment>,
    /// The limit on the size of all `data` together.
    data_limit: u64,
    /// The size of all `data` together.
    data_bytes: u64,
}

impl Loader {
    /// Loads the `PT_LOAD` segments and checks them.
    fn new(file: &[u8], programs: &[Program], base: u64) -> Result<Self, ElfError> {
        let data_limit = (file.len() as u64).saturating_add(DATA_SLACK);
        let mut loader = Self { base, segments: Vec::new(), data_limit, data_bytes: 0 };
        let mut total = 0u64;
        for (number, program) in programs.iter().enumerate() {
            if program.p_type(LE) != elf::PT_LOAD {
                continue;
            }
            let (address, bytes) = (program.p_vaddr(LE), program.p_memsz(LE));
            let data = file_part(file, program, Part::Segment(number))?;
            if data.len() as u64 > bytes {
                return Err(ElfError::FileSize { segment: number, file: data.len() as u64, memory: bytes });
            }
            if bytes == 0 {
                continue;
            }
            let end = address.checked_add(bytes).and_then(|end| end.checked_add(base));
            if end.is_none_or(|end| end > 1 << ADDRESS_BITS) {
                return Err(ElfError::AddressSpace { segment: number, address, bytes, base });
            }
            total = total.saturating_add(bytes);
            if total > MEMORY_LIMIT {
                return Err(ElfError::MemoryLimit { bytes: total });
            }
            // Many headers may refer to the same bytes of the file, so check the limit before copying.
            loader.add_data(data.len() as u64)?;
            let (data, permissions) = (data.to_vec(), permissions(program));
            loader.segments.push(Segment { address, bytes, data, permissions });
        }
        if loader.segments.is_empty() {
            return Err(ElfError::NoSegments);
        }
        loader.segments.sort_by_key(|segment| segment.address);
        let overlap = loader.segments.windows(2).find(|pair| pair[0].range().end > pair[1].address);
        match overlap {
            Some(pair) => Err(ElfError::Overlap { first: pair[0].range(), second: pair[1].range() }),
            None => Ok(loader),
        }
    }

    /// Returns whether the program is for Linux, by its ABI, its notes or its code.
    fn is_linux(&self, file: &[u8], header: &Header, programs: &[Program]) -> bool {
        const SVC_0: u32 = 0xd400_0001;
        const HLT_SEMIHOSTING: u32 = 0xd45e_0000;
        /// The start of `NT_GNU_ABI_TAG` for Linux: sizes of name and description, type, name, `ELF_NOTE_OS_LINUX`.
        const ABI_TAG: [u8; 20] = [4, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, b'G', b'N', b'U', 0, 0, 0, 0, 0];
        let is_note = |program: &&Program| program.p_type(LE) == elf::PT_NOTE;
        let mut notes = programs.iter().filter(is_note).filter_map(|program| program.data(LE, file).ok());
        if header.e_ident.os_abi == elf::ELFOSABI_GNU
            || notes.any(|note| note.windows(ABI_TAG.len()).step_by(4).any(|words| words == ABI_TAG))
        {
            return true;
        }
        let code = self.segments.iter().filter(|segment| segment.permissions.execute);
        let mut makes_calls = false;
        for word in code.flat_map(|segment| segment.data.chunks_exact(4)) {
            match word.try_into().map_or(0, u32::from_le_bytes) {
                HLT_SEMIHOSTING => return false,
                SVC_0 => makes_calls = true,
                _ => {}
            }
        }
        makes_calls
    }

    /// Returns the address of the program headers, if a segment contains them.
    fn headers(&self, header: &Header, programs: &[Program]) -> Option<u64> {
        let offset = header.e_phoff(LE);
        let has = |program: &&Program| {
            let (start, bytes) = program.file_range(LE);
            program.p_type(LE) == elf::PT_LOAD && start <= offset && offset - start < bytes
        };
        let program = programs.iter().find(has)?;
        let address = program.p_vaddr(LE).checked_add(offset - program.file_range(LE).0)?;
        self.find(address, 1).map(|_| address)
    }

    /// Counts `bytes` more bytes of `data`, and checks the limit.
    fn add_data(&mut self, bytes: u64) -> Result<(), ElfError> {
        self.data_bytes = self.data_bytes.saturating_add(bytes);
        if self.data_bytes > self.data_limit {
            return Err(ElfError::DataLimit { bytes: self.data_bytes, limit: self.data_limit });
        }
        Ok(())
    }

    /// Returns the index of the segment that contains all of these bytes, and their range within it.
    fn find(&self, address: u64, bytes: u64) -> Option<(usize, Range<usize>)> {
        let index = self.segments.partition_point(|segment| segment.address <= address).checked_sub(1)?;
        let start = address - self.segments[index].address;
        let end = start.checked_add(bytes).filter(|&end| end <= self.segments[index].bytes)?;
        Some((index, usize::try_from(start).ok()?..usize::try_from(end).ok()?))
    }

    /// Returns the size of a function or variable, cut at the end of its segment. `None` if it is not in a segment, or if
    /// it is a function and the segment is not executable.
    fn size(&self, kind: SymbolKind, address: u64, bytes: u64) -> Option<u64> {
        let (index, _) = self.find(address, 1)?;
        let segment = &self.segments[index];
        let is_possible = kind != SymbolKind::Function || segment.permissions.execute;
        is_possible.then(|| bytes.min(segment.range().end - address))
    }

    /// Returns whether the memory at address 0 is the file header. No code can begin there.
    fn begins_with_header(&self) -> bool {
        self.segments
            .first()
            .is_some_and(|segment| segment.address == 0 && segment.data.starts_with(&elf::ELFMAG))
    }

    /// Returns the entries of the `PT_DYNAMIC` segment.
    fn dynamic(&self, program: &Program) -> Result<Vec<Dyn64<LE>>, ElfError> {
        let mut dynamic: Vec<Dyn64<_>> =
            self.table("PT_DYNAMIC", program.p_vaddr(LE), program.p_filesz(LE), None)?;
        let end = dynamic.iter().position(|entry| entry.d_tag.get(LE) == elf::DT_NULL);
        dynamic.truncate(end.unwrap_or(dynamic.len()));
        Ok(dynamic)
    }

    /// Refuses shared libraries, and programs that need some. A damaged `PT_DYNAMIC` segment is no error here, because
    /// only [`link`](Self::link) has to understand it.
    fn check_dynamic(&self, program: &Program) -> Result<(), ElfError> {
        let Ok(dynamic) = self.dynamic(program) else { return Ok(()) };
        let entry = |tag| dynamic.iter().find(|entry| entry.d_tag.get(LE) == tag);
        let value = |tag| entry(tag).map(|entry| entry.d_val.get(LE));
        let string = |offset: u64| -> Result<String, ElfError> {
            let (address, bytes) = (value(elf::DT_STRTAB).unwrap_or(0), value(elf::DT_STRSZ).unwrap_or(0));
            let strings: Vec<u8> = self.table("DT_STRTAB", address, bytes, None)?;
            let name = usize::try_from(offset).ok().and_then(|offset| strings.get(offset..));
            Ok(text(name.unwrap_or_default()))
        };
        match (value(elf::DT_SONAME), value(elf::DT_NEEDED)) {
            (Some(offset), _) => Err(ElfError::SharedLibrary { name: Some(string(offset)?) }),
            (None, Some(offset)) => Err(ElfError::Library { name: string(offset)? }),
            (None, None) => Ok(()),
        }
    }

    /// Relocates the program, as a dynamic linker would, from its `PT_DYNAMIC` segment.
    ///
    /// A program with `DT_REL` is an error.
    fn link(&mut self, program: &Program) -> Result<(), ElfError> {
        let start = program.p_vaddr(LE);
        let dynamic = self.dynamic(program)?;
        let position = |tag| dynamic.iter().position(|entry| entry.d_tag.get(LE) == tag);
        let value = |tag| position(tag).map(|index| dynamic[index].d_val.get(LE));

        if value(elf::DT_REL).is_some() {
            return Err(ElfError::Rel);
        }
        let entry = value(elf::DT_RELAENT);
        if let (Some(address), Some(bytes)) = (value(elf::DT_RELA), value(elf::DT_RELASZ)) {
            self.relocate(&self.table("DT_RELA", address, bytes, entry)?)?;
        }
        if let (Some(address), Some(bytes)) = (value(elf::DT_JMPREL), value(elf::DT_PLTRELSZ)) {
            self.relocate(&self.table("DT_JMPREL", address, bytes, entry)?)?;
        }
        if let (Some(address), Some(size)) = (value(elf::DT_RELR), position(elf::DT_RELRSZ)) {
            let bytes = dynamic[size].d_val.get(LE);
            self.relocate_in_place(&self.table("DT_RELR", address, bytes, value(elf::DT_RELRENT))?)?;
            // An entry has 16 bytes: the tag, then the value.
            *self.word(start + 16 * size as u64 + 8)? = [0; 8];
        }
        Ok(())
    }

    /// Copies a table out of memory. `entry` is the size of its entries according to the file, if the file gives it.
    fn table<T: Pod>(
        &self,
        table: &'static str,
        address: u64,
        bytes: u64,
        entry: Option<u64>,
    ) -> Result<Vec<T>, ElfError> {
        let expected = size_of::<T>() as u64;
        let entry = entry.unwrap_or(expected);
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let found = self.find(address, bytes).and_then(|(index, range)| self.segments[index].data.get(range));
        let data = found.ok_or(ElfError::TableAddress { table, address, bytes })?;
        match slice_from_all_bytes(data) {
            Ok(entries) if entry == expected => Ok(entries.to_vec()),
            _ => Err(ElfError::TableEntry { table, bytes, entry, expected }),
        }
    }

    /// Applies relocations whose addends are in the table. Sums are modulo 2^64, as the ABI requires.
    fn relocate(&mut self, relocations: &[Rela64<LE>]) -> Result<(), ElfError> {
        for relocation in relocations {
            let address = relocation.r_offset.get(LE);
            match relocation.r_type(LE, false) {
                elf::R_AARCH64_NONE => {}
                elf::R_AARCH64_RELATIVE => {
                    let value = self.base.wrapping_add_signed(relocation.r_addend.get(LE));
                    *self.word(address)? = value.to_le_bytes();
                }
                kind => return Err(ElfError::Relocation { kind: kind.0, address }),
            }
        }
        Ok(())
    }

    /// Applies relocations whose addends are in the words to relocate.
    fn relocate_in_place(&mut self, relocations: &[Relr64<LE>]) -> Result<(), ElfError> {
        let base = self.base;
        for address in RelrIterator::<Header>::new(LE, relocations) {
            let word = self.word(address)?;
            *word = u64::from_le_bytes(*word).wrapping_add(base).to_le_bytes();
        }
        Ok(())
    }

    /// Returns the 8 bytes to relocate. If the file does not contain them, `data` is lengthened with zeros.
    fn word(&mut self, address: u64) -> Result<&mut [u8; 8], ElfError> {
        let error = ElfError::RelocationAddress { address };
        let Some((index, range)) = self.find(address, 8) else {
            return Err(error);
        };
        let missing = range.end.saturating_sub(self.segments[index].data.len());
        if missing > 0 {
            self.add_data(missing as u64)?;
            self.segments[index].data.resize(range.end, 0);
        }
        self.segments[index].data.get_mut(range).and_then(|word| word.try_into().ok()).ok_or(error)
    }

    /// Returns the symbols of functions and data, or `None` if the sections are damaged.
    fn symbols(&self, file: &[u8], header: &Header) -> Option<Vec<Symbol>> {
        let table = header.sections(LE, file).ok()?.symbols(LE, file, elf::SHT_SYMTAB).ok()?;
        let mut symbols = Vec::new();
        // Many symbols may share one long name, so limit the total length of names to the size of the file.
        let mut room = file.len();
        for symbol in table.iter() {
            let kind = match symbol.st_type() {
                elf::STT_FUNC => SymbolKind::Function,
                elf::STT_OBJECT => SymbolKind::Data,
                _ => continue,
            };
            let address = symbol.st_value.get(LE);
            let size = self.size(kind, address, symbol.st_size.get(LE));
            let Some(bytes) = size.filter(|_| symbol.st_shndx.get(LE) != elf::SHN_UNDEF) else {
                continue;
            };
            let name = table.symbol_name(LE, symbol).ok()?;
            room = room.checked_sub(name.len())?;
            symbols.push(Symbol { kind, address: address + self.base, bytes, name: text(name) });
        }
        symbols.sort_by_key(|symbol| symbol.address);
        Some(symbols)
    }
}

/// Returns the permissions of a segment. A writable segment is readable, too, because page tables of A64 cannot express
/// anything else.
fn permissions(program: &Program) -> Permissions {
    let flags = program.p_flags(LE);
    Permissions {
        read: flags.contains(elf::PF_R) || flags.contains(elf::PF_W),
        write: flags.contains(elf::PF_W),
        execute: flags.contains(elf::PF_X),
    }
}
