//! The compiled guest programs of KVRM, as data: an ELF file for each of them.
//!
//! The guests are small bare-metal programs for A64 that call the host by Arm semihosting. The README lists them, with
//! their arguments and the checks that they make.
//!
//! ```
//! let sieve = kvrm_guests::elf("sieve").expect("the guest exists");
//! assert_eq!(sieve[..4], *b"\x7fELF");
//! assert_eq!(kvrm_guests::elf("none"), None);
//! assert_eq!(kvrm_guests::FILES.len(), 17);
//! ```

#![no_std]

/// Embeds the compiled guests with these names.
macro_rules! files {
    ($($name:literal)*) => { [$(($name, include_bytes!(concat!("../bin/", $name, ".elf")))),*] };
}

/// The name and the ELF file of each guest, sorted by name.
#[rustfmt::skip] // Keeps the names in one column.
pub const FILES: [(&str, &[u8]); 17] = files![
    "bubble_sort"
    "decimal"
    "fft"
    "life"
    "lz"
    "mandelbrot"
    "matmul"
    "mix"
    "nbody"
    "quicksort"
    "relocs"
    "render"
    "sha256"
    "sieve"
    "strings"
    "vectors"
    "vm"
];

/// Returns the ELF file of the guest with this name.
#[must_use]
pub fn elf(name: &str) -> Option<&'static [u8]> {
    let index = FILES.binary_search_by(|(guest, _)| (*guest).cmp(name)).ok()?;
    Some(FILES[index].1)
}

/// The ELF file of `catch`, a small game that is an environment.
pub const CATCH: &[u8] = include_bytes!("../environments/bin/catch.elf");

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
