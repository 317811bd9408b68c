//! The guest programs of the repository.

use std::path::{Path, PathBuf};

use kvrm_machine::{Features, Program};

/// All guests that use integer instructions only, each with a size argument for a short run.
pub const GUESTS: [(&str, &str); 12] = [
    ("bubble_sort", "40"),
    ("life", "1"),
    ("lz", "300"),
    ("matmul", "4"),
    ("mix", "300"),
    ("quicksort", "200"),
    ("relocs", "500"),
    ("render", "1"),
    ("sha256", "3"),
    ("sieve", "1000"),
    ("strings", "2"),
    ("vm", "4"),
];

/// All guests that use floating point and vectors, each with a size argument for a short run.
pub const FP_GUESTS: [(&str, &str); 5] =
    [("decimal", "1"), ("fft", "2"), ("mandelbrot", "2"), ("nbody", "20"), ("vectors", "2")];

/// The guests for Linux, with arguments. Each entry ends in a different way.
pub const LINUX_GUESTS: [(&str, &[&str]); 10] = [
    ("files", &["/tmp/kvrm-guest"]),
    ("files", &[]),
    ("limits", &["/tmp/kvrm-guest"]),
    ("memory", &[]),
    ("process", &["two words", "abort"]),
    ("process", &["sigpipe"]),
    ("space", &[]),
    ("tls", &[]),
    ("threads", &[]),
    ("processes", &[]),
];

/// Returns the features of a machine that can run the guest called `name`.
#[must_use]
pub fn features(name: &str) -> Features {
    let fp = FP_GUESTS.iter().any(|(guest, _)| *guest == name);
    Features { fp, ..Features::ARMV8_0 }
}

/// Returns the folder of the compiled guests.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guests/bin")
}

/// Returns the guest called `name`.
///
/// # Panics
/// If there is none of that name.
#[must_use]
pub fn guest(name: &str) -> Program {
    Program::open(folder().join(name).with_extension("elf")).expect("the compiled guest exists in guests/")
}

/// Returns the guest for Linux called `name`.
///
/// # Panics
/// If there is none of that name.
#[must_use]
pub fn linux_guest(name: &str) -> Program {
    let path = folder().join("../linux/bin").join(name).with_extension("elf");
    Program::open(path).expect("the compiled guest exists in guests/")
}
