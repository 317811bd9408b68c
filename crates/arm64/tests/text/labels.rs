//! Labels and references to them.

use kvrm_arm64::text::Assembly;
use kvrm_arm64::{assemble, disassemble};

/// Returns the disassembly of what a text assembles to.
fn texts(address: u64, text: &str) -> Vec<String> {
    let words = assemble(address, text).unwrap_or_else(|error| panic!("{error}"));
    words.iter().zip((address..).step_by(4)).map(|(&word, pc)| disassemble(word, pc).to_string()).collect()
}

#[test]
fn labels_are_targets_before_and_after_their_use() {
    let text = "
        start: b end
        cbz x0, start
        tbnz w0, #3, end
        adr x0, end
        ldr x0, start
        end: other: bl other
    ";
    let expected = [
        "b 0x1014",
        "cbz x0, 0x1000",
        "tbnz w0, #3, 0x1014",
        "adr x0, 0x1014",
        "ldr x0, 0x1000",
        "bl 0x1014",
    ];
    assert_eq!(texts(0x1000, text), expected, "of {text}");
}

#[test]
fn local_labels_are_the_nearest_ones() {
    let text = "
        1: b 1b
        b 1f
        2: b 1b
        1: b 2b
        b 1b
        b 2f
        2: nop
    ";
    let expected = ["b 0x0", "b 0xc", "b 0x0", "b 0x8", "b 0xc", "b 0x18", "nop"];
    assert_eq!(texts(0, text), expected, "of {text}");
}

#[test]
fn addresses_may_be_sums_of_labels_and_numbers() {
    let text = "
        start: b start + 8
        b . - 4
        mov x0, #end - start
        .word end - start, -(1)
        end:
    ";
    assert!(assemble(0, text).is_err(), "there are no parentheses");
    let text = text.replace("(1)", "1");
    assert_eq!(texts(0x4000, &text)[..3], ["b 0x4008", "b 0x4000", "mov x0, #0x14"], "of {text}");
}

#[test]
fn a_page_and_its_low_part_make_an_address() {
    let text =
        "adrp x0, data; add x0, x0, :lo12:data; ldr x1, [x0, #:lo12:data]; .balign 4096; .zero 16; data:";
    let expected = ["adrp x0, 0x12000", "add x0, x0, #0x10", "ldr x1, [x0, #16]"];
    assert_eq!(texts(0x1_1ff0, text)[..3], expected, "of {text}");
}

#[test]
fn labels_are_case_sensitive_and_may_be_called_as_instructions() {
    assert_eq!(texts(0, "add: Add: nop; b Add; ADD: b ADD"), ["nop", "b 0x0", "b 0x8"], "three labels");
}

#[test]
fn the_assembly_has_the_labels_with_their_addresses() {
    let text = "main: nop; 1: .Lskip: b 1b; both: data: .word 1; code: ret; end:";
    let assembly = Assembly::parse(0x1000, text).unwrap_or_else(|error| panic!("{error}"));
    let labels = assembly.labels.iter().map(|label| (label.name.as_str(), label.address, label.is_code));
    let expected = [
        ("main", 0x1000, true),
        ("both", 0x1008, false),
        ("data", 0x1008, false),
        ("code", 0x100c, true),
        ("end", 0x1010, false),
    ];
    assert_eq!(labels.collect::<Vec<_>>(), expected, "of {text}");
}
