//! What micro-ops of vectors read and write: their immediate is the word, from which the registers follow.

use kvrm_arm64::Word;
use kvrm_arm64::micro_op::{Handler, MicroOp};
use kvrm_arm64::semantics::float::arithmetic::FP_SQRT;
use kvrm_arm64::semantics::simd::vector::is_half;
use kvrm_arm64::vector_op::*;

/// The operands and the result of a micro-op of vectors that does not access memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Operands {
    /// The SIMD&FP register Vn, if it is read.
    pub(crate) n: Option<u32>,
    /// How many SIMD&FP registers from Vn on are read: the table of TBL and TBX.
    pub(crate) table: u32,
    /// The SIMD&FP register Vm, if it is read.
    pub(crate) m: Option<u32>,
    /// The SIMD&FP register with the addend or with what remains of the old Vd, if it is read.
    pub(crate) d: Option<u32>,
    /// The general register that is read.
    pub(crate) general: Option<u32>,
    /// The condition that is read.
    pub(crate) cond: Option<u32>,
    /// Whether FPCR is read, or bits of FPSR are set.
    pub(crate) uses_control: bool,
    /// Where the result goes.
    pub(crate) result: Target,
}

/// Where the result of a micro-op of vectors goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// To a SIMD&FP register.
    Vector(u32),
    /// To a register of the interpreter.
    General(u32),
    /// To the flags.
    Flags,
}

impl Default for Target {
    fn default() -> Self {
        Self::Vector(0)
    }
}

/// Fields of the word.
#[derive(Clone, Copy)]
struct Fields(u32);

impl Fields {
    const fn register(self, low: u32) -> u32 {
        self.0 >> low & 31
    }

    const fn bit(self, bit: u32) -> bool {
        self.0 >> bit & 1 == 1
    }

    const fn is_scalar(self) -> bool {
        self.bit(28)
    }

    /// Whether only the upper half of the result of a narrowing instruction is written.
    const fn is_upper(self) -> bool {
        self.bit(30) && !self.is_scalar()
    }
}

impl Operands {
    /// Returns the operands of a micro-op, or `None` if it is not one of vectors, or accesses memory.
    pub(crate) fn of(op: MicroOp) -> Option<Self> {
        use Handler as H;
        let w = Fields(op.imm as u32);
        let unary = Self { n: Some(w.register(5)), result: Target::Vector(w.register(0)), ..Self::default() };
        let binary = Self { m: Some(w.register(16)), ..unary };
        let all = Self { d: Some(w.register(0)), ..binary };
        Some(match *Handler::ALL.get(op.handler() as usize).map(|(handler, ..)| handler)? {
            H::VECTOR_MOVE => Self::of_move(op, w, unary),
            H::VECTOR_PERMUTE => match op.operation() {
                PERMUTE_REV => unary,
                PERMUTE_TBL => Self { table: op.element(), ..binary },
                PERMUTE_TBX => Self { table: op.element(), ..all },
                _ => binary,
            },
            H::VECTOR_INTEGER => Self::of_integers(op, w, all),
            H::VECTOR_FLOAT => Self::of_floats(op, w, all),
            H::VECTOR_CRYPTO => match op.operation() {
                CRYPTO_AESMC | CRYPTO_AESIMC | CRYPTO_SHA1H => unary,
                CRYPTO_AESE | CRYPTO_AESD | CRYPTO_SHA1SU1 | CRYPTO_SHA256SU0 => Self { m: None, ..all },
                CRYPTO_SM4E | CRYPTO_SHA512SU0 => Self { m: None, ..all },
                CRYPTO_EOR3 | CRYPTO_BCAX | CRYPTO_SM3SS1 => Self { d: Some(w.register(10)), ..binary },
                CRYPTO_RAX1 | CRYPTO_XAR | CRYPTO_SM4EKEY => binary,
                _ => all,
            },
            _ => return None,
        })
    }

    fn of_move(op: MicroOp, w: Fields, unary: Self) -> Self {
        let none = Self { n: None, ..unary };
        let from_general = Self { general: Some(op.a()), ..none };
        let to_general = Self { result: Target::General(op.dst()), ..unary };
        let d = Some(w.register(0));
        match op.operation() {
            MOVE_DUP_ELEMENT => unary,
            MOVE_DUP_GENERAL | MOVE_FROM_GENERAL | MOVE_FROM_GENERAL_HALF => from_general,
            MOVE_INS_ELEMENT => Self { d, ..unary },
            MOVE_INS_GENERAL | MOVE_FROM_GENERAL_HIGH => Self { d, ..from_general },
            MOVE_UMOV | MOVE_SMOV | MOVE_TO_GENERAL | MOVE_TO_GENERAL_HALF | MOVE_TO_GENERAL_HIGH => {
                to_general
            }
            MOVE_IMMEDIATE_ORR | MOVE_IMMEDIATE_BIC => Self { d, ..none },
            MOVE_SELECT => Self { m: Some(w.register(16)), cond: Some(w.0 >> 12 & 15), ..unary },
            _ => none,
        }
    }

