//! Checks that the decoder, the class map, the disassembler and the assembler agree on any word, at any address.

#![no_main]

use kvrm_arm64::{asm, assemble, class_of, decode, disassemble};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u64, &[u8])| {
    let (pc, code) = input;
    for bytes in code.chunks_exact(4) {
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let text = disassemble(word, pc).to_string();
        assert!(!text.is_empty() && text.is_ascii(), "{word:#010x} is {text:?}");
        if pc.is_multiple_of(4) {
            let words = assemble(pc, &text).unwrap_or_else(|error| panic!("{word:#010x}: {error}"));
            // Bits that the instruction ignores are not part of the text, so it may be another word.
            let texts: Vec<String> = words.iter().map(|&word| disassemble(word, pc).to_string()).collect();
            assert_eq!(texts, [text.as_str()], "{word:#010x} is {text}");
        }
        let Some(op) = decode(word) else { continue };
        assert_eq!(class_of(word), op.class(), "{word:#010x} is {op:?}, {text}");
        let args = asm::args(op, word);
        let encoded = match asm::encode(op, &args) {
            Ok(encoded) => encoded,
            Err(error) => panic!("{word:#010x} is {op:?}, {text}, but {args:?} cannot be encoded: {error}"),
        };
        // Should-be bits are not operands: the decoder ignores them, and the assembler writes the specified values.
        let difference = (encoded ^ word) & !op.encoding().pattern.should_be_mask;
        assert_eq!(difference, 0, "{word:#010x} is {op:?}, {text}, but {args:?} gives {encoded:#010x}");
    }
});
