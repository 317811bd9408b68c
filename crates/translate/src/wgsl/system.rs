//! Reads and writes of system registers as statements in WGSL.

use kvrm_arm64::micro_op::{Handler, MicroOp};

use crate::effects::system_register;

use super::operand::{CONTROL, register, target};

/// Whether `lines` has the statements of a micro-op.
pub(super) fn is_translatable(handler: Handler, op: MicroOp) -> bool {
    lines(handler, op).is_some()
}

/// Returns the statements of a micro-op, or `None` if translated code does not execute it. The counter is the number of
/// steps of the lane, which the region does not know.
pub(super) fn lines(handler: Handler, op: MicroOp) -> Option<String> {
    let a = register(op.a());
    Some(match (handler, system_register(op)) {
        (Handler::READ_SYSTEM, name) => {
            let value = match name {
                "nzcv" => "u64(flags) << 28u".to_owned(),
                "fpcr" => format!("{CONTROL} & 0xfffffffflu"),
                "fpsr" => format!("{CONTROL} >> 32u"),
                "tpidr_el0" => "get_state(COLUMN_TPIDR)".to_owned(),
                "tpidrro_el0" => "get_state(COLUMN_TPIDRRO)".to_owned(),
                _ => return None,
            };
            target(op.dst()).map_or_else(String::new, |target| format!("{target} = {value};\n"))
        }
        (Handler::WRITE_SYSTEM, "nzcv") => format!("flags = u32({a} >> 28u) & 15u;\npending = 0u;\n"),
        (Handler::WRITE_SYSTEM, "fpcr") => {
            format!("{CONTROL} = joined(u32({a}) & FPCR_MASK, u32({CONTROL} >> 32u));\n")
        }
        (Handler::WRITE_SYSTEM, "fpsr") => {
            format!("{CONTROL} = joined(u32({CONTROL}), u32({a}) & FPSR_MASK);\n")
        }
        (Handler::WRITE_SYSTEM, "tpidr_el0") => format!("set_state(COLUMN_TPIDR, {a});\n"),
        _ => return None,
    })
}
