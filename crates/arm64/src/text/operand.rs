//! Operands from text: the tokens that an operand of an encoding may have, and the [`Arg`] that they mean.

mod address;
mod vector;

use alloc::string::String;

use super::cursor::{Cursor, Mismatch};
use super::{expectation, names};
use crate::alias::{pstate_field, sys_instruction_number};
use crate::asm::{Arg, Register};
use crate::operand::{EXTENDS, Operand, SHIFTS};
use crate::{Encoding, Word};

/// The meaning of an operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    Arg(Arg),
    /// Fixed text.
    Nothing,
    /// The bits of an element, which must be those of another operand.
    ElementBits(i64),
}

/// Takes an operand of an encoding. `mnemonic` is in lower case.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    operand: Operand,
    row: &Encoding,
    mnemonic: &str,
) -> Result<Meaning, Mismatch> {
    use Operand as O;
    let arg = match operand {
        O::Text(text) => return fixed(cursor, text),
        O::ShiftSize => {
            return number(cursor, operand, row).map(Meaning::ElementBits);
        }
        O::SysOpName => {
            let number = cursor.name(|name| {
                sys_instruction_number(&alloc::format!("{mnemonic} {}", name.to_ascii_lowercase()))
            });
            number.map(|number| Arg::Imm(number.into()))
        }
        O::BranchCond => mnemonic.strip_prefix("b.").and_then(names::condition).map(Arg::Cond),
        O::RnImm5 => register(cursor, None, false).map(Arg::Register),
        _ if operand.register().is_some() => general(cursor, operand, row),
        _ if let Some(found) = address::read(cursor, operand) => Some(found?),
        _ if let Some(found) = vector::read(cursor, operand) => found,
        O::ShiftedWm | O::ShiftedXm | O::ShiftedRm => Some(shifted(cursor, operand, row)?),
        O::ExtendedWm | O::ExtendedXm | O::ExtendedRm => Some(extended(cursor, operand, row)?),
        O::AddSubImm | O::MoveWideImm | O::Imm8Shifted(_) => Some(shifted_number(cursor, operand, row)?),
        O::Imm8Ones => {
            let imm = number(cursor, operand, row)?;
            let is_msl = |name: &str| name.eq_ignore_ascii_case("msl").then_some(());
            cursor.comma_and_name(is_msl).ok_or_else(|| cursor.mismatch("`msl #8` or `msl #16`"))?;
            let amount = number(cursor, operand, row)?;
            Some(Arg::ShiftedImm(small(imm), small(amount)))
        }
        O::Imm8Bytes => {
            let value = number(cursor, operand, row)?;
            let bytes = value.to_le_bytes();
            if bytes.iter().any(|byte| !matches!(byte, 0 | 0xff)) {
                return Err(misfit(cursor, operand, row));
            }
            Some(Arg::Imm(bytes.iter().zip(0..).map(|(byte, bit)| i64::from(byte & 1) << bit).sum()))
        }
        O::Imm8Float | O::FloatImm => match cursor.float() {
            Some(value) => {
                Some(Arg::Imm(float_immediate(value).ok_or_else(|| misfit(cursor, operand, row))?.into()))
            }
            None => None,
        },
        O::Cond | O::InvertedCond => cursor.name(names::condition).map(Arg::Cond),
        O::Label14 | O::Label19 | O::Label26 | O::PcRel => {
            let target = target(cursor, operand, row)?;
            Some(Arg::Offset(target.wrapping_sub(cursor.context().pc as i64)))
        }
        O::PcRelPage => {
            let page = |address: i64| address & !0xfff;
            let target = target(cursor, operand, row)?;
            Some(Arg::Offset(page(target).wrapping_sub(page(cursor.context().pc as i64))))
        }
        O::SysOp => Some(sys_op(cursor)?),
        _ => match cursor.name(|name| named(operand, name, row)) {
            Some(number) => Some(Arg::Imm(number.into())),
            None if matches!(operand, O::SysReg | O::PstateField | O::PstateNumber | O::BtiTarget) => None,
            None => Some(Arg::Imm(number(cursor, operand, row)?)),
        },
    };
    arg.map(Meaning::Arg).ok_or_else(|| cursor.mismatch(expected(operand, row)))
}

