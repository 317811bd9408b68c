//! Loads and stores as statements in WGSL: the fast path of `compute` in `machine/step.wgsl`.

use std::fmt::Write as _;

use kvrm_arm64::micro_op::{Handler, INDEX_OFFSET, INDEX_POST, MicroOp};

use super::operand::{register, second, target};
use super::place::Place;

/// Returns the statements of a load or store at `pc`. `exit` leaves the region.
pub(super) fn lines(handler: Handler, op: MicroOp, pc: u64, exit: &str) -> String {
    let is_load = handler != Handler::STORE;
    let bytes = 1 << (op.size() + op.pair());
    let base = register(op.a());
    let mut text = match (handler, op.index()) {
        // A variable: in pipelines with overrides, naga refuses to convert constants of 64 bits.
        (Handler::LOAD_LITERAL, _) => format!("var address = {:#x}lu;\n", pc.wrapping_add(op.imm)),
        (_, INDEX_POST) => format!("let indexed = {base} + {};\nlet address = {base};\n", second(op)),
        _ => format!("let indexed = {base} + {};\nlet address = indexed;\n", second(op)),
    };
    let place = Place { bytes, must_align: op.aligned() == 1, exit };
    if is_load {
        place.load(&mut text);
        load(&mut text, op);
    } else {
        place.store(&mut text, &stored(op, bytes));
    }
    // If the base is loaded, too, write-back wins.
    if op.index() != INDEX_OFFSET {
        let _ = writeln!(text, "{base} = indexed;");
    }
    text
}

/// Appends the statements that write what was loaded to registers.
fn load(text: &mut String, op: MicroOp) {
    let extended = |value: &str| format!("extend_loaded({value}, {}u, {}u)", op.size(), op.extend());
    if op.pair() == 1 {
        let after = if op.size() == 3 { "word_1" } else { "(word_0 >> 32u)" };
        // If both registers are the same, the first value wins.
        if let Some(target) = target(op.c()) {
            let _ = writeln!(text, "{target} = {};", extended(after));
        }
    }
    if let Some(target) = target(op.dst()) {
        let _ = writeln!(text, "{target} = {};", extended("word_0"));
    }
}

/// Returns the words to store.
fn stored(op: MicroOp, bytes: u32) -> Vec<String> {
    let (low, high) = (register(op.c()), register(op.dst()));
    match (op.pair(), bytes) {
        (0, _) => vec![low],
        (_, 16) => vec![low, high],
        _ => vec![format!("joined(u32({low}), u32({high}))")],
    }
}
