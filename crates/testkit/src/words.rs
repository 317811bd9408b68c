//! Random words of an encoding: fixed bits from the table, the others random.

use kvrm_arm64::Encoding;

use crate::random::Random;

/// Returns a random word that decodes to `encoding`, with should-be bits as specified.
///
/// Fields are often all zeros or all ones, the values of aliases, special registers and limits.
pub fn allocated(encoding: &Encoding, random: &mut Random) -> u32 {
    loop {
        let word = matching(encoding, random);
        if kvrm_arm64::decode(word) == Some(encoding.op) {
            return word;
        }
    }
}

/// Returns a random word that matches the diagram of `encoding`, including its holes.
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
    // Often the two lowest register fields are equal: source and destination, or base and transfer register.
    if random.below(8) == 0 {
        fields = fields & !0x3e0 | (fields & 0x1f) << 5;
    }
    encoding.pattern.canonical() | fields & encoding.pattern.variable_bits()
}