/// Returns the number that a name stands for, in operands that may be names.
fn named(operand: Operand, name: &str, row: &Encoding) -> Option<u32> {
    use Operand as O;
    match operand {
        O::Barrier => names::barrier(name),
        O::CrmOption if row.mnemonic == "isb" => names::barrier(name).filter(|option| *option == 15),
        O::BtiTarget => names::index(&["", "c", "j", "jc"], name),
        O::Prfop => names::prefetch_operation(name),
        // Bit 21 is L: set in MRS, clear in MSR.
        O::SysReg => names::system_register(name, row.pattern.value >> 21 & 1 == 0),
        O::PstateField => (0..64).find(|number| {
            let field = pstate_field(Word(number >> 3 << 16 | (number & 7) << 5));
            field.is_some_and(|field| field.eq_ignore_ascii_case(name))
        }),
        O::PstateNumber => match names::generic_register(name)? {
            ([0, op1, 4, crm], op2) => Some(op1 << 11 | 4 << 7 | crm << 3 | op2),
            _ => None,
        },
        _ => None,
    }
}

fn expected(operand: Operand, row: &Encoding) -> String {
    expectation::of(operand, is_wide(row))
}

/// Returns the error of an operand of the right kind that does not fit.
fn misfit(cursor: &Cursor<'_>, operand: Operand, row: &Encoding) -> Mismatch {
    Mismatch { is_value: true, ..cursor.mismatch(expected(operand, row)) }
}

/// Whether an encoding has 64-bit registers: bit 31, if it is fixed.
pub(super) const fn is_wide(row: &Encoding) -> Option<bool> {
    if row.pattern.mask >> 31 == 1 { Some(row.pattern.value >> 31 == 1) } else { None }
}

fn number(cursor: &mut Cursor<'_>, operand: Operand, row: &Encoding) -> Result<i64, Mismatch> {
    cursor.immediate(|| expected(operand, row))
}

