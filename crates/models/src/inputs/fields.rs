//! The fields of a word as numbers.

use kvrm_arm64::operand::Operand;
use kvrm_arm64::{Class, Encoding, Word, class_of, decode};

use super::{flag, magnitude};

/// The number of field features of a word.
pub const FIELDS: usize = 32;

/// The mnemonics of instructions that set the flags.
const FLAG_SETTERS: [&str; 12] =
    ["adds", "subs", "ands", "bics", "adcs", "sbcs", "ccmp", "ccmn", "fcmp", "fcmpe", "fccmp", "fccmpe"];

/// Returns the field features of a word, each between -1 and 1.
///
/// Fields are read from their usual places, whether the word has them or not; the class says which of them to believe.
///
/// | feature | value |
/// | --- | --- |
/// | 0 to 3 | bits 4:0 (Rd, Rt), 9:5 (Rn), 20:16 (Rm, Rs) and 14:10 (Ra, Rt2), divided by 31 |
/// | 4 to 6 | whether Rd = Rn, Rd = Rm, Rn = Rm |
/// | 7, 8 | whether Rd is 31, whether Rn is 31 |
/// | 9 to 11 | imm12 / 4095, imm16 / 65535, imm6 / 63 |
/// | 12, 13 | imm9 / 256 and imm7 / 64, signed |
/// | 14 to 16 | the branch offsets of 26, 19 and 14 bits in words, w: sign(w) log2(abs(w) + 1) / 26 |
/// | 17 to 23 | the class, one feature for each, in the order of [`Class`] |
/// | 24 | whether the word loads; atomics and prefetches do |
/// | 25 | whether it stores |
/// | 26 | whether it changes its base register (pre-index and post-index) |
/// | 27 | whether it is a comparison or another instruction that sets the flags |
/// | 28 | whether it is a conditional branch |
/// | 29 | whether it is a branch with an offset that goes backwards, or to itself |
/// | 30 | bit 31, the size of most integer operations |
/// | 31 | whether the instruction table allocates the word |
///
/// Features 24 to 29 come from the row of the instruction table, and are 0 for words that it does not allocate.
///
/// ```
/// let fields = kvrm_models::inputs::word_fields(0x3800_1420); // strb w0, [x1], #1
/// assert_eq!((fields[0], fields[1]), (0.0, 1.0 / 31.0));
/// assert_eq!(fields[24..27], [0.0, 1.0, 1.0]); // A store that changes its base register.
/// ```
#[must_use]
pub fn word_fields(word: u32) -> [f32; FIELDS] {
    let w = Word(word);
    let unsigned = |low, width: u32| w.bits(low, width) as f32 / ((1_u32 << width) - 1) as f32;
    let row = decode(word).map(|op| op.encoding());
    let is = |test: fn(&Encoding) -> bool| flag(row.is_some_and(test));
    let class = class_of(word);
    let backward = row.and_then(|row| branch_offset(w, row)).is_some_and(|offset| offset <= 0);

    let mut fields = [0.0; FIELDS];
    fields[..4].copy_from_slice(&[0, 5, 16, 10].map(|low| unsigned(low, 5)));
    fields[4..7].copy_from_slice(&[w.rd() == w.rn(), w.rd() == w.rm(), w.rn() == w.rm()].map(flag));
    fields[7..9].copy_from_slice(&[w.rd() == 31, w.rn() == 31].map(flag));
    fields[9..12].copy_from_slice(&[unsigned(10, 12), unsigned(5, 16), unsigned(10, 6)]);
    fields[12..14].copy_from_slice(&[w.imm9() as f32 / 256.0, w.imm7() as f32 / 64.0]);
    fields[14..17].copy_from_slice(&[w.offset26(), w.offset19(), w.offset14()].map(distance));
    fields[17 + class as usize] = 1.0;
    fields[24..28].copy_from_slice(&[is(loads), is(stores), is(writes_back), is(sets_flags)]);
    fields[28..].copy_from_slice(&[is(is_conditional), flag(backward), flag(word >> 31 == 1), is(|_| true)]);
    fields
}

/// Returns the scaled logarithm of a branch offset in bytes.
fn distance(offset: i64) -> f32 {
    let words = offset / 4;
    words.signum() as f32 * magnitude(words) / 26.0
}

