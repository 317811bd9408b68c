//! What the text of an operand may be, in words, for error messages.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::operand::Operand;
use crate::view::{LETTERS, View};

/// Describes what an operand may be. `wide` is bit 31 of the word, if it is fixed.
pub(super) fn of(operand: Operand, wide: Option<bool>) -> String {
    use Operand as O;
    if operand == O::Rt {
        return "a general register; bits from 32 up need a 64-bit one".into();
    }
    if let Some(field) = operand.register() {
        return general(field.wide.or(wide), field.sp);
    }
    if let Some((_, view)) = operand.simd() {
        return simd(view);
    }
    let size = if wide == Some(false) { 32 } else { 64 };
    let top = size - 1;
    match operand {
        O::ShiftedWm | O::ShiftedXm | O::ShiftedRm => {
            format!("{}, which may be shifted by 0 to {top}", general(wide, false))
        }
        O::ExtendedWm | O::ExtendedXm | O::ExtendedRm => {
            "a register extended by uxtb to sxtx, and shifted left by 0 to 4".into()
        }
        O::AddSubImm => "a number from 0 to 4095, which may be shifted by lsl #12".into(),
        O::LogicalImm(_) | O::MoveBitMask => {
            format!("a bit mask of {size} bits: repeated elements with one run of ones each")
        }
        O::MoveWideImm => {
            format!("a number from 0 to 65535, which may be shifted left by 0, 16 and so on to {}", size - 16)
        }
        O::MoveZeroed | O::MoveInverted => "a number of 16 bits between zeros or between ones".into(),
        O::Cond => "a condition such as eq".into(),
        O::InvertedCond => "a condition such as eq, but not al or nv".into(),
        O::Label14 => target("32 KiB"),
        O::Label19 => target("1 MiB"),
        O::Label26 => target("128 MiB"),
        O::PcRel => "an address or a label, within 1 MiB of the instruction".into(),
        O::PcRelPage => "an address or a label, within 4 GiB of the instruction".into(),
        O::Base => "an address such as [x0], without an offset".into(),
        O::ScaledOffset(0) => "an offset from 0 to 4095; ldur and the like take -256 to 255".into(),
        O::ScaledOffset(scale) => format!(
            "an offset from 0 to {} that is a multiple of {}; ldur takes others from -256 to 255",
            4095 << scale,
            1 << scale
        ),
        O::Offset | O::PreIndex | O::PostIndex => "an offset from -256 to 255".into(),
        O::PointerOffset | O::PointerPreIndex => {
            "an offset from -4096 to 4088 that is a multiple of 8".into()
        }
        O::PairOffset(scale) | O::PairPreIndex(scale) | O::PairPostIndex(scale) => {
            format!("an offset from {} to {} that is a multiple of {}", -64 << scale, 63 << scale, 1 << scale)
        }
        O::RegisterOffset(0) => "an index register with uxtw, sxtw, sxtx or lsl, and no shift or #0".into(),
        O::RegisterOffset(scale) => {
            format!("an index register with uxtw, sxtw, sxtx or lsl, and shifted by 0 or {scale}")
        }
        O::PostBytes(..) => "the number of bytes that the instruction transfers".into(),
        O::PostRegister => "a 64-bit register".into(),
        O::Prfop => "an operation such as pldl1keep, or a number from 0 to 31".into(),
        O::Barrier => "an option such as ish, or a number from 0 to 15".into(),
        O::BtiTarget => "c, j or jc".into(),
        O::PstateField => "the name of a system register or of a field of PSTATE".into(),
        O::PstateNumber => "a generic name such as s0_3_c4_c2_1".into(),
        O::SysReg => "the name of a system register, or a generic name such as s3_3_c13_c0_2".into(),
        O::SysOp => "#op1, Cn, Cm, #op2".into(),
        O::SysOpName => "the name of an operation, such as zva after dc".into(),
        O::Text(text) => format!("`{text}`"),
        O::RnImm5 => "a 64-bit register for doublewords, else a 32-bit register".into(),
        O::VdLane | O::VnLane | O::VnLane4 => "an element such as v0.s[1]".into(),
        O::VmLane(_) => "an element such as v0.s[1]; an h element is of v0 to v15".into(),
        O::VmWord => "a word such as v0.s[1]".into(),
        O::VmPair => "a pair of elements such as v0.s[1]".into(),
        O::Rotation(_, 1) => "90 or 270".into(),
        O::Rotation(..) => "0, 90, 180 or 270".into(),
        O::BottomTop => "0 or 1".into(),
        O::VmGroup(size) => format!("32 bits such as v0.{}{}[1]", 4 >> size, LETTERS[size as usize]),
        O::VdHigh | O::VnHigh => "a high half such as v0.d[1]".into(),
        O::VtList(1, view) => format!("a register in braces with elements {}", arrangements(view)),
        O::VtList(count, _) => format!("a list of {count} consecutive registers with the same elements"),
        O::VnTable(count) => format!("a list of {count} consecutive registers with elements .16b"),
        O::VtLane(count, size) => {
            format!(
                "an element of {count} consecutive registers, such as {{v0.{}}}[0]",
                LETTERS[size as usize]
            )
        }
        O::ShiftRight => "a shift from 1 to the bits of an element".into(),
        O::ShiftLeft => "a shift from 0 to the bits of an element less 1".into(),
        O::ShiftSize => "the bits of an element".into(),
        O::FractionBits => format!("a number from 1 to {size}"),
        O::Imm8Shifted(_) => "a number from 0 to 255, which may be shifted left by a multiple of 8".into(),
        O::Imm8Ones => "a number from 0 to 255 with msl #8 or msl #16".into(),
        O::Imm8Bytes => "a number in which each byte is 0 or 0xff".into(),
        O::Imm8Float | O::FloatImm => {
            "a floating-point number from 0.125 to 31 with at most five significant bits, or its negative"
                .into()
        }
        O::LslAmount | O::InsertLsb | O::ImmR | O::ImmS => format!("a number from 0 to {top}"),
        O::InsertWidth | O::ExtractWidth => {
            format!("a width of at least 1, so that the field ends at bit {top}")
        }
        O::FlagRotation => "a number from 0 to 63".into(),
        O::TestBit => {
            "the number of a bit: 0 to 31 of a 32-bit register, 0 to 63 of a 64-bit register".into()
        }
        O::Imm5 => "a number from 0 to 31".into(),
        O::Nzcv | O::FlagMask | O::CrmOption | O::CrmImm | O::ExtIndex => "a number from 0 to 15".into(),
        O::Imm16 | O::UdfImm => "a number from 0 to 65535".into(),
        O::HintImm => "a number from 0 to 127".into(),
        O::Imm8 => "a number from 0 to 255".into(),
        _ => "another operand".into(),
    }
}

