//! The architecture features that KVRM does not have, recognised by their encodings.
//!
//! A program for a newer processor stops at its first instruction of such a feature. With this table, the message names
//! the feature. Names and versions are Arm's; the diagrams are those of DDI 0487, chapter C4.

use crate::decode::decode;
use crate::pattern::Pattern;

/// An architecture feature later than those of [`Features`](crate::Features).
#[derive(Debug)]
pub struct LaterFeature {
    /// Arm's name of the feature, such as `FEAT_MTE`.
    pub name: &'static str,
    /// The first version of the architecture that has the feature, such as `Armv8.5`.
    pub since: &'static str,
    /// The instructions of the feature, in a few words.
    pub instructions: &'static str,
    /// The diagrams of the instructions. Some of them also match unallocated words of the same group.
    patterns: &'static [Pattern],
}

impl LaterFeature {
    /// Returns the feature that an undefined word belongs to, or `None` if it is of another feature or of none.
    ///
    /// Words of the instruction table belong to no later feature.
    ///
    /// ```
    /// use kvrm_arm64::LaterFeature;
    ///
    /// let stg = 0xd920_0820; // stg x0, [x1]
    /// assert_eq!(LaterFeature::of(stg).map(|feature| feature.name), Some("FEAT_MTE"));
    /// let add = 0x8b02_0c20; // add x0, x1, x2, lsl #3
    /// assert!(LaterFeature::of(add).is_none());
    /// ```
    #[must_use]
    pub fn of(word: u32) -> Option<&'static Self> {
        if decode(word).is_some() {
            return None;
        }
        FEATURES.iter().find(|feature| feature.patterns.iter().any(|pattern| pattern.matches(word)))
    }
}

macro_rules! features {
    ($($name:literal $since:literal $instructions:literal [$($pattern:literal)*])*) => {
        /// The later features. No word matches diagrams of two of them.
        const FEATURES: &[LaterFeature] = &[$(LaterFeature {
            name: $name,
            since: $since,
            instructions: $instructions,
            patterns: &[$(Pattern::parse($pattern)),*],
        }),*];
    };
}

features! {
    "FEAT_LOR" "Armv8.1" "load-acquire and store-release in limited regions (LDLAR, STLLR)" [
        "..0010001.011111011111.........."
    ]
    "FEAT_SVE" "Armv8.2" "scalable vectors, with SVE2 and later" [
        "...0010........................."
    ]
    "FEAT_MTE" "Armv8.5" "memory tagging (IRG, ADDG, STG, LDG and others)" [
        "1.01000110......00.............."
        "10011010110.....00010..........."
        "10.11010110.....000000.........."
        "11011001..1....................."
        "0110100..0......................"
    ]
    "FEAT_LS64" "Armv8.7" "loads and stores of 64 bytes (LD64B, ST64B)" [
        "11111000001111111.0100.........."
    ]
    "FEAT_HBC" "Armv8.8" "hinted conditional branches (BC.cond)" [
        "01010100...................1...."
    ]
    "FEAT_MOPS" "Armv8.8" "memory copies and sets (CPYP, SETP and others)" [
        "00011.01..0.........01.........."
    ]
    "FEAT_CSSC" "Armv8.9" "integer ABS, CNT, CTZ, SMAX, SMIN, UMAX, UMIN" [
        ".101101011000000000110.........."
        ".101101011000000000111.........."
        ".101101011000000001000.........."
        ".00100011100...................."
        ".0011010110.....0110............"
    ]
    "FEAT_SME" "Armv9.2" "scalable matrices" [
        "1..0000........................."
    ]
}

#[cfg(test)]
mod tests {
    use super::{FEATURES, LaterFeature};

    /// Words that LLVM 14 assembles from these texts, and the features they belong to.
    const WORDS: &[(u32, &str, &str)] = &[
        (0xc8df_7c20, "ldlar x0, [x1]", "FEAT_LOR"),
        (0x089f_7c20, "stllrb w0, [x1]", "FEAT_LOR"),
        (0x2518_e3e0, "ptrue p0.b", "FEAT_SVE"),
        (0xa540_a000, "ld1w z0.s, p0/z, [x0]", "FEAT_SVE"),
        (0x25a1_1c00, "whilelo p0.s, x0, x1", "FEAT_SVE"),
        (0x0420_e3e0, "cntb x0", "FEAT_SVE"),
        (0x4523_8440, "match p0.b, p1/z, z2.b, z3.b", "FEAT_SVE"),
        (0x9adf_1020, "irg x0, x1", "FEAT_MTE"),
        (0x9181_0420, "addg x0, x1, #16, #1", "FEAT_MTE"),
        (0xbac2_0020, "subps x0, x1, x2", "FEAT_MTE"),
        (0xd920_0820, "stg x0, [x1]", "FEAT_MTE"),
        (0xd960_0020, "ldg x0, [x1]", "FEAT_MTE"),
        (0x6900_0440, "stgp x0, x1, [x2]", "FEAT_MTE"),
        (0xf83f_d100, "ld64b x0, [x8]", "FEAT_LS64"),
        (0xf83f_9100, "st64b x0, [x8]", "FEAT_LS64"),
        (0x5400_0050, "bc.eq #8", "FEAT_HBC"),
        (0x1d01_0440, "cpyp [x0]!, [x1]!, x2!", "FEAT_MOPS"),
        (0x19c2_0420, "setp [x0]!, x1!, x2", "FEAT_MOPS"),
        (0x8081_2000, "fmopa za0.s, p0/m, p1/m, z0.s, z1.s", "FEAT_SME"),
    ];

    #[test]
    fn instructions_belong_to_their_features() {
        for (word, text, feature) in WORDS {
            assert_eq!(
                LaterFeature::of(*word).map(|found| found.name),
                Some(*feature),
                "{word:#010x} {text}"
            );
        }
        for feature in FEATURES {
            let is_tested = WORDS.iter().any(|(_, _, name)| *name == feature.name);
            // LLVM 14 does not know FEAT_CSSC.
            assert!(is_tested || feature.name == "FEAT_CSSC", "{} has a word", feature.name);
        }
    }

    #[test]
    fn no_word_belongs_to_two_features() {
        for (index, feature) in FEATURES.iter().enumerate() {
            for other in &FEATURES[index + 1..] {
                for a in feature.patterns {
                    for b in other.patterns {
                        let is_disjoint = (a.value ^ b.value) & a.mask & b.mask != 0;
                        assert!(is_disjoint, "{} {a:?} and {} {b:?}", feature.name, other.name);
                    }
                }
            }
        }
    }

    #[test]
    fn words_of_the_table_and_unallocated_words_belong_to_none() {
        // udf #0, hint #34 (bti c), paciasp in the hint space, fcvt s0, h1, mrs x0, midr_el1, unallocated.
        for word in [0, 0xd503_245f, 0xd503_233f, 0x1ee2_4020, 0xd538_0000, 0xf3ff_fff0] {
            assert!(LaterFeature::of(word).is_none(), "{word:#010x}");
        }
    }
}
