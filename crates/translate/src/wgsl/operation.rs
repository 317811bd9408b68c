//! Micro-ops that compute, as statements in WGSL. The cases are those of `compute` in `machine/step.wgsl`.

use std::fmt::Write as _;

use kvrm_arm64::micro_op::{CARRY_FLAG, Handler, MicroOp};

use super::operand::{first, masked, register, second, target};
use super::pending::Pending;

/// Whether `lines` has the statements of a handler.
pub(super) fn is_translatable(handler: Handler) -> bool {
    use Handler as H;
    value(handler, MicroOp::default(), 0, "").is_some() || matches!(handler, H::CONDITIONAL_COMPARE | H::NOP)
}

/// What to do with the flags that a micro-op sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flags {
    /// Nothing: nobody reads them.
    Dead,
    /// Keep the operands.
    Pending(Pending),
    /// Compute them.
    Computed,
}

/// Returns the statements of a micro-op, or `None` if translated code does not execute it. `holds` says whether its
/// condition holds.
pub(super) fn lines(handler: Handler, op: MicroOp, pc: u64, flags: Flags, holds: &str) -> Option<String> {
    use Handler as H;
    let mut text = String::new();
    match handler {
        H::NOP => return Some(text),
        H::ADD | H::CONDITIONAL_COMPARE => {
            let carry = match op.carry() {
                CARRY_FLAG => "((flags >> 1u) & 1u)".to_owned(),
                carry => format!("{carry}u"),
            };
            let (a, b) = (first(op), second(op));
            let _ = writeln!(
                text,
                "let a = {a};\nlet b = {b};\nlet carry = {carry};\nlet sum = a + b + u64(carry);"
            );
            let _ = writeln!(text, "let value = {};", masked(op, "sum"));
        }
        _ => {
            let _ = writeln!(text, "let value = {};", value(handler, op, pc, holds)?);
        }
    }
    let wide = op.wide() == 1;
    let sets_flags = match handler {
        H::CONDITIONAL_COMPARE => true,
        H::ADD | H::AND | H::ORR | H::EOR => op.flags() == 1,
        _ => false,
    };
    match flags {
        Flags::Pending(pending) if sets_flags => text.push_str(&pending.keep()),
        Flags::Computed if sets_flags => {
            let logical = matches!(handler, H::AND | H::ORR | H::EOR);
            let overflow = if logical { String::new() } else { format!(" | cv(a, b, sum, {wide})") };
            let all = format!("nz(value, {wide}){overflow}");
            let _ = if handler == H::CONDITIONAL_COMPARE {
                writeln!(text, "flags = select({}u, {all}, {holds});", op.nzcv())
            } else {
                writeln!(text, "flags = {all};")
            };
            text.push_str("pending = 0u;\n");
        }
        _ => {}
    }
    if let Some(target) = target(op.dst()) {
        let _ = writeln!(text, "{target} = value;");
    }
    Some(text)
}

/// Returns the value of a micro-op as an expression, or `None` if it has none or is not executed.
fn value(handler: Handler, op: MicroOp, pc: u64, holds: &str) -> Option<String> {
    use Handler as H;
    let (a, b, c) = (first(op), second(op), register(op.c()));
    let (operation, wide) = (op.operation(), op.wide() == 1);
    let size = 32 << op.wide();
    let signed_if = |signed: bool, value: &str| {
        if signed && !wide { format!("sign_extend({value}, 32u)") } else { value.to_owned() }
    };
    Some(match handler {
        H::ADD => format!("{a} + {b}"),
        H::AND => format!("{a} & {b}"),
        H::ORR => format!("{a} | {b}"),
        H::EOR => format!("{a} ^ {b}"),
        H::SELECT => {
            let other = masked(op, &format!("{b} + {}lu", op.carry()));
            format!("select({other}, {a}, {holds})")
        }
        H::BIT_FIELD_INSERT => {
            let field = (u64::MAX << op.left()) >> op.right();
            masked(op, &format!("({c} & {:#x}lu) | {b}", !field))
        }
        H::EXTRACT => masked(op, &format!("window({a}, {b}, {}u, {size}u)", op.right())),
        H::SHIFT => format!("shift_reg({a}, {operation}u, u32({b}) & {}u, {size}u)", size - 1),
        H::MULTIPLY_ADD => {
            let sign = if operation == 1 { '-' } else { '+' };
            masked(op, &format!("{c} {sign} {a} * {b}"))
        }
        H::MULTIPLY_ADD_LONG => {
            let sign = if operation & 1 == 1 { '-' } else { '+' };
            format!("{c} {sign} long_product({a}, {b}, {})", operation >= 2)
        }
        H::MULTIPLY_HIGH => format!("multiply_high({a}, {b}, {})", operation == 1),
        H::DIVIDE => {
            let signed = operation == 1;
            let (a, b) = (signed_if(signed, &a), signed_if(signed, &b));
            masked(op, &format!("divide({a}, {b}, {signed})"))
        }
        H::CRC32 => {
            let polynomial = if operation == 1 { "CRC32C_POLYNOMIAL" } else { "CRC32_POLYNOMIAL" };
            format!("u64(checksum(u32({a}), {b}, {}u, {polynomial}))", 8 << op.size())
        }
        H::REVERSE_BITS => format!("reverse_bits({a}) >> {}u", 64 - size),
        H::REVERSE_BYTES => masked(op, &format!("reverse_bytes({a}, {}u)", 8 << op.size())),
        H::COUNT_LEADING_ZEROS => format!("u64(count_leading_zero_bits({a}, {size}u))"),
        H::COUNT_LEADING_SIGNS => format!("u64(count_leading_sign_bits({a}, {size}u))"),
        H::PC_RELATIVE => {
            let base = if operation == 1 { pc & !0xfff } else { pc };
            format!("{:#x}lu", base.wrapping_add(op.imm))
        }
        _ => return None,
    })
}
