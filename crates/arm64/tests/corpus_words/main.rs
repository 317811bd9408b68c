//! Committed results of other programs for single words: GNU objdump and Unicorn.

mod aliases;
mod disassembly;
mod undefined;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

/// Reads and decompresses a corpus of `tests/corpus`.
fn corpus(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(name);
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("a corpus is compressed ASCII");
    text
}

fn hexadecimal(digits: &str) -> u64 {
    u64::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("{digits} is not a hexadecimal number"))
}

/// Fails with the first ten differences, if there are any.
fn assert_none(differences: &[String], of: usize, what: &str) {
    let first: Vec<&str> = differences.iter().take(10).map(String::as_str).collect();
    let count = differences.len();
    assert!(differences.is_empty(), "{count} of {of} {what} differ; the first are:\n{}", first.join("\n"));
}
