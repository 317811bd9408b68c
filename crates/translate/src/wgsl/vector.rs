//! Micro-ops on SIMD registers that compute, as statements in WGSL.
//!
//! Leaf functions of the interpreter compute them. Their argument, the micro-op, is a constant here, so compilers fold
//! its decoding. Common instructions on integers are expressions instead.

use std::fmt::Write as _;

use kvrm_arm64::micro_op::{Handler, MicroOp};
use kvrm_arm64::vector_op::{FLOAT_CONDITIONAL_FLAGS, PERMUTE_TBL};

use crate::vector::{Operands, Target};

use super::operand::{CONTROL, register, target, vector};
use super::packed;

/// Whether `lines` has the statements of a handler.
pub(super) const fn is_translatable(handler: Handler) -> bool {
    use Handler as H;
    matches!(
        handler,
        H::VECTOR_MOVE | H::VECTOR_PERMUTE | H::VECTOR_INTEGER | H::VECTOR_FLOAT | H::VECTOR_CRYPTO
    )
}

/// Whether a micro-op calls a leaf function that has loops, which `effort` counts.
pub(super) fn has_loops(op: MicroOp) -> bool {
    Operands::of(op).is_some_and(|operands| packed::value(op, &operands).is_none())
}

/// Returns the statements of a micro-op, or `None` if it does not compute on SIMD registers. `holds` says whether its
/// condition holds.
pub(super) fn lines(handler: Handler, op: MicroOp, holds: &str) -> Option<String> {
    use Handler as H;
    let operands = Operands::of(op)?;
    let of = |number: Option<u32>| number.map_or_else(|| "Vector()".to_owned(), vector);
    let (n, m, d) = (of(operands.n), of(operands.m), of(operands.d));
    let general = operands.general.map_or_else(|| "0lu".to_owned(), register);
    let [control, parameters, word, _] = op.words();
    let constant = format!("vec4<u32>({control:#x}u, {parameters:#x}u, {word:#x}u, 0u)");
    let mut text = String::new();
    let value = match packed::value(op, &operands) {
        Some(value) => value,
        None => match handler {
            H::VECTOR_MOVE => format!("moved({constant}, {n}, {m}, {d}, {general}, {holds})"),
            H::VECTOR_PERMUTE if op.operation() >= PERMUTE_TBL => {
                let first = operands.n.unwrap_or_default();
                let mut value = d;
                for number in 0..operands.table {
                    value = format!("looked_up({value}, {m}, {}, {number}u)", vector((first + number) & 31));
                }
                let high = if word >> 30 & 1 == 1 { "found.high" } else { "0lu" };
                let _ = writeln!(text, "let found = {value};");
                format!("Vector(found.low, {high})")
            }
            H::VECTOR_PERMUTE => format!("permuted({constant}, {n}, {m})"),
            H::VECTOR_INTEGER => {
                let _ = writeln!(text, "let result = integers({constant}, {n}, {m}, {d});");
                if operands.uses_control {
                    let _ = writeln!(text, "if result.saturated {{\n{CONTROL} |= u64(FPSR_QC) << 32u;\n}}");
                }
                "result.value".to_owned()
            }
            H::VECTOR_FLOAT => {
                // The variable exists only in regions that use it.
                let control = if operands.uses_control { format!("u32({CONTROL})") } else { "0u".to_owned() };
                let call = format!("floats({constant}, {n}, {m}, {d}, {general}, {control})");
                let _ = writeln!(text, "let result = {call};");
                if operands.uses_control {
                    let _ = writeln!(text, "{CONTROL} |= u64(result.fpsr) << 32u;");
                }
                "result.value".to_owned()
            }
            H::VECTOR_CRYPTO => format!("crypto({}u, {n}, {m}, {d}, {}u)", op.operation(), word >> 10 & 63),
            _ => return None,
        },
    };
    match operands.result {
        Target::Vector(number) => {
            let _ = writeln!(text, "{} = {value};", vector(number));
        }
        Target::General(number) => {
            let destination = target(number).unwrap_or_else(|| "_".to_owned());
            let _ = writeln!(text, "{destination} = {value}.low;");
        }
        Target::Flags => {
            let _ = writeln!(text, "flags = u32({value}.low);");
        }
    }
    if op.form() == FLOAT_CONDITIONAL_FLAGS && handler == H::VECTOR_FLOAT {
        text = format!("if {holds} {{\n{text}}} else {{\nflags = {}u;\n}}\n", word & 15);
    }
    if operands.result == Target::Flags {
        text.push_str("pending = 0u;\n");
    }
    Some(text)
}
