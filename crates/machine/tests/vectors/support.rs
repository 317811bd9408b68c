//! The corpora, read once.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use kvrm_machine::vectors::{Mismatch, Vector, open, parse};

pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(name)
}

fn read(name: &str) -> Vec<Vector> {
    open(&path(name)).unwrap_or_else(|error| panic!("{error}"))
}

/// Made by Unicorn.
pub(crate) static UNICORN: LazyLock<Vec<Vector>> = LazyLock::new(|| read("unicorn.jsonl.gz"));
/// Made by Unicorn: floating point and vectors.
pub(crate) static SIMD: LazyLock<Vec<Vector>> = LazyLock::new(|| read("simd.jsonl.gz"));
/// Written by hand.
pub(crate) static MANUAL: LazyLock<Vec<Vector>> = LazyLock::new(|| read("manual.jsonl"));

/// The one vector that a line is.
pub(crate) fn vector(line: &str) -> Vector {
    let mut vectors = parse("line", line).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(vectors.len(), 1, "one line is one vector");
    vectors.remove(0)
}

/// What differs when a vector is run: its name, what was expected and what came.
pub(crate) fn differences(vector: &Vector) -> Vec<(String, String, String)> {
    let parts = |Mismatch { what, expected, got }| (what, expected, got);
    vector.run().into_iter().map(parts).collect()
}