fn general(wide: Option<bool>, sp: bool) -> String {
    let (size, names) = match (wide, sp) {
        (Some(false), false) => ("32-bit", "w0 to w30 or wzr"),
        (Some(false), true) => ("32-bit", "w0 to w30 or wsp"),
        (Some(true), false) => ("64-bit", "x0 to x30 or xzr"),
        (Some(true), true) => ("64-bit", "x0 to x30 or sp"),
        (None, _) => return "a general register".into(),
    };
    format!("a {size} register, {names}")
}

fn target(range: &str) -> String {
    format!("an address or a label, a multiple of 4 within {range} of the instruction")
}

fn simd(view: View) -> String {
    let scalars = LETTERS.iter().zip(0..).filter(|(_, size)| view.encode(*size, 0).is_some());
    let scalars: Vec<String> = scalars.map(|(letter, _)| format!("{letter}0")).collect();
    if scalars.is_empty() {
        format!("a vector register with elements {}", arrangements(view))
    } else {
        format!("a register such as {}", scalars.join(" or "))
    }
}

/// Lists the views of a vector, such as `.8b or .16b`.
fn arrangements(view: View) -> String {
    let sizes = (0..5).flat_map(|size| [1, 2, 4, 8, 16].map(|lanes| (size, lanes)));
    let valid = sizes.filter(|(size, lanes)| view.encode(*size, *lanes).is_some());
    valid
        .map(|(size, lanes): (u32, u32)| format!(".{lanes}{}", LETTERS[size as usize]))
        .collect::<Vec<_>>()
        .join(" or ")
}
