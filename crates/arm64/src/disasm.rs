//! The disassembler. It prints the same text as GNU objdump, including preferred aliases.

use core::fmt::{self, Display, Formatter};

use crate::alias::{preferred, pstate_field, sys_instruction};
use crate::operand::{
    BARRIERS, CONDITIONS, EXTENDS, Operand, SHIFTS, degrees, is_wide, vm_lane, vm_pair, vt_index,
};
use crate::semantics::bitmask::decode_bit_masks;
use crate::semantics::truncate;
use crate::view::{Element, LETTERS, View, Width};
use crate::{Op, Word, decode, sysreg};

/// A word at an address, which `Display` formats as assembly text.
///
/// ```
/// use kvrm_arm64::disassemble;
/// assert_eq!(disassemble(0x9100_43ff, 0).to_string(), "add sp, sp, #0x10");
/// assert_eq!(disassemble(0x54ff_ffe1, 0x1000).to_string(), "b.ne 0xffc");
/// assert_eq!(disassemble(0xffff_ffff, 0).to_string(), ".inst 0xffffffff ; undefined");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Disassembly {
    word: Word,
    op: Option<Op>,
    pc: u64,
}

/// Disassembles `word`, which lies at address `pc`.
#[must_use]
pub fn disassemble(word: u32, pc: u64) -> Disassembly {
    Disassembly { word: Word(word), op: decode(word), pc }
}

impl Display for Disassembly {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { word: w, op: Some(op), pc } = *self else {
            return write!(f, ".inst {:#010x} ; undefined", self.word.0);
        };
        let encoding = op.encoding();
        let (mnemonic, operands) = match preferred(encoding.mnemonic, encoding.group(), w) {
            Some(alias) => (alias.name, alias.operands),
            None => (encoding.mnemonic, encoding.operands),
        };
        // An atomic that neither returns the old value nor acquires is called a store.
        let is_store =
            encoding.group() == "memop" && mnemonic.starts_with("ld") && w.rt() == 31 && w.bits(23, 1) == 0;
        if is_store {
            write!(f, "st{} ", &mnemonic[2..])?;
            return write_operands(f, [operands[0], operands[2]].iter(), w, pc);
        }
        match mnemonic.strip_suffix("{2}") {
            Some(mnemonic) => write!(f, "{mnemonic}{}", if w.q() == 1 { "2" } else { "" })?,
            None => f.write_str(mnemonic)?,
        }
        // The condition of B.cond and the name of a SYS instruction are part of the mnemonic.
        if !matches!(operands.first(), None | Some(Operand::BranchCond | Operand::SysOpName)) {
            f.write_str(" ")?;
        }
        write_operands(f, operands.iter(), w, pc)
    }
}

fn write_operands<'a>(
    f: &mut Formatter<'_>,
    operands: impl Iterator<Item = &'a Operand>,
    w: Word,
    pc: u64,
) -> fmt::Result {
    let mut separator = "";
    for &operand in operands.filter(|operand| !operand.is_hidden()) {
        f.write_str(separator)?;
        write_operand(f, operand, w, pc)?;
        separator = if operand == Operand::BranchCond { " " } else { ", " };
    }
    Ok(())
}

/// Writes a general register. Number 31 is the stack pointer if `sp`, else the zero register.
fn write_register(f: &mut Formatter<'_>, number: u32, wide: bool, sp: bool) -> fmt::Result {
    match (number & 31, wide, sp) {
        (31, true, true) => f.write_str("sp"),
        (31, false, true) => f.write_str("wsp"),
        (31, true, false) => f.write_str("xzr"),
        (31, false, false) => f.write_str("wzr"),
        (n, true, _) => write!(f, "x{n}"),
        (n, false, _) => write!(f, "w{n}"),
    }
}

