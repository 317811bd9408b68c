//! The class of a row is the class of each of its words.

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{CLASS_BITS, Features, class_of, decode};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

const WORDS_OF_EACH: usize = 1000;

#[test]
fn the_class_of_a_row_is_the_class_of_all_its_words() {
    let mut random = Random::new(1);
    for row in ENCODINGS {
        for _ in 0..WORDS_OF_EACH {
            let word = words::allocated(row, &mut random);
            // Should-be bits may have any value.
            let word = word ^ random.bits() as u32 & row.pattern.should_be_mask;
            assert_eq!(decode(word), Some(row.op), "{word:#010x} is made from the diagram of {}", row.name);
            assert_eq!(class_of(word), row.class, "class of {word:#010x}, {}", row.name);
        }
    }
}

/// Because of this, a lane that selects a wrong class finds no row for the word. This holds for instructions on general
/// registers only: in Advanced SIMD, shifts by immediate and modified immediates share diagrams.
#[test]
fn rows_of_different_classes_have_no_word_in_common() {
    let rows: Vec<_> = ENCODINGS.iter().filter(|row| Features::GENERAL.has(row.feature)).collect();
    for (index, row) in rows.iter().enumerate() {
        for other in rows[..index].iter().filter(|other| other.class != row.class) {
            let (a, b) = (&row.pattern, &other.pattern);
            assert_ne!(
                (a.value ^ b.value) & a.mask & b.mask,
                0,
                "a word matches both {} and {}",
                row.name,
                other.name
            );
        }
    }
}

#[test]
fn the_class_depends_on_the_class_bits_alone() {
    let mut random = Random::new(2);
    assert_eq!(CLASS_BITS.count_ones(), 20, "the number of bits that the dispatch network sees");
    for _ in 0..100_000 {
        let (word, others) = (random.bits() as u32, random.bits() as u32 & !CLASS_BITS);
        assert_eq!(
            class_of(word),
            class_of(word ^ others),
            "classes of {word:#010x} and {:#010x}",
            word ^ others
        );
    }
}
