//! The guest programs of the repository.

use std::path::{Path, PathBuf};

use kvrm_machine::Program;

/// Every guest, with a size that makes a short run.
pub const GUESTS: [(&str, &str); 11] = [
    ("bubble_sort", "40"),
    ("life", "1"),
    ("lz", "300"),
    ("matmul", "4"),
    ("mix", "300"),
    ("quicksort", "200"),
    ("relocs", "500"),
    ("sha256", "3"),
    ("sieve", "1000"),
    ("strings", "2"),
    ("vm", "4"),
];

/// Where they are.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guests/bin")
}

/// A guest.
///
/// # Panics
/// If there is none of that name.
#[must_use]
pub fn guest(name: &str) -> Program {
    Program::open(folder().join(name).with_extension("elf")).expect("the guest is there")
}
