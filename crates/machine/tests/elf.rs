//! Tests of the ELF loader: the guests of the repository, every reason to refuse a file, and damaged files.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use kvrm_machine::elf::{
    DATA_SLACK, ElfError, Executable, MEMORY_LIMIT, PIE_BASE, Part, Symbol, SymbolKind, load, load_as,
};
use kvrm_machine::{Permissions, Segment, System};
use proptest::prelude::*;

// Constants of the ELF format, defined independently of the loader under test.
const EXEC: u16 = 2;
const DYN: u16 = 3;
const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;
const INTERP: u32 = 3;
const GNU_STACK: u32 = 0x6474_e551;
const R: u32 = 4;
const RW: u32 = 6;
const RX: u32 = 5;
const DT_NEEDED: u64 = 1;
const DT_PLTRELSZ: u64 = 2;
const DT_STRTAB: u64 = 5;
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
const DT_RELAENT: u64 = 9;
const DT_STRSZ: u64 = 10;
const DT_SONAME: u64 = 14;
const DT_REL: u64 = 17;
const DT_JMPREL: u64 = 23;
const DT_RELRSZ: u64 = 35;
const DT_RELR: u64 = 36;
const DT_RELRENT: u64 = 37;
const NONE: u64 = 0;
const GLOB_DAT: u64 = 1025;
const RELATIVE: u64 = 1027;
const IRELATIVE: u64 = 1032;

/// A description of an ELF file, from which [`File::bytes`] builds the file.
#[derive(Clone)]
struct File {
    class: u8,
    order: u8,
    kind: u16,
    machine: u16,
    entry: u64,
    program_size: u16,
    programs: Vec<Program>,
    /// The contents after the headers: pairs of a file offset and bytes.
    pieces: Vec<(usize, Vec<u8>)>,
    /// The file offset and number of section headers.
    sections: (u64, u16),
}

#[derive(Clone, Copy)]
struct Program {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    file: u64,
    memory: u64,
}

/// Returns the header of a segment whose file offset equals its address.
fn segment(flags: u32, address: u64, file: u64, memory: u64) -> Program {
    Program { kind: LOAD, flags, offset: address, address, file, memory }
}

/// Returns the header of a writable segment without data in the file.
fn zeros(address: u64, memory: u64) -> Program {
    Program { kind: LOAD, flags: RW, offset: 0, address, file: 0, memory }
}

/// Returns the smallest program: 16 bytes of code at 0x1000.
fn file(kind: u16) -> File {
    File {
        class: 2,
        order: 1,
        kind,
        machine: 183,
        entry: 0x1000,
        program_size: 56,
        programs: vec![segment(RX, 0x1000, 16, 16)],
        pieces: vec![(0x1000, words(&[0xd503_201f_d503_201f, 0xd45e_0000_d503_201f]))],
        sections: (0, 0),
    }
}

/// Returns a program with a dynamic section at 0x2000 and tables at 0x3000, in a writable segment of 0x2000 bytes with
/// 0x1800 bytes in the file.
fn dynamic(kind: u16, entries: &[(u64, u64)], tables: &[u64]) -> File {
    let mut file = file(kind);
    let entries: Vec<u64> = entries.iter().flat_map(|&(tag, value)| [tag, value]).chain([0, 0]).collect();
    let bytes = 8 * entries.len() as u64;
    file.programs.push(segment(RW, 0x2000, 0x1800, 0x2000));
    file.programs.push(Program { kind: DYNAMIC, ..segment(RW, 0x2000, bytes, bytes) });
    file.pieces.extend([(0x2000, words(&entries)), (0x3000, words(tables)), (0x37ff, vec![0])]);
    file
}

