//! Loads and stores of general registers as statements in WGSL.

use std::fmt::Write as _;

use kvrm_arm64::micro_op::MicroOp;

use super::operand::{register, target};
use super::place::Place;

/// Returns the statements of a load or a store.
pub(super) fn lines(op: MicroOp, is_load: bool, place: &Place) -> String {
    if !is_load {
        return place.store(&stored(op));
    }
    let mut text = place.load();
    load(&mut text, op);
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
fn stored(op: MicroOp) -> Vec<String> {
    let (low, high) = (register(op.c()), register(op.dst()));
    match (op.pair(), op.size()) {
        (0, _) => vec![low],
        (_, 3) => vec![low, high],
        _ => vec![format!("joined(u32({low}), u32({high}))")],
    }
}