fn write_operand(f: &mut Formatter<'_>, operand: Operand, w: Word, pc: u64) -> fmt::Result {
    use Operand as O;
    if let Some(field) = operand.register() {
        let (number, wide) = (w.bits(field.low, 5), is_wide(field, w));
        write_register(f, number, wide, field.sp)?;
        if field.pair {
            f.write_str(", ")?;
            write_register(f, number + 1, wide, false)?;
        }
        return Ok(());
    }
    if let Some((low, view)) = operand.simd() {
        return write_simd(f, w.bits(low, 5), view, w);
    }
    let wide = w.bits(31, 1) == 1;
    let datasize = if wide { 64 } else { 32 };
    match operand {
        O::ShiftedWm | O::ShiftedXm | O::ShiftedRm => {
            write_register(f, w.rm(), wide, false)?;
            if w.shift() != 0 || w.imm6() != 0 {
                write!(f, ", {} #{}", SHIFTS[w.shift() as usize], w.imm6())?;
            }
            Ok(())
        }
        O::ExtendedWm | O::ExtendedXm | O::ExtendedRm => write_extended(f, w, wide),
        O::AddSubImm => {
            write!(f, "#{:#x}", w.imm12())?;
            if w.sh() == 1 { f.write_str(", lsl #12") } else { Ok(()) }
        }
        O::LogicalImm(_) | O::MoveBitMask => {
            let mask = decode_bit_masks(w.n(), w.imms(), w.immr(), true).unwrap_or_default().wmask;
            write!(f, "#{:#x}", truncate(mask, datasize))
        }
        O::MoveWideImm => {
            write!(f, "#{:#x}", w.imm16())?;
            if w.hw() != 0 { write!(f, ", lsl #{}", 16 * w.hw()) } else { Ok(()) }
        }
        O::MoveZeroed => write!(f, "#{:#x}", u64::from(w.imm16()) << (16 * w.hw())),
        O::MoveInverted => write!(f, "#{:#x}", truncate(!(u64::from(w.imm16()) << (16 * w.hw())), datasize)),
        O::ImmR => write!(f, "#{}", w.immr()),
        O::ImmS => write!(f, "#{}", w.imms()),
        O::FlagMask => write!(f, "#{}", w.nzcv()),
        O::FlagRotation => write!(f, "#{}", w.bits(15, 6)),
        O::Imm5 => write!(f, "#{:#x}", w.imm5()),
        O::Nzcv => write!(f, "#{:#x}", w.nzcv()),
        O::Imm16 => write!(f, "#{:#x}", w.imm16()),
        O::UdfImm => write!(f, "#{}", w.bits(0, 16)),
        O::HintImm => write!(f, "#{:#x}", w.bits(5, 7)),
        O::BtiTarget => f.write_str(["", "c", "j", "jc"][w.bits(6, 2) as usize]),
        O::CrmOption | O::CrmImm => write!(f, "#{:#x}", w.crm()),
        O::Barrier => match BARRIERS[w.crm() as usize] {
            "" => write!(f, "#{:#04x}", w.crm()),
            name => f.write_str(name),
        },
        O::PstateField => f.write_str(pstate_field(w).unwrap_or_default()),
        O::PstateNumber => write!(f, "s0_{}_c4_c{}_{}", w.op1(), w.crm(), w.op2()),
        O::SysOp => write!(f, "#{}, C{}, C{}, #{}", w.op1(), w.crn(), w.crm(), w.op2()),
        O::SysOpName => f.write_str(sys_instruction(w).map_or("", |instruction| instruction.name)),
        // Bit 21 is L: set in MRS, clear in MSR.
        O::SysReg => match sysreg::name(w.sysreg(), w.bits(21, 1) == 0) {
            Some(name) => f.write_str(name),
            None => write!(f, "s{}_{}_c{}_c{}_{}", w.op0(), w.op1(), w.crn(), w.crm(), w.op2()),
        },
        O::BranchCond => f.write_str(CONDITIONS[w.cond_b() as usize]),
        O::Cond => f.write_str(CONDITIONS[w.cond() as usize]),
        O::InvertedCond => f.write_str(CONDITIONS[(w.cond() ^ 1) as usize]),
        O::TestBit => write!(f, "#{}", w.test_bit()),
        O::Label14 => write!(f, "{:#x}", pc.wrapping_add_signed(w.offset14())),
        O::Label19 => write!(f, "{:#x}", pc.wrapping_add_signed(w.offset19())),
        O::Label26 => write!(f, "{:#x}", pc.wrapping_add_signed(w.offset26())),
        O::PcRel => write!(f, "{:#x}", pc.wrapping_add_signed(w.adr_imm())),
        O::PcRelPage => write!(f, "{:#x}", (pc & !0xfff).wrapping_add_signed(w.adr_imm() << 12)),
        O::Prfop => write_prefetch_operation(f, w.rt()),
        O::Base => write_base(f, w, "]"),
        O::ScaledOffset(scale) => write_offset(f, w, i64::from(w.imm12()) << scale),
        O::Offset => write_offset(f, w, w.imm9()),
        O::PreIndex => write_indexed(f, w, w.imm9(), true),
        O::PostIndex => write_indexed(f, w, w.imm9(), false),
        O::PointerOffset => write_offset(f, w, w.imm10()),
        O::PointerPreIndex if w.imm10() == 0 => write_base(f, w, "]!"),
        O::PointerPreIndex => write_indexed(f, w, w.imm10(), true),
        O::PairOffset(scale) => write_offset(f, w, w.imm7() << scale),
        O::PairPreIndex(scale) => write_indexed(f, w, w.imm7() << scale, true),
        O::PairPostIndex(scale) => write_indexed(f, w, w.imm7() << scale, false),
        O::RegisterOffset(scale) => {
            write_base(f, w, ", ")?;
            write_register(f, w.rm(), w.option() & 3 == 3, false)?;
            let extend = if w.option() == 3 { "lsl" } else { EXTENDS[w.option() as usize] };
            match (w.option(), w.s()) {
                (3, 0) => f.write_str("]"),
                (_, 0) => write!(f, ", {extend}]"),
                _ => write!(f, ", {extend} #{scale}]"),
            }
        }
        O::Text(text) => f.write_str(text),
        O::RnImm5 => write_register(f, w.rn(), imm5_size(w) == 3, false),
        O::VdLane => write_lane(f, w.rd(), imm5_size(w), w.imm5() >> (imm5_size(w) + 1)),
        O::VnLane => write_lane(f, w.rn(), imm5_size(w), w.imm5() >> (imm5_size(w) + 1)),
        O::VnLane4 => write_lane(f, w.rn(), imm5_size(w), w.imm4() >> imm5_size(w)),
        O::VmLane(element) => {
            let (number, size, index) = vm_lane(element, w);
            write_lane(f, number, size, index)
        }
        O::VmGroup(size) => {
            let (letter, index) = (LETTERS[size as usize], w.bits(11, 1) << 1 | w.bits(21, 1));
            write!(f, "v{}.{}{letter}[{index}]", w.rm(), 4 >> size)
        }
        O::VmPair => {
            let (number, size, index) = vm_pair(w);
            write_lane(f, number, size, index)
        }
        O::VmWord => write_lane(f, w.rm(), 2, w.bits(12, 2)),
        O::Rotation(low, width) => write!(f, "#{}", degrees(low, width, w)),
        O::BottomTop => write!(f, "#{}", w.q()),
        O::VdHigh => write_lane(f, w.rd(), 3, 1),
        O::VnHigh => write_lane(f, w.rn(), 3, 1),
        O::VtList(count, view) => write_list(f, w.rt(), count, |f, number| write_simd(f, number, view, w)),
        O::VnTable(count) => {
            let view = crate::view::V16B;
            write_list(f, w.rn(), count, |f, number| write_simd(f, number, view, w))
        }
        O::VtLane(count, size) => {
            write_list(f, w.rt(), count, |f, number| write!(f, "v{number}.{}", LETTERS[size as usize]))?;
            write!(f, "[{}]", vt_index(size, w))
        }
        O::ShiftRight => write!(f, "#{}", (16 << crate::view::IMMH.size(w)) - w.immhb()),
        O::ShiftLeft => write!(f, "#{}", w.immhb() - (8 << crate::view::IMMH.size(w))),
        O::ShiftSize => write!(f, "#{}", 8 << w.size()),
        O::FractionBits => write!(f, "#{}", 64 - w.scale()),
        O::Imm8 => write!(f, "#{:#x}", w.abcdefgh()),
        O::Imm8Shifted(bits) => {
            write!(f, "#{:#x}", w.abcdefgh())?;
            match w.bits(13, bits) {
                0 => Ok(()),
                amount => write!(f, ", lsl #{}", 8 * amount),
            }
        }
        O::Imm8Ones => write!(f, "#{:#x}, msl #{}", w.abcdefgh(), 8 << w.bits(12, 1)),
        O::Imm8Bytes => write!(f, "#{:#x}", byte_mask(w.abcdefgh())),
        O::Imm8Float => write_float(f, w.abcdefgh()),
        O::FloatImm => write_float(f, w.imm8()),
        O::ExtIndex => write!(f, "#{}", w.imm4()),
        O::PostBytes(count, view) => write_indexed(f, w, i64::from(count * view.bytes(w)), false),
        O::PostRegister => {
            write_base(f, w, "], ")?;
            write_register(f, w.rm(), true, false)
        }
        O::LslAmount => write!(f, "#{}", datasize - 1 - w.imms()),
        O::InsertLsb => write!(f, "#{}", datasize - w.immr()),
        O::InsertWidth => write!(f, "#{}", w.imms() + 1),
        O::ExtractWidth => write!(f, "#{}", w.imms() + 1 - w.immr()),
        // Plain registers, handled above.
        _ => Ok(()),
    }
}

