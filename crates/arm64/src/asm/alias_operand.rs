//! Encoding of the operands that only aliases have.

use super::bit_mask::{encode_bit_mask, fits_word};
use super::field::{Bits, field};
use crate::Word;
use crate::operand::Operand;
use crate::semantics::truncate;

/// Encodes an operand that only aliases have, a number or a condition. `w` has the bits of the operands before. Returns
/// `None` for other operands.
pub(super) fn bits(operand: Operand, value: i64, w: Word) -> Option<Bits> {
    use Operand as O;
    let size: u32 = if w.bits(31, 1) == 1 { 64 } else { 32 };
    let amount = u32::try_from(value).ok().filter(|amount| *amount < size);
    let amount = amount.ok_or("the number is out of range");
    let width = |lsb: u32| match u32::try_from(value) {
        Ok(width) if (1..=size.saturating_sub(lsb)).contains(&width) => Ok(width),
        _ => Err("the field does not fit into the register"),
    };
    Some(match operand {
        O::MoveZeroed => wide_move(value, size, 0),
        O::MoveInverted => wide_move(value, size, u64::MAX),
        O::MoveBitMask => {
            encode_bit_mask(value as u64, size).map(|raw| raw << 10).ok_or("not a bit mask immediate")
        }
        O::LslAmount => amount.map(|amount| ((size - amount) % size) << 16 | (size - 1 - amount) << 10),
        O::InsertLsb => amount.map(|lsb| ((size - lsb) % size) << 16),
        O::InsertWidth => width((size - w.immr()) % size).map(|width| (width - 1) << 10),
        O::ExtractWidth => width(w.immr()).map(|width| (w.immr() + width - 1) << 10),
        O::InvertedCond if value >= 14 => Err("the conditions al and nv have no inverse"),
        O::InvertedCond => field(value ^ 1, 12, 4),
        O::PstateNumber | O::SysOpName => field(value, 5, 14),
        _ => return None,
    })
}

/// Encodes imm16 and hw of MOVZ, or with `inverted` all ones those of MOVN, for a value of `size` bits.
fn wide_move(value: i64, size: u32, inverted: u64) -> Bits {
    if size == 32 && !fits_word(value) {
        return Err("the number has more than 32 bits");
    }
    let value = truncate(value as u64 ^ inverted, size);
    let half = (0..size / 16).find(|half| value & !(0xffff << (16 * half)) == 0);
    let half = half.ok_or("the number is not 16 bits between zeros or between ones")?;
    Ok(half << 21 | ((value >> (16 * half)) as u32 & 0xffff) << 5)
}
