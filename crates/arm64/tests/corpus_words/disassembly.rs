//! The disassembler against texts of GNU objdump, which `cargo xtask oracle disasm` renews.

use std::collections::BTreeMap;

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{decode, disassemble};

use crate::{assert_none, corpus, hexadecimal};

/// Mnemonics that the corpus need not cover: hints that binutils 2.40 does not know yet, and system instructions whose
/// operands have names, most of which only one of binutils and KVRM knows.
const UNKNOWN: [&str; 7] = ["dgh", "gcsb", "clrbhb", "chkfeat", "sys", "msr", "mrs"];

/// Returns the lines of the corpus: address, word, text.
fn lines(corpus: &str) -> impl Iterator<Item = (u64, u32, &str)> {
    corpus.lines().map(|line| {
        let mut parts = line.splitn(3, ' ');
        let mut part = || parts.next().unwrap_or_else(|| panic!("{line:?} has too few parts"));
        let (pc, word, text) = (hexadecimal(part()), hexadecimal(part()), part());
        (pc, u32::try_from(word).expect("a word has 32 bits"), text)
    })
}

#[test]
fn disassembly_is_what_objdump_prints() {
    let corpus = corpus("disasm.txt.gz");
    let differences: Vec<String> = lines(&corpus)
        .map(|(pc, word, expected)| (pc, word, expected, disassemble(word, pc).to_string()))
        .filter(|(_, _, expected, actual)| actual != expected)
        .map(|(pc, word, expected, actual)| {
            format!("{word:08x} at {pc:#x}: `{actual}`, but objdump prints `{expected}`")
        })
        .collect();
    assert_none(&differences, corpus.lines().count(), "texts");
}

#[test]
fn the_corpus_covers_every_encoding_that_objdump_knows() {
    let corpus = corpus("disasm.txt.gz");
    let mut counts = BTreeMap::new();
    for (_, word, _) in lines(&corpus) {
        *counts.entry(decode(word)).or_insert(0) += 1;
    }
    for row in ENCODINGS.iter().filter(|row| !UNKNOWN.contains(&row.mnemonic)) {
        let count = counts.get(&Some(row.op)).copied().unwrap_or(0);
        assert!(count >= 10, "the corpus has {count} words of {}", row.name);
    }
}
