//! Directives.

use kvrm_arm64::assemble;

/// Returns the bytes that a text assembles to at address 0x1000.
fn bytes(text: &str) -> Vec<u8> {
    let words = assemble(0x1000, text).unwrap_or_else(|error| panic!("{error}"));
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn numbers_have_their_sizes() {
    assert_eq!(bytes(".byte 1, -1, 0xff, -128"), [1, 255, 255, 128], ".byte");
    assert_eq!(bytes(".hword 0x1234; .short 1"), [0x34, 0x12, 1, 0], ".hword");
    assert_eq!(bytes(".word 1; .long -2"), [1, 0, 0, 0, 254, 255, 255, 255], ".word");
    assert_eq!(
        bytes("a: .quad a, -1"),
        [0, 16, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255],
        ".quad"
    );
    assert_eq!(assemble(0, ".inst 0xd503201f, 0"), Ok(vec![0xd503_201f, 0]), ".inst");
}

#[test]
fn strings_have_escapes_and_may_end_with_zero() {
    assert_eq!(bytes(r#".ascii "ab", "c//;d""#), *b"abc//;d\0", "padded to whole words");
    assert_eq!(bytes(r#".asciz "a\n\"\\\t\r\0""#), *b"a\n\"\\\t\r\0\0", "all escapes");
    assert_eq!(bytes(".string \"\u{e9}\""), [0xc3, 0xa9, 0, 0], "UTF-8");
}

#[test]
fn alignment_pads_with_zeros_to_a_word_and_then_with_nops() {
    let nop = 0xd503_201f_u32.to_le_bytes();
    let expected = [&[1, 0, 0, 0][..], &nop, &[2, 0, 0, 0]].concat();
    assert_eq!(bytes(".byte 1; .balign 8; .byte 2"), expected, ".balign");
    assert_eq!(bytes(".byte 1; .align 3; .byte 2"), expected, ".align");
    assert_eq!(bytes(".zero 3; .space 1; .skip 4"), [0; 8], ".zero");
}

#[test]
fn directives_for_linkers_are_skipped() {
    assert_eq!(
        bytes(".text; .globl main; .type main, %function; main: .size main, . - main"),
        [0; 0],
        "no bytes"
    );
}

#[test]
fn instructions_after_data_must_be_aligned() {
    let error = assemble(0, ".byte 1\nnop").expect_err("the NOP is at address 1").to_string();
    assert_eq!(
        error,
        "line 2: \"nop\": an instruction must begin at a multiple of 4; `.balign 4` pads the data before"
    );
    assert_eq!(bytes(".byte 1; .balign 4; nop"), [1, 0, 0, 0, 0x1f, 0x20, 0x03, 0xd5], "aligned");
}