fn stores(row: &Encoding) -> bool {
    row.class == Class::LoadStore && row.mnemonic.starts_with("st")
}

fn loads(row: &Encoding) -> bool {
    row.class == Class::LoadStore && !stores(row)
}

fn writes_back(row: &Encoding) -> bool {
    row.operands.iter().any(|operand| {
        matches!(
            operand,
            Operand::PreIndex
                | Operand::PostIndex
                | Operand::PairPreIndex(_)
                | Operand::PairPostIndex(_)
                | Operand::PostBytes(..)
                | Operand::PostRegister
        )
    })
}

fn sets_flags(row: &Encoding) -> bool {
    FLAG_SETTERS.contains(&row.mnemonic)
}

/// Returns the offset of a direct branch in bytes.
fn branch_offset(w: Word, row: &Encoding) -> Option<i64> {
    if row.class != Class::Branch {
        return None;
    }
    row.operands.iter().find_map(|operand| match operand {
        Operand::Label26 => Some(w.offset26()),
        Operand::Label19 => Some(w.offset19()),
        Operand::Label14 => Some(w.offset14()),
        _ => None,
    })
}

/// The labels of conditional branches have 19 or 14 bits.
fn is_conditional(row: &Encoding) -> bool {
    let is_short = |operand: &Operand| matches!(operand, Operand::Label19 | Operand::Label14);
    row.class == Class::Branch && row.operands.iter().any(is_short)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the numbers of the features from 24 to 29 that are set.
    fn actions(word: u32) -> Vec<usize> {
        (24..30).filter(|feature| word_fields(word)[*feature] == 1.0).collect()
    }

    #[test]
    fn actions_are_those_of_the_instruction() {
        for (word, expected, text) in [
            (0xf840_8c41, vec![24, 26], "ldr x1, [x2, #8]!"),
            (0xa881_0c02, vec![25, 26], "stp x2, x3, [x0], #16"),
            (0xf940_0041, vec![24], "ldr x1, [x2]"),
            (0xb820_0041, vec![24], "ldadd w0, w1, [x2]"),
            (0x4c9f_7000, vec![25, 26], "st1 {v0.16b}, [x0], #16"),
            (0xf100_0400, vec![27], "subs x0, x0, #1"),
            (0xd100_0400, vec![], "sub x0, x0, #1"),
            (0x54ff_ffc1, vec![28, 29], "b.ne .-8"),
            (0x3500_0040, vec![28], "cbnz w0, .+8"),
            (0x3707_ffe0, vec![28, 29], "tbnz w0, #0, .-4"),
            (0x1400_0000, vec![29], "b ."),
            (0xd65f_03c0, vec![], "ret"),
            (0x0000_0000, vec![], "udf #0, which the table does not allocate"),
        ] {
            assert_eq!(actions(word), expected, "{text}");
        }
    }

    #[test]
    fn numbers_are_those_of_the_fields() {
        let fields = word_fields(0x9bff_7fe0); // Rd 0, Rn 31, Rm 31, Ra 31
        assert_eq!(fields[..4], [0.0, 1.0, 1.0, 1.0], "registers");
        assert_eq!(fields[4..9], [0.0, 0.0, 1.0, 0.0, 1.0], "equal registers, and 31");
        let fields = word_fields(0x5400_0000 | 0x7_fffe << 5); // b.eq .-8
        assert!((fields[15] + 3_f32.log2() / 26.0).abs() < 1e-6, "two words back: {}", fields[15]);
        assert_eq!(word_fields(0x385f_f000)[12], -1.0 / 256.0, "ldurb w0, [x0, #-1]");
        assert_eq!(word_fields(0xd2ff_ffe0)[10], 1.0, "the greatest imm16");
    }

    proptest! {
        #[test]
        fn features_are_between_minus_one_and_one(word: u32) {
            let fields = word_fields(word);
            prop_assert!(fields.iter().all(|value| (-1.0..=1.0).contains(value)), "{:?}", fields);
            prop_assert_eq!(fields[17..24].iter().sum::<f32>(), 1.0, "one class");
            prop_assert_eq!(fields[31] == 1.0, decode(word).is_some());
        }
    }
}
