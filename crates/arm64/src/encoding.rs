//! The instruction table as data: [`Op`], [`Encoding`], and the types of a row's columns.

use alloc::string::String;

use crate::Word;
use crate::features::Feature;
use crate::operand::Operand;
use crate::pattern::Pattern;
use crate::semantics::bitmask::decode_bit_masks;
use crate::view::*;

/// One of the seven groups of encodings. Class selection finds the class of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// Addition, subtraction, comparison, selection, moves of constants.
    Arithmetic = 0,
    /// Bitwise logic.
    Logical = 1,
    /// Memory accesses, including prefetch hints.
    LoadStore = 2,
    /// Branches and exception returns.
    Branch = 3,
    /// Multiplication, division, CRC.
    MulDiv = 4,
    /// Shifts, bit fields, extraction, bit reversal and counting; conversions, copies and permutations of SIMD&FP
    /// registers.
    ExtendShift = 5,
    /// Exceptions, hints, barriers, system registers, and every unallocated encoding.
    System = 6,
}

impl Class {
    /// All classes, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::Arithmetic,
        Self::Logical,
        Self::LoadStore,
        Self::Branch,
        Self::MulDiv,
        Self::ExtendShift,
        Self::System,
    ];

    /// Returns the name of the class in documents and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arithmetic => "ARITHMETIC",
            Self::Logical => "LOGICAL",
            Self::LoadStore => "LOADSTORE",
            Self::Branch => "BRANCH",
            Self::MulDiv => "MULDIV",
            Self::ExtendShift => "EXTEND_SHIFT",
            Self::System => "SYSTEM",
        }
    }
}

/// A set of words that match a diagram and are UNDEFINED nevertheless.
#[derive(Clone, Copy, Debug)]
pub struct Hole {
    /// The name in the table.
    pub name: &'static str,
    /// The condition, in the manual's terms.
    pub meaning: &'static str,
    /// The test for a word to be in the hole.
    pub test: HoleTest,
}

/// The test for a word to be in a [`Hole`].
#[derive(Clone, Copy, Debug)]
pub enum HoleTest {
    /// The word matches this pattern.
    Pattern(Pattern),
    /// N:immr:imms is a reserved bit mask immediate: `DecodeBitMasks()` with `immediate` set is UNDEFINED.
    ReservedBitMask,
}

impl Hole {
    /// Whether `word`, which matches the diagram, is in the hole.
    #[must_use]
    pub const fn contains(&self, word: u32) -> bool {
        match self.test {
            HoleTest::Pattern(pattern) => pattern.matches(word),
            HoleTest::ReservedBitMask => {
                let w = Word(word);
                decode_bit_masks(w.n(), w.imms(), w.immr(), true).is_none()
            }
        }
    }
}

/// A row of the instruction table.
///
/// ```
/// use kvrm_arm64::{Class, Feature, Op};
///
/// let encoding = Op::CRC32X_64C_dp_2src.encoding();
/// assert_eq!((encoding.mnemonic, encoding.class), ("crc32x", Class::MulDiv));
/// assert_eq!((encoding.group(), encoding.feature), ("dp_2src", Feature::Crc32));
/// assert!(encoding.matches(0x9ac2_4c20));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Encoding {
    /// The identifier of the row.
    pub op: Op,
    /// Arm's name of the encoding, as in the machine-readable specification.
    pub name: &'static str,
    /// The mnemonic without aliases.
    pub mnemonic: &'static str,
    /// The encoding diagram.
    pub pattern: Pattern,
    /// The class.
    pub class: Class,
    /// The architecture feature.
    pub feature: Feature,
    /// The operands in assembly order. Together they cover every variable bit of the diagram.
    pub operands: &'static [Operand],
    /// Words that match the diagram and are UNDEFINED.
    pub holes: &'static [Hole],
    /// The last column of the table as tokens turned into text. [`Encoding::semantics`] removes superfluous spaces.
    semantics: &'static str,
}

impl Encoding {
    /// Returns the instruction group: the part of Arm's name that all rows of a group share.
    #[must_use]
    pub fn group(&self) -> &'static str {
        let (_, rest) = self.name.split_once('_').unwrap_or(("", self.name));
        let (first, second) = rest.split_once('_').unwrap_or((rest, rest));
        if first == "advsimd" {
            // The name of FCMLA (by element) has no group.
            return "asimdelem";
        }
        // In names of Advanced SIMD the group comes before the part that differs between rows.
        if first.starts_with("asimd") || first.starts_with("asisd") { first } else { second }
    }

    /// Returns the path of the function in [`crate::semantics`] that executes the encoding, with const parameters.
    #[must_use]
    pub fn semantics(&self) -> String {
        // Tokens turned into text have spaces between them; keep only the spaces after commas.
        self.semantics.replace(", ", ",").replace(' ', "").replace(',', ", ")
    }

    /// Whether the encoding is always UNDEFINED at EL0.
    #[must_use]
    pub fn is_undefined_at_el0(&self) -> bool {
        self.semantics() == "system::undefined"
    }

    /// Whether `word` has this encoding: it matches the diagram and is in no hole.
    #[must_use]
    pub const fn matches(&self, word: u32) -> bool {
        if !self.pattern.matches(word) {
            return false;
        }
        let mut i = 0;
        while i < self.holes.len() {
            if self.holes[i].contains(word) {
                return false;
            }
            i += 1;
        }
        true
    }
}

