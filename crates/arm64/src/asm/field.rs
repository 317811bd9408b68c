//! Numbers in fields of a word.

/// The bits of a word that encode an operand, or the reason why it cannot be encoded.
pub(super) type Bits = Result<u32, &'static str>;

/// Encodes an unsigned number in a field.
pub(super) fn field(value: i64, low: u32, width: u32) -> Bits {
    if (0..1 << width).contains(&value) {
        Ok((value as u32) << low)
    } else {
        Err("the number is out of range")
    }
}
