//! Comparison of UNDEFINED words with Unicorn.

use anyhow::{Result, bail};
use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{Encoding, Features, Instruction, Op, Processor, disassemble};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

use super::corpus::write_corpus;
use super::unicorn::Unicorn;

/// The number of answers in the corpus: enough to notice a lost hole, few enough to commit.
const CORPUS_WORDS: usize = 40_000;

/// Compares words of general registers, then words of floating point and vectors.
pub(super) fn run(count: usize, seed: u64, write: bool) -> Result<()> {
    ask("undefined.txt.gz", count, seed, write, false)?;
    ask("undefined_simd.txt.gz", count, seed, write, true)
}

fn ask(corpus: &str, count: usize, seed: u64, write: bool, simd: bool) -> Result<()> {
    let rows: Vec<&Encoding> = ENCODINGS
        .iter()
        .filter(|row| {
            row.feature.is_simd() == simd
                && Processor::CortexA53.features().union(Features::GENERAL).has(row.feature)
        })
        .collect();
    let mut unicorn = Unicorn::start()?;
    let mut random = Random::new(seed);
    let (mut text, mut differ, mut asked, mut defined_count) = (String::new(), 0, 0, 0);
    while asked < count {
        let words: Vec<u32> = std::iter::repeat_with(|| word(&rows, &mut random))
            .filter(|&w| comparable(w, simd))
            .take(1000)
            .collect();
        let answers: Vec<bool> = unicorn.ask(&serde_json::json!({ "words": words }))?;
        for (&word, defined) in words.iter().zip(answers) {
            defined_count += usize::from(defined);
            let ours = executes(word, simd);
            if ours != defined {
                differ += 1;
                if differ <= 20 {
                    println!("{word:08x} {}: KVRM {ours}, Unicorn {defined}", disassemble(word, 0));
                }
            }
            if asked < CORPUS_WORDS {
                text += &format!("{word:08x} {}\n", if defined { "defined" } else { "undefined" });
            }
            asked += 1;
        }
    }
    println!(
        "{corpus}: {asked} words, {defined_count} defined, {differ} on which decoder and Unicorn differ"
    );
    if differ > 0 {
        bail!("decoder and Unicorn differ");
    }
    if write { write_corpus(corpus, &text) } else { Ok(()) }
}

/// Returns a random word that is likely to be almost defined: a word of a table row with up to two bits flipped, or any
/// word.
fn word(rows: &[&Encoding], random: &mut Random) -> u32 {
    if random.below(4) == 0 {
        return random.bits() as u32;
    }
    let mut word = words::matching(random.pick::<&Encoding>(rows), random);
    for _ in 0..random.below(3) {
        word ^= 1 << random.below(32);
    }
    word
}

/// Returns whether a machine of KVRM without LSE executes the word at EL0.
fn executes(word: u32, simd: bool) -> bool {
    let features = if simd { Processor::CortexA53.features() } else { Features::ARMV8_0 };
    let op = Instruction::new(word, features).op;
    op.is_some_and(|op| !op.encoding().is_undefined_at_el0())
}

/// Returns whether KVRM and Unicorn can be compared on a word. They cannot on system instructions and registers, which
/// depend on settings of EL1, and on features that the machine under test does not have.
pub(super) fn comparable(word: u32, simd: bool) -> bool {
    let group = word >> 25 & 15;
    let floating_point = group & 0b0111 == 0b0111 || (group & 0b0101 == 0b0100 && word >> 26 & 1 == 1);
    let system = word >> 22 == 0b11_0101_0100;
    let exception_return = word >> 21 == 0b110_1011_0100 || word >> 21 == 0b110_1011_0101;
    let op = Instruction::new(word, Features::ARMV8_0).op;
    let other_exception = matches!(op, Some(Op::HLT_EX_exception | Op::SMC_EX_exception));
    !(floating_point && !simd || system || exception_return || other_exception)
}
