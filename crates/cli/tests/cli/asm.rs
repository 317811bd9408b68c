//! `kvrm asm`.

use crate::support::{Folder, kvrm, refusal};

const COUNTDOWN: &str = "
    mov w0, #3      // three rounds
again:
    subs w0, w0, #1
    b.ne again
    hlt #0
";

#[test]
fn words_are_shown_with_their_addresses_texts_and_labels() {
    let run = kvrm(&["asm", "--text", COUNTDOWN]);
    let expected = "   0x10000  52800060  mov w0, #0x3

again:
   0x10004  71000400  subs w0, w0, #0x1
   0x10008  54ffffe1  b.ne 0x10004
   0x1000c  d4400000  hlt #0x0
";
    assert_eq!((run.status, run.stdout.as_str()), (0, expected), "{}", run.stderr);
}

#[test]
fn a_file_is_assembled_at_the_load_address() {
    let folder = Folder::new();
    let file = folder.file("b.s", "b 0x1008\n.word 7\n");
    let run = kvrm(&["asm", "--load-address", "0x1000", &file]);
    let expected = "    0x1000  14000002  b 0x1008\n    0x1004  00000007  udf #7\n";
    assert_eq!((run.status, run.stdout.as_str()), (0, expected), "{}", run.stderr);
}

#[test]
fn the_output_is_code_that_disassembles() {
    let folder = Folder::new();
    let code = folder.path("code.bin").display().to_string();
    let run = kvrm(&["asm", "--text", COUNTDOWN, "--output", &code]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    let disassembly = kvrm(&["disasm", "--raw", &code]);
    assert!(
        disassembly.stdout.ends_with("  54ffffe1  b.ne 0x10004\n   0x1000c  d4400000  hlt #0x0\n"),
        "{disassembly:?}"
    );
}

#[test]
fn errors_name_the_file_and_the_line() {
    let folder = Folder::new();
    let file = folder.file("wrong.s", "nop\nldr x0, [x1, #3]\n");
    let message = refusal(&["asm", &file]);
    assert!(
        message.contains("wrong.s") && message.contains(r#"line 2: "ldr x0, [x1, #3]": expected"#),
        "{message}"
    );
    for (arguments, problem) in [
        (&["asm", "--text", "frob"][..], "unknown mnemonic `frob`"),
        (&["asm", "--text", ""], "expected at least 1 byte"),
        (&["asm", "--load-address", "2", "--text", "nop"], "0x2, which is not a multiple of 4"),
        (&["asm", &folder.file("binary", [0xff, 0xfe])], "is not text in UTF-8"),
        (&["asm"], "<FILE>"),
    ] {
        let message = refusal(arguments);
        assert!(message.contains(problem), "{arguments:?}: {message}");
    }
}
