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

/// Every guest for Linux, with arguments that end it in a way of its own.
pub const LINUX_GUESTS: [(&str, &[&str]); 6] = [
    ("files", &["/tmp/kvrm-guest"]),
    ("files", &[]),
    ("memory", &[]),
    ("process", &["two words", "abort"]),
    ("process", &["sigpipe"]),
    ("tls", &[]),
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

/// A guest for Linux.
///
/// # Panics
/// If there is none of that name.
#[must_use]
pub fn linux_guest(name: &str) -> Program {
    let path = folder().join("../linux/bin").join(name).with_extension("elf");
    Program::open(path).expect("the guest is there")
}
