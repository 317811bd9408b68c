//! Loads and stores as statements in WGSL: the fast path of `compute` in `machine/step.wgsl`.

use std::fmt::Write as _;

use kvrm_arm64::micro_op::{Handler, INDEX_OFFSET, INDEX_POST, MicroOp};

use super::operand::{register, second, target};

/// Returns the statements of a load or store at `pc`. `exit` leaves the region.
pub(super) fn lines(handler: Handler, op: MicroOp, pc: u64, exit: &str) -> String {
    let is_load = handler != Handler::STORE;
    let (size, is_pair) = (op.size(), op.pair() == 1);
    let bytes = 1 << (size + op.pair());
    let base = register(op.a());
    let mut text = match (handler, op.index()) {
        // A variable: in pipelines with overrides, naga refuses to convert constants of 64 bits.
        (Handler::LOAD_LITERAL, _) => format!("var address = {:#x}lu;\n", pc.wrapping_add(op.imm)),
        (_, INDEX_POST) => format!("let indexed = {base} + {};\nlet address = {base};\n", second(op)),
        _ => format!("let indexed = {base} + {};\nlet address = indexed;\n", second(op)),
    };
    let needed = if is_load { "TLB_READ" } else { "TLB_WRITE" };
    let _ = writeln!(text, "let word = word_of(address, {bytes}u, {needed}, {});", op.aligned() == 1);
    let _ = writeln!(text, "if word == NO_WORD {{\n{exit}\n}}");
    if is_load {
        load(&mut text, op);
    } else {
        store(&mut text, op, size, is_pair, bytes);
    }
    // If the base is loaded, too, write-back wins.
    if op.index() != INDEX_OFFSET {
        let _ = writeln!(text, "{base} = indexed;");
    }
    text
}

fn load(text: &mut String, op: MicroOp) {
    let size = op.size();
    let extended = |value: &str| format!("extend_loaded({value}, {size}u, {}u)", op.extend());
    let shifted =
        if size == 3 { "frame_load(word)" } else { "(frame_load(word) >> ((u32(address) & 7u) * 8u))" };
    let _ = writeln!(text, "let loaded = {shifted};");
    if op.pair() == 1 {
        let after = if size == 3 { "frame_load(word + 1u)" } else { "(loaded >> 32u)" };
        // If both registers are the same, the first value wins.
        if let Some(target) = target(op.c()) {
            let _ = writeln!(text, "{target} = {};", extended(after));
        }
    }
    if let Some(target) = target(op.dst()) {
        let _ = writeln!(text, "{target} = {};", extended("loaded"));
    }
}

fn store(text: &mut String, op: MicroOp, size: u32, is_pair: bool, bytes: u32) {
    let (low, high) = (register(op.c()), register(op.dst()));
    if size == 3 {
        let _ = writeln!(text, "frame_store(word, {low});");
        if is_pair {
            let _ = writeln!(text, "frame_store(word + 1u, {high});");
        }
        return;
    }
    let data = if is_pair { format!("joined(u32({low}), u32({high}))") } else { low };
    if bytes == 8 {
        let _ = writeln!(text, "frame_store(word, {data});");
        return;
    }
    let changed = u64::MAX >> (64 - 8 * bytes);
    let _ = writeln!(text, "let shift = (u32(address) & 7u) * 8u;\nlet changed = {changed:#x}lu << shift;");
    let _ =
        writeln!(text, "frame_store(word, (frame_load(word) & ~changed) | (({data} << shift) & changed));");
}
