//! The values of the fields of `parameters` in micro-ops of vectors.
//!
//! An instruction on vectors has three properties: a form (the sources and destinations of elements), a sizing (the
//! part of the word that gives the element size), and an element operation. Everything else is taken from the word,
//! which is the immediate of the micro-op.

/// Defines constants numbered from 0, and lists of them for the shaders.
macro_rules! numbers { ($($(#[doc = $list_doc:literal])+ $list:ident { $($(#[doc = $doc:literal])+ $name:ident,)* })*) => {
    $( numbers!(@one 0, $($(#[doc = $doc])+ $name,)*); )*

    $(
        $(#[doc = $list_doc])+
        pub const $list: &[(&str, u32, &str)] =
            &[$((stringify!($name), $name, concat!($($doc),+).trim_ascii())),*];
    )*

    /// All lists of constants.
    pub const LISTS: &[&[(&str, u32, &str)]] = &[$($list),*];
};
(@one $number:expr, ) => {};
(@one $number:expr, $(#[doc = $doc:literal])+ $name:ident, $($rest:tt)*) => {
    $(#[doc = $doc])+
    pub const $name: u32 = $number;
    numbers!(@one $number + 1, $($rest)*);
} }

numbers! {
    /// The values of `transfer` of structures.
    TRANSFERS {
        /// All elements of the registers.
        TRANSFER_MULTIPLE,
        /// One element of each register.
        TRANSFER_LANE,
        /// Loads each member to all elements of its register.
        TRANSFER_REPLICATE,
    }
    /// The values of `operation` of moves.
    MOVES {
        /// DUP (element).
        MOVE_DUP_ELEMENT,
        /// DUP (general).
        MOVE_DUP_GENERAL,
        /// INS (element).
        MOVE_INS_ELEMENT,
        /// INS (general).
        MOVE_INS_GENERAL,
        /// UMOV.
        MOVE_UMOV,
        /// SMOV.
        MOVE_SMOV,
        /// FMOV from a general register.
        MOVE_FROM_GENERAL,
        /// FMOV to a general register.
        MOVE_TO_GENERAL,
        /// FMOV to the upper half.
        MOVE_FROM_GENERAL_HIGH,
        /// FMOV from the upper half.
        MOVE_TO_GENERAL_HIGH,
        /// MOVI.
        MOVE_IMMEDIATE,
        /// MVNI.
        MOVE_IMMEDIATE_INVERTED,
        /// ORR (vector, immediate).
        MOVE_IMMEDIATE_ORR,
        /// BIC (vector, immediate).
        MOVE_IMMEDIATE_BIC,
        /// FMOV (scalar, immediate).
        MOVE_FLOAT_IMMEDIATE,
        /// FCSEL.
        MOVE_SELECT,
        /// FMOV from a general register, half precision.
        MOVE_FROM_GENERAL_HALF,
        /// FMOV to a general register, half precision.
        MOVE_TO_GENERAL_HALF,
        /// FMOV (scalar, immediate), half precision.
        MOVE_HALF_IMMEDIATE,
        /// FMOV (vector, immediate), half precision.
        MOVE_HALVES_IMMEDIATE,
    }
    /// The values of `operation` of permutations.
    PERMUTATIONS {
        /// UZP1, or UZP2 if `element` is 1.
        PERMUTE_UZP,
        /// ZIP1, or ZIP2 if `element` is 1.
        PERMUTE_ZIP,
        /// TRN1, or TRN2 if `element` is 1.
        PERMUTE_TRN,
        /// EXT.
        PERMUTE_EXT,
        /// REV16, REV32 and REV64: `element` is the binary logarithm of the container's bits.
        PERMUTE_REV,
        /// TBL of `element` registers.
        PERMUTE_TBL,
        /// TBX of `element` registers.
        PERMUTE_TBX,
    }
    /// The values of `sizing`: the part of the word that gives the element size.
    SIZINGS {
        /// The field size.
        SIZING_SIZE,
        /// The field immh.
        SIZING_IMMH,
        /// The precision of floating-point numbers, by `semantics::simd::vector::precision`.
        SIZING_SZ,
        /// Always bytes.
        SIZING_BYTES,
        /// Always doublewords, for operations on independent bits.
        SIZING_DOUBLEWORDS,
    }
    /// The values of `form` of integers.
    FORMS {
        /// Operands and results have the same size.
        FORM_SAME,
        /// Results are twice as large as operands.
        FORM_LONG,
        /// Results and first operands are twice as large as second operands.
        FORM_WIDE,
        /// Operands are twice as large as results.
        FORM_NARROW,
        /// Operands are twice as large as results, which are the upper halves of what the operation gives.
        FORM_NARROW_HIGH,
        /// Operands are adjacent elements of Vn and Vm.
        FORM_PAIRED,
        /// Operands are adjacent elements of Vn; results are twice as large.
        FORM_PAIRED_LONG,
        /// Combines all elements to one.
        FORM_ACROSS,
        /// Combines all elements to one that is twice as large.
        FORM_ACROSS_LONG,
        /// Adds dot products of four bytes to words; bit 0 of `element` says whether the bytes of Vn are unsigned, bit 1
        /// those of Vm.
        FORM_DOT,
        /// As `FORM_DOT`, for products of matrices of eight bytes by two.
        FORM_MATRIX,
    }
    /// The values of `form` of floating-point numbers.
    FLOAT_FORMS {
        /// An operation on Vn and Vm.
        FLOAT_SAME,
        /// An operation on Vd, Vn and Vm.
        FLOAT_ACCUMULATE,
        /// An operation on Va, Vn and Vm.
        FLOAT_ADDEND,
        /// Operands are adjacent numbers.
        FLOAT_PAIRED,
        /// Combines four numbers to one.
        FLOAT_ACROSS,
        /// A comparison whose results are ones or zeros; `element` is the condition.
        FLOAT_COMPARE,
        /// A comparison that sets the flags; `element` is 1 if quiet NaNs are an invalid operation.
        FLOAT_FLAGS,
        /// A comparison that sets the flags if the condition holds; otherwise the flags are the field nzcv.
        FLOAT_CONDITIONAL_FLAGS,
        /// Converts numbers to integers or fixed-point numbers of the same size.
        FLOAT_TO_INTEGERS,
        /// Converts integers or fixed-point numbers to numbers of the same size.
        FLOAT_FROM_INTEGERS,
        /// Converts a number to an integer or fixed-point number in a general register.
        FLOAT_TO_GENERAL,
        /// Converts an integer or fixed-point number in a general register to a number.
        FLOAT_FROM_GENERAL,
        /// Converts a number to another format.
        FLOAT_CONVERT,
        /// Converts numbers to the next larger format.
        FLOAT_LONG,
        /// Converts numbers to the next smaller format.
        FLOAT_NARROW,
        /// URECPE, or URSQRTE if `element` is 1.
        FLOAT_ESTIMATE,
    }
    /// The values of `arrangement` of floating-point numbers.
    ARRANGEMENTS {
        /// Operands and results are those of `form`.
        ARRANGED_PLAIN,
        /// FCMLA.
        ARRANGED_COMPLEX,
        /// FCADD.
        ARRANGED_COMPLEX_ADD,
        /// FMLAL and FMLSL.
        ARRANGED_HALVES,
        /// FMLAL2 and FMLSL2.
        ARRANGED_HALVES_UPPER,
        /// BFMLALB and BFMLALT.
        ARRANGED_BFLOAT_LONG,
        /// BFDOT.
        ARRANGED_BFLOAT_DOT,
        /// BFMMLA.
        ARRANGED_BFLOAT_MATRIX,
        /// BFCVT and BFCVTN.
        ARRANGED_BFLOAT_CONVERT,
        /// FJCVTZS.
        ARRANGED_JAVASCRIPT,
        /// Results that are not integers of 32 bits are invalid.
        ARRANGED_LIMITED_32,
        /// Results that are not integers of 64 bits are invalid.
        ARRANGED_LIMITED_64,
    }
    /// The values of `element` of integers.
    ELEMENTS {
        /// The element of Vn unchanged.
        ELEMENT_MOVE,
        /// The sum.
        ELEMENT_ADD,
        /// The difference.
        ELEMENT_SUBTRACT,
        /// The product.
        ELEMENT_MULTIPLY,
        /// Half the sum.
        ELEMENT_HALVING_ADD,
        /// Half the difference.
        ELEMENT_HALVING_SUBTRACT,
        /// The greater operand.
        ELEMENT_MAXIMUM,
        /// The smaller operand.
        ELEMENT_MINIMUM,
        /// The absolute difference.
        ELEMENT_ABSOLUTE_DIFFERENCE,
        /// All ones if the first is greater.
        ELEMENT_GREATER,
        /// All ones if the first is greater or equal.
        ELEMENT_GREATER_OR_EQUAL,
        /// All ones if the first is less.
        ELEMENT_LESS,
        /// All ones if the first is less or equal.
        ELEMENT_LESS_OR_EQUAL,
        /// All ones if both are equal.
        ELEMENT_EQUAL,
        /// All ones if a bit is set in both.
        ELEMENT_TEST,
        /// The product of polynomials.
        ELEMENT_POLYNOMIAL_MULTIPLY,
        /// The first shifted by the second.
        ELEMENT_SHIFT,
        /// The upper half of twice the product.
        ELEMENT_DOUBLING_HIGH,
        /// The element of Vd plus the upper half of twice the product, rounded once.
        ELEMENT_DOUBLING_HIGH_ADD,
        /// The element of Vd minus the upper half of twice the product, rounded once.
        ELEMENT_DOUBLING_HIGH_SUBTRACT,
        /// Twice the product, saturated before it is accumulated.
        ELEMENT_DOUBLING_MULTIPLY,
        /// The absolute value.
        ELEMENT_ABSOLUTE,
        /// The negative.
        ELEMENT_NEGATE,
        /// The number of leading zero bits.
        ELEMENT_LEADING_ZEROS,
        /// The number of leading sign bits.
        ELEMENT_LEADING_SIGNS,
        /// The number of bits that are one.
        ELEMENT_COUNT,
        /// The bits in opposite order.
        ELEMENT_REVERSE_BITS,
        /// AND.
        ELEMENT_AND,
        /// BIC.
        ELEMENT_BIC,
        /// ORR.
        ELEMENT_ORR,
        /// ORN.
        ELEMENT_ORN,
        /// EOR.
        ELEMENT_EOR,
        /// BSL.
        ELEMENT_BSL,
        /// BIT.
        ELEMENT_BIT,
        /// BIF.
        ELEMENT_BIF,
        /// NOT.
        ELEMENT_NOT,
        /// The element shifted right by immh:immb.
        ELEMENT_SHIFT_RIGHT,
        /// The element shifted left by immh:immb.
        ELEMENT_SHIFT_LEFT,
        /// The element shifted left by its size.
        ELEMENT_SHIFT_LEFT_BY_SIZE,
        /// SRI.
        ELEMENT_SHIFT_RIGHT_INSERT,
        /// SLI.
        ELEMENT_SHIFT_LEFT_INSERT,
        /// The floating-point number without its sign.
        ELEMENT_FLOAT_ABSOLUTE,
        /// The floating-point number with the opposite sign.
        ELEMENT_FLOAT_NEGATE,
    }
    /// The values of `accumulate`.
    ACCUMULATIONS {
        /// Results replace Vd.
        ACCUMULATE_NOT,
        /// Results are added to Vd.
        ACCUMULATE_ADD,
        /// Results are subtracted from Vd.
        ACCUMULATE_SUBTRACT,
    }
    /// The values of `saturation`.
    SATURATIONS {
        /// Results are truncated to the element size.
        SATURATION_NOT,
        /// Results are saturated to signed elements.
        SATURATION_SIGNED,
        /// Results are saturated to unsigned elements.
        SATURATION_UNSIGNED,
    }
    /// The bits of `negate`.
    NEGATIONS {
        /// No operand is negated.
        NEGATE_NOTHING,
        /// The first factor is negated.
        NEGATE_FACTOR,
        /// The addend is negated.
        NEGATE_ADDEND,
    }
    /// The values of `sign`.
    SIGNS {
        /// Signs do not change.
        SIGN_KEPT,
        /// Operands are replaced by their absolute values.
        SIGN_OPERANDS_ABSOLUTE,
        /// Results are replaced by their absolute values.
        SIGN_RESULT_ABSOLUTE,
        /// Results are negated.
        SIGN_RESULT_NEGATED,
    }
    /// The values of `operation` of cryptographic instructions.
    CRYPTOGRAPHY {
        /// AESE.
        CRYPTO_AESE,
        /// AESD.
        CRYPTO_AESD,
        /// AESMC.
        CRYPTO_AESMC,
        /// AESIMC.
        CRYPTO_AESIMC,
        /// SHA1C.
        CRYPTO_SHA1C,
        /// SHA1P.
        CRYPTO_SHA1P,
        /// SHA1M.
        CRYPTO_SHA1M,
        /// SHA1SU0.
        CRYPTO_SHA1SU0,
        /// SHA1H.
        CRYPTO_SHA1H,
        /// SHA1SU1.
        CRYPTO_SHA1SU1,
        /// SHA256H.
        CRYPTO_SHA256H,
        /// SHA256H2.
        CRYPTO_SHA256H2,
        /// SHA256SU0.
        CRYPTO_SHA256SU0,
        /// SHA256SU1.
        CRYPTO_SHA256SU1,
        /// EOR3. This instruction and the next two have Va instead of Vd.
        CRYPTO_EOR3,
        /// BCAX.
        CRYPTO_BCAX,
        /// SM3SS1.
        CRYPTO_SM3SS1,
        /// RAX1.
        CRYPTO_RAX1,
        /// XAR.
        CRYPTO_XAR,
        /// SHA512H.
        CRYPTO_SHA512H,
        /// SHA512H2.
        CRYPTO_SHA512H2,
        /// SHA512SU0.
        CRYPTO_SHA512SU0,
        /// SHA512SU1.
        CRYPTO_SHA512SU1,
        /// SM3TT1A.
        CRYPTO_SM3TT1A,
        /// SM3TT1B.
        CRYPTO_SM3TT1B,
        /// SM3TT2A.
        CRYPTO_SM3TT2A,
        /// SM3TT2B.
        CRYPTO_SM3TT2B,
        /// SM3PARTW1.
        CRYPTO_SM3PARTW1,
        /// SM3PARTW2.
        CRYPTO_SM3PARTW2,
        /// SM4E.
        CRYPTO_SM4E,
        /// SM4EKEY.
        CRYPTO_SM4EKEY,

    }
}

/// The value of `mode` that rounds numbers as FPCR says. All others are `ROUND_*` of `semantics::float::control`.
pub const MODE_FPCR: u32 = 7;

const _: () =
    assert!(MODE_FPCR > crate::semantics::float::control::ROUND_ODD_INFINITY, "`MODE_FPCR` must be unique");
