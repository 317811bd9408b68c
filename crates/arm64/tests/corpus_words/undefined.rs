//! UNDEFINED words against Unicorn at EL0. `cargo xtask oracle undefined` renews the corpora.

use kvrm_arm64::{Features, Instruction, Processor, disassemble};

use crate::{assert_none, corpus, hexadecimal};

/// The corpora, and the features of the machine for each. Neither has LSE.
const CORPORA: [(&str, Features); 2] =
    [("undefined.txt.gz", Features::ARMV8_0), ("undefined_simd.txt.gz", Processor::CortexA53.features())];

/// Whether a word is an instruction at EL0 of a machine with `features`.
fn executes(word: u32, features: Features) -> bool {
    let op = Instruction::new(word, features).op;
    op.is_some_and(|op| !op.encoding().is_undefined_at_el0())
}

/// Returns the lines of the corpus: a word, and whether it is defined.
fn lines(corpus: &str) -> impl Iterator<Item = (u32, bool)> {
    corpus.lines().map(|line| {
        let (word, verdict) = line.split_once(' ').unwrap_or_else(|| panic!("{line:?} has no verdict"));
        assert!(matches!(verdict, "defined" | "undefined"), "{line:?} has an unknown verdict");
        (u32::try_from(hexadecimal(word)).expect("a word has 32 bits"), verdict == "defined")
    })
}

#[test]
fn a_word_is_defined_where_unicorn_executes_it() {
    for (name, features) in CORPORA {
        let corpus = corpus(name);
        let differences: Vec<String> = lines(&corpus)
            .filter(|&(word, expected)| executes(word, features) != expected)
            .map(|(word, expected)| format!("{word:08x} {}: Unicorn says {expected}", disassemble(word, 0)))
            .collect();
        assert_none(&differences, corpus.lines().count(), "verdicts");
    }
}

#[test]
fn the_corpora_have_many_defined_and_many_undefined_words() {
    for (name, _) in CORPORA {
        let corpus = corpus(name);
        let (defined, undefined): (Vec<_>, Vec<_>) = lines(&corpus).partition(|&(_, defined)| defined);
        let (defined, undefined) = (defined.len(), undefined.len());
        assert!(defined > 10_000 && undefined > 10_000, "{defined} words are defined, {undefined} are not");
    }
}
