//! Texts that nobody would write: whatever they are, nothing panics.

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{assemble, decode, disassemble};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;
use proptest::prelude::{any, prop, proptest};

/// Pieces of assembly text.
const PIECES: &[&str] = &[
    "add",
    "b",
    "b.",
    "ldr",
    "mov",
    "st1",
    "msr",
    "dc",
    "sys",
    "1:",
    "a:",
    "1b",
    "1f",
    "a",
    ".",
    "x0",
    "w31",
    "sp",
    "v0.4s",
    "v0.s",
    "v1.16b",
    "[",
    "]",
    "!",
    "{",
    "}",
    "-",
    "+",
    ",",
    "#",
    ":lo12:",
    ";",
    "//",
    "\"",
    "\\",
    "0",
    "-1",
    "1.5",
    "0xffffffffffffffff",
    "18446744073709551616",
    "1e",
    "1e-",
    "lsl",
    "uxtw",
    "msl",
    "eq",
    ".word",
    ".zero",
    ".align",
    ".balign",
    ".ascii",
    ".quad",
    "\u{e9}",
    "\u{2192}",
    "$",
    "_",
    "v",
    "x",
    "s3_",
    "c7",
    "pld",
    " ",
];

proptest! {
    #[test]
    fn arbitrary_text_does_not_panic(address in any::<u64>(), text in any::<String>()) {
        drop(assemble(address, &text));
    }

    #[test]
    fn arbitrary_pieces_do_not_panic(
        address in any::<u64>(),
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..12),
        separator in prop::sample::select(&["", " ", "\n"][..]),
    ) {
        drop(assemble(address, &pieces.join(separator)));
    }

    #[test]
    fn a_changed_instruction_does_not_panic_and_is_not_undefined(
        row in prop::sample::select(ENCODINGS),
        seed in any::<u64>(),
        at in any::<prop::sample::Index>(),
        piece in prop::sample::select(PIECES),
        removed in 0_usize..4,
    ) {
        let text = disassemble(words::allocated(&row, &mut Random::new(seed)), 0x1000).to_string();
        let at = at.index(text.len());
        let end = (at + removed).min(text.len());
        let changed = format!("{}{piece}{}", &text[..at], &text[end..]);
        if let Ok(words) = assemble(0x1000, &changed)
            && !changed.contains('.')
        {
            assert!(words.iter().all(|word| decode(*word).is_some()), "`{changed}` became {words:08x?}");
        }
    }
}

#[test]
fn a_huge_text_is_refused() {
    let error = assemble(0, ".zero 0x7fffffffffffffff\n.zero 0x7fffffffffffffff")
        .expect_err("it does not fit memory");
    assert_eq!(error.line, 1, "{error}");
}