/// The hole of words whose N:immr:imms is not a bit mask immediate.
const BITMASK: Hole = Hole {
    name: "BITMASK",
    meaning: "N:imms:immr is a reserved bit mask immediate",
    test: HoleTest::ReservedBitMask,
};

macro_rules! define_holes { ($($name:ident $text:literal $meaning:literal)*) => {
    $(const $name: Hole = Hole {
        name: stringify!($name), meaning: $meaning, test: HoleTest::Pattern(Pattern::parse($text)),
    };)*
    /// All kinds of holes, in the order of the table.
    pub const HOLES: &[Hole] = &[BITMASK, $($name),*];
} }
for_each_hole!(define_holes);

macro_rules! define_encodings { ($(
    $op:ident $mnemonic:literal $bits:literal $class:ident $feature:ident
    [$($operand:ident $(($($parameter:expr),+))?),*] [$($hole:ident),*] $kind:ident($semantics:expr)
)*) => {
    /// An A64 encoding, named as in Arm's machine-readable specification.
    #[expect(non_camel_case_types, reason = "these are the names of Arm's machine-readable specification")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[repr(u16)]
    pub enum Op { $(
        #[doc = concat!("`", $mnemonic, "` `", $bits, "`")]
        $op,
    )* }

    /// The instruction table, in the order of [`Op`].
    pub const ENCODINGS: &[Encoding] = &[$(Encoding {
        op: Op::$op,
        name: stringify!($op),
        mnemonic: $mnemonic,
        pattern: Pattern::parse($bits),
        class: Class::$class,
        feature: Feature::$feature,
        operands: &[$(Operand::$operand $(($($parameter),+))?),*],
        holes: &[$($hole),*],
        semantics: stringify!($semantics),
    }),*];
} }
for_each_encoding!(define_encodings);

/// The table as a static, so that looking up a row does not copy it.
static TABLE: &[Encoding] = ENCODINGS;

/// The words of a row that need another feature than the row.
#[derive(Clone, Copy, Debug)]
pub struct Exception {
    /// The row.
    pub op: Op,
    /// The words.
    pub pattern: Pattern,
    /// The feature that they need.
    pub feature: Feature,
}

macro_rules! exceptions { ($($op:ident $pattern:literal $feature:ident;)*) => {
    static EXCEPTIONS: &[Exception] = &[$(Exception {
        op: Op::$op, pattern: Pattern::parse($pattern), feature: Feature::$feature,
    }),*];
} }

exceptions! {
    // PMULL and PMULL2 of 64-bit elements belong to the cryptographic extension.
    PMULL_asimddiff_L "........11......................" Pmull;
    // Fixed-point numbers of 16 bits.
    SCVTF_asisdshf_C ".........001...................." Fp16;
    FCVTZS_asisdshf_C ".........001...................." Fp16;
    UCVTF_asisdshf_C ".........001...................." Fp16;
    FCVTZU_asisdshf_C ".........001...................." Fp16;
    SCVTF_asimdshf_C ".........001...................." Fp16;
    FCVTZS_asimdshf_C ".........001...................." Fp16;
    UCVTF_asimdshf_C ".........001...................." Fp16;
    FCVTZU_asimdshf_C ".........001...................." Fp16;
    // The fields SSBS and DIT of PSTATE, and the system registers with their names.
    MSR_SI_pstate     ".............011........001....." Ssbs;
    MSR_SI_pstate     ".............011........010....." Dit;
    MSR_SR_systemmove "............101101000010110....." Ssbs;
    MSR_SR_systemmove "............101101000010101....." Dit;
    MRS_RS_systemmove "............101101000010110....." Ssbs;
    MRS_RS_systemmove "............101101000010101....." Dit;
}

impl Op {
    /// Returns the row of the table.
    #[must_use]
    pub fn encoding(self) -> &'static Encoding {
        &TABLE[self as usize]
    }

    /// Returns the class.
    #[must_use]
    pub fn class(self) -> Class {
        self.encoding().class
    }

    /// Returns the architecture feature of the row. Use [`Op::feature_of`] for a word.
    #[must_use]
    pub fn feature(self) -> Feature {
        self.encoding().feature
    }

    /// Returns the architecture feature that a word of this encoding needs. It differs from [`Op::feature`] only for
    /// the words in [`Op::exceptions`].
    #[must_use]
    pub fn feature_of(self, word: u32) -> Feature {
        let exception = self.exceptions().find(|exception| exception.pattern.matches(word));
        exception.map_or_else(|| self.feature(), |exception| exception.feature)
    }

    /// Returns the words of this encoding that need another feature than the others.
    pub fn exceptions(self) -> impl Iterator<Item = &'static Exception> {
        EXCEPTIONS.iter().filter(move |exception| exception.op == self)
    }

    /// Looks up an encoding by Arm's name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        TABLE.iter().find(|encoding| encoding.name == name).map(|encoding| encoding.op)
    }
}
