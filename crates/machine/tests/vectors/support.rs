//! The corpora, which are read once, and helpers for single vectors.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use kvrm_machine::vectors::{Mismatch, Vector, open, parse};

pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(name)
}

fn read(name: &str) -> Vec<Vector> {
    open(&path(name)).unwrap_or_else(|error| panic!("{error}"))
}

/// The vectors generated with Unicorn.
pub(crate) static UNICORN: LazyLock<Vec<Vector>> = LazyLock::new(|| read("unicorn.jsonl.gz"));
/// The vectors of floating point and SIMD generated with Unicorn.
pub(crate) static SIMD: LazyLock<Vec<Vector>> = LazyLock::new(|| read("simd.jsonl.gz"));
/// The vectors of features after Armv8.0, generated with QEMU and Unicorn.
pub(crate) static LATER: LazyLock<Vec<Vector>> = LazyLock::new(|| read("later.jsonl.gz"));
/// The vectors of pointer authentication, generated with QEMU's system emulator.
pub(crate) static PAUTH: LazyLock<Vec<Vector>> = LazyLock::new(|| read("pauth.jsonl.gz"));
/// The vectors written by hand.
pub(crate) static MANUAL: LazyLock<Vec<Vector>> = LazyLock::new(|| read("manual.jsonl"));

/// Parses a line with one vector.
pub(crate) fn vector(line: &str) -> Vector {
    let mut vectors = parse("line", line).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(vectors.len(), 1, "one line is one vector");
    vectors.remove(0)
}

/// Runs a vector and returns its differences: name, expected value and actual value.
pub(crate) fn differences(vector: &Vector) -> Vec<(String, String, String)> {
    let parts = |Mismatch { what, expected, got, .. }| (what, expected, got);
    vector.run().into_iter().map(parts).collect()
}
