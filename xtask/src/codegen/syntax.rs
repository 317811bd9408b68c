//! The assembly syntax of an encoding, with the manual's symbols.

use kvrm_arm64::Encoding;
use kvrm_arm64::operand::Operand;
use kvrm_arm64::view::{Element, LETTERS, View, Width};

/// Returns the mnemonic and operands of an encoding, without aliases.
pub(super) fn assembly(encoding: &Encoding) -> String {
    let mut text = encoding.mnemonic.to_owned();
    for (index, &operand) in encoding.operands.iter().filter(|operand| !operand.is_hidden()).enumerate() {
        // The condition of B.cond is part of the mnemonic.
        let after_condition = index > 0 && encoding.operands[index - 1] == Operand::BranchCond;
        text += match index {
            0 if operand == Operand::BranchCond => "",
            0 => " ",
            _ if after_condition => " ",
            _ => ", ",
        };
        text += &symbol(operand);
    }
    text
}

fn symbol(operand: Operand) -> String {
    use Operand as O;
    let scaled = |field: &str, scale: u32| format!("#{field}*{}", 1 << scale);
    let name = format!("{operand:?}");
    match operand {
        O::ShiftedWm => "Wm{, shift #imm6}".into(),
        O::ShiftedXm => "Xm{, shift #imm6}".into(),
        O::ExtendedWm => "Wm{, extend #imm3}".into(),
        O::ExtendedXm => "Rm{, extend #imm3}".into(),
        O::AddSubImm => "#imm12{, lsl #12}".into(),
        O::LogicalImm(_) => "#bitmask".into(),
        O::MoveWideImm => "#imm16{, lsl #hw*16}".into(),
        O::ImmR => "#immr".into(),
        O::ImmS => "#imms".into(),
        O::Imm5 => "#imm5".into(),
        O::Nzcv => "#nzcv".into(),
        O::Imm16 | O::UdfImm => "#imm16".into(),
        O::HintImm => "#imm7".into(),
        O::CrmOption | O::CrmImm => "#imm4".into(),
        O::BtiTarget => "target".into(),
        O::Barrier => "option".into(),
        O::PstateField => "pstatefield".into(),
        O::SysOp => "#op1, Cn, Cm, #op2".into(),
        O::SysReg => "systemreg".into(),
        O::BranchCond | O::Cond => "cond".into(),
        O::TestBit => "#bit".into(),
        O::Label14 | O::Label19 | O::Label26 | O::PcRel => "label".into(),
        O::PcRelPage => "page".into(),
        O::Prfop => "prfop".into(),
        O::Base => "[Xn/SP]".into(),
        O::ScaledOffset(scale) => format!("[Xn/SP, {}]", scaled("imm12", scale)),
        O::Offset => "[Xn/SP, #imm9]".into(),
        O::PreIndex => "[Xn/SP, #imm9]!".into(),
        O::PostIndex => "[Xn/SP], #imm9".into(),
        O::RegisterOffset(scale) => format!("[Xn/SP, Rm{{, extend #0/{scale}}}]"),
        O::PointerOffset => "[Xn/SP, #simm10*8]".into(),
        O::PointerPreIndex => "[Xn/SP, #simm10*8]!".into(),
        O::PairOffset(scale) => format!("[Xn/SP, {}]", scaled("imm7", scale)),
        O::PairPreIndex(scale) => format!("[Xn/SP, {}]!", scaled("imm7", scale)),
        O::PairPostIndex(scale) => format!("[Xn/SP], {}", scaled("imm7", scale)),
        O::Text(text) => text.into(),
        O::RnImm5 => "Rn".into(),
        O::VdLane => "Vd.T[imm5]".into(),
        O::VnLane => "Vn.T[imm5]".into(),
        O::VnLane4 => "Vn.T[imm4]".into(),
        O::VmLane(_) => "Vm.T[H:L:M]".into(),
        O::VmGroup(size) => format!("Vm.{}{}[H:L]", 4 >> size, LETTERS[size as usize]),
        O::VmWord => "Vm.s[imm2]".into(),
        O::VmPair => "Vm.T[H:L]".into(),
        O::Rotation(..) => "#rotate".into(),
        O::FlagRotation => "#imm6".into(),
        O::FlagMask => "#mask".into(),
        O::BottomTop => "#Q".into(),
        O::VdHigh => "Vd.D[1]".into(),
        O::VnHigh => "Vn.D[1]".into(),
        O::VtList(count, view) => list(count, &simd("Vt", view)),
        O::VtLane(count, size) => {
            format!("{}[index]", list(count, &format!("Vt.{}", LETTERS[size as usize])))
        }
        O::VnTable(count) => list(count, "Vn.16b"),
        O::ShiftRight | O::ShiftLeft => "#shift".into(),
        O::ShiftSize => "#size".into(),
        O::FractionBits => "#fbits".into(),
        O::Imm8 | O::Imm8Bytes | O::Imm8Float | O::FloatImm => "#imm8".into(),
        O::Imm8Shifted(_) => "#imm8{, lsl #amount}".into(),
        O::Imm8Ones => "#imm8, msl #amount".into(),
        O::ExtIndex => "#imm4".into(),
        O::PostBytes(..) => "[Xn/SP], #bytes".into(),
        O::PostRegister => "[Xn/SP], Xm".into(),
        O::Vd(view) | O::Vn(view) | O::Vm(view) | O::Va(view) | O::Vt(view) | O::Vt2(view) => {
            simd(name.split('(').next().unwrap_or_default(), view)
        }
        // The variants have the manual's names of registers: `Wd`, `XnSp`, `WsPair`.
        _ => match (name.strip_suffix("Sp"), name.strip_suffix("Pair")) {
            (Some(register), _) if register.starts_with('W') => format!("{register}/WSP"),
            (Some(register), _) => format!("{register}/SP"),
            (_, Some(register)) => format!("{register}, {}({}+1)", &register[..1], &register[1..]),
            _ => name,
        },
    }
}

