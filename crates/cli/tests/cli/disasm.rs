//! `kvrm disasm`.

use kvrm::Program;
use kvrm::arm64::{decode, disassemble};
use kvrm::elf::{Symbol, SymbolKind};
use serde_json::Value;

use crate::support::{Folder, guest, kvrm, refusal};

#[test]
fn words_are_shown_with_their_addresses() {
    let run = kvrm(&["disasm", "--word", "d503201f", "0x8b020c20", "0", "17fffffd", "FFFFFFFF"]);
    let expected = "   0x10000  d503201f  nop
   0x10004  8b020c20  add x0, x1, x2, lsl #3
   0x10008  00000000  udf #0
   0x1000c  17fffffd  b 0x10000
   0x10010  ffffffff  ";
    assert_eq!(run.status, 0, "{}", run.stderr);
    let last = run.stdout.lines().last().unwrap();
    assert!(run.stdout.starts_with(expected), "{}", run.stdout);
    assert!(last.contains("undefined"), "what is no instruction is said to be none: {last}");
    assert_eq!(run.stdout.lines().count(), 5, "a line a word");
}

#[test]
fn the_load_address_is_the_address_of_the_first_word() {
    for (address, shown, target) in [
        ("0", "       0x0", "0x4"),
        ("4096", "    0x1000", "0x1004"),
        ("0xffff_ffff_fff8", "0xfffffffffff8", "0xfffffffffffc"),
    ] {
        let run = kvrm(&["disasm", "--load-address", address, "--word", "14000001"]);
        assert_eq!(run.stdout, format!("{shown}  14000001  b {target}\n"), "at {address}");
    }
}

#[test]
fn words_have_to_lie_in_the_address_space() {
    let last = ["disasm", "--load-address", "0xffff_ffff_fffc", "--word", "d503201f", "d503201f"];
    assert_eq!(kvrm(&last[..5]).stdout, "0xfffffffffffc  d503201f  nop\n", "the last word there is");
    let message = refusal(&last);
    assert!(message.contains("48-bit address space"), "one more: {message}");
    for (address, problem) in [
        ("4K", "'4K'"),
        ("-4", "'-4'"),
        ("0x10002", "0x10002, which is not a multiple of 4"),
        ("0xffffffffffffffff", "0xffffffffffffffff, which is not a multiple of 4"),
        ("0x1000000000000", "48-bit address space"),
        ("0xfffffffffffffffc", "48-bit address space"),
    ] {
        let message = refusal(&["disasm", &format!("--load-address={address}"), "--word", "0"]);
        assert!(message.contains(problem), "{message}");
    }
}

/// Returns the words of the code of a guest with their addresses.
fn words(program: &Program) -> Vec<(u64, u32)> {
    let code = program.segments.iter().filter(|segment| segment.permissions.execute);
    let words = code.flat_map(|segment| (segment.address..).step_by(4).zip(segment.data.chunks_exact(4)));
    words.map(|(pc, bytes)| (pc, u32::from_le_bytes(bytes.try_into().unwrap()))).collect()
}

/// Returns the function that begins at an address.
fn function(program: &Program, address: u64) -> Option<&Symbol> {
    let is_here = |symbol: &&Symbol| symbol.kind == SymbolKind::Function && symbol.address == address;
    program.symbols.iter().rfind(is_here)
}

#[test]
fn all_code_of_a_guest_is_shown_under_the_names_of_its_functions() {
    for name in ["sieve", "relocs"] {
        let program = Program::open(guest(name)).unwrap();
        let run = kvrm(&["disasm", &guest(name)]);
        assert_eq!((run.status, &*run.stderr), (0, ""), "{name}");
        let mut expected = String::new();
        for (pc, word) in words(&program) {
            if let Some(symbol) = function(&program, pc) {
                expected += &format!("\n{}:\n", symbol.name);
            }
            expected += &format!("{pc:#10x}  {word:08x}  {}\n", disassemble(word, pc));
        }
        assert_eq!(run.stdout, expected, "{name}");
        assert!(run.stdout.contains("\n_start:\n") && run.stdout.contains("\nrun:\n"), "{name}");
    }
}

#[test]
fn json_has_a_line_per_word_with_encoding_and_class() {
    let program = Program::open(guest("sieve")).unwrap();
    let run = kvrm(&["disasm", "--json", &guest("sieve")]);
    let lines: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let words = words(&program);
    assert_eq!(lines.len(), words.len(), "a line a word");
    for (line, (pc, word)) in lines.iter().zip(words) {
        let op = decode(word);
        let symbol = function(&program, pc);
        let expected = serde_json::json!({
            "pc": format!("{pc:#x}"), "word": format!("{word:08x}"), "text": disassemble(word, pc).to_string(),
            "encoding": op.map(|op| op.encoding().name), "class": op.map(|op| op.class().name()),
            "symbol": symbol.map(|symbol| &symbol.name),
        });
        assert_eq!(*line, expected, "at {pc:#x}");
    }
    let run = kvrm(&["disasm", "--json", "--word", "ffffffff", "d503201f"]);
    let lines: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines[0]["encoding"].is_null() && lines[0]["class"].is_null(), "no instruction: {}", lines[0]);
    let both = (&lines[1]["encoding"], &lines[1]["class"]);
    assert_eq!(both, (&"NOP_HI_hints".into(), &"SYSTEM".into()), "an instruction");
}

#[test]
fn a_raw_file_is_code_from_its_first_byte() {
    let folder = Folder::new();
    let program = folder.program(|a| {
        a.nop().hlt(1);
    });
    let run = kvrm(&["disasm", "--raw", &program, "--load-address", "0x1000"]);
    assert_eq!(run.stdout, "    0x1000  d503201f  nop\n    0x1004  d4400020  hlt #0x1\n", "all of it");
}
