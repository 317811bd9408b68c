//! Architecture features: those of encodings, and those of a machine.

/// Defines the features: the number and name in Rust, the field of [`Features`], Arm's names, and the first version of the
/// architecture that has the feature. `simd` means that its instructions use SIMD&FP registers.
macro_rules! features { ($(
    $(#[doc = $doc:literal])+ $feature:ident $field:ident $arm:literal $since:literal $kind:ident;
)*) => {
    /// The architecture feature that an encoding belongs to.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    #[non_exhaustive]
    pub enum Feature {
        /// The Armv8.0-A base instruction set, which is always present.
        Base,
        $( $(#[doc = $doc])+ $feature, )*
    }

    impl Feature {
        /// All features, in the order of their numbers.
        pub const ALL: &[Self] = &[Self::Base, $(Self::$feature),*];

        /// Returns the short name of the feature in options and test vectors.
        #[must_use]
        pub const fn name(self) -> &'static str {
            match self {
                Self::Base => "base",
                $(Self::$feature => stringify!($field),)*
            }
        }

        /// Returns Arm's names of the feature, such as `FEAT_LSE`.
        #[must_use]
        pub const fn arm_name(self) -> &'static str {
            match self {
                Self::Base => "Armv8.0-A",
                $(Self::$feature => $arm,)*
            }
        }

        /// Returns the first version of the architecture that has the feature, such as `Armv8.1`.
        #[must_use]
        pub const fn since(self) -> &'static str {
            match self {
                Self::Base => "Armv8.0",
                $(Self::$feature => $since,)*
            }
        }

        /// Whether the feature's instructions use SIMD&FP registers.
        #[must_use]
        pub const fn is_simd(self) -> bool {
            match self {
                Self::Base => false,
                $(Self::$feature => features!(@$kind),)*
            }
        }
    }

    /// The optional features of a machine. An encoding of a missing feature is UNDEFINED.
    ///
    /// ```
    /// use kvrm_arm64::{Feature, Features};
    ///
    /// let features = Features { lse: true, ..Features::ARMV8_0 };
    /// assert!(features.has(Feature::Lse) && features.has(Feature::Crc32) && !features.has(Feature::Fp));
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Features {
        $( $(#[doc = $doc])+ pub $field: bool, )*
    }

    impl Features {
        /// The Armv8.0-A base instruction set only.
        pub const BASE: Self = Self { $($field: false),* };
        /// All features of the table.
        pub const ALL: Self = Self { $($field: true),* };

        /// Whether encodings of `feature` exist on this machine.
        #[must_use]
        pub const fn has(self, feature: Feature) -> bool {
            match feature {
                Feature::Base => true,
                $(Feature::$feature => self.$field,)*
            }
        }

        /// Returns these features with `feature`.
        ///
        /// ```
        /// use kvrm_arm64::{Feature, Features};
        ///
        /// assert_eq!(Features::ARMV8_0.with(Feature::Lse), Features::GENERAL);
        /// ```
        #[must_use]
        pub const fn with(mut self, feature: Feature) -> Self {
            match feature {
                Feature::Base => {}
                $(Feature::$feature => self.$field = true,)*
            }
            self
        }
    }
};
    (@general) => { false };
    (@simd) => { true };
}

features! {
    /// `FEAT_CRC32`.
    Crc32 crc32 "FEAT_CRC32" "Armv8.0" general;
    /// `FEAT_LSE`, the Armv8.1 atomics.
    Lse lse "FEAT_LSE" "Armv8.1" general;
    /// `FEAT_FP` and `FEAT_AdvSIMD`: floating point and vectors, which exist together or not at all.
    Fp fp "FEAT_FP and FEAT_AdvSIMD" "Armv8.0" simd;
    /// `FEAT_AES`.
    Aes aes "FEAT_AES" "Armv8.0" simd;
    /// `FEAT_PMULL`: products of 64-bit polynomials. They are words of a row whose feature is `Fp`.
    Pmull pmull "FEAT_PMULL" "Armv8.0" simd;
    /// `FEAT_SHA1`.
    Sha1 sha1 "FEAT_SHA1" "Armv8.0" simd;
    /// `FEAT_SHA256`.
    Sha256 sha256 "FEAT_SHA256" "Armv8.0" simd;
    /// `FEAT_RDM`: rounding multiply-accumulate.
    Rdm rdm "FEAT_RDM" "Armv8.1" simd;
    /// `FEAT_DotProd`: dot products.
    DotProd dotprod "FEAT_DotProd" "Armv8.2" simd;
    /// `FEAT_FP16`: arithmetic in half precision.
    Fp16 fp16 "FEAT_FP16" "Armv8.2" simd;
    /// `FEAT_SHA512`.
    Sha512 sha512 "FEAT_SHA512" "Armv8.2" simd;
    /// `FEAT_SHA3`.
    Sha3 sha3 "FEAT_SHA3" "Armv8.2" simd;
    /// `FEAT_SM3`.
    Sm3 sm3 "FEAT_SM3" "Armv8.2" simd;
    /// `FEAT_SM4`.
    Sm4 sm4 "FEAT_SM4" "Armv8.2" simd;
    /// `FEAT_FHM`: products of half precision added to single precision.
    Fhm fhm "FEAT_FHM" "Armv8.2" simd;
    /// `FEAT_FCMA`: complex numbers. The words for half precision belong to it, too.
    Fcma fcma "FEAT_FCMA" "Armv8.3" simd;
    /// `FEAT_JSCVT`: conversion to integers as in JavaScript.
    Jscvt jscvt "FEAT_JSCVT" "Armv8.3" simd;
    /// `FEAT_FRINTTS`: rounding to integers of 32 or 64 bits.
    FrintTs frintts "FEAT_FRINTTS" "Armv8.5" simd;
    /// `FEAT_BF16`: bfloat16.
    Bf16 bf16 "FEAT_BF16" "Armv8.6" simd;
    /// `FEAT_I8MM`: products of 8-bit matrices.
    I8mm i8mm "FEAT_I8MM" "Armv8.6" simd;
    /// `FEAT_LRCPC`: load-acquire with weaker ordering.
    Lrcpc lrcpc "FEAT_LRCPC" "Armv8.3" general;
    /// `FEAT_LRCPC2`: load-acquire and store-release with an offset.
    Lrcpc2 lrcpc2 "FEAT_LRCPC2" "Armv8.4" general;
    /// `FEAT_FlagM`: manipulation of flags.
    FlagM flagm "FEAT_FlagM" "Armv8.4" general;
    /// `FEAT_FlagM2`: flags in the format of other processors.
    FlagM2 flagm2 "FEAT_FlagM2" "Armv8.5" general;
    /// `FEAT_DIT`: the field DIT of PSTATE.
    Dit dit "FEAT_DIT" "Armv8.4" general;
    /// `FEAT_SSBS` and `FEAT_SSBS2`: the field SSBS of PSTATE.
    Ssbs ssbs "FEAT_SSBS2" "Armv8.5" general;
    /// `FEAT_SB`: the speculation barrier.
    Sb sb "FEAT_SB" "Armv8.5" general;
    /// `FEAT_BTI`: branch targets. Its instruction is a hint, and no page is guarded.
    Bti bti "FEAT_BTI" "Armv8.5" general;
    /// `FEAT_PAuth` with `FEAT_PACQARMA5`: pointer authentication. Hints of it are NOPs without the feature.
    PAuth pauth "FEAT_PAuth" "Armv8.3" general;
}

impl Feature {
    /// Looks up a feature by its short name.
    ///
    /// ```
    /// use kvrm_arm64::Feature;
    ///
    /// assert_eq!(Feature::from_name("lse"), Some(Feature::Lse));
    /// assert_eq!(Feature::from_name("sve"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|feature| feature.name() == name)
    }
}

impl Features {
    /// Armv8.0-A with CRC32, the default of a machine.
    pub const ARMV8_0: Self = Self { crc32: true, ..Self::BASE };
    /// Armv8.0-A with CRC32 and LSE: the instructions that the networks which name classes were trained on.
    pub const GENERAL: Self = Self { crc32: true, lse: true, ..Self::BASE };

    /// Returns the features of `self` that `other` lacks.
    pub fn without(self, other: Self) -> impl Iterator<Item = Feature> {
        Feature::ALL.iter().copied().filter(move |feature| self.has(*feature) && !other.has(*feature))
    }

    /// Returns the features that `self` or `other` has.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self::from_bits(self.bits() | other.bits())
    }

    /// Returns the features as a number: bit `n` stands for the `n`-th [`Feature`], and bit 0 is always set.
    #[must_use]
    pub fn bits(self) -> u64 {
        self.without(Self::BASE).fold(1, |bits, feature| bits | 1 << feature as u32)
    }

    /// Returns the features of a number, the inverse of [`Features::bits`]. Bits that no feature has are ignored.
    ///
    /// ```
    /// use kvrm_arm64::Features;
    ///
    /// assert_eq!(Features::from_bits(Features::GENERAL.bits()), Features::GENERAL);
    /// ```
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        let set = Feature::ALL.iter().filter(|feature| bits >> **feature as u32 & 1 == 1);
        set.fold(Self::BASE, |features, feature| features.with(*feature))
    }
}
