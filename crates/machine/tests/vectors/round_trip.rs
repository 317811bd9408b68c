//! Tests that vectors are unchanged after writing and reading, and that arbitrary vectors run.

use std::fs;

use kvrm_machine::vectors::{Bytes, Hex, Number, State, StopName, Vector, parse};
use proptest::option;
use proptest::prelude::*;

use crate::support::{MANUAL, UNICORN, path};

const END: u64 = 1 << 48;

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), any::<u64>().prop_map(|number| number >> 40), Just(0), Just(u64::MAX)]
}

fn stop() -> impl Strategy<Value = StopName> {
    use StopName as S;
    prop::sample::select(vec![S::Exit, S::Halt, S::Breakpoint, S::Syscall, S::Undefined, S::Fault, S::Budget])
}

/// Memory at any address, or only in the address space.
fn memory(anywhere: bool) -> impl Strategy<Value = Vec<Bytes>> {
    let data = prop::collection::vec(any::<u8>(), 0..40);
    let bytes = (number(), data).prop_map(move |(at, bytes)| {
        let at = if anywhere { at } else { at % (END - 40) };
        Bytes { at: Hex(at), bytes }
    });
    prop::collection::vec(bytes, 0..3)
}

fn state(last: bool, anywhere: bool) -> impl Strategy<Value = State> {
    let x = prop::collection::btree_map((0..31u32).prop_map(Number), number().prop_map(Hex), 0..4);
    let v = prop::collection::btree_map((0..32u32).prop_map(Number), any::<u128>().prop_map(Hex), 0..3);
    let word = || option::of(any::<u32>().prop_map(Hex));
    let double = || option::of(number().prop_map(Hex));
    let nzcv = option::of((0..16u32).prop_map(Hex));
    let registers = (x, v, double(), nzcv, word(), word(), double());
    (registers, double(), option::of(stop()), memory(anywhere)).prop_map(move |(registers, pc, stop, mem)| {
        let (x, v, sp, nzcv, fpcr, fpsr, tpidr_el0) = registers;
        let (pc, stop) = if last { (pc, stop) } else { (None, None) };
        State { x, sp, nzcv, pc, v, fpcr, fpsr, tpidr_el0, stop, mem }
    })
}

/// Random valid vectors. With `anywhere`, the expected memory may lie outside the address space, which is invalid in a
/// file.
fn vector(anywhere: bool) -> impl Strategy<Value = Vector> {
    let code = prop::collection::vec(any::<u32>().prop_map(Hex), 1..8);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let pc = number().prop_map(|pc| (pc % (END - 32)) & !3);
    (".*", pc, code, 0..100u64, flags, state(false, false), state(true, anywhere)).prop_map(
        |(name, pc, code, steps, (code_writable, lse, exact), init, expected)| {
            let features = if lse { vec!["lse".to_owned()] } else { Vec::new() };
            Vector { name, pc: Hex(pc), code, steps, code_writable, features, init, expected, exact }
        },
    )
}

proptest! {
    #[test]
    fn a_vector_is_written_as_one_line_and_read_back(
        vectors in prop::collection::vec(vector(false), 0..4),
    ) {
        let lines: Vec<String> = vectors.iter().map(|vector| serde_json::to_string(vector).unwrap()).collect();
        prop_assert!(lines.iter().all(|line| !line.contains(['\n', '\r'])), "one line per vector");
        let text = lines.join("\n");
        match parse("file", &text) {
            Ok(parsed) => prop_assert_eq!(parsed, vectors),
            Err(error) => prop_assert!(false, "{error} in {text}"),
        }
    }

    #[test]
    fn a_random_vector_runs_without_an_error_of_the_host(vector in vector(true)) {
        let differences = vector.run();
        prop_assert!(vector.describe(&differences).starts_with(&vector.name), "the report begins with the name");
        prop_assert_eq!(vector.run(), differences, "a second run has the same result");
    }
}

#[test]
fn expected_memory_that_is_not_mapped_is_a_difference() {
    for at in [0, 1, 0x2_0000, END - 1, END, u64::MAX - 1, u64::MAX] {
        let line = format!(
            r#"{{"name":"n","pc":"0x10000","code":["d503201f"],"steps":1,"final":{{"mem":[{{"at":"{at:#x}","bytes":"00"}}]}}}}"#
        );
        // Refusing the vector is also correct.
        if let Ok(vectors) = parse("file", &line) {
            let differences = vectors[0].run();
            assert_eq!(differences.len(), 1, "at {at:#x}");
            assert_eq!(differences[0].what, format!("memory at {at:#x}"), "at {at:#x}");
        }
    }
}

#[test]
fn the_corpora_have_the_format_that_the_serializer_writes() {
    let manual = fs::read_to_string(path("manual.jsonl")).unwrap();
    assert!(manual.is_ascii() && manual.ends_with("}\n") && !manual.contains('\r'), "plain lines");
    for (line, vector) in manual.lines().zip(&*MANUAL) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_value(vector).unwrap(), line, "the serializer writes the same JSON");
    }
    for vector in UNICORN.iter() {
        let line = serde_json::to_string(vector).unwrap();
        assert_eq!(parse("line", &line).unwrap()[0], *vector, "{line}");
    }
}