/// Returns a position independent program with these entries of `DT_RELA`: address, type, addend.
fn relocated(relocations: &[(u64, u64, u64)]) -> File {
    let table: Vec<u64> =
        relocations.iter().flat_map(|&(address, kind, addend)| [address, kind, addend]).collect();
    let bytes = 8 * table.len() as u64;
    dynamic(DYN, &[(DT_RELA, 0x3000), (DT_RELASZ, bytes), (DT_RELAENT, 24)], &table)
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

impl File {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0x7f, b'E', b'L', b'F', self.class, self.order, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend(self.kind.to_le_bytes());
        bytes.extend(self.machine.to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
        bytes.extend(words(&[self.entry, 64, self.sections.0]));
        bytes.extend(0u32.to_le_bytes());
        let count = u16::try_from(self.programs.len()).unwrap();
        // `e_shstrndx` is 2; the loader ignores it.
        for half in [64, self.program_size, count, 64, self.sections.1, 2] {
            bytes.extend(half.to_le_bytes());
        }
        for program in &self.programs {
            bytes.extend(program.kind.to_le_bytes());
            bytes.extend(program.flags.to_le_bytes());
            let Program { offset, address, file, memory, .. } = *program;
            bytes.extend(words(&[offset, address, address, file, memory, 0x1000]));
        }
        for (offset, piece) in &self.pieces {
            let end = offset + piece.len();
            bytes.resize(bytes.len().max(end), 0);
            bytes[*offset..end].copy_from_slice(piece);
        }
        bytes
    }

    fn load(&self) -> Result<Executable, ElfError> {
        let result = load(&self.bytes());
        if let Ok(executable) = &result {
            check(executable);
        }
        result
    }

    /// Returns the error with which the loader refuses the file, and its message.
    fn load_error(&self) -> (ElfError, String) {
        load_error(&self.bytes())
    }
}

fn load_error(file: &[u8]) -> (ElfError, String) {
    let error = load(file).expect_err("this file should be refused");
    let message = error.to_string();
    (error, message)
}

/// Checks the invariants of every loaded executable.
fn check(executable: &Executable) {
    let Executable { entry, segments, symbols, .. } = executable;
    let executable_at = |address: u64| {
        segments.iter().any(|segment| segment.permissions.execute && segment.range().contains(&address))
    };
    for segment in segments {
        assert!(segment.bytes > 0, "no segment is empty");
        assert!(segment.data.len() as u64 <= segment.bytes, "data fits its segment");
        assert!(segment.address.checked_add(segment.bytes).is_some_and(|end| end <= 1 << 48), "48 bits");
    }
    for pair in segments.windows(2) {
        assert!(pair[0].range().end <= pair[1].address, "segments are sorted and disjoint");
    }
    let total: u64 = segments.iter().map(|segment| segment.bytes).sum();
    assert!(total <= MEMORY_LIMIT, "memory is limited");
    assert!(entry.is_multiple_of(4) && executable_at(*entry), "the first instruction can be fetched");
    assert!(symbols.is_sorted_by_key(|symbol| symbol.address), "symbols are sorted");
    for symbol in symbols {
        let is_function = symbol.kind == SymbolKind::Function;
        assert!(!is_function || executable_at(symbol.address), "functions are executable");
        assert!(symbol.address + symbol.bytes <= 1 << 48, "functions end in the address space");
    }
}

/// Returns the doubleword at an address.
fn word(executable: &Executable, address: u64) -> u64 {
    let segment = executable.segments.iter().find(|segment| segment.range().contains(&address)).unwrap();
    let start = (address - segment.address) as usize;
    u64::from_le_bytes(segment.data[start..start + 8].try_into().unwrap())
}

/// Returns the compiled guests of the repository: names and files.
fn guests() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guests/bin");
    let mut guests: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "elf"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()))
        .collect();
    guests.sort();
    guests
}

