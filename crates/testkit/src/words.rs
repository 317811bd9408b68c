//! Random instructions: fixed bits from the table, the rest at random.

use kvrm_arm64::Encoding;

use crate::random::Random;

/// A word of `encoding` that is in none of its holes, with should-be bits as they should be.
///
/// Fields are often all zeros or all ones, where aliases, special registers and limits are.
pub fn allocated(encoding: &Encoding, random: &mut Random) -> u32 {
    loop {
        let word = matching(encoding, random);
        if kvrm_arm64::decode(word) == Some(encoding.op) {
            return word;
        }
    }
}

/// A word that matches the diagram of `encoding`, holes included.
pub fn matching(encoding: &Encoding, random: &mut Random) -> u32 {
    let mut fields = random.bits() as u32;
    for operand in encoding.operands {
        let bits = operand.bits(u32::MAX);
        match random.below(8) {
            0 => fields &= !bits,
            1 => fields |= bits,
            _ => {}
        }
    }
    // Often the same register twice: source and destination, base and transfer.
    if random.below(8) == 0 {
        fields = fields & !0x3e0 | (fields & 0x1f) << 5;
    }
    encoding.pattern.canonical() | fields & encoding.pattern.variable_bits()
}
