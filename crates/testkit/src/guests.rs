//! The guest programs of the repository.

use std::path::{Path, PathBuf};

use kvrm_machine::{Features, Program};

/// Every guest that needs nothing but integer instructions, with a size that makes a short run.
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

/// Every guest that needs floating point and vectors, with a size that makes a short run.
pub const FP_GUESTS: [(&str, &str); 5] =
    [("decimal", "1"), ("fft", "2"), ("mandelbrot", "2"), ("nbody", "20"), ("vectors", "2")];

/// Every guest for Linux, with arguments that end it in a way of its own.
pub const LINUX_GUESTS: [(&str, &[&str]); 6] = [
    ("files", &["/tmp/kvrm-guest"]),
    ("files", &[]),
    ("memory", &[]),
    ("process", &["two words", "abort"]),
    ("process", &["sigpipe"]),
    ("tls", &[]),
];

/// What a machine has to have to run a guest.
#[must_use]
pub fn features(name: &str) -> Features {
    let fp = FP_GUESTS.iter().any(|(guest, _)| *guest == name);
    Features { fp, ..Features::ARMV8_0 }
}

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