/// Returns a little-endian number in a file.
fn number(file: &[u8], offset: usize, bytes: usize) -> u64 {
    file[offset..offset + bytes].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

#[test]
fn loads_every_guest_as_its_headers_say() {
    let guests = guests();
    assert!(guests.len() >= 16, "guests/bin has the compiled guests");
    for (name, file) in &guests {
        let loaded = load(file).unwrap();
        check(&loaded);
        let base = if number(file, 16, 2) == 3 { PIE_BASE } else { 0 };
        assert_eq!(loaded.entry, base + number(file, 24, 8), "{name}");
        let (table, count) = (number(file, 32, 8) as usize, number(file, 56, 2) as usize);
        let expected: Vec<Segment> = (0..count)
            .map(|index| table + 56 * index)
            .filter(|&at| number(file, at, 4) == 1)
            .map(|at| {
                let flags = number(file, at + 4, 4);
                let (offset, bytes) = (number(file, at + 8, 8) as usize, number(file, at + 32, 8) as usize);
                Segment {
                    address: base + number(file, at + 16, 8),
                    bytes: number(file, at + 40, 8),
                    data: file[offset..offset + bytes].to_vec(),
                    permissions: match flags {
                        4 => Permissions::R,
                        5 => Permissions::RX,
                        6 => Permissions::RW,
                        _ => panic!("guests have no segment with flags {flags}"),
                    },
                }
            })
            .collect();
        let places = |segments: &[Segment]| -> Vec<_> {
            segments
                .iter()
                .map(|segment| (segment.range(), segment.data.len(), segment.permissions))
                .collect()
        };
        assert_eq!(places(&loaded.segments), places(&expected), "{name}");
        // Relocated words differ; another test checks them.
        assert!(base != 0 || loaded.segments == expected, "{name}");
        let start = loaded.symbols.iter().find(|symbol| symbol.name == "_start").unwrap();
        assert_eq!(start.address, loaded.entry, "{name}");
        assert!(loaded.symbols.iter().any(|symbol| symbol.name == "run" && symbol.bytes > 0), "{name}");
    }
}

#[test]
fn loads_a_guest_at_the_addresses_that_readelf_shows() {
    let (_, file) = guests().into_iter().find(|(name, _)| name == "sieve").unwrap();
    let loaded = load(&file).unwrap();
    assert_eq!(loaded.entry, 0x40_1000, "entry");
    assert_eq!(loaded.segments.len(), 3, "text, constants and zeros");
    let zeros = &loaded.segments[2];
    assert_eq!(
        (zeros.address, zeros.data.len(), zeros.permissions),
        (0x40_2000, 0, Permissions::RW),
        "zeros"
    );
}

#[test]
fn relocates_the_position_independent_guest_and_changes_nothing_else() {
    let (_, file) = guests().into_iter().find(|(name, _)| name == "relocs").unwrap();
    let loaded = load(&file).unwrap();
    let data = loaded.segments.iter().find(|segment| segment.permissions.write).unwrap();
    // This guest has the same offsets in the file as addresses: table at 0x2d0, data at 0x2000.
    assert_eq!(data.address, PIE_BASE + 0x2000, "data");
    let mut expected = file[0x2000..][..data.data.len()].to_vec();
    let relocations: Vec<usize> = (0x2d0..0x678).step_by(24).collect();
    assert_eq!(relocations.len(), 39, "relocations");
    for at in relocations {
        assert_eq!(number(&file, at + 8, 8), RELATIVE, "the guest has only relative relocations");
        let target = number(&file, at, 8) as usize - 0x2000;
        expected[target..target + 8].copy_from_slice(&(PIE_BASE + number(&file, at + 16, 8)).to_le_bytes());
    }
    assert_eq!(data.data, expected, "data");
}

#[test]
fn loads_the_smallest_program() {
    let loaded = file(EXEC).load().unwrap();
    let data = words(&[0xd503_201f_d503_201f, 0xd45e_0000_d503_201f]);
    let segment = Segment { address: 0x1000, bytes: 16, data, permissions: Permissions::RX };
    assert_eq!(
        loaded,
        Executable {
            entry: 0x1000,
            segments: vec![segment],
            symbols: vec![],
            linux: None,
            interpreter: None
        },
        "the loaded program"
    );
}

#[test]
fn loads_from_an_odd_address() {
    let mut bytes = vec![0];
    bytes.extend(relocated(&[(0x3100, RELATIVE, 0)]).bytes());
    assert!(load(&bytes[1..]).is_ok(), "the file need not be aligned");
}

#[test]
fn sorts_segments_and_ignores_empty_ones_and_other_headers() {
    let mut file = file(EXEC);
    file.programs.insert(0, segment(R, 0x1010, 0, 0x10));
    file.programs.insert(0, segment(RX, 0x1008, 0, 0));
    file.programs.insert(0, Program { kind: GNU_STACK, ..zeros(0, 1 << 60) });
    let loaded = file.load().unwrap();
    let addresses: Vec<u64> = loaded.segments.iter().map(|segment| segment.address).collect();
    assert_eq!(addresses, [0x1000, 0x1010], "two segments that share a page");
}

#[test]
fn loads_a_position_independent_program_at_its_base() {
    let mut file = file(DYN);
    file.programs.push(segment(R, 0x40_0000, 0, 0x10));
    let loaded = file.load().unwrap();
    assert_eq!(loaded.entry, PIE_BASE + 0x1000, "entry");
    assert_eq!(loaded.segments[1].address, PIE_BASE + 0x40_0000, "distances between segments stay the same");
}

#[test]
fn relocates_by_both_tables_with_addends() {
    let table = [0x3101, RELATIVE, 0x44, 0, NONE, 0, 0x3200, RELATIVE, 0x55];
    let entries = [(DT_RELA, 0x3000), (DT_RELASZ, 48), (DT_JMPREL, 0x3030), (DT_PLTRELSZ, 24)];
    let loaded = dynamic(DYN, &entries, &table).load().unwrap();
    assert_eq!(word(&loaded, PIE_BASE + 0x3101), PIE_BASE + 0x44, "an unaligned relocation");
    assert_eq!(word(&loaded, PIE_BASE + 0x3200), PIE_BASE + 0x55, "a relocation of DT_JMPREL");
}

#[test]
fn relocates_a_program_at_fixed_addresses_with_base_zero() {
    let mut file = relocated(&[(0x3100, RELATIVE, 0x44)]);
    file.kind = EXEC;
    assert_eq!(word(&file.load().unwrap(), 0x3100), 0x44, "base 0 plus the addend");
}

#[test]
fn relocates_modulo_two_to_the_64() {
    let loaded = relocated(&[(0x3100, RELATIVE, u64::MAX)]).load().unwrap();
    assert_eq!(word(&loaded, PIE_BASE + 0x3100), PIE_BASE - 1, "an addend of -1");
}

#[test]
fn lengthens_the_data_of_a_segment_for_a_relocation_in_its_zeros() {
    let loaded = relocated(&[(0x3ff8, RELATIVE, 0x66)]).load().unwrap();
    assert_eq!(word(&loaded, PIE_BASE + 0x3ff8), PIE_BASE + 0x66, "the last word of the segment");
    assert_eq!(word(&loaded, PIE_BASE + 0x3ff0), 0, "the zeros before that word");
}

#[test]
fn relocates_in_place_and_clears_the_size_of_the_table() {
    // An address; a bitmap of the next 63 words with the second and the 63rd set; a bitmap of the 63 words after those.
    let table = [0x3100, 1 << 2 | 1 << 63 | 1, 1 << 1 | 1];
    let entries = [(DT_RELR, 0x3000), (DT_RELRSZ, 24), (DT_RELRENT, 8)];
    let mut file = dynamic(DYN, &entries, &table);
    let targets = [0x3100, 0x3108 + 8, 0x3108 + 8 * 62, 0x3108 + 8 * 63];
    file.pieces.extend(targets.map(|target| (target, words(&[target as u64]))));
    file.pieces.push((0x3108, words(&[7])));
    let loaded = file.load().unwrap();
    for target in targets.map(|target| target as u64) {
        assert_eq!(word(&loaded, PIE_BASE + target), PIE_BASE + target, "{target:#x}");
    }
    assert_eq!(word(&loaded, PIE_BASE + 0x3108), 7, "a word that is not in the table");
    assert_eq!(word(&loaded, PIE_BASE + 0x2010), DT_RELRSZ, "the tag of the second dynamic entry");
    assert_eq!(word(&loaded, PIE_BASE + 0x2018), 0, "the value of DT_RELRSZ");
}

#[test]
fn loads_large_zeroed_memory_without_allocating_it() {
    let mut file = file(EXEC);
    file.programs.push(zeros(0x1_0000, MEMORY_LIMIT - 16));
    let loaded = file.load().unwrap();
    assert_eq!(
        (loaded.segments[1].bytes, loaded.segments[1].data.capacity()),
        (MEMORY_LIMIT - 16, 0),
        "zeros"
    );
}

#[test]
fn loads_thousands_of_segments_quickly() {
    let mut file = file(EXEC);
    let places = (1..=60_000).rev().map(|page| zeros(0x1000 * (page + 1), 8));
    file.programs.extend(places);
    file.pieces[0].0 = 0x40_0000;
    file.programs[0].offset = 0x40_0000;
    let start = Instant::now();
    assert_eq!(file.load().unwrap().segments.len(), 60_001, "segments");
    assert!(start.elapsed() < Duration::from_secs(10), "60,001 segments took {:?}", start.elapsed());
}

#[test]
fn names_functions_and_data_by_address_within_their_segment() {
    let loaded = symbols(&[
        (10, 2, 0x1004, 1 << 40),
        (1, 2, 0x1000, 4),
        (1, 1, 0x1008, 4),
        (1, 1, 0x100c, 1 << 40),
        (1, 2, 0x5000, 4),
        (1, 1, 0x5000, 4),
        (1, 0, 0x1000, 4),
        (1, 6, 0x1000, 4),
    ]);
    let (function, data) = (SymbolKind::Function, SymbolKind::Data);
    let symbols = loaded.symbols.iter();
    let symbols: Vec<_> =
        symbols.map(|symbol| (symbol.kind, symbol.address, symbol.bytes, &*symbol.name)).collect();
    assert_eq!(
        symbols,
        [
            (function, 0x1000, 4, "function"),
            (function, 0x1004, 12, "other"),
            (data, 0x1008, 4, "function"),
            (data, 0x100c, 4, "function")
        ],
        "neither other kinds of symbols nor symbols outside of segments"
    );
}

#[test]
fn functions_are_found_by_address_and_all_symbols_by_name() {
    let symbol = |kind, address, bytes, name: &str| Symbol { kind, address, bytes, name: name.to_owned() };
    let mut builder =
        kvrm_machine::Program::builder().code(0x1000, &[0; 16]).data(0x2000, [0; 64], Permissions::RW);
    for new in [
        symbol(SymbolKind::Data, 0x2010, 4, "twice"),
        symbol(SymbolKind::Function, 0x1000, 16, "first"),
        symbol(SymbolKind::Data, 0x1008, 4, "constant"),
        symbol(SymbolKind::Data, 0x2000, 8, "twice"),
        symbol(SymbolKind::Function, 0x1020, 0, "unsized"),
    ] {
        builder = builder.symbol(new);
    }
    let program = builder.build().unwrap();
    let name = |address| program.function_at(address).map(|symbol| &*symbol.name);
    for (address, expected) in [
        (0xfff, None),
        (0x1000, Some("first")),
        (0x1009, Some("first")),
        (0x100f, Some("first")),
        (0x1010, None),
        (0x1020, Some("unsized")),
        (0x1021, None),
        (0x2000, None),
    ] {
        assert_eq!(name(address), expected, "at {address:#x}");
    }
    let address = |name| program.symbol(name).map(|symbol| symbol.address);
    assert_eq!(address("twice"), Some(0x2000), "the lowest address");
    assert_eq!(address("constant"), Some(0x1008), "data beside code");
    assert_eq!(address("third"), None, "no such name");
}

#[test]
fn loads_without_symbols_when_their_names_are_damaged() {
    assert_eq!(symbols(&[(1, 2, 0x1000, 4), (99, 2, 0x1004, 4)]).symbols, [], "a name outside the table");
}

#[test]
fn loads_without_symbols_when_repeated_names_exceed_the_limit() {
    assert_eq!(
        symbols(&[(1, 2, 0x1000, 4); 10_000]).symbols.len(),
        10_000,
        "8 bytes of name for 24 of symbol"
    );
    let mut file = symbols_file(&[(0, 2, 0x1000, 4); 1000]);
    let long = "a".repeat(50_000);
    let at = file.len() as u64;
    // The string table is the third section; its section header has the offset at 24 and the size at 32.
    let header = number(&file, 40, 8) as usize + 2 * 64;
    file.extend(long.bytes().chain([0]));
    file[header + 24..header + 40].copy_from_slice(&words(&[at, 50_001]));
    assert_eq!(load(&file).unwrap().symbols, [], "50 MB of names in a file of 80 KB");
}

/// Loads the smallest program with these symbols: offset of the name, type, address, size.
fn symbols(symbols: &[(u32, u8, u64, u64)]) -> Executable {
    let executable = load(&symbols_file(symbols)).unwrap();
    check(&executable);
    executable
}

fn symbols_file(symbols: &[(u32, u8, u64, u64)]) -> Vec<u8> {
    let names = b"\0function\0other\0".to_vec();
    let mut table = vec![];
    for &(name, kind, address, bytes) in symbols {
        table.extend(name.to_le_bytes());
        table.extend([kind, 0, 1, 0]);
        table.extend(words(&[address, bytes]));
    }
    let strings = 0x2000 + table.len();
    let section = |kind: u32, offset: usize, bytes: usize, link: u32, entry: u64| {
        let mut header = [[0; 4], kind.to_le_bytes()].concat();
        header.extend(words(&[0, 0, offset as u64, bytes as u64]));
        header.extend([link.to_le_bytes(), [0; 4]].concat());
        header.extend(words(&[1, entry]));
        header
    };
    let mut file = file(EXEC);
    let headers =
        [section(0, 0, 0, 0, 0), section(2, 0x2000, table.len(), 2, 24), section(3, strings, 16, 0, 0)];
    file.sections = (strings as u64 + 0x40, 3);
    file.pieces.extend([(0x2000, table), (strings, names), (strings + 0x40, headers.concat())]);
    file.bytes()
}

#[test]
fn refuses_a_file_without_the_elf_magic_number() {
    for (file, found) in [(&b"#!/bin/sh"[..], &b"#!/b"[..]), (b"\x7fEL", b"\x7fEL"), (b"", b"")] {
        assert_eq!(load_error(file).0, ElfError::Magic { found: found.to_vec() }, "{file:?}");
    }
    let (_, message) = load_error(b"#!/bin/sh");
    assert_eq!(
        message,
        "not an ELF file but a script: it begins with the bytes [23, 21, 2f, 62], expected [7f, 45, 4c, 46]: run its \
         interpreter, a static AArch64 program, and give it the script",
        "the error message"
    );
    let kinds: [(&[u8], &str); 12] = [
        (b"", "the file is empty, expected an ELF file"),
        (b"\xcf\xfa\xed\xfe\x0c\0\0\x01", " but a Mach-O file of macOS: "),
        (b"\xfe\xed\xfa\xce", " but a Mach-O file of macOS: "),
        (b"\xca\xfe\xba\xbe", " but a universal Mach-O file of macOS, or a Java class"),
        (b"MZ\x90\0", " but a PE file of Windows (.exe): "),
        (b"\0asm", " but a WebAssembly module: "),
        (b"BC\xc0\xde", " but LLVM bitcode: "),
        (b"!<arch>\n", " but an archive of object files (.a): "),
        (b"\x1f\x8b\x08\0", " but a compressed file: "),
        (b"int main", " but text: "),
        (b"\n", " but text: "),
        (b"\x1f\x20\x03\xd5", "not an ELF file: it begins with the bytes [1f, 20, 03, d5], "),
    ];
    for (file, kind) in kinds {
        let (_, message) = load_error(file);
        assert!(message.contains(kind), "{file:02x?}: {message}");
    }
}

#[test]
fn refuses_a_32_bit_file() {
    let (error, message) = File { class: 1, ..file(EXEC) }.load_error();
    assert_eq!(error, ElfError::Class { found: 1 }, "{message}");
    assert_eq!(
        message,
        "the ELF class is 1 (32-bit), expected 2 (64-bit): build the program for 64-bit Arm (aarch64)",
        "the error message"
    );
}

#[test]
fn refuses_a_big_endian_file() {
    let (error, message) = File { order: 2, ..file(EXEC) }.load_error();
    assert_eq!(error, ElfError::ByteOrder { found: 2 }, "{message}");
    assert_eq!(
        message,
        "the ELF data encoding is 2 (big-endian), expected 1 (little-endian): build the program for aarch64, not for aarch64_be",
        "the error message"
    );
}

#[test]
fn refuses_a_file_for_another_machine() {
    let (error, message) = File { machine: 62, ..file(EXEC) }.load_error();
    assert_eq!(error, ElfError::Machine { found: 62 }, "{message}");
    let expected = "the ELF machine is 62 (x86-64), expected 183 (AArch64): build the program for aarch64, for example with \
                    aarch64-linux-gnu-gcc -static";
    assert_eq!(message, expected, "the error message");
}

#[test]
fn refuses_a_relocatable_file_and_a_core_dump() {
    for (kind, name, advice) in [
        (0, "0", ""),
        (1, "1 (relocatable)", ": link the object into an executable, with -static"),
        (4, "4 (core)", ": give the program that was dumped"),
    ] {
        let (error, message) = file(kind).load_error();
        assert_eq!(error, ElfError::Type { found: kind }, "{message}");
        let expected =
            format!("the ELF type is {name}, expected 2 (executable) or 3 (position independent){advice}");
        assert_eq!(message, expected, "the error message");
    }
}

#[test]
fn refuses_a_file_that_ends_in_its_header() {
    let (error, message) = load_error(&file(EXEC).bytes()[..63]);
    assert_eq!(
        error,
        ElfError::Truncated { part: Part::Header, offset: 0, bytes: 64, file: 63 },
        "{message}"
    );
}

#[test]
fn refuses_a_file_that_ends_in_its_program_headers() {
    let (error, message) = load_error(&file(EXEC).bytes()[..100]);
    let part = Part::ProgramHeaders;
    assert_eq!(error, ElfError::Truncated { part, offset: 64, bytes: 56, file: 100 }, "{message}");
    assert_eq!(
        message,
        "the file is truncated: the table of program headers takes 0x38 bytes from 0x40, but the file has 0x64: copy or build it again",
        "the error message"
    );
}

#[test]
fn refuses_a_file_that_ends_in_a_segment() {
    for offset in [0x1001, u64::MAX] {
        let mut file = file(EXEC);
        file.programs[0].offset = offset;
        let (error, message) = file.load_error();
        let expected = ElfError::Truncated { part: Part::Segment(0), offset, bytes: 16, file: 0x1010 };
        assert_eq!(error, expected, "{message}");
    }
}

#[test]
fn refuses_program_headers_of_another_size() {
    let (error, message) = File { program_size: 32, ..file(EXEC) }.load_error();
    assert_eq!(error, ElfError::ProgramHeaderSize { found: 32 }, "{message}");
}

#[test]
fn refuses_a_file_without_segments() {
    let mut file = file(EXEC);
    file.programs.clear();
    assert_eq!(file.load_error().0, ElfError::NoSegments, "no program headers");
    file.programs.push(zeros(0x1000, 0));
    assert_eq!(file.load_error().0, ElfError::NoSegments, "an empty segment");
}

#[test]
fn refuses_a_segment_that_is_smaller_in_memory_than_in_the_file() {
    let mut file = file(EXEC);
    file.programs[0].memory = 8;
    let (error, message) = file.load_error();
    assert_eq!(error, ElfError::FileSize { segment: 0, file: 16, memory: 8 }, "{message}");
}

#[test]
fn refuses_a_segment_outside_the_address_space() {
    for (kind, address, bytes) in [
        (EXEC, (1 << 48) - 8, 16),
        (EXEC, u64::MAX - 8, 16),
        (EXEC, 0x2000, u64::MAX),
        (DYN, (1 << 48) - PIE_BASE - 8, 16),
        (DYN, u64::MAX - PIE_BASE, 16),
    ] {
        let mut file = file(kind);
        file.programs.push(zeros(address, bytes));
        let (error, message) = file.load_error();
        let base = if kind == DYN { PIE_BASE } else { 0 };
        assert_eq!(error, ElfError::AddressSpace { segment: 1, address, bytes, base }, "{message}");
    }
    let mut last = file(EXEC);
    last.programs.push(zeros((1 << 48) - 16, 16));
    assert!(last.load().is_ok(), "the last bytes of the address space");
}

#[test]
fn refuses_more_memory_than_the_limit() {
    for sizes in [[1 << 47, 8], [MEMORY_LIMIT / 2, MEMORY_LIMIT / 2]] {
        let mut file = file(EXEC);
        file.programs.push(zeros(0x1_0000, sizes[0]));
        file.programs.push(zeros(0x10_0000_0000, sizes[1]));
        let (error, message) = file.load_error();
        assert!(matches!(error, ElfError::MemoryLimit { bytes } if bytes > MEMORY_LIMIT), "{message}");
        assert!(message.ends_with("expected at most 0x1000000000"), "{message}");
    }
}

#[test]
fn refuses_segments_that_overlap() {
    let mut file = file(EXEC);
    file.programs.insert(0, zeros(0x100f, 0x20));
    let (error, message) = file.load_error();
    assert_eq!(error, ElfError::Overlap { first: 0x1000..0x1010, second: 0x100f..0x102f }, "{message}");
    assert_eq!(message, "segments overlap: 0x1000 to 0x1010 and 0x100f to 0x102f", "the error message");
}

#[test]
fn refuses_segments_that_share_too_many_bytes_of_the_file() {
    let mut file = file(EXEC);
    file.pieces.push((0x10_0000, vec![1; 0x10_0000]));
    file.programs
        .extend((1..100).map(|i| Program { offset: 0, ..segment(R, i << 28, 0x20_0000, 0x20_0000) }));
    let (error, message) = file.load_error();
    let limit = DATA_SLACK + 0x20_0000;
    assert!(matches!(error, ElfError::DataLimit { bytes, limit: l } if l == limit && bytes > l), "{message}");
}

#[test]
fn refuses_relocations_that_lengthen_data_beyond_the_limit() {
    for (target, fits) in [(0x1000_0000 + DATA_SLACK / 2, true), (0x1000_0000 + 2 * DATA_SLACK, false)] {
        let mut file = relocated(&[(target, RELATIVE, 0)]);
        file.programs.push(zeros(0x1000_0000, 1 << 30));
        match file.load() {
            Ok(loaded) => assert!(fits && word(&loaded, PIE_BASE + target) == PIE_BASE, "{target:#x}"),
            Err(error) => {
                assert!(!fits && matches!(error, ElfError::DataLimit { .. }), "{target:#x}: {error}");
            }
        }
    }
}

#[test]
fn refuses_a_misaligned_entry() {
    let (error, message) = File { entry: 0x1002, ..file(EXEC) }.load_error();
    assert_eq!(error, ElfError::EntryAlignment { entry: 0x1002 }, "{message}");
}

#[test]
fn refuses_an_entry_that_is_not_executable() {
    let mut file = file(EXEC);
    file.programs.push(zeros(0x2000, 0x1000));
    for entry in [0, 0xffc, 0x1010, 0x2000, u64::MAX - 3] {
        file.entry = entry;
        let (error, message) = file.load_error();
        assert_eq!(error, ElfError::EntryPermission { entry }, "{message}");
    }
}

#[test]
fn finds_the_dynamic_linker_of_a_linux_program() {
    let mut file = file(DYN);
    file.programs.push(Program { kind: INTERP, ..segment(R, 0x2000, 10, 10) });
    let (error, message) = file.load_error();
    let part = Part::Interpreter;
    assert_eq!(error, ElfError::Truncated { part, offset: 0x2000, bytes: 10, file: 0x1010 }, "{message}");
    file.pieces.push((0x2000, b"/lib/ld.so\0".to_vec()));
    let loaded = load(&file.bytes()).expect("it is a program for Linux");
    assert_eq!(
        (loaded.interpreter.as_deref(), loaded.linux.is_some()),
        (Some("/lib/ld.so"), true),
        "as the file says"
    );
    let error =
        load_as(&file.bytes(), Some(System::Semihosting)).expect_err("semihosting has no dynamic linker");
    assert_eq!(error, ElfError::Interpreter { path: "/lib/ld.so".into() });
    assert!(error.to_string().contains("\"/lib/ld.so\""), "{error}");
}

#[test]
fn refuses_a_program_that_needs_a_library() {
    let entries = [(DT_NEEDED, 1), (DT_STRTAB, 0x3000), (DT_STRSZ, 16)];
    let mut file = dynamic(DYN, &entries, &[]);
    file.pieces.push((0x3000, b"\0libc.so.6\0".to_vec()));
    let (error, message) = file.load_error();
    assert_eq!(error, ElfError::Library { name: "libc.so.6".into() }, "{message}");
}

#[test]
fn refuses_a_shared_library() {
    let entries = [(DT_NEEDED, 1), (DT_SONAME, 11), (DT_STRTAB, 0x3000), (DT_STRSZ, 24)];
    let mut library = dynamic(DYN, &entries, &[]);
    library.pieces.push((0x3000, b"\0libc.so.6\0libx.so\0".to_vec()));
    let (error, message) = library.load_error();
    assert_eq!(error, ElfError::SharedLibrary { name: Some("libx.so".into()) }, "{message}");
    // Without a name, address 0 is both the entry and the file header.
    let unnamed = File { entry: 0, programs: vec![segment(RX, 0, 0x1010, 0x1010)], ..file(DYN) };
    let (error, message) = unnamed.load_error();
    assert_eq!(error, ElfError::SharedLibrary { name: None }, "{message}");
    assert!(message.contains("shared library, expected a program"), "{message}");
}

#[test]
fn refuses_a_dynamic_table_that_is_not_in_the_file() {
    // Outside of memory; in zeros; across the end of the data in the file; with an end that overflows.
    for (address, bytes) in [(0x9000, 24), (0x3c00, 24), (0x37f8, 24), (0x3000, u64::MAX)] {
        let (error, message) = dynamic(DYN, &[(DT_RELA, address), (DT_RELASZ, bytes)], &[]).load_error();
        assert_eq!(error, ElfError::TableAddress { table: "DT_RELA", address, bytes }, "{message}");
    }
    let mut file = relocated(&[]);
    file.programs[2].address = 0x8000;
    let (error, message) = file.load_error();
    assert_eq!(
        error,
        ElfError::TableAddress { table: "PT_DYNAMIC", address: 0x8000, bytes: 64 },
        "{message}"
    );
}

#[test]
fn refuses_a_dynamic_table_with_other_entries() {
    for (table, address, size, tag, bytes, entry, expected) in [
        ("DT_RELA", DT_RELA, DT_RELASZ, DT_RELAENT, 48, 16, 24),
        ("DT_RELA", DT_RELA, DT_RELASZ, DT_RELAENT, 40, 24, 24),
        ("DT_JMPREL", DT_JMPREL, DT_PLTRELSZ, DT_RELAENT, 25, 24, 24),
        ("DT_RELR", DT_RELR, DT_RELRSZ, DT_RELRENT, 8, 4, 8),
    ] {
        let (error, message) =
            dynamic(DYN, &[(address, 0x3000), (size, bytes), (tag, entry)], &[]).load_error();
        assert_eq!(error, ElfError::TableEntry { table, bytes, entry, expected }, "{message}");
    }
}

#[test]
fn refuses_relocations_without_addends() {
    assert_eq!(dynamic(DYN, &[(DT_REL, 0x3000)], &[]).load_error().0, ElfError::Rel, "a DT_REL table");
}

#[test]
fn refuses_relocations_that_need_a_dynamic_linker() {
    for (kind, name) in [(GLOB_DAT, " (R_AARCH64_GLOB_DAT)"), (IRELATIVE, " (R_AARCH64_IRELATIVE)"), (9, "")]
    {
        let (error, message) = relocated(&[(0x3100, RELATIVE, 0), (0x3108, kind, 0)]).load_error();
        assert_eq!(error, ElfError::Relocation { kind: kind as u32, address: 0x3108 }, "{message}");
        let expected =
            format!("the relocation at 0x3108 is {kind}{name}, expected 1027 (R_AARCH64_RELATIVE)");
        assert_eq!(message, expected, "the error message");
    }
}

#[test]
fn refuses_a_relocation_outside_of_every_segment() {
    for address in [0, 0x100c, 0x3ff9, 0x4000, u64::MAX - 7, u64::MAX] {
        let (error, message) = relocated(&[(address, RELATIVE, 0)]).load_error();
        assert_eq!(error, ElfError::RelocationAddress { address }, "{message}");
    }
    let entries = [(DT_RELR, 0x3000), (DT_RELRSZ, 16)];
    let (error, message) = dynamic(DYN, &entries, &[0x3ff8, 3]).load_error();
    assert_eq!(error, ElfError::RelocationAddress { address: 0x4000 }, "{message}");
}

/// Loads an arbitrary file and checks the result: a valid executable, or an error with a message.
fn try_load(file: &[u8]) {
    match load(file) {
        Ok(executable) => check(&executable),
        Err(error) => assert!(!error.to_string().is_empty(), "every error has a message"),
    }
}

/// Returns the files to damage: a guest at fixed addresses, a position independent one, and a file with every table.
fn valid_files() -> Vec<Vec<u8>> {
    let mut files: Vec<_> = guests()
        .into_iter()
        .filter(|(name, _)| ["mix", "relocs"].contains(&&**name))
        .map(|(_, file)| file)
        .collect();
    let entries = [
        [(DT_RELA, 0x3000), (DT_RELASZ, 48)],
        [(DT_JMPREL, 0x3030), (DT_PLTRELSZ, 24)],
        [(DT_RELR, 0x3048), (DT_RELRSZ, 16)],
        [(DT_STRTAB, 0x3000), (DT_STRSZ, 16)],
    ];
    let table = [0x3101, RELATIVE, 0x44, 0, NONE, 0, 0x3ff0, RELATIVE, 0x55, 0x3200, 0xff];
    files.push(dynamic(DYN, &entries.concat(), &table).bytes());
    assert_eq!(files.len(), 3, "two guests and one built file");
    files
}

/// A modification of a file.
#[derive(Clone, Debug)]
enum Damage {
    /// Flips bits of the byte at a position, given as a fraction of the file in units of 2^-32.
    Flip(u32, u8),
    /// Truncates the file at a position, given in the same way.
    Cut(u32),
    /// Writes a number of this many bytes at an offset where headers or the dynamic section may be.
    Field(usize, usize, u64),
}

fn damage() -> impl Strategy<Value = Damage> {
    let value = prop_oneof![
        any::<u64>(),
        (0u32..64, -16i64..16).prop_map(|(shift, near)| (1u64 << shift).wrapping_add_signed(near)),
        0u64..0x5000,
        (-16i64..0).prop_map(i64::cast_unsigned),
    ];
    let place = prop_oneof![0usize..0x158, 0x2000usize..0x2100, 0x3000usize..0x3060];
    prop_oneof![
        3 => (any::<u32>(), 1..=u8::MAX).prop_map(|(place, bits)| Damage::Flip(place, bits)),
        1 => any::<u32>().prop_map(Damage::Cut),
        6 => (place, prop_oneof![Just(2), Just(4), Just(8)], value)
            .prop_map(|(place, bytes, value)| Damage::Field(place / bytes * bytes, bytes, value)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn survives_arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        try_load(&bytes);
    }

    #[test]
    fn survives_arbitrary_bytes_after_a_valid_identification(
        bytes in prop::collection::vec(any::<u8>(), 0..512),
        kind in EXEC..=DYN,
        program_size in prop_oneof![Just(56), any::<u16>()],
    ) {
        let mut file = File { program_size, kind, ..file(EXEC) }.bytes();
        file.truncate(56);
        file.extend(bytes);
        try_load(&file);
    }

    #[test]
    fn survives_damage_to_a_valid_file(
        (index, damage) in (0usize..3, prop::collection::vec(damage(), 1..6)),
    ) {
        let mut file = valid_files().swap_remove(index);
        for damage in damage {
            let place = |part: u32| ((u64::from(part) * file.len() as u64) >> 32) as usize;
            match damage {
                Damage::Flip(part, bits) if !file.is_empty() => {
                    let place = place(part);
                    file[place] ^= bits;
                }
                Damage::Flip(..) => {}
                Damage::Cut(part) => file.truncate(place(part)),
                Damage::Field(place, bytes, value) => {
                    if let Some(field) = file.get_mut(place..place + bytes) {
                        field.copy_from_slice(&value.to_le_bytes()[..bytes]);
                    }
                }
            }
        }
        try_load(&file);
    }
}
