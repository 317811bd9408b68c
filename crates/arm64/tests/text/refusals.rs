//! Errors of the text assembler.

use kvrm_arm64::assemble;

/// Texts, and the problems that the assembler names.
#[rustfmt::skip] // One text a line.
const PROBLEMS: &[(&str, &str)] = &[
    ("addd x0, x1, x2", "unknown mnemonic `addd`; the nearest known one is `add`"),
    ("xyzzyfrob x0", "unknown mnemonic `xyzzyfrob`"),
    ("b.xx 0", "unknown mnemonic `b.xx`; the nearest known one is `bcax`"),
    ("ldr x0, [x1, #3]", "expected an offset from 0 to 32760 that is a multiple of 8; ldur takes others from -256 to 255"),
    ("ldr x0, [x1, #-8]", "expected an offset from 0 to 32760 that is a multiple of 8; ldur takes others from -256 to 255"),
    ("ldrb w0, [x1, #4096]", "expected an offset from 0 to 4095; ldur and the like take -256 to 255"),
    ("add x0, w1, x2", "expected a 64-bit register, x0 to x30 or sp, or a 64-bit register, x0 to x30 or xzr"),
    ("add x0, x1", "expected `,`"),
    ("add x0, x1, x2, x3", "expected the end of the instruction"),
    ("add x0, x1, #-1", "expected a number from 0 to 4095, which may be shifted by lsl #12"),
    ("add x0, x1, x2, lsl #64", "expected a 64-bit register, x0 to x30 or xzr, which may be shifted by 0 to 63, or a register extended by uxtb to sxtx, and shifted left by 0 to 4"),
    ("add xzr, x1, #1", "expected a 64-bit register, x0 to x30 or xzr, which may be shifted by 0 to 63"),
    ("add x0, x1,", "expected a number from 0 to 4095, which may be shifted by lsl #12, or a 64-bit register, x0 to x30 or xzr, which may be shifted by 0 to 63, or a register extended by uxtb to sxtx, and shifted left by 0 to 4"),
    ("and x0, x1, #0", "expected a bit mask of 64 bits: repeated elements with one run of ones each"),
    ("and w0, w1, #0x100000000", "expected a bit mask of 32 bits: repeated elements with one run of ones each"),
    ("mov x0, #0x12345", "expected a bit mask of 64 bits: repeated elements with one run of ones each, or a number of 16 bits between zeros or between ones"),
    ("mov w0, #0x100000000", "expected a bit mask of 32 bits: repeated elements with one run of ones each, or a number of 16 bits between zeros or between ones"),
    ("movz x0, #1, lsl #8", "expected a number from 0 to 65535, which may be shifted left by 0, 16 and so on to 48"),
    ("b nowhere", "expected an address or a label of the text; no label is called `nowhere`"),
    ("b 1f", "expected a label `1:` after this line"),
    ("b 2", "expected an address or a label, a multiple of 4 within 128 MiB of the instruction"),
    ("b 0x8000000", "expected an address or a label, a multiple of 4 within 128 MiB of the instruction"),
    ("cbz x0, 0x100000", "expected an address or a label, a multiple of 4 within 1 MiB of the instruction"),
    ("tbz w0, #32, 0", "expected a general register; bits from 32 up need a 64-bit one"),
    ("lsl x0, x1, #64", "expected a number from 0 to 63"),
    ("ubfx x0, x1, #60, #5", "expected a width of at least 1, so that the field ends at bit 63"),
    ("bfi w0, w1, #31, #2", "expected a width of at least 1, so that the field ends at bit 31"),
    ("cset x0, al", "expected a condition such as eq, but not al or nv"),
    ("cset x0, foo", "expected a condition such as eq, but not al or nv"),
    ("ccmp x0, #32, #0, eq", "expected a number from 0 to 31"),
    ("ldp x0, x1, [x2, #4]", "expected an offset from -512 to 504 that is a multiple of 8"),
    ("ldp x0, x1, [x2, #512]", "expected an offset from -512 to 504 that is a multiple of 8"),
    ("ldr x0, [x1, x2, lsl #2]", "expected an index register with uxtw, sxtw, sxtx or lsl, and shifted by 0 or 3"),
    ("ldr x0, [x1, w2]", "expected `uxtw` or `sxtw` for a 32-bit index"),
    ("ldr x0, x1]", "expected an address or a label, a multiple of 4 within 1 MiB of the instruction, or an address in brackets"),
    ("ldxr x0, [x1, #8]", "expected an address such as [x0], without an offset"),
    ("casp x0, x2, x4, x5, [x6]", "expected a 64-bit register, x0 to x30 or xzr"),
    ("casp x1, x2, x4, x5, [x6]", "expected operands that go together; these are undefined"),
    ("add v0.4s, v1.4s, v2.2d", "expected operands whose elements go together, and shifts within an element"),
    ("add v0.3s, v1.4s, v2.4s", "expected a register such as d0, or a vector register with elements .8b or .16b or .4h or .8h or .2s or .4s or .1d or .2d"),
    ("fadd v0.16b, v1.16b, v2.16b", "expected a vector register with elements .4h or .8h, or a vector register with elements .2s or .4s or .1d or .2d, or a register such as s0"),
    ("xtn v0.16b, v1.8h", "expected the suffix 2 for the upper half of a 128-bit register, and only for it"),
    ("ld1 {v0.4s, v2.4s}, [x0]", "expected a list of 4 consecutive registers with the same elements, or a list of 3 consecutive registers with the same elements, or a list of 2 consecutive registers with the same elements"),
    ("mov v0.s[4], w0", "expected an element such as v0.s[1]"),
    ("shl v0.4s, v1.4s, #32", "expected operands whose elements go together, and shifts within an element"),
    ("fmov d0, #0.1", "expected a floating-point number from 0.125 to 31 with at most five significant bits, or its negative"),
    ("movi v0.2d, #1", "expected a number in which each byte is 0 or 0xff"),
    ("mrs x0, foo", "expected the name of a system register, or a generic name such as s3_3_c13_c0_2"),
    ("msr spsel, #2", "expected 0 or 1"),
    ("dc foo, x0", "expected the name of an operation, such as zva after dc"),
    ("dmb foo", "expected an option such as ish, or a number from 0 to 15"),
    ("svc #65536", "expected a number from 0 to 65535"),
    ("nop x0", "expected the end of the instruction"),
    (".foo", "unknown directive `.foo`"),
    (".byte 256", "expected a number of 8 bits"),
    (".balign 3", "expected an alignment that is a power of two of at most 65536 bytes"),
    (".ascii 1", r#"expected a string such as "text""#),
    (r#".ascii "a"#, "the string has no end"),
    ("x0: nop", "a label cannot be called `x0`, which means something else"),
    ("a: a: nop", "the label `a` is defined twice"),
    ("1 nop", "expected an instruction, a directive or a label"),
    ("add x0, x1, #18446744073709551616", "`18446744073709551616` is not a number of at most 64 bits"),
    (".inst", "expected a number or a label"),
    ("ldr x0, =1", "expected an address or a label, a multiple of 4 within 1 MiB of the instruction, or an address in brackets"),
];

#[test]
fn problems_are_named() {
    for &(text, problem) in PROBLEMS {
        let error = assemble(0, text).expect_err(text);
        assert_eq!(
            (error.line, error.text.as_str(), error.problem.as_str()),
            (1, text, problem),
            "of `{text}`"
        );
    }
}

#[test]
fn the_error_names_the_line_and_its_text() {
    let error =
        assemble(0, "start:\n  nop\n\n  ldr x0, [x1, #3] // odd\n  frob\n").expect_err("line 4 is wrong");
    let expected =
        "expected an offset from 0 to 32760 that is a multiple of 8; ldur takes others from -256 to 255";
    assert_eq!(error.to_string(), format!("line 4: \"ldr x0, [x1, #3] // odd\": {expected}"));
}

#[test]
fn directives_and_labels_are_checked_before_instructions() {
    let error = assemble(0, "frob\n.frob").expect_err("both lines are wrong");
    assert_eq!(error.line, 2, "the first pass finds labels and sizes: {error}");
}
