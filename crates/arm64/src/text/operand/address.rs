//! Memory addresses.

use crate::asm::{Arg, Mode, Register};
use crate::operand::Operand;
use crate::text::cursor::{Cursor, Mismatch};
use crate::text::{expectation, names};

/// Takes a memory address. Returns `None` if the operand is none.
pub(super) fn read(cursor: &mut Cursor<'_>, operand: Operand) -> Option<Result<Arg, Mismatch>> {
    use Operand as O;
    let (scale, form) = match operand {
        O::Base | O::ScaledOffset(_) | O::Offset | O::PointerOffset | O::PairOffset(_) => (0, Form::Offset),
        O::PreIndex | O::PointerPreIndex | O::PairPreIndex(_) => (0, Form::Pre),
        O::PostIndex | O::PairPostIndex(_) | O::PostBytes(..) => (0, Form::Post),
        O::RegisterOffset(scale) => (scale, Form::Index),
        O::PostRegister => (0, Form::PostRegister),
        _ => return None,
    };
    Some(address(cursor, operand, form, scale))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Offset,
    Pre,
    Post,
    Index,
    PostRegister,
}

fn address(cursor: &mut Cursor<'_>, operand: Operand, form: Form, scale: u32) -> Result<Arg, Mismatch> {
    if !cursor.mark('[') {
        return Err(cursor.mismatch("an address in brackets"));
    }
    let base = wide(cursor, true).ok_or_else(|| cursor.mismatch("a base register, x0 to x30 or sp"))?;
    let offset = |cursor: &mut Cursor<'_>| cursor.immediate(|| expectation::of(operand, None));
    let mode = match form {
        Form::Offset => {
            let offset = if cursor.mark(',') { offset(cursor)? } else { 0 };
            cursor.expect(']')?;
            Mode::Offset(offset)
        }
        Form::Pre => {
            // Only LDRAA and LDRAB may leave out an offset of zero.
            let offset = match operand {
                Operand::PointerPreIndex if !cursor.mark(',') => 0,
                Operand::PointerPreIndex => offset(cursor)?,
                _ => {
                    cursor.expect(',')?;
                    offset(cursor)?
                }
            };
            cursor.expect(']')?;
            cursor.expect('!')?;
            Mode::Pre(offset)
        }
        Form::Post => {
            cursor.expect(']')?;
            cursor.expect(',')?;
            Mode::Post(offset(cursor)?)
        }
        Form::PostRegister => {
            cursor.expect(']')?;
            cursor.expect(',')?;
            let register =
                wide(cursor, false).ok_or_else(|| cursor.mismatch(expectation::of(operand, None)))?;
            Mode::PostRegister(register)
        }
        Form::Index => {
            cursor.expect(',')?;
            let mode = index(cursor, operand, scale)?;
            cursor.expect(']')?;
            mode
        }
    };
    Ok(Arg::Address(base, mode))
}

/// Takes an index register with its extension and shift.
fn index(cursor: &mut Cursor<'_>, operand: Operand, scale: u32) -> Result<Mode, Mismatch> {
    let expected = || expectation::of(operand, None);
    let register = cursor.name(|name| names::general(name).filter(|(_, _, sp)| !sp));
    let (number, wide, sp) = register.ok_or_else(|| cursor.mismatch(expected()))?;
    let register = Register { number, wide, sp };
    let extensions: [(&str, u32); 4] = [("uxtw", 2), ("lsl", 3), ("sxtw", 6), ("sxtx", 7)];
    let find = |name: &str| extensions.into_iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
    let Some((name, extend)) = cursor.comma_and_name(find) else {
        let extend =
            if wide { 3 } else { return Err(cursor.mismatch("`uxtw` or `sxtw` for a 32-bit index")) };
        return Ok(Mode::Index { register, extend, scaled: false });
    };
    if (extend & 1 == 1) != wide {
        return Err(cursor.mismatch(expected()));
    }
    let before = cursor.clone();
    match cursor.immediate(expected) {
        // An amount that is there but zero scales bytes.
        Ok(amount) if amount == i64::from(scale) => Ok(Mode::Index { register, extend, scaled: true }),
        Ok(0) => Ok(Mode::Index { register, extend, scaled: false }),
        Ok(_) => Err(Mismatch { is_value: true, ..cursor.mismatch(expected()) }),
        Err(mismatch) if mismatch.is_value || name == "lsl" => Err(mismatch),
        Err(_) => {
            *cursor = before;
            Ok(Mode::Index { register, extend, scaled: false })
        }
    }
}

/// Takes a 64-bit register.
fn wide(cursor: &mut Cursor<'_>, sp: bool) -> Option<Register> {
    cursor.name(|name| {
        let (number, wide, is_sp) = names::general(name)?;
        (wide && (number != 31 || is_sp == sp)).then_some(Register { number, wide, sp: is_sp })
    })
}
