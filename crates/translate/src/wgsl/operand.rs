//! Registers and operands as variables and expressions in WGSL.

use kvrm_arm64::micro_op::{MicroOp, PLAIN, ROTATED, SIGNED, SINK};

use crate::registers::{FLOAT_CONTROL, VECTORS};

/// The variable of FPCR and FPSR, as the interpreter keeps them.
pub(super) const CONTROL: &str = "float_control";

/// Returns the declaration of the variable of a register, the statement that loads it from the state of the interpreter,
/// and the one that stores it there.
pub(super) fn variable(number: u32) -> [String; 3] {
    match number {
        FLOAT_CONTROL => [
            format!("var<private> {CONTROL}: u64;"),
            format!("{CONTROL} = get_state(COLUMN_FPCR);"),
            format!("set_state(COLUMN_FPCR, {CONTROL});"),
        ],
        VECTORS.. => {
            let (name, number) = (vector(number - VECTORS), number - VECTORS);
            [
                format!("var<private> {name}: Vector;"),
                format!("{name} = get_v({number}u);"),
                format!("set_v({number}u, {name});"),
            ]
        }
        _ => {
            let name = register(number);
            [
                format!("var<private> {name}: u64;"),
                format!("{name} = x[{number}u];"),
                format!("x[{number}u] = {name};"),
            ]
        }
    }
}

/// Returns the variable of a SIMD&FP register.
pub(super) fn vector(number: u32) -> String {
    format!("v{number}")
}

/// Returns the variable of a register.
pub(super) fn register(number: u32) -> String {
    format!("r{number}")
}

/// Returns the variable of a destination, or `None` for the sink.
pub(super) fn target(number: u32) -> Option<String> {
    (number != SINK).then(|| register(number))
}

/// Returns an expression cut to the width of a micro-op.
pub(super) fn masked(op: MicroOp, value: &str) -> String {
    if op.wide() == 1 { value.to_owned() } else { format!("(({value}) & 0xfffffffflu)") }
}

/// Returns the first operand.
pub(super) fn first(op: MicroOp) -> String {
    masked(op, &register(op.a()))
}

/// Returns the extraction of the register of the second operand.
pub(super) fn extracted(op: MicroOp) -> String {
    let whole = register(op.b());
    let shifted = if op.left() == 0 { whole.clone() } else { format!("({whole} << {}u)", op.left()) };
    match (op.extraction(), op.right()) {
        (PLAIN, _) => whole,
        (ROTATED, right) => format!("rotate_right({whole}, {right}u, {}u)", 32 << op.wide()),
        (_, 0) => shifted,
        (SIGNED, right) => format!("u64(i64({shifted}) >> {right}u)"),
        (_, right) => format!("({shifted} >> {right}u)"),
    }
}

/// Returns the second operand.
pub(super) fn second(op: MicroOp) -> String {
    let mut value = extracted(op);
    if op.imm != 0 {
        value = format!("({value} + {:#x}lu)", op.imm);
    }
    if op.invert() == 1 {
        value = format!("~({value})");
    }
    masked(op, &value)
}

/// Returns whether a condition holds for the flags.
pub(super) fn condition(cond: u32) -> String {
    let holds = match cond >> 1 {
        0 => "(flags & 4u) != 0u",
        1 => "(flags & 2u) != 0u",
        2 => "(flags & 8u) != 0u",
        3 => "(flags & 1u) != 0u",
        4 => "(flags & 6u) == 2u",
        5 => "((flags >> 3u) & 1u) == (flags & 1u)",
        6 => "(flags & 4u) == 0u && ((flags >> 3u) & 1u) == (flags & 1u)",
        _ => return "true".to_owned(),
    };
    if cond & 1 == 1 { format!("!({holds})") } else { format!("({holds})") }
}
