//! Checks that the ELF loader accepts or refuses any bytes without a panic, and that loaded programs are consistent.

#![no_main]

use kvrm_machine::elf::{DATA_SLACK, MEMORY_LIMIT, SymbolKind, load};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    let executable = match load(file) {
        Ok(executable) => executable,
        Err(error) => return assert!(!error.to_string().is_empty(), "every error has a message"),
    };
    let segments = &executable.segments;
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
    let memory: u64 = segments.iter().map(|segment| segment.bytes).sum();
    let data: u64 = segments.iter().map(|segment| segment.data.len() as u64).sum();
    assert!(memory <= MEMORY_LIMIT, "memory is limited");
    assert!(data <= file.len() as u64 + DATA_SLACK, "data is limited by the file");
    assert!(
        executable.entry.is_multiple_of(4) && executable_at(executable.entry),
        "the entry can be fetched"
    );
    assert!(executable.symbols.is_sorted_by_key(|symbol| symbol.address), "symbols are sorted");
    for symbol in &executable.symbols {
        let is_function = symbol.kind == SymbolKind::Function;
        assert!(!is_function || executable_at(symbol.address), "functions are executable");
        assert!(symbol.address + symbol.bytes <= 1 << 48, "symbols end in the address space");
    }
});
