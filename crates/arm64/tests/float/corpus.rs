//! Comparison of floating-point instructions with QEMU: results and flags with every FPCR, Arm's rules for NaNs,
//! flushing, the alternative half precision, estimates, saturation. `cargo xtask oracle float` renews the corpus.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use kvrm_arm64::semantics::float::round::FpResult;
use kvrm_testkit::float::instructions;

/// A line of the corpus is `fadd s0, s1, s2: fpcr v1 v2 v3 = result fpsr`, with numbers in hexadecimal.
#[test]
fn every_instruction_computes_what_qemu_computes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/float.txt.gz");
    let mut corpus = String::new();
    let file = File::open(path).expect("the corpus is committed");
    GzDecoder::new(file).read_to_string(&mut corpus).expect("it is compressed ASCII");

    let all = instructions();
    let mut counts: BTreeMap<&str, usize> = all.iter().map(|known| (known.text.as_str(), 0)).collect();
    for line in corpus.lines() {
        let (text, numbers) = line.split_once(": ").expect("a text and numbers");
        let numbers: Vec<u64> = numbers
            .split([' ', '='])
            .filter(|word| !word.is_empty())
            .map(|word| u64::from_str_radix(word, 16).expect("hexadecimal numbers"))
            .collect();
        let [fpcr, x, y, z, value, fpsr] = numbers[..] else { panic!("six numbers: {line}") };
        let instruction =
            all.iter().find(|known| known.text == text).expect("the instruction of the line is in the list");
        let actual = instruction.compute((fpcr as u32, [x, y, z]));
        assert_eq!(actual, FpResult { value, fpsr: fpsr as u32 }, "{line}");
        *counts.get_mut(text).expect("it was found") += 1;
    }
    let missing: Vec<&str> =
        counts.iter().filter(|(_, count)| **count < 100).map(|(text, _)| *text).collect();
    assert!(missing.is_empty(), "the corpus has fewer than 100 lines of {missing:?}");
}
