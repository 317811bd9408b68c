//! Checks that are too slow for every word and run on a sample.

use std::panic;

use kvrm_arm64::asm::{args, encode};
use kvrm_arm64::operand::Operand;
use kvrm_arm64::{Op, decode, disassemble};

/// Returns whether a word belongs to the sample: one word in 256, independent of its fields.
pub(super) fn is_sampled(word: u32) -> bool {
    // Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, 6.4).
    word.wrapping_mul(0x9e37_79b9) >> 24 == 0
}

/// Checks that a word that decodes to `op` assembles from its operands and from its disassembly.
pub(super) fn check(word: u32, op: Option<Op>) -> Result<(), String> {
    panic::catch_unwind(|| {
        if let Some(op) = op {
            assemble(word, op)?;
        }
        let text = disassemble(word, 0).to_string();
        let says_undefined = text.starts_with(".inst");
        if says_undefined == op.is_none() {
            assemble_text(word, op, &text)
        } else {
            Err(format!("is {op:?}; the disassembly is {text}"))
        }
    })
    .unwrap_or_else(|_| Err("panics in the assembler or disassembler".to_owned()))
}

/// Checks that the operands of `word` assemble to `word`, with should-be bits as specified.
fn assemble(word: u32, op: Op) -> Result<(), String> {
    let pattern = op.encoding().pattern;
    let expected = word & !pattern.should_be_mask | pattern.should_be_value;
    match encode(op, &args(op, word)) {
        Ok(encoded) if encoded == expected => Ok(()),
        Ok(encoded) => Err(format!("is {op:?}, whose operands assemble to {encoded:#010x}")),
        Err(error) => Err(format!("is {op:?}, whose operands do not assemble: {error}")),
    }
}

/// Checks that the disassembly of `word` assembles to a word of the same encoding and the same disassembly. Unless that
/// leaves out bits or a mask has several encodings, the word must be the same, with should-be bits as specified.
fn assemble_text(word: u32, op: Option<Op>, text: &str) -> Result<(), String> {
    let assembled = match kvrm_arm64::assemble(0, text).as_deref() {
        Ok([assembled]) => *assembled,
        result => return Err(format!("is {op:?}, whose disassembly {text} assembles to {result:08x?}")),
    };
    let should_be = op.map_or((0, 0), |op| {
        let pattern = op.encoding().pattern;
        (pattern.should_be_mask, pattern.should_be_value)
    });
    let is_ambiguous = |operand: &Operand| operand.is_hidden() || matches!(operand, Operand::LogicalImm(_));
    let is_same = assembled == word & !should_be.0 | should_be.1;
    let may_differ = op.is_some_and(|op| op.encoding().operands.iter().any(is_ambiguous));
    if decode(assembled) == op && disassemble(assembled, 0).to_string() == text && (is_same || may_differ) {
        Ok(())
    } else {
        Err(format!("is {op:?}, whose disassembly {text} assembles to {assembled:#010x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_word_passes_and_a_wrong_operation_does_not() {
        let add = 0x8b02_0c20;
        assert_eq!(check(add, Some(Op::ADD_64_addsub_shift)), Ok(()), "add x0, x1, x2, lsl #3");
        assert_eq!(check(u32::MAX, None), Ok(()), "undefined");
        assert!(check(add, Some(Op::SUB_64_addsub_shift)).is_err(), "assembles to another word");
        assert!(check(add, None).is_err(), "has a disassembly");
    }

    #[test]
    fn the_sample_is_one_word_in_256() {
        let words = (0..1 << 20).filter(|&word| is_sampled(word)).count();
        assert!(words.abs_diff(1 << 12) < 64, "{words} of 2^20 words");
    }
}
