//! SIMD&FP registers, their elements, and lists of them.

use crate::asm::Arg;
use crate::operand::Operand;
use crate::text::cursor::Cursor;
use crate::text::names;

/// Takes a SIMD&FP register, an element or a list. Returns `None` if the operand is none of them, and `Some(None)` if
/// the tokens are none.
pub(super) fn read(cursor: &mut Cursor<'_>, operand: Operand) -> Option<Option<Arg>> {
    use Operand as O;
    Some(match operand {
        _ if operand.simd().is_some() => {
            whole(cursor).map(|(number, size, lanes)| Arg::Simd(number, size, lanes))
        }
        O::VdLane | O::VnLane | O::VnLane4 | O::VmLane(_) | O::VmPair | O::VmWord | O::VdHigh | O::VnHigh => {
            element(cursor).and_then(|(number, size)| Some(Arg::Lane(number, size, index(cursor)?)))
        }
        O::VmGroup(size) => group(cursor, size).and_then(|number| Some(Arg::Lane(number, 2, index(cursor)?))),
        O::VtList(count, _) | O::VnTable(count) => {
            list(cursor, count, whole).map(|(number, size, lanes)| Arg::Simd(number, size, lanes))
        }
        O::VtLane(count, _) => {
            let element = |cursor: &mut Cursor<'_>| element(cursor).map(|(number, size)| (number, size, 0));
            list(cursor, count, element)
                .and_then(|(number, size, _)| Some(Arg::Lane(number, size, index(cursor)?)))
        }
        _ => return None,
    })
}

/// Takes a whole register: number, size and number of elements.
fn whole(cursor: &mut Cursor<'_>) -> Option<(u32, u32, u32)> {
    cursor.name(|name| {
        let (number, size, lanes) = names::simd(name)?;
        Some((number, size, lanes?))
    })
}

/// Takes the start of an element: number of the register, size.
fn element(cursor: &mut Cursor<'_>) -> Option<(u32, u32)> {
    cursor.name(|name| match names::simd(name)? {
        (number, size, None) => Some((number, size)),
        _ => None,
    })
}

/// Takes the start of 32 bits of a register as several elements: the number of the register.
fn group(cursor: &mut Cursor<'_>, size: u32) -> Option<u32> {
    cursor.name(|name| match names::simd(name)? {
        (number, given, Some(lanes)) if given == size && lanes == 4 >> size => Some(number),
        _ => None,
    })
}

/// Takes the index of an element.
fn index(cursor: &mut Cursor<'_>) -> Option<u32> {
    if !cursor.mark('[') {
        return None;
    }
    let index = cursor.immediate(alloc::string::String::new).ok()?;
    if cursor.mark(']') { u32::try_from(index).ok() } else { None }
}

/// Takes a list of `count` consecutive registers, and returns the first. Number 0 follows number 31.
fn list(
    cursor: &mut Cursor<'_>,
    count: u32,
    read: impl Fn(&mut Cursor<'_>) -> Option<(u32, u32, u32)>,
) -> Option<(u32, u32, u32)> {
    if !cursor.mark('{') {
        return None;
    }
    let first = read(cursor)?;
    let after = |steps: u32| ((first.0 + steps) & 31, first.1, first.2);
    if cursor.mark('-') {
        if read(cursor)? != after(count - 1) {
            return None;
        }
    } else {
        for steps in 1..count {
            if !cursor.mark(',') || read(cursor)? != after(steps) {
                return None;
            }
        }
    }
    cursor.mark('}').then_some(first)
}
