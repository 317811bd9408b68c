//! Names of registers, conditions and options.

use crate::operand::{BARRIERS, CONDITIONS};
use crate::sysreg::{self, REGISTERS};
use crate::view::LETTERS;

/// A general register: number, whether it has 64 bits, whether it is the stack pointer.
pub(super) fn general(name: &str) -> Option<(u32, bool, bool)> {
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    let special = [
        ("sp", (31, true, true)),
        ("wsp", (31, false, true)),
        ("xzr", (31, true, false)),
        ("wzr", (31, false, false)),
        ("fp", (29, true, false)),
        ("lr", (30, true, false)),
        ("ip0", (16, true, false)),
        ("ip1", (17, true, false)),
    ];
    if let Some((_, register)) = special.into_iter().find(|(other, _)| is(other)) {
        return Some(register);
    }
    let wide = match name.as_bytes().first()? {
        b'x' | b'X' => true,
        b'w' | b'W' => false,
        _ => return None,
    };
    number(&name[1..], 30).map(|number| (number, wide, false))
}

/// A SIMD&FP register: its number, and the size and number of its elements. The number is 0 for a scalar, and `None` in
/// `v0.s`, the start of an element.
pub(super) fn simd(name: &str) -> Option<(u32, u32, Option<u32>)> {
    let (register, view) = match name.split_once('.') {
        Some((register, view)) => (register, Some(view)),
        None => (name, None),
    };
    let letter = register.chars().next()?.to_ascii_lowercase();
    let number_of = || number(&register[letter.len_utf8()..], 31);
    let Some(view) = view else {
        return Some((number_of()?, size(letter)?, Some(0)));
    };
    if letter != 'v' {
        return None;
    }
    let last = view.chars().next_back()?.to_ascii_lowercase();
    let size = size(last)?;
    let count = &view[..view.len() - last.len_utf8()];
    let lanes = if count.is_empty() { None } else { Some(number(count, 16).filter(|count| *count > 0)?) };
    Some((number_of()?, size, lanes))
}

fn size(letter: char) -> Option<u32> {
    LETTERS.iter().position(|other| *other == letter).map(|size| size as u32)
}

/// Reads a decimal number of at most `most`, without superfluous zeros.
fn number(digits: &str, most: u32) -> Option<u32> {
    let canonical =
        digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits.len() == 1 || !digits.starts_with('0'));
    digits.parse().ok().filter(|number| canonical && *number <= most)
}

/// A condition by its name or one of its other names.
pub(super) fn condition(name: &str) -> Option<u32> {
    let name = match name {
        _ if name.eq_ignore_ascii_case("hs") => "cs",
        _ if name.eq_ignore_ascii_case("lo") => "cc",
        _ => name,
    };
    index(&CONDITIONS, name)
}

/// An option of a barrier.
pub(super) fn barrier(name: &str) -> Option<u32> {
    index(&BARRIERS, name)
}

/// The index of a name in a list of names in lower case.
pub(super) fn index(names: &[&str], name: &str) -> Option<u32> {
    names.iter().position(|other| other.eq_ignore_ascii_case(name)).map(|index| index as u32)
}

/// A system register that MSR writes or MRS reads, by its name or its generic name.
pub(super) fn system_register(name: &str, written: bool) -> Option<u32> {
    if let Some(([op0 @ 2..=3, op1, crn, crm], op2)) = generic_register(name) {
        return Some(sysreg::number(op0, op1, crn, crm, op2));
    }
    let mut registers = REGISTERS.iter().filter_map(|register| {
        let name = sysreg::name(register.number, written)?;
        Some((register.number, name))
    });
    registers.find(|(_, other)| other.eq_ignore_ascii_case(name)).map(|(number, _)| number)
}

/// The fields of a name such as `s3_3_c13_c0_2`: op0, op1, CRn, CRm; op2.
pub(super) fn generic_register(name: &str) -> Option<([u32; 4], u32)> {
    let mut parts = name.split('_');
    let mut field = |prefix: &str, most| {
        let part = parts.next()?;
        let prefixed = part.get(..prefix.len())?.eq_ignore_ascii_case(prefix);
        if prefixed { number(&part[prefix.len()..], most) } else { None }
    };
    let fields = [field("s", 3)?, field("", 7)?, field("c", 15)?, field("c", 15)?];
    let op2 = field("", 7)?;
    parts.next().is_none().then_some((fields, op2))
}

/// The operation of PRFM with a name such as `pldl1keep`.
pub(super) fn prefetch_operation(name: &str) -> Option<u32> {
    let kind = index(&["pld", "pli", "pst"], name.get(..3)?)?;
    let target = index(&["l1", "l2", "l3"], name.get(3..5)?)?;
    let policy = index(&["keep", "strm"], name.get(5..)?)?;
    Some(kind << 3 | target << 1 | policy)
}
