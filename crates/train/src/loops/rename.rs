//! Other registers for a body, and forms of a body that do not depend on its registers or on its place.

use kvrm_arm64::operand::Operand;
use kvrm_arm64::{Word, decode};
use kvrm_models::inputs::REGISTERS;

use kvrm_learn::Random;

/// The number of registers that may be renamed: x0 to x29. Calls write to x30.
const RENAMED: usize = 30;

/// A permutation of x0 to x29.
///
/// ```
/// use kvrm_train::Random;
/// use kvrm_train::loops::Renaming;
///
/// let renaming = Renaming::random(&mut Random::new(1));
/// let words = renaming.words(&[0xf100_0400, 0x54ff_ffe1]).expect("registers in fields of the table"); // subs x0, x0, #1; b.ne
/// assert_eq!(words, [0xf100_0400 | (renaming.of(0) as u32 * 0x21), 0x54ff_ffe1]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renaming([u8; REGISTERS]);

impl Renaming {
    /// Returns a random renaming.
    #[must_use]
    pub fn random(random: &mut Random) -> Self {
        let mut names = std::array::from_fn(|register| register as u8);
        for register in (1..RENAMED).rev() {
            names.swap(register, random.below(register + 1));
        }
        Self(names)
    }

    /// Returns the new number of a register; 31 stays 31.
    #[must_use]
    pub const fn of(&self, register: usize) -> usize {
        self.0[register] as usize
    }

    /// Returns a body with other registers, or `None` if an instruction needs registers that follow each other.
    #[must_use]
    pub fn words(&self, words: &[u32]) -> Option<Vec<u32>> {
        words.iter().map(|word| renamed(*word, |register| u32::from(self.0[register as usize]))).collect()
    }

    /// Returns the values of registers under their new numbers.
    #[must_use]
    pub fn registers(&self, registers: &[u64; REGISTERS]) -> [u64; REGISTERS] {
        let mut renamed = [0; REGISTERS];
        registers.iter().zip(self.0).for_each(|(value, name)| renamed[usize::from(name)] = *value);
        renamed
    }
}

/// Returns a body whose registers are numbered in the order in which they appear, as far as that is possible.
#[must_use]
pub fn canonical(words: &[u32]) -> Vec<u32> {
    let mut names = [None; REGISTERS];
    let mut count = 0;
    let words = relative(words);
    let of_word = |word: &u32| {
        renamed(*word, |register| {
            if register as usize >= RENAMED {
                return register;
            }
            *names[register as usize].get_or_insert_with(|| {
                count += 1;
                count - 1
            })
        })
    };
    words.iter().map(of_word).collect::<Option<Vec<_>>>().unwrap_or(words)
}

/// Returns a body without the offsets that depend on its place: those of branches that leave it, and of ADR and ADRP.
#[must_use]
pub fn relative(words: &[u32]) -> Vec<u32> {
    let inside =
        |place: usize, offset: i64| (0..4 * words.len() as i64).contains(&(4 * place as i64 + offset));
    let of_word = |(place, word): (usize, &u32)| {
        let w = Word(*word);
        let operands = decode(*word).map_or(&[][..], |op| op.encoding().operands);
        operands.iter().fold(*word, |word, operand| match operand {
            Operand::Label26 if !inside(place, w.offset26()) => word & !0x03ff_ffff,
            Operand::Label19 if !inside(place, w.offset19()) => word & !0x00ff_ffe0,
            Operand::Label14 if !inside(place, w.offset14()) => word & !0x0007_ffe0,
            Operand::PcRel | Operand::PcRelPage => word & !0x60ff_ffe0,
            _ => word,
        })
    };
    words.iter().enumerate().map(of_word).collect()
}

/// Returns a word with a register replaced by another one, or `None` if that needs registers that follow each other.
pub(super) fn replaced(word: u32, from: u32, to: u32) -> Option<u32> {
    renamed(word, |register| if register == from { to } else { register })
}

/// Returns a word with other registers in its fields.
fn renamed(word: u32, mut name: impl FnMut(u32) -> u32) -> Option<u32> {
    let Some(op) = decode(word) else { return Some(word) };
    let mut out = word;
    let mut is_done = 0_u32;
    let mut rename = |low: u32| {
        if is_done >> low & 1 == 0 {
            is_done |= 1 << low;
            out = out & !(0x1f << low) | name(Word(word).bits(low, 5)) << low;
        }
    };
    for operand in op.encoding().operands {
        match operand {
            Operand::Base
            | Operand::ScaledOffset(_)
            | Operand::Offset
            | Operand::PreIndex
            | Operand::PostIndex
            | Operand::PairOffset(_)
            | Operand::PairPreIndex(_)
            | Operand::PairPostIndex(_)
            | Operand::PostBytes(..)
            | Operand::RnImm5 => rename(5),
            Operand::RegisterOffset(_) | Operand::PostRegister => [5, 16].into_iter().for_each(&mut rename),
            Operand::ShiftedWm | Operand::ShiftedXm | Operand::ExtendedWm | Operand::ExtendedXm => rename(16),
            _ => match operand.register() {
                Some(field) if field.pair => return None,
                Some(field) => rename(field.low),
                None => {}
            },
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use kvrm_arm64::disassemble;

    use super::*;

    /// Returns the texts of words with x0 to x29 renamed to x1 to x29 and x0.
    fn next(words: &[u32]) -> Option<Vec<String>> {
        let names =
            std::array::from_fn(
                |register| if register < 30 { (register as u8 + 1) % 30 } else { register as u8 },
            );
        let words = Renaming(names).words(words)?;
        Some(words.iter().map(|word| disassemble(*word, 0).to_string()).collect())
    }

    #[test]
    fn every_field_of_a_general_register_is_renamed() {
        for (word, text) in [
            (0x8b02_0c20, "add x1, x2, x3, lsl #3"),
            (0x8b22_6fe1, "add x2, sp, x3, lsl #3"),
            (0xf100_0400, "subs x1, x1, #0x1"),
            (0x3862_6823, "ldrb w4, [x2, x3]"),
            (0xa8c1_0c22, "ldp x3, x4, [x2], #16"),
            (0x9b02_0c20, "madd x1, x2, x3, x4"),
            (0x9a82_1020, "csel x1, x2, x3, ne"),
            (0xfa42_1024, "ccmp x2, x3, #0x4, ne"),
            (0xb500_0040, "cbnz x1, 0x8"),
            (0x4c9f_7000, "st1 {v0.16b}, [x1], #16"),
            (0x4cc2_7020, "ld1 {v0.16b}, [x2], x3"),
            (0x9400_0001, "bl 0x4"),
            (0xd61f_0200, "br x17"),
        ] {
            assert_eq!(next(&[word]).map(|texts| texts[0].clone()).as_deref(), Some(text), "{word:#010x}");
        }
        assert_eq!(next(&[0x4820_7c82]), None, "casp x0, x1, x2, x3, [x4] needs pairs");
    }

    #[test]
    fn forms_do_not_depend_on_registers_and_places() {
        let body = |register: u32, exit: u32| {
            [0xf100_0400 | (register * 0x21), 0x5400_0000 | exit << 5, 0x54ff_ffc1]
        };
        assert_eq!(canonical(&body(3, 900)), canonical(&body(9, 70)), "the same up to registers");
        assert_eq!(relative(&body(3, 900)), relative(&body(3, 70)), "another exit");
        assert_ne!(relative(&body(3, 900)), relative(&body(4, 900)), "another register");
        assert_ne!(relative(&body(3, 1)), relative(&body(3, 900)), "a branch inside");
    }
}