/// Returns the syntax of a SIMD&FP register with a view; `name` is V and the name of its field.
fn simd(name: &str, view: View) -> String {
    let field = &name[1..];
    let lanes = match view.element {
        Element::Fixed(size) => {
            let letter = LETTERS[size as usize];
            match view.width {
                Width::Scalar => return format!("{}{field}", letter.to_uppercase()),
                Width::Q => format!("{}{letter}/{}{letter}", 8 >> size, 16 >> size),
                Width::Pair => format!("2{letter}"),
                Width::Full => format!("{}{letter}", 16 >> size),
                Width::HalfQ => format!("{}{letter}/{}{letter}", 4 >> size, 8 >> size),
            }
        }
        Element::Size(0) | Element::Immh(0) | Element::Sz(2) | Element::Imm5 | Element::StructureSize => {
            "T".into()
        }
        Element::Sz(_) => "Tn".into(),
        Element::Size(_) | Element::Immh(_) => "Tx".into(),
    };
    if view.width == Width::Scalar { name.to_owned() } else { format!("{name}.{lanes}") }
}

/// Returns the syntax of a list of `count` registers from `first` on.
fn list(count: u32, first: &str) -> String {
    if count == 1 { format!("{{{first}}}") } else { format!("{{{first}, {count} registers}}") }
}

#[cfg(test)]
mod tests {
    use kvrm_arm64::Op;

    use super::*;

    #[test]
    fn assembly_reads_as_in_the_manual() {
        let cases = [
            (Op::ADD_64_addsub_imm, "add Xd/SP, Xn/SP, #imm12{, lsl #12}"),
            (Op::B_only_condbranch, "b.cond label"),
            (Op::CASP_CP64_comswappr, "casp Xs, X(s+1), Xt, X(t+1), [Xn/SP]"),
            (Op::LDP_64_ldstpair_post, "ldp Xt, Xt2, [Xn/SP], #imm7*8"),
            (Op::LDR_32_ldst_regoff, "ldr Wt, [Xn/SP, Rm{, extend #0/2}]"),
            (Op::NOP_HI_hints, "nop"),
        ];
        for (op, text) in cases {
            assert_eq!(assembly(op.encoding()), text, "of {op:?}");
        }
    }
}
