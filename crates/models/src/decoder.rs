//! The decoder network, which names the category of a word.

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{CLASS_BITS, Class, Encoding, Features, Op};
use serde::Serialize;

use crate::tuple::Tuple;
use crate::tuple_network::TupleNetwork;

/// The architecture features whose encodings the decoder network was trained on. Words of other features are UNKNOWN
/// to the network, as if the instruction table did not have them.
pub(crate) const TRAINED_ON: Features = Features { crc32: true, lse: true, ..Features::BASE };

/// Returns the encoding of a word if it belongs to the features that the networks were trained on. Certificates cover
/// only those.
pub(crate) fn decode(word: u32) -> Option<Op> {
    // Some words of MSR (immediate) and some hints have other features now, and remain words that the networks know.
    kvrm_arm64::decode(word).filter(|op| is_known(op.encoding()))
}

/// Whether the networks were trained on the words of a row.
fn is_known(row: &Encoding) -> bool {
    TRAINED_ON.has(row.feature) || matches!(row.group(), "pstate" | "hints")
}

/// Returns the rows of the instruction table that belong to [`TRAINED_ON`].
fn rows() -> impl Iterator<Item = &'static Encoding> {
    ENCODINGS.iter().filter(|row| is_known(row))
}

/// The network that names the category of a word: a [`TupleNetwork`] with 10,799 parameters.
///
/// The top byte and bits 23, 22, 21, 14, 13 and 11 decide the category of every word that the instruction table
/// allocates, and none of these six bits can be left out. The network sees the same twenty bits as the dispatch
/// network nevertheless, because the other bits distinguish unknown words.
pub type DecoderNetwork = TupleNetwork<24, 15>;

impl DecoderNetwork {
    /// Returns the network's category of a word.
    #[must_use]
    pub fn category(&self, word: u32) -> Category {
        Category::ALL[self.output(Tuple::of(word))]
    }

    /// Returns the logits of all tuples, indexed by tuple.
    #[must_use]
    pub fn logits_of_all(&self) -> Vec<[f32; 15]> {
        Tuple::all().map(|tuple| self.logits(tuple)).collect()
    }
}

/// Declares the categories: number, variant, name, documentation.
macro_rules! categories { ($($number:literal $variant:ident $name:literal $doc:literal;)*) => {
    /// The kind of operation of a word.
    ///
    /// The category follows from the row of the instruction table. An alias has the category of its encoding: `cmp` is
    /// SUB, `mov` between registers is OR. All words of a category, UNKNOWN excepted, have the same class.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    #[repr(u8)]
    pub enum Category { $(
        #[doc = $doc]
        $variant = $number,
    )* }

    impl Category {
        /// All categories, in the order of their numbers.
        pub const ALL: [Self; 15] = [$(Self::$variant),*];

        /// Returns the name used in documents and reports.
        #[must_use]
        pub const fn name(self) -> &'static str {
            match self { $(Self::$variant => $name,)* }
        }
    }
} }

categories! {
    0 Add "ADD" "Additions; addresses relative to the pc.";
    1 Sub "SUB" "Subtractions.";
    2 And "AND" "AND, and AND with a complement.";
    3 Or "OR" "OR, and OR with a complement.";
    4 Xor "XOR" "Exclusive OR, and exclusive OR with a complement.";
    5 Mul "MUL" "Multiplications, and CRCs.";
    6 Div "DIV" "Divisions.";
    7 Shift "SHIFT" "Shifts, bit fields, extraction, reversal and counting.";
    8 Load "LOAD" "Loads, atomics (they return the old value in memory) and prefetches.";
    9 Store "STORE" "Stores, including exclusive stores.";
    10 Branch "BRANCH" "Branches, calls and returns.";
    11 Compare "COMPARE" "Conditional comparisons.";
    12 Move "MOVE" "Moves of constants, conditional selects.";
    13 System "SYSTEM" "Exceptions, hints, barriers and system registers.";
    14 Unknown "UNKNOWN" "Words that no row of the instruction table matches.";
}

impl Category {
    /// Returns the category of a row of the table.
    #[must_use]
    pub fn of_row(row: &Encoding) -> Self {
        match row.class {
            Class::Branch => Self::Branch,
            Class::System => Self::System,
            Class::ExtendShift => Self::Shift,
            Class::MulDiv if matches!(row.mnemonic, "sdiv" | "udiv") => Self::Div,
            Class::MulDiv => Self::Mul,
            Class::LoadStore if row.mnemonic.starts_with("st") => Self::Store,
            Class::LoadStore => Self::Load,
            Class::Logical => match row.mnemonic {
                "and" | "ands" | "bic" | "bics" => Self::And,
                "orr" | "orn" => Self::Or,
                _ => Self::Xor,
            },
            Class::Arithmetic => match row.mnemonic {
                "sub" | "subs" | "sbc" | "sbcs" => Self::Sub,
                "ccmn" | "ccmp" => Self::Compare,
                "movn" | "movz" | "movk" | "csel" | "csinc" | "csinv" | "csneg" => Self::Move,
                _ => Self::Add,
            },
        }
    }

    /// Returns the category of an instruction.
    #[must_use]
    pub fn of_op(op: Op) -> Self {
        Self::of_row(op.encoding())
    }

    /// Returns the category of every tuple: the category of its allocated words, or UNKNOWN if it has none.
    ///
    /// The sweep of a certificate proves that all allocated words of a tuple agree and that none was overlooked.
    #[must_use]
    pub fn of_tuples() -> Vec<Self> {
        Tuple::all().map(Self::of_tuple).collect()
    }

    fn of_tuple(tuple: Tuple) -> Self {
        let word = tuple.first_word();
        for row in rows() {
            let pattern = row.pattern;
            if (word ^ pattern.value) & pattern.mask & CLASS_BITS == 0 {
                // Free bits outside of the class bits are 0: no hole covers all words with a 0 there.
                if let Some(op) = decode(word & CLASS_BITS | pattern.value & !CLASS_BITS) {
                    return Self::of_op(op);
                }
            }
        }
        Self::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_lies_within_one_class() {
        let mut classes = [None; 15];
        for row in rows() {
            let class = &mut classes[Category::of_row(row) as usize];
            assert_eq!(*class.get_or_insert(row.class), row.class, "{}", row.name);
        }
        assert_eq!(classes.iter().filter(|class| class.is_none()).count(), 1, "but for UNKNOWN");
    }

    #[test]
    fn moves_of_constants_are_moves() {
        for word in [0xd280_0540, 0x9280_0000, 0xf2a0_0001, 0x5280_0020] {
            assert_eq!(decode(word).map(Category::of_op), Some(Category::Move), "{word:#010x}");
        }
    }

    #[test]
    fn fourteen_bits_decide_the_category_of_allocated_words() {
        const DECIDING: u32 = 0xffe0_6800;
        let mut needed = 0;
        for (index, row) in rows().enumerate() {
            for other in rows().take(index) {
                let (a, b) = (row.pattern, other.pattern);
                let apart = (a.value ^ b.value) & a.mask & b.mask & CLASS_BITS;
                if Category::of_row(row) != Category::of_row(other) {
                    assert_ne!(apart & DECIDING, 0, "{} and {}", row.name, other.name);
                    needed |= if apart.is_power_of_two() { apart } else { 0 };
                }
            }
        }
        assert_eq!(needed & 0x00ff_ffff, DECIDING & 0x00ff_ffff, "each bit alone separates two rows");
    }
}
