//! The numbers in micro-ops of vectors: what the fields of `parameters` say for them.
//!
//! An instruction on vectors is three things: where its elements come from and go to (a form), how large they are (a
//! sizing), and what becomes of them (an element operation). The rest is the word itself, which the micro-op carries.

/// Defines numbers, and lists of them for the shaders.
macro_rules! numbers { ($($(#[doc = $list_doc:literal])+ $list:ident { $($(#[doc = $doc:literal])+ $name:ident,)* })*) => {
    $( numbers!(@one 0, $($(#[doc = $doc])+ $name,)*); )*

    $(
        $(#[doc = $list_doc])+
        pub const $list: &[(&str, u32, &str)] =
            &[$((stringify!($name), $name, concat!($($doc),+).trim_ascii())),*];
    )*

    /// All lists.
    pub const LISTS: &[&[(&str, u32, &str)]] = &[$($list),*];
};
(@one $number:expr, ) => {};
(@one $number:expr, $(#[doc = $doc:literal])+ $name:ident, $($rest:tt)*) => {
    $(#[doc = $doc])+
    pub const $name: u32 = $number;
    numbers!(@one $number + 1, $($rest)*);
} }

numbers! {
    /// `transfer` of structures.
    TRANSFERS {
        /// All elements.
        TRANSFER_MULTIPLE,
        /// One element of each register.
        TRANSFER_LANE,
        /// Each member to all elements of its register.
        TRANSFER_REPLICATE,
    }
    /// `operation` of moves.
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
    }
    /// `operation` of permutations.
    PERMUTATIONS {
        /// UZP1 and UZP2.
        PERMUTE_UZP,
        /// ZIP1 and ZIP2.
        PERMUTE_ZIP,
        /// TRN1 and TRN2.
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
    /// `sizing`.
    SIZINGS {
        /// The field size.
        SIZING_SIZE,
        /// The field immh.
        SIZING_IMMH,
        /// The field sz: single or double precision.
        SIZING_SZ,
        /// Bytes.
        SIZING_BYTES,
        /// Doublewords: bits that have nothing to do with each other.
        SIZING_DOUBLEWORDS,
    }
    /// `form` of integers.
    FORMS {
        /// Operands and results are as large.
        FORM_SAME,
        /// Results are twice as large.
        FORM_LONG,
        /// Results and first operands are twice as large.
        FORM_WIDE,
        /// First operands are twice as large.
        FORM_NARROW,
        /// Results are the upper halves of those of operands that are twice as large.
        FORM_NARROW_HIGH,
        /// Operands are neighbours.
        FORM_PAIRED,
        /// Operands are neighbours in Vn, and results twice as large.
        FORM_PAIRED_LONG,
        /// All elements become one.
        FORM_ACROSS,
        /// All elements become one that is twice as large.
        FORM_ACROSS_LONG,
    }
    /// `form` of floating-point numbers.
    FLOAT_FORMS {
        /// An operation on Vn and Vm.
        FLOAT_SAME,
        /// An operation on Vd, Vn and Vm.
        FLOAT_ACCUMULATE,
        /// An operation on Va, Vn and Vm.
        FLOAT_ADDEND,
        /// Operands are neighbours.
        FLOAT_PAIRED,
        /// Four numbers become one.
        FLOAT_ACROSS,
        /// A comparison whose results are ones or zeros; `element` is the condition.
        FLOAT_COMPARE,
        /// A comparison whose result is the flags; `element` is 1 if quiet NaNs are invalid.
        FLOAT_FLAGS,
        /// The same if the condition holds.
        FLOAT_CONDITIONAL_FLAGS,
        /// Numbers become integers or fixed-point numbers of their size.
        FLOAT_TO_INTEGERS,
        /// The other way.
        FLOAT_FROM_INTEGERS,
        /// A number becomes an integer or fixed-point number in a general register.
        FLOAT_TO_GENERAL,
        /// The other way.
        FLOAT_FROM_GENERAL,
        /// A number changes its format.
        FLOAT_CONVERT,
        /// Numbers become longer.
        FLOAT_LONG,
        /// Numbers become shorter.
        FLOAT_NARROW,
        /// URECPE, or URSQRTE if `element` is 1.
        FLOAT_ESTIMATE,
    }
    /// `element` of integers.
    ELEMENTS {
        /// The element of Vn as it is.
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
        /// The greater.
        ELEMENT_MAXIMUM,
        /// The less.
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
        /// All ones if both have a bit in common.
        ELEMENT_TEST,
        /// The product of polynomials.
        ELEMENT_POLYNOMIAL_MULTIPLY,
        /// The first shifted by the second.
        ELEMENT_SHIFT,
        /// The upper half of twice the product.
        ELEMENT_DOUBLING_HIGH,
        /// Twice the product, saturated before it is accumulated.
        ELEMENT_DOUBLING_MULTIPLY,
        /// The absolute value.
        ELEMENT_ABSOLUTE,
        /// The negative.
        ELEMENT_NEGATE,
        /// Leading zero bits.
        ELEMENT_LEADING_ZEROS,
        /// Leading sign bits.
        ELEMENT_LEADING_SIGNS,
        /// Bits that are one.
        ELEMENT_COUNT,
        /// Bits in opposite order.
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
        /// Shifted right by what immh:immb says.
        ELEMENT_SHIFT_RIGHT,
        /// Shifted left by what immh:immb says.
        ELEMENT_SHIFT_LEFT,
        /// Shifted left by the size of elements.
        ELEMENT_SHIFT_LEFT_BY_SIZE,
        /// SRI.
        ELEMENT_SHIFT_RIGHT_INSERT,
        /// SLI.
        ELEMENT_SHIFT_LEFT_INSERT,
        /// The number without its sign.
        ELEMENT_FLOAT_ABSOLUTE,
        /// The number with the other sign.
        ELEMENT_FLOAT_NEGATE,
    }
    /// `accumulate`.
    ACCUMULATIONS {
        /// Results are written.
        ACCUMULATE_NOT,
        /// Results are added to Vd.
        ACCUMULATE_ADD,
        /// Results are subtracted from Vd.
        ACCUMULATE_SUBTRACT,
    }
    /// `saturation`.
    SATURATIONS {
        /// What does not fit is cut off.
        SATURATION_NOT,
        /// Results are signed.
        SATURATION_SIGNED,
        /// Results are unsigned.
        SATURATION_UNSIGNED,
    }
    /// `negate`, a bit each.
    NEGATIONS {
        /// Nothing changes its sign.
        NEGATE_NOTHING,
        /// The first factor does.
        NEGATE_FACTOR,
        /// The addend does.
        NEGATE_ADDEND,
    }
    /// `sign`.
    SIGNS {
        /// Signs are as they are.
        SIGN_KEPT,
        /// Operands lose theirs.
        SIGN_OPERANDS_ABSOLUTE,
        /// Results lose theirs.
        SIGN_RESULT_ABSOLUTE,
        /// Results change theirs.
        SIGN_RESULT_NEGATED,
    }
    /// `operation` of cryptographic instructions.
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
    }
}

/// `mode`: numbers are rounded as FPCR says; else as `ROUND_*` of `semantics::float::control` do.
pub const MODE_FPCR: u32 = 7;

const _: () =
    assert!(MODE_FPCR > crate::semantics::float::control::ROUND_ODD, "no other mode has its number");
