//! Round trips: the disassembly of a word assembles to the word.

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::operand::Operand;
use kvrm_arm64::semantics::bitmask::decode_bit_masks;
use kvrm_arm64::{Encoding, Word, assemble, decode, disassemble};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

const WORDS_OF_EACH: usize = 200;
const ADDRESSES: [u64; 2] = [0, 0xffff_8000_1234_5678];
/// Operands of at most so many bits take all their values.
const SMALL: u32 = 9;

/// Returns `word` with the bits that its text does not have as the assembler chooses them.
fn normal(row: &Encoding, word: u32) -> u32 {
    let hidden = row.operands.iter().filter(|operand| operand.is_hidden());
    let mut word = word & !row.pattern.should_be_mask | row.pattern.should_be_value;
    for operand in hidden {
        let w = Word(word);
        let size = w.imm5().trailing_zeros();
        word &= match operand {
            Operand::Imm5Ignored => !(0x1f << (17 + size) & 0x1f << 16),
            _ => !(((1 << size) - 1) << 11),
        };
    }
    if row.operands.iter().any(|operand| matches!(operand, Operand::LogicalImm(_))) {
        // The rotation of an element counts only up to its size.
        let w = Word(word);
        let mask = |immr| decode_bit_masks(w.n(), w.imms(), immr, true).map(|masks| masks.wmask);
        let least = (0..=w.immr()).find(|&immr| mask(immr) == mask(w.immr())).unwrap_or_default();
        word = word & !(0x3f << 16) | least << 16;
    }
    word
}

fn check(row: &Encoding, word: u32, pc: u64) {
    let text = disassemble(word, pc).to_string();
    let assembled =
        assemble(pc, &text).unwrap_or_else(|error| panic!("{word:#010x} of {}: {error}", row.name));
    let expected = normal(row, word);
    assert_eq!(assembled, [expected], "{word:#010x}, which is `{text}`, became {assembled:08x?}");
    assert_eq!(decode(expected), Some(row.op), "{word:#010x} and {expected:#010x} have the same encoding");
    assert_eq!(
        disassemble(expected, pc).to_string(),
        text,
        "{word:#010x} and {expected:#010x} have the same text"
    );
}

#[test]
fn random_words_of_every_encoding_assemble_from_their_disassembly() {
    let mut random = Random::new(1);
    for row in ENCODINGS {
        for pc in ADDRESSES {
            for _ in 0..WORDS_OF_EACH / ADDRESSES.len() {
                check(row, words::allocated(row, &mut random), pc);
            }
        }
    }
}

#[test]
fn all_values_of_each_small_operand_assemble_from_their_disassembly() {
    let mut random = Random::new(2);
    for row in ENCODINGS {
        for operand in row.operands {
            let mask = operand.bits(row.pattern.variable_bits());
            if mask.count_ones() > SMALL {
                continue;
            }
            let others = words::allocated(row, &mut random) & !mask;
            // Steps through all subsets of `mask`, the empty one last.
            let mut subset = mask;
            loop {
                if decode(others | subset) == Some(row.op) {
                    check(row, others | subset, ADDRESSES[0]);
                }
                if subset == 0 {
                    break;
                }
                subset = (subset - 1) & mask;
            }
        }
    }
}

#[test]
fn undefined_words_assemble_from_their_disassembly() {
    for word in [u32::MAX, 0x0001_0000] {
        let text = disassemble(word, 0).to_string();
        assert_eq!(assemble(0, &text), Ok(vec![word]), "`{text}`");
    }
}

#[test]
fn a_text_in_upper_case_without_number_signs_means_the_same() {
    let mut random = Random::new(3);
    for row in ENCODINGS {
        for _ in 0..20 {
            let word = words::allocated(row, &mut random);
            let text = disassemble(word, 0).to_string();
            let upper = text.to_uppercase().replace('#', "").replace("0X", "0x");
            assert_eq!(assemble(0, &upper), assemble(0, &text), "`{upper}`, from {word:#010x}");
        }
    }
}