/// Returns the element size that imm5 encodes, as the binary logarithm of bytes.
const fn imm5_size(w: Word) -> u32 {
    View { element: Element::Imm5, width: Width::Scalar }.size(w)
}

/// Writes a SIMD&FP register in a view.
fn write_simd(f: &mut Formatter<'_>, number: u32, view: View, w: Word) -> fmt::Result {
    let (letter, lanes) = (LETTERS[(view.size(w) as usize).min(4)], view.lanes(w));
    if view.width == Width::Scalar {
        write!(f, "{letter}{number}")
    } else {
        write!(f, "v{number}.{lanes}{letter}")
    }
}

/// Writes an element of a SIMD&FP register.
fn write_lane(f: &mut Formatter<'_>, number: u32, size: u32, index: u32) -> fmt::Result {
    write!(f, "v{number}.{}[{index}]", LETTERS[size as usize])
}

/// Writes a list of registers. Number 0 follows number 31.
fn write_list(
    f: &mut Formatter<'_>,
    first: u32,
    count: u32,
    write: impl Fn(&mut Formatter<'_>, u32) -> fmt::Result,
) -> fmt::Result {
    f.write_str("{")?;
    write(f, first)?;
    if count > 2 && first + count <= 32 {
        f.write_str("-")?;
        write(f, first + count - 1)?;
    } else {
        for number in 1..count {
            f.write_str(", ")?;
            write(f, (first + number) & 31)?;
        }
    }
    f.write_str("}")
}

/// Writes an 8-bit floating-point immediate as C prints it with `%.18e`.
fn write_float(f: &mut Formatter<'_>, imm8: u32) -> fmt::Result {
    // The number is 16 to 31 times a power of two of at least 1 / 128, so it is an integer in units of 1 / 128.
    let power = (imm8 >> 4 & 7) ^ 4;
    let units = u64::from(16 + (imm8 & 15)) << power;
    let exponent = if units >= 1280 {
        1
    } else if units < 128 {
        -1
    } else {
        0
    };
    // 10^18 is a multiple of 128 and of 1280, so 18 digits after the point are exact.
    const DIGITS: u64 = 1_000_000_000_000_000_000;
    let (whole, rest, unit) = match exponent {
        1 => (units / 1280, units % 1280, DIGITS / 1280),
        -1 => (units * 10 / 128, units * 10 % 128, DIGITS / 128),
        _ => (units / 128, units % 128, DIGITS / 128),
    };
    let sign = if imm8 >> 7 == 1 { "-" } else { "" };
    write!(f, "#{sign}{whole}.{:018}e{exponent:+03}", rest * unit)
}

/// Expands each of eight bits to a byte of zeros or ones.
pub(crate) fn byte_mask(bits: u32) -> u64 {
    (0..8).filter(|bit| bits >> bit & 1 == 1).fold(0, |mask, bit| mask | 0xff << (8 * bit))
}

/// Writes an extended register. If another operand is the stack pointer, the extension that changes nothing is
/// written LSL.
fn write_extended(f: &mut Formatter<'_>, w: Word, wide: bool) -> fmt::Result {
    let flags = w.bits(29, 1) == 1;
    let beside_sp = w.rn() == 31 || (w.rd() == 31 && !flags);
    let full = if wide { 3 } else { 2 };
    write_register(f, w.rm(), wide && w.option() & 3 == 3, false)?;
    match (beside_sp && w.option() == full, w.imm3()) {
        (true, 0) => Ok(()),
        (true, amount) => write!(f, ", lsl #{amount}"),
        (false, 0) => write!(f, ", {}", EXTENDS[w.option() as usize]),
        (false, amount) => write!(f, ", {} #{amount}", EXTENDS[w.option() as usize]),
    }
}

fn write_base(f: &mut Formatter<'_>, w: Word, end: &str) -> fmt::Result {
    f.write_str("[")?;
    write_register(f, w.rn(), true, true)?;
    f.write_str(end)
}

fn write_offset(f: &mut Formatter<'_>, w: Word, offset: i64) -> fmt::Result {
    if offset == 0 {
        return write_base(f, w, "]");
    }
    write_base(f, w, ", ")?;
    write!(f, "#{offset}]")
}

fn write_indexed(f: &mut Formatter<'_>, w: Word, offset: i64, before: bool) -> fmt::Result {
    if before {
        write_base(f, w, ", ")?;
        write!(f, "#{offset}]!")
    } else {
        write_base(f, w, "], ")?;
        write!(f, "#{offset}")
    }
}

/// Writes the operation of a PRFM: type, target cache, policy.
fn write_prefetch_operation(f: &mut Formatter<'_>, operation: u32) -> fmt::Result {
    let (kind, target, policy) = (operation >> 3, operation >> 1 & 3, operation & 1);
    if kind == 3 || target == 3 {
        return write!(f, "#{operation:#04x}");
    }
    let kind = ["pld", "pli", "pst"][kind as usize];
    write!(f, "{kind}l{}{}", target + 1, ["keep", "strm"][policy as usize])
}
