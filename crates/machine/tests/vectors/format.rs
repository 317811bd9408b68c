//! Tests that vectors have the meaning that `docs/vectors.md` describes.

use crate::support::{differences, vector};

/// Runs a vector with code at 0x10000 and returns its differences. `rest` is the JSON text after the code.
fn run(code: &str, rest: &str) -> Vec<(String, String, String)> {
    differences(&vector(&format!(r#"{{"name":"n","pc":"0x10000","code":[{code}],{rest}}}"#)))
}

/// Returns the names of the differing registers and memory.
fn names(differences: &[(String, String, String)]) -> Vec<&str> {
    differences.iter().map(|(what, ..)| &**what).collect()
}

fn passes(code: &str, rest: &str) {
    assert_eq!(run(code, rest), [], "{code} with {rest}");
}

#[test]
fn the_example_of_the_documentation_passes() {
    let document = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/vectors.md");
    let text = std::fs::read_to_string(document).unwrap();
    let (_, rest) = text.split_once("```json\n").expect("the documentation has an example");
    let (example, _) = rest.split_once("```").expect("the example ends");
    let vector = vector(&example.replace('\n', ""));
    assert_eq!(differences(&vector), [], "the example");
    assert!(!vector.expected.x.is_empty() && vector.exact, "the example expects something");
}

#[test]
fn registers_that_are_not_named_are_zero() {
    // str wzr, [x0] faults because X0 is 0, where nothing is mapped.
    passes(r#""b900001f""#, r#""steps":1,"final":{"stop":"fault","pc":"0x10000"},"exact":true"#);
    let all: Vec<String> = (0..31).map(|n| format!(r#""{n}":"0""#)).collect();
    let vectors: Vec<String> = (0..32).map(|n| format!(r#""{n}":"0""#)).collect();
    let (all, vectors) = (all.join(","), vectors.join(","));
    passes(
        r#""d503201f""#,
        &format!(
            r#""steps":1,"final":{{"x":{{{all}}},"v":{{{vectors}}},"sp":"0","nzcv":"0","fpcr":"0","fpsr":"0","tpidr_el0":"0"}}"#
        ),
    );
}

#[test]
fn numbers_may_have_a_prefix_and_leading_zeros() {
    for number in ["2a", "0x2a", "0x000000000000000000002A", "2A"] {
        // mov x1, x0
        let rest = format!(r#""steps":1,"init":{{"x":{{"0":"{number}"}}}},"final":{{"x":{{"1":"0x2a"}}}}"#);
        passes(r#""aa0003e1""#, &rest);
    }
}

#[test]
fn steps_limits_the_number_of_retired_steps() {
    let loop_ = r#""91000400","17ffffff""#; // add x0, x0, #1; b . - 4
    for steps in [0, 1, 2, 3, 1000_u64] {
        let (x0, pc) = (steps.div_ceil(2), 0x1_0000 + 4 * (steps % 2));
        let rest =
            format!(r#""steps":{steps},"final":{{"x":{{"0":"{x0:#x}"}},"pc":"{pc:#x}","stop":"budget"}}"#);
        passes(loop_, &rest);
    }
}

#[test]
fn pages_of_memory_and_of_the_stack_pointer_are_mapped_and_no_others() {
    let load = |address: &str, init: &str, stop: &str| {
        // ldrb w0, [x1]
        let rest = format!(
            r#""steps":1,"init":{{"x":{{"1":"{address}"}},{init}}},"final":{{"x":{{"0":"0"}},"stop":"{stop}"}}"#
        );
        passes(r#""39400020""#, &rest);
        // strb wzr, [x1]
        passes(r#""3900003f""#, &rest);
    };
    let stack = r#""sp":"0x20010""#;
    load("0x20000", stack, "budget");
    load("0x20fff", stack, "budget");
    load("0x1ffff", stack, "fault");
    load("0x21000", stack, "fault");
    // A stack pointer at a page boundary maps the page above it, not the one below.
    load("0x1ffff", r#""sp":"0x20000""#, "fault");
    // A stack pointer outside of memory maps nothing.
    load("0x20000", r#""sp":"0xffffffffffffffff""#, "fault");
    load("0x20000", r#""sp":"0x1000000000000""#, "fault");
    load("0xffffffffffff", r#""sp":"0xffffffffffff""#, "budget");
    load("0", r#""sp":"0""#, "budget");
    let memory = r#""mem":[{"at":"0x30fff","bytes":"0000"},{"at":"0x40000","bytes":""}]"#;
    load("0x30000", memory, "budget");
    load("0x31fff", memory, "budget");
    load("0x2ffff", memory, "fault");
    load("0x32000", memory, "fault");
    load("0x40000", memory, "fault");
    load("0", memory, "fault");
}

#[test]
fn code_is_writable_only_if_the_vector_says_so() {
    // str w1, [x0], which overwrites the next instruction
    let rest = |writable: bool, end: &str| {
        let flag = if writable { r#""code_writable":true,"# } else { "" };
        format!(
            r#"{flag}"steps":2,"init":{{"x":{{"0":"0x10004","1":"0xd503201f"}}}},"final":{{{end}}},"exact":true"#
        )
    };
    let code = r#""b9000001","d4200000""#;
    passes(code, &rest(false, r#""stop":"fault","pc":"0x10000""#));
    let changed = r#""stop":"budget","pc":"0x10008","mem":[{"at":"0x10004","bytes":"1f2003d5"}]"#;
    passes(code, &rest(true, changed));
}

#[test]
fn features_beyond_armv8_0_with_crc32_must_be_named() {
    let swp = r#""f8228020""#; // swp x2, x0, [x1]
    let init = r#""init":{"x":{"1":"0x20000"},"sp":"0x20000"}"#;
    passes(swp, &format!(r#""steps":1,{init},"final":{{"stop":"undefined"}}"#));
    passes(swp, &format!(r#""features":[],"steps":1,{init},"final":{{"stop":"undefined"}}"#));
    passes(swp, &format!(r#""features":["lse"],"steps":1,{init},"final":{{"stop":"budget"}}"#));
    passes(r#""9ac24c20""#, r#""steps":1,"final":{"stop":"budget"}"#); // crc32x
}

#[test]
fn only_named_state_is_compared_unless_the_vector_is_exact() {
    // Each vector changes one register or byte, and names nothing.
    let cases = [
        (r#""91000400""#, "", "x0"),                          // add x0, x0, #1
        (r#""910043ff""#, r#""sp":"0x20000""#, "sp"),         // add sp, sp, #16
        (r#""b100041f""#, "", "nzcv"),                        // cmn x0, #1
        (r#""d51b4400""#, r#""x":{"0":"0x400000"}"#, "fpcr"), // msr fpcr, x0
        (r#""d51b4420""#, r#""x":{"0":"0x1"}"#, "fpsr"),      // msr fpsr, x0
        (r#""d51bd040""#, r#""x":{"0":"0x1"}"#, "tpidr_el0"), // msr tpidr_el0, x0
        (r#""390003ff""#, r#""sp":"0x20000""#, ""),           // strb wzr, [sp]: zero over zero
        (r#""f90007e0""#, r#""sp":"0x20000","x":{"0":"0xff00"}"#, "memory at 0x20000"), // str x0, [sp, #8]
    ];
    for (code, init, what) in cases {
        // cmn x0, #1 with X0 = 0 clears all flags, so start with all flags set.
        let init = if what == "nzcv" { r#""nzcv":"0xf""# } else { init };
        let rest =
            |exact| format!(r#""steps":1,"init":{{{init}}},"final":{{"stop":"budget"}},"exact":{exact}"#);
        passes(code, &rest(false));
        let differences = run(code, &rest(true));
        let mut expected = vec![what];
        expected.retain(|what| !what.is_empty());
        assert_eq!(names(&differences), expected, "{code}");
    }
}

#[test]
fn the_pc_need_not_be_named_even_if_the_vector_is_exact() {
    passes(r#""d503201f""#, r#""steps":1,"exact":true"#);
    passes(r#""14000004""#, r#""steps":1,"final":{"stop":"budget"},"exact":true"#);
}

#[test]
fn a_stop_has_one_of_seven_names() {
    let cases = [
        ("d4400000", "halt"),
        ("d45e0000", "halt"),
        ("d4200000", "breakpoint"),
        ("d4000001", "syscall"),
        ("00000000", "undefined"),
        ("d503201f", "budget"),
        ("f9400000", "fault"),
    ];
    for (code, stop) in cases {
        for (_, other) in cases {
            let rest = format!(r#""steps":1,"final":{{"stop":"{other}"}}"#);
            let expected: &[&str] = if other == stop { &[] } else { &["stop"] };
            assert_eq!(names(&run(&format!("\"{code}\""), &rest)), expected, "{code} expecting {other}");
        }
        let differences = run(&format!("\"{code}\""), r#""steps":1,"final":{"stop":"exit"}"#);
        assert_eq!(names(&differences), ["stop"], "no vector exits, because calls of vectors are not served");
    }
}

#[test]
fn an_exact_vector_compares_all_mapped_memory_to_the_last_byte() {
    // strb w0, [x1]
    for address in [0x2_0000_u64, 0x2_0fff, 0x3_0000, 0x3_0ff0, 0x3_1fff] {
        let rest = format!(
            r#""steps":1,"init":{{"x":{{"0":"0xaa","1":"{address:#x}"}},"sp":"0x20800","mem":[{{"at":"0x30fff","bytes":"1122"}}]}},"final":{{"pc":"0x10004"}},"exact":true"#
        );
        let differences = run(r#""39000020""#, &rest);
        assert_eq!(
            names(&differences),
            [format!("memory at {:#x}", address & !15)],
            "a write to {address:#x}"
        );
        let (_, expected, got) = &differences[0];
        let at = 2 * (address as usize % 16);
        assert_eq!(&got[at..at + 2], "aa", "the actual byte is at its place in the row: {got}");
        assert_eq!(expected.len(), 32, "a row of sixteen expected bytes");
    }
}