    fn of_integers(op: MicroOp, w: Fields, all: Self) -> Self {
        let is_narrow = matches!(op.form(), FORM_NARROW | FORM_NARROW_HIGH);
        let combines_one = matches!(op.form(), FORM_PAIRED_LONG | FORM_ACROSS | FORM_ACROSS_LONG)
            || op.form() == FORM_PAIRED && w.is_scalar();
        let is_unary = matches!(
            op.element(),
            ELEMENT_MOVE
                | ELEMENT_ABSOLUTE
                | ELEMENT_NEGATE
                | ELEMENT_LEADING_ZEROS
                | ELEMENT_LEADING_SIGNS
                | ELEMENT_COUNT
                | ELEMENT_REVERSE_BITS
                | ELEMENT_NOT
                | ELEMENT_SHIFT_RIGHT
                | ELEMENT_SHIFT_LEFT
                | ELEMENT_SHIFT_LEFT_BY_SIZE
                | ELEMENT_SHIFT_RIGHT_INSERT
                | ELEMENT_SHIFT_LEFT_INSERT
                | ELEMENT_FLOAT_ABSOLUTE
                | ELEMENT_FLOAT_NEGATE
        );
        let keeps_bits = matches!(
            op.element(),
            ELEMENT_BSL
                | ELEMENT_BIT
                | ELEMENT_BIF
                | ELEMENT_SHIFT_RIGHT_INSERT
                | ELEMENT_SHIFT_LEFT_INSERT
                | ELEMENT_DOUBLING_HIGH_ADD
                | ELEMENT_DOUBLING_HIGH_SUBTRACT
        );
        if matches!(op.form(), FORM_DOT | FORM_MATRIX) {
            return all;
        }
        let reads_d = keeps_bits || op.accumulate() != ACCUMULATE_NOT || is_narrow && w.is_upper();
        Self {
            m: all.m.map(|m| indexed(op, w, m)).filter(|_| !is_unary && !combines_one && op.zero() == 0),
            d: all.d.filter(|_| reads_d),
            uses_control: op.saturation() != SATURATION_NOT,
            ..all
        }
    }

    fn of_floats(op: MicroOp, w: Fields, all: Self) -> Self {
        let all = Self { uses_control: true, ..all };
        let all =
            Self { m: all.m.map(|m| if op.form() == FLOAT_ADDEND { m } else { indexed(op, w, m) }), ..all };
        let binary = Self { d: None, m: all.m.filter(|_| op.zero() == 0), ..all };
        let unary = Self { m: None, ..binary };
        match op.form() {
            FLOAT_SAME if op.element() >= FP_SQRT => unary,
            FLOAT_PAIRED if w.is_scalar() => unary,
            FLOAT_SAME | FLOAT_PAIRED | FLOAT_COMPARE => binary,
            FLOAT_ACCUMULATE => all,
            FLOAT_ADDEND => Self { d: Some(w.register(10)), ..all },
            FLOAT_FLAGS => Self { result: Target::Flags, ..binary },
            FLOAT_CONDITIONAL_FLAGS => Self { result: Target::Flags, cond: Some(w.0 >> 12 & 15), ..binary },
            FLOAT_TO_GENERAL => Self { result: Target::General(op.dst()), ..unary },
            FLOAT_FROM_GENERAL => Self { n: None, general: Some(op.a()), ..unary },
            FLOAT_NARROW => Self { d: all.d.filter(|_| w.is_upper()), ..unary },
            FLOAT_ESTIMATE => Self { uses_control: false, ..unary },
            _ => unary,
        }
    }
}

/// Returns the register of the second operand: if this is an element of halfwords, the field has four bits.
fn indexed(op: MicroOp, w: Fields, m: u32) -> u32 {
    let is_by_element = w.bit(24) && !w.bit(10);
    let is_float = op.handler() == Handler::VECTOR_FLOAT as u32;
    let is_halfwords = match (op.sizing(), if is_float { op.arrangement() } else { ARRANGED_PLAIN }) {
        (_, ARRANGED_HALVES | ARRANGED_HALVES_UPPER | ARRANGED_BFLOAT_LONG) => true,
        (SIZING_SIZE, ARRANGED_PLAIN) => w.0 >> 22 & 3 == 1,
        (_, ARRANGED_PLAIN) => is_half(Word(w.0)),
        _ => false,
    };
    if is_by_element && is_halfwords { m & 15 } else { m }
}
