//! WGSL modules of constants that Rust and WGSL share: micro-ops, buffers, semihosting, system calls, spiking networks.

use std::fmt::Write as _;

use anyhow::Result;
use kvrm_arm64::encoding::{HOLES, HoleTest};
use kvrm_arm64::lowering::Shape;
use kvrm_arm64::micro_op::{self, Field, Handler, MicroOp};
use kvrm_arm64::semantics::system::{COUNTER_HZ, CTR_EL0, DCZID_EL0};
use kvrm_arm64::vector_op;
use kvrm_spiking::Kind;

use super::banner::BANNER;
use super::wgsl::is_imported;

/// Returns `machine/micro_op.wgsl`: handlers, registers and fields of micro-ops.
pub(super) fn text() -> Result<String> {
    let mut out =
        format!("//! Micro-ops. {BANNER}; do not edit.\n//!\n//! Source: `kvrm_arm64::micro_op`.\n");
    for (handler, name, doc) in Handler::ALL {
        write!(out, "\n/// {doc}\nconst HANDLER_{name} = {}u;\n", *handler as u32)?;
    }
    for (name, value, doc) in [
        ("REGISTER_ZERO", micro_op::ZERO, "Reads as zero."),
        ("REGISTER_SP", micro_op::SP, "The stack pointer."),
        ("REGISTER_SINK", micro_op::SINK, "Receives writes to the zero register."),
        ("REGISTERS", micro_op::REGISTERS, "The number of registers of the interpreter."),
        ("EXTRACTION_PLAIN", micro_op::PLAIN, "The second operand is a whole register."),
        ("EXTRACTION_UNSIGNED", micro_op::UNSIGNED, "Shifted left, then right."),
        ("EXTRACTION_SIGNED", micro_op::SIGNED, "Shifted left, then right with sign."),
        ("EXTRACTION_ROTATED", micro_op::ROTATED, "Rotated right."),
        ("CARRY_FLAG", micro_op::CARRY_FLAG, "The added carry is the carry flag."),
        ("INDEX_OFFSET", micro_op::INDEX_OFFSET, "The base register does not change."),
        ("INDEX_POST", micro_op::INDEX_POST, "The base register is the address and is changed afterwards."),
        ("INDEX_PRE", micro_op::INDEX_PRE, "The base register becomes the address."),
        (
            "INDEX_POST_REGISTER",
            micro_op::INDEX_POST_REGISTER,
            "Structures: b is added to the base register.",
        ),
        ("INDEX_LITERAL", micro_op::INDEX_LITERAL, "SIMD registers: the address is relative to pc."),
    ] {
        write!(out, "\n/// {doc}\nconst {name} = {value}u;\n")?;
    }
    for (number, name) in micro_op::SYSTEM_REGISTERS.iter().enumerate() {
        let upper = name.to_uppercase();
        write!(out, "\n/// The number of {upper} in a micro-op.\nconst SYSTEM_{upper} = {number}u;\n")?;
    }
    accessors(&mut out, "control", MicroOp::CONTROL)?;
    accessors(&mut out, "parameters", MicroOp::PARAMETERS)?;
    Ok(out)
}

/// Returns `machine/vector_op.wgsl`: the constants in micro-ops of vector instructions.
pub(super) fn vector_ops() -> Result<String> {
    let mut out = format!(
        "//! Micro-ops of vectors. {BANNER}; do not edit.\n//!\n//! Source: `kvrm_arm64::vector_op`.\n"
    );
    let mode = ("MODE_FPCR", vector_op::MODE_FPCR, "`mode`: numbers are rounded as FPCR says.");
    for &(name, value, doc) in vector_op::LISTS.iter().copied().flatten().chain([&mode]) {
        if !is_imported(name)? {
            continue;
        }
        write!(out, "\n/// {doc}\nconst {name} = {value}u;\n")?;
    }
    Ok(out)
}

/// Appends functions that read and set the fields of a word, if a shader imports them.
fn accessors(out: &mut String, word: &str, fields: &[Field]) -> Result<()> {
    for Field { name, low, width, doc } in fields {
        let mask = (1_u32 << width) - 1;
        if is_imported(&format!("get_{name}"))? {
            write!(out, "\n/// {doc}\nfn get_{name}({word}: u32) -> u32 {{\n")?;
            write!(out, "    return ({word} >> {low}u) & {mask}u;\n}}\n")?;
        }
        if !is_imported(&format!("set_{name}"))? {
            continue;
        }
        // Only fields of `control` are ever set twice. The other functions do not clear the old bits, because Mesa 25's
        // llvmpipe computes a wrong field if it replaces as many bits of a word as were extracted from another.
        let (doc, kept) = if word == "control" {
            ("Sets", format!("({word} & {:#x}u)", !(mask << low)))
        } else {
            ("Sets, once,", word.to_owned())
        };
        write!(out, "\n/// {doc} `{name}`.\nfn set_{name}({word}: u32, value: u32) -> u32 {{\n")?;
        write!(out, "    return {kept} | (value << {low}u);\n}}\n")?;
    }
    Ok(())
}

