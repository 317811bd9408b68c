//! Round trips: the operands of a word encode to the same word.

use kvrm_arm64::asm::{args, encode};
use kvrm_arm64::decode;
use kvrm_arm64::encoding::ENCODINGS;
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

const WORDS_OF_EACH: usize = 1000;

#[test]
fn operands_of_a_word_encode_to_the_word() {
    let mut random = Random::new(1);
    for row in ENCODINGS {
        for _ in 0..WORDS_OF_EACH {
            let word = words::allocated(row, &mut random);
            let args = args(row.op, word);
            assert_eq!(encode(row.op, &args), Ok(word), "{} {args:?}, from {word:#010x}", row.name);
        }
    }
}

#[test]
fn fields_at_their_limits_encode_to_the_word() {
    // Each field is all zeros or all ones, in every combination, to reach signs and register 31.
    for row in ENCODINGS {
        let fields: Vec<u32> =
            row.operands.iter().map(|operand| operand.bits(row.pattern.variable_bits())).collect();
        for choice in 0..1 << fields.len() {
            let chosen = fields.iter().enumerate().filter(|(index, _)| choice >> index & 1 == 1);
            let word = chosen.fold(row.pattern.canonical(), |word, (_, field)| word | field);
            if decode(word) == Some(row.op) {
                let args = args(row.op, word);
                assert_eq!(encode(row.op, &args), Ok(word), "{} {args:?}, from {word:#010x}", row.name);
            }
        }
    }
}

#[test]
fn should_be_bits_are_ignored_on_decoding_and_canonical_on_encoding() {
    let mut random = Random::new(2);
    let rows: Vec<_> = ENCODINGS.iter().filter(|row| row.pattern.should_be_mask != 0).collect();
    assert!(rows.len() >= 30, "only {} rows have should-be bits", rows.len());
    for row in rows {
        for _ in 0..WORDS_OF_EACH {
            let word = words::allocated(row, &mut random);
            let odd = word ^ random.bits() as u32 & row.pattern.should_be_mask;
            assert_eq!(decode(odd), Some(row.op), "{odd:#010x} is {}", row.name);
            assert_eq!(args(row.op, odd), args(row.op, word), "operands of {odd:#010x} and {word:#010x}");
            assert_eq!(encode(row.op, &args(row.op, odd)), Ok(word), "{} from {odd:#010x}", row.name);
        }
    }
}
