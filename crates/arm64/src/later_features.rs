//! The architecture features that KVRM does not have, recognised by their encodings.
//!
//! A program for a newer processor stops at its first instruction of such a feature. With this table, the message names
//! the feature. Names and versions are Arm's; the diagrams are those of DDI 0487, chapter C4.

use crate::decode::decode;
use crate::pattern::Pattern;

/// An architecture feature later than those of [`Features`](crate::Features).
#[derive(Debug)]
pub struct LaterFeature {
    /// Arm's name of the feature, such as `FEAT_DotProd`.
    pub name: &'static str,
    /// The first version of the architecture that has the feature, such as `Armv8.2`.
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
    /// let sdot = 0x4e82_9420; // sdot v0.4s, v1.16b, v2.16b
    /// assert_eq!(LaterFeature::of(sdot).map(|feature| feature.name), Some("FEAT_DotProd"));
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
    "FEAT_FHM" "Armv8.2" "widening half-precision multiply-accumulate (FMLAL, FMLSL)" [
        "0.001110.01.....111011.........."
        "0.101110.01.....110011.........."
        "0.00111110......0.00.0.........."
        "0.10111110......1.00.0.........."
    ]
    "FEAT_FP16" "Armv8.2" "half-precision arithmetic" [
        ".00111101100001................."
        ".00111101101100................."
        ".0011110111.....000000.........."
        "000111101110000..10000.........."
        "00011110111001...10000.........."
        "00011110111.....001000.......000"
        "00011110111........10000000....."
        "00011110111.........01.........."
        "00011110111.....0...10.........."
        "00011110111.....100010.........."
        "00011110111.........11.........."
        "0001111111......................"
        "0..01110.10.....00...1.........."
        "0..01110.111100.11..10.........."
        "01.11110.10.....00...1.........."
        "01.11110.111100.11..10.........."
        "01011110.011000011..10.........."
        "0.001110.0110000110010.........."
        "0.001110.0110000111110.........."
        "0.00111100000...111111.........."
        "0.00111100......0.01.0.........."
        "0..0111100......1001.0.........."
        "0101111100......0.01.0.........."
        "01.1111100......1001.0.........."
        "0..011110001....111001.........."
        "0..011110001....111111.........."
        "01.111110001....111001.........."
        "01.111110001....111111.........."
    ]
    "FEAT_SHA3" "Armv8.2" "SHA-3 (EOR3, BCAX, RAX1, XAR)" [
        "11001110000.....0..............."
        "11001110001.....0..............."
        "11001110011.....100011.........."
        "11001110100....................."
    ]
    "FEAT_SHA512" "Armv8.2" "SHA-512 (SHA512H, SHA512SU0 and others)" [
        "11001110011.....10000..........."
        "11001110011.....100010.........."
        "1100111011000000100000.........."
    ]
    "FEAT_SM3" "Armv8.2" "SM3 (SM3SS1, SM3TT1A and others)" [
        "11001110010.....0..............."
        "11001110010.....10.............."
        "11001110011.....11000..........."
    ]
    "FEAT_SM4" "Armv8.2" "SM4 (SM4E, SM4EKEY)" [
        "1100111011000000100001.........."
        "11001110011.....110010.........."
    ]
    "FEAT_SVE" "Armv8.2" "scalable vectors, with SVE2 and later" [
        "...0010........................."
    ]
    "FEAT_FCMA" "Armv8.3" "complex numbers (FCMLA, FCADD)" [
        "0.101110010.....110..1.........."
        "0.1011101.0.....110..1.........."
        "0.101110010.....111.01.........."
        "0.1011101.0.....111.01.........."
        "0.10111101......0..1.0.........."
        "0110111110......0..100.........."
    ]
    "FEAT_JSCVT" "Armv8.3" "conversion to integers as in JavaScript (FJCVTZS)" [
        "0001111001111110000000.........."
    ]
    "FEAT_PAuth" "Armv8.3" "pointer authentication (PACIA, AUTIA, BLRAA, RETAA, LDRAA and others)" [
        "1101101011000001000............."
        "1101101011000001001...11111....."
        "110110101100000101000.11111....."
        "10011010110.....001100.........."
        "1101011100.1111100001..........."
        "1101011000.1111100001......11111"
        "110101100101111100001.1111111111"
        "11111000..1.........01.........."
        "11111000..1.........11.........."
    ]
    "FEAT_FRINTTS" "Armv8.5" "rounding to the range of integers (FRINT32Z, FRINT64X and others)" [
        "000111100.10100..10000.........."
        "0..011100.100001111.10.........."
    ]
    "FEAT_MTE" "Armv8.5" "memory tagging (IRG, ADDG, STG, LDG and others)" [
        "1.01000110......00.............."
        "10011010110.....00010..........."
        "10.11010110.....000000.........."
        "11011001..1....................."
        "0110100..0......................"
    ]
    "FEAT_BF16" "Armv8.6" "bfloat16 (BFDOT, BFMMLA, BFCVT and others)" [
        "0.101110010.....111111.........."
        "01101110010.....111011.........."
        "0.101110110.....111111.........."
        "0.001111.1......1111.0.........."
        "0.00111010100001011010.........."
        "0001111001100011010000.........."
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
        (0x4e22_ec20, "fmlal v0.4s, v1.4h, v2.4h", "FEAT_FHM"),
        (0x6fb2_c820, "fmlsl2 v0.4s, v1.4h, v2.h[7]", "FEAT_FHM"),
        (0x1ee2_2820, "fadd h0, h1, h2", "FEAT_FP16"),
        (0x1fc2_0c20, "fmadd h0, h1, h2, h3", "FEAT_FP16"),
        (0x1ee0_2008, "fcmp h0, #0.0", "FEAT_FP16"),
        (0x1ee7_0020, "fmov h0, w1", "FEAT_FP16"),
        (0x1eee_1000, "fmov h0, #1.0", "FEAT_FP16"),
        (0x1ee2_0c20, "fcsel h0, h1, h2, eq", "FEAT_FP16"),
        (0x9ec2_f420, "scvtf h0, x1, #3", "FEAT_FP16"),
        (0x1ee6_4020, "frinta h0, h1", "FEAT_FP16"),
        (0x6e42_1c20, "fmul v0.8h, v1.8h, v2.8h", "FEAT_FP16"),
        (0x2ef9_f820, "fsqrt v0.4h, v1.4h", "FEAT_FP16"),
        (0x5ef8_c820, "fcmgt h0, h1, #0.0", "FEAT_FP16"),
        (0x5e30_d820, "faddp h0, v1.2h", "FEAT_FP16"),
        (0x4e30_f820, "fmaxv h0, v1.8h", "FEAT_FP16"),
        (0x4f03_fe00, "fmov v0.8h, #1.0", "FEAT_FP16"),
        (0x4f12_1020, "fmla v0.8h, v1.8h, v2.h[1]", "FEAT_FP16"),
        (0x7f12_9020, "fmulx h0, h1, v2.h[1]", "FEAT_FP16"),
        (0x6f1d_e420, "ucvtf v0.8h, v1.8h, #3", "FEAT_FP16"),
        (0xce02_0c20, "eor3 v0.16b, v1.16b, v2.16b, v3.16b", "FEAT_SHA3"),
        (0xce62_8c20, "rax1 v0.2d, v1.2d, v2.2d", "FEAT_SHA3"),
        (0xce82_fc20, "xar v0.2d, v1.2d, v2.2d, #63", "FEAT_SHA3"),
        (0xce62_8020, "sha512h q0, q1, v2.2d", "FEAT_SHA512"),
        (0xcec0_8020, "sha512su0 v0.2d, v1.2d", "FEAT_SHA512"),
        (0xce42_0c20, "sm3ss1 v0.4s, v1.4s, v2.4s, v3.4s", "FEAT_SM3"),
        (0xce62_c020, "sm3partw1 v0.4s, v1.4s, v2.4s", "FEAT_SM3"),
        (0xcec0_8420, "sm4e v0.4s, v1.4s", "FEAT_SM4"),
        (0xce62_c820, "sm4ekey v0.4s, v1.4s, v2.4s", "FEAT_SM4"),
        (0x2518_e3e0, "ptrue p0.b", "FEAT_SVE"),
        (0xa540_a000, "ld1w z0.s, p0/z, [x0]", "FEAT_SVE"),
        (0x25a1_1c00, "whilelo p0.s, x0, x1", "FEAT_SVE"),
        (0x0420_e3e0, "cntb x0", "FEAT_SVE"),
        (0x4523_8440, "match p0.b, p1/z, z2.b, z3.b", "FEAT_SVE"),
        (0x6e82_cc20, "fcmla v0.4s, v1.4s, v2.4s, #90", "FEAT_FCMA"),
        (0x6ec2_f420, "fcadd v0.2d, v1.2d, v2.2d, #270", "FEAT_FCMA"),
        (0x6f62_1020, "fcmla v0.8h, v1.8h, v2.h[1], #0", "FEAT_FCMA"),
        (0x1e7e_0020, "fjcvtzs w0, d1", "FEAT_JSCVT"),
        (0xdac1_0020, "pacia x0, x1", "FEAT_PAuth"),
        (0xdac1_3fe0, "autdzb x0", "FEAT_PAuth"),
        (0xdac1_43fe, "xpaci x30", "FEAT_PAuth"),
        (0x9ac2_3020, "pacga x0, x1, x2", "FEAT_PAuth"),
        (0xd73f_0801, "blraa x0, x1", "FEAT_PAuth"),
        (0xd61f_081f, "braaz x0", "FEAT_PAuth"),
        (0xd65f_0bff, "retaa", "FEAT_PAuth"),
        (0xf820_1420, "ldraa x0, [x1, #8]", "FEAT_PAuth"),
        (0xf8ff_fc20, "ldrab x0, [x1, #-8]!", "FEAT_PAuth"),
        (0x1e68_4020, "frint32z d0, d1", "FEAT_FRINTTS"),
        (0x6e21_f820, "frint64x v0.4s, v1.4s", "FEAT_FRINTTS"),
        (0x9adf_1020, "irg x0, x1", "FEAT_MTE"),
        (0x9181_0420, "addg x0, x1, #16, #1", "FEAT_MTE"),
        (0xbac2_0020, "subps x0, x1, x2", "FEAT_MTE"),
        (0xd920_0820, "stg x0, [x1]", "FEAT_MTE"),
        (0xd960_0020, "ldg x0, [x1]", "FEAT_MTE"),
        (0x6900_0440, "stgp x0, x1, [x2]", "FEAT_MTE"),
        (0x6e42_fc20, "bfdot v0.4s, v1.8h, v2.8h", "FEAT_BF16"),
        (0x6e42_ec20, "bfmmla v0.4s, v1.8h, v2.8h", "FEAT_BF16"),
        (0x4fd2_f020, "bfmlalt v0.4s, v1.8h, v2.h[1]", "FEAT_BF16"),
        (0x0ea1_6820, "bfcvtn v0.4h, v1.4s", "FEAT_BF16"),
        (0x1e63_4020, "bfcvt h0, s1", "FEAT_BF16"),
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