/// Returns `machine/rows.wgsl`: shapes, holes and constant registers of the lowering.
pub(super) fn rows() -> Result<String> {
    let mut out = format!("//! Lowering. {BANNER}; do not edit.\n//!\n//! Source: `kvrm_arm64::lowering`.\n");
    out += "\nimport package::arm64::bitmask::{decode_bit_masks};\n";
    for (shape, name, doc) in Shape::ALL {
        if !is_imported(&format!("SHAPE_{name}"))? {
            continue;
        }
        write!(out, "\n/// {doc}\nconst SHAPE_{name} = {}u;\n", *shape as u32)?;
    }
    for (name, value) in [("COUNTER_HZ", COUNTER_HZ), ("CTR_EL0", CTR_EL0), ("DCZID_EL0", DCZID_EL0)] {
        write!(
            out,
            "\n/// The value of a system register that never changes.\nconst {name} = {value:#x}lu;\n"
        )?;
    }
    out += "\n/// Returns whether `word` is in one of the holes whose bits are set in `holes`.\n";
    out += "///\n/// Twin: `kvrm_arm64::encoding::Hole::contains`, for a set of holes.\nfn in_hole(word: u32, holes: vec2<u32>) -> bool {\n";
    for (bit, hole) in HOLES.iter().enumerate() {
        write!(
            out,
            "    // {}: {}\n    if (holes.{} & {:#x}u) != 0u && ",
            hole.name,
            hole.meaning,
            if bit < 32 { "x" } else { "y" },
            1_u32 << (bit % 32)
        )?;
        match hole.test {
            HoleTest::Pattern(pattern) => {
                writeln!(out, "(word & {:#x}u) == {:#x}u {{ return true; }}", pattern.mask, pattern.value)?;
            }
            HoleTest::ReservedBitMask => {
                out += "!decode_bit_masks((word >> 22u) & 1u, (word >> 10u) & 63u, (word >> 16u) & 63u, true).defined ";
                out += "{ return true; }\n";
            }
        }
    }
    out += "    return false;\n}\n";
    Ok(out)
}

/// Returns `machine/layout.wgsl`: the layout of buffers.
pub(super) fn layout() -> Result<String> {
    constants("Buffers", "kvrm_shaders::layout", kvrm_shaders::layout::ALL)
}

/// Returns `spiking/layout.wgsl`.
pub(super) fn spiking_layout() -> Result<String> {
    constants(
        "Numbers of the burst engine",
        "kvrm_shaders::layout::spiking",
        kvrm_shaders::layout::spiking::ALL,
    )
}

/// Returns `spiking/record_words.wgsl`.
pub(super) fn record_words() -> Result<String> {
    let kinds = Kind::ALL.map(|(kind, name)| (name, kind as u32, "The number of a model."));
    let all = [kvrm_spiking::record_words::ALL, &kinds].concat();
    constants("Words of the records of neurons", "kvrm_spiking::record_words", &all)
}

fn constants(title: &str, source: &str, all: &[(&str, u32, &str)]) -> Result<String> {
    let mut out = format!("//! {title}. {BANNER}; do not edit.\n//!\n//! Source: `{source}`.\n");
    for (name, value, doc) in all {
        // Only the host uses some constants.
        if !is_imported(name)? {
            continue;
        }
        write!(out, "\n/// {doc}\nconst {name} = {value}u;\n")?;
    }
    Ok(out)
}

/// Returns `machine/semihosting.wgsl`.
pub(super) fn semihosting() -> Result<String> {
    numbers("Semihosting", "SHADER_NUMBERS", kvrm_machine::SHADER_NUMBERS)
}

/// Returns `machine/linux/numbers.wgsl`.
pub(super) fn system_calls() -> Result<String> {
    numbers("System calls", "linux::SHADER_NUMBERS", kvrm_machine::linux::SHADER_NUMBERS)
}

fn numbers(what: &str, source: &str, numbers: &[(&str, u32, &str)]) -> Result<String> {
    let mut out = format!("//! {what}. {BANNER}; do not edit.\n//!\n//! Source: `kvrm_machine::{source}`.\n");
    for (name, value, doc) in numbers {
        write!(out, "\n/// {doc}\nconst {name} = {value:#x}u;\n")?;
    }
    Ok(out)
}
