//! Which words Unicorn executes at EL0: `cargo xtask oracle undefined` renews them.

use kvrm_arm64::{Features, Instruction, disassemble};

use crate::{assert_none, corpus, hexadecimal};

/// The corpora, and the machines without LSE that they are about.
const CORPORA: [(&str, Features); 2] = [
    ("undefined.txt.gz", Features::ARMV8_0),
    ("undefined_simd.txt.gz", Features { lse: false, ..Features::ALL }),
];

/// Whether a machine takes the word as an instruction of EL0.
fn executes(word: u32, features: Features) -> bool {
    let op = Instruction::new(word, features).op;
    op.is_some_and(|op| !op.encoding().is_undefined_at_el0())
}

/// The lines of the corpus: word, whether it is defined.
fn lines(corpus: &str) -> impl Iterator<Item = (u32, bool)> {
    corpus.lines().map(|line| {
        let (word, verdict) = line.split_once(' ').unwrap_or_else(|| panic!("{line:?} has no verdict"));
        assert!(matches!(verdict, "defined" | "undefined"), "{line:?} has no verdict that we know");
        (u32::try_from(hexadecimal(word)).expect("a word has 32 bits"), verdict == "defined")
    })
}

#[test]
fn a_word_is_defined_where_unicorn_executes_it() {
    for (name, features) in CORPORA {
        let corpus = corpus(name);
        let differences: Vec<String> = lines(&corpus)
            .filter(|&(word, theirs)| executes(word, features) != theirs)
            .map(|(word, theirs)| format!("{word:08x} {}: Unicorn says {theirs}", disassemble(word, 0)))
            .collect();
        assert_none(&differences, corpus.lines().count(), "verdicts");
    }
}

#[test]
fn the_words_unicorn_was_asked_about_lie_on_both_sides_of_the_border() {
    for (name, _) in CORPORA {
        let corpus = corpus(name);
        let (defined, undefined): (Vec<_>, Vec<_>) = lines(&corpus).partition(|&(_, defined)| defined);
        let (defined, undefined) = (defined.len(), undefined.len());
        assert!(defined > 10_000 && undefined > 10_000, "{defined} words are defined, {undefined} are not");
    }
}