/// A number as 32 bits; a larger one becomes the largest, which fits no field.
fn small(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn fixed(cursor: &mut Cursor<'_>, text: &'static str) -> Result<Meaning, Mismatch> {
    let found = match text.strip_prefix('#') {
        Some(_) => cursor.float() == Some(0.0),
        None => cursor.name(|name| name.eq_ignore_ascii_case(text).then_some(())).is_some(),
    };
    if found { Ok(Meaning::Nothing) } else { Err(cursor.mismatch(alloc::format!("`{text}`"))) }
}

/// Takes a general register of a given size.
fn register(cursor: &mut Cursor<'_>, wide: Option<bool>, sp: bool) -> Option<Register> {
    cursor.name(|name| {
        let (number, is_wide, is_sp) = names::general(name)?;
        let fits = wide.is_none_or(|wide| wide == is_wide) && (number != 31 || is_sp == sp);
        fits.then_some(Register { number, wide: is_wide, sp: is_sp })
    })
}

/// Takes a general register, or two of them if the operand is a pair.
fn general(cursor: &mut Cursor<'_>, operand: Operand, row: &Encoding) -> Option<Arg> {
    let field = operand.register()?;
    let wide = field.wide.or(is_wide(row));
    let first = register(cursor, wide, field.sp)?;
    if field.pair {
        let next = |name| names::general(name).filter(|next| *next == (first.number + 1, first.wide, false));
        cursor.comma_and_name(next)?;
    }
    Some(Arg::Register(first))
}

/// Takes a register that may be shifted.
fn shifted(cursor: &mut Cursor<'_>, operand: Operand, row: &Encoding) -> Result<Arg, Mismatch> {
    let register =
        register(cursor, is_wide(row), false).ok_or_else(|| cursor.mismatch(expected(operand, row)))?;
    match cursor.comma_and_name(|name| names::index(&SHIFTS, name)) {
        Some(shift) => Ok(Arg::Shifted(register, shift, small(number(cursor, operand, row)?))),
        None => Ok(Arg::Shifted(register, 0, 0)),
    }
}

/// Takes a register that may be extended and shifted. Without an extension, or with LSL, it is extended from its full
/// size.
fn extended(cursor: &mut Cursor<'_>, operand: Operand, row: &Encoding) -> Result<Arg, Mismatch> {
    let register = register(cursor, None, false);
    let register = register.ok_or_else(|| cursor.mismatch(expected(operand, row)))?;
    let full = if is_wide(row) == Some(true) { 3 } else { 2 };
    let extend =
        |name: &str| names::index(&EXTENDS, name).or_else(|| names::index(&["lsl"], name).map(|_| full));
    let is_lsl = |name: &str| name.eq_ignore_ascii_case("lsl");
    let mut needs_amount = false;
    let option = cursor.comma_and_name(|name| {
        needs_amount = is_lsl(name);
        extend(name)
    });
    let Some(option) = option else { return Ok(Arg::Extended(register, full, 0)) };
    let before = cursor.clone();
    match number(cursor, operand, row) {
        Ok(amount) => Ok(Arg::Extended(register, option, small(amount))),
        Err(mismatch) if mismatch.is_value || needs_amount => Err(mismatch),
        Err(_) => {
            *cursor = before;
            Ok(Arg::Extended(register, option, 0))
        }
    }
}

/// Takes a number that may be followed by LSL.
fn shifted_number(cursor: &mut Cursor<'_>, operand: Operand, row: &Encoding) -> Result<Arg, Mismatch> {
    let imm = number(cursor, operand, row)?;
    match cursor.comma_and_name(|name| names::index(&["lsl"], name)) {
        Some(_) => Ok(Arg::ShiftedImm(small(imm), small(number(cursor, operand, row)?))),
        None => Ok(Arg::Imm(imm)),
    }
}

/// Takes the address of a target.
fn target(cursor: &mut Cursor<'_>, operand: Operand, row: &Encoding) -> Result<i64, Mismatch> {
    if let Some(name) = cursor.peek_name().filter(|name| names::general(name).is_none())
        && cursor.context().symbols.find(name).is_none()
        && name != "."
    {
        return Err(cursor
            .undefined(alloc::format!("an address or a label of the text; no label is called `{name}`")));
    }
    number(cursor, operand, row)
}

/// Takes op1, CRn, CRm and op2 of SYS.
fn sys_op(cursor: &mut Cursor<'_>) -> Result<Arg, Mismatch> {
    let field = |cursor: &mut Cursor<'_>, most| {
        let value = cursor.immediate(|| alloc::format!("a number from 0 to {most}"))?;
        if (0..=most).contains(&value) {
            Ok(value)
        } else {
            Err(cursor.mismatch(alloc::format!("a number from 0 to {most}")))
        }
    };
    let control = |cursor: &mut Cursor<'_>| {
        cursor.expect(',')?;
        let names = [
            "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11", "c12", "c13", "c14",
            "c15",
        ];
        let number = cursor.name(|name| names::index(&names, name));
        let number = number.ok_or_else(|| cursor.mismatch("c0 to c15"))?;
        Ok(i64::from(number))
    };
    let op1 = field(cursor, 7)?;
    let (crn, crm) = (control(cursor)?, control(cursor)?);
    cursor.expect(',')?;
    let op2 = field(cursor, 7)?;
    Ok(Arg::Imm(op1 << 11 | crn << 7 | crm << 3 | op2))
}

/// Returns the 8-bit encoding of a floating-point immediate: sign, exponent from -3 to 4, four bits of fraction.
fn float_immediate(value: f64) -> Option<u32> {
    (0..256).find(|imm: &u32| {
        let units = i32::try_from((16 + (imm & 15)) << ((imm >> 4 & 7) ^ 4)).unwrap_or_default();
        let magnitude = f64::from(units) / 128.0;
        value == if imm >> 7 == 1 { -magnitude } else { magnitude }
    })
}
