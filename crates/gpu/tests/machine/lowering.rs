//! Comparison of the lowering of words with its twin in Rust.

use kvrm_arm64::encoding::{ENCODINGS, HoleTest};
use kvrm_arm64::lowering::lower;
use kvrm_arm64::{Features, disassemble};
use kvrm_gpu::{Lowering, digest};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

use crate::support::device;

/// The number of pages of 1,024 words that are lowered at once.
const PAGES: usize = 256;

/// Lowers words on the GPU and in Rust, for a machine with `features`, and compares the micro-ops.
fn compare(words: &[u32], features: Features) {
    let mut lowering = Lowering::new(device(), PAGES, features).expect("the pages fit");
    for words in words.chunks(1024 * PAGES) {
        let ops = lowering.lower(words).expect("the GPU works");
        assert_eq!(ops.len(), words.len(), "one micro-op for each word");
        for (&word, op) in words.iter().zip(ops) {
            let expected = lower(word, features);
            assert_eq!(op, expected, "{word:#010x} {} with {features:?}", disassemble(word, 0));
        }
    }
}

/// Returns words of every row and their neighbours: words in its holes, and words that differ in one bit.
fn words_of_rows(of_each: usize, random: &mut Random) -> Vec<u32> {
    let mut words = Vec::new();
    for row in ENCODINGS {
        let canonical = row.pattern.canonical();
        words.extend((0..32).map(|bit| canonical ^ 1 << bit));
        for _ in 0..of_each {
            let word = words::matching(row, random);
            words.extend([word, word ^ 1 << random.below(32)]);
            for hole in row.holes {
                words.push(match hole.test {
                    HoleTest::Pattern(pattern) => word & !pattern.mask | pattern.value,
                    // For every size, imms of all ones is reserved.
                    HoleTest::ReservedBitMask => word | 0xfc00,
                });
            }
        }
        let word = words::allocated(row, random);
        words.extend((0..32).map(|bit| word ^ 1 << bit));
    }
    words
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn words_of_every_row_and_their_neighbours_become_the_same_micro_ops() {
    let words = words_of_rows(200, &mut Random::new(1));
    for features in [Features::ALL, Features::GENERAL, Features::ARMV8_0, Features::BASE] {
        compare(&words, features);
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn any_words_become_the_same_micro_ops() {
    let mut random = Random::new(2);
    let words: Vec<u32> = (0..1 << 20).map(|_| random.bits() as u32).collect();
    compare(&words, Features::ALL);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn blocks_of_words_have_the_same_digests() {
    let mut random = Random::new(3);
    // The first block, the last one, and random ones. The program `lowering_sweep` of `kvrm-gpu-tools` compares all.
    let mut blocks = vec![0, (1 << 22) - 1];
    blocks.extend((0..3_000).map(|_| random.below(1 << 22) as u32));
    for features in [Features::ALL, Features::ARMV8_0] {
        let mut lowering = Lowering::new(device(), 1, features).expect("the page fits");
        let digests = lowering.digests(&blocks).expect("the GPU works");
        let expected: Vec<u64> = blocks.iter().map(|&block| digest(block, features)).collect();
        for ((block, digest), expected) in blocks.iter().zip(digests).zip(expected) {
            assert_eq!(digest, expected, "block of words from {:#010x} on with {features:?}", block << 10);
        }
    }
}
