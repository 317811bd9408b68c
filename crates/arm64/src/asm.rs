//! A small assembler with typed operands, labels, and the mnemonics of the instruction table.
//!
//! ```
//! use kvrm_arm64::asm::{Assembler, W0, W1, W2};
//!
//! let mut a = Assembler::new(0x1000);
//! let again = a.label();
//! a.mov(W0, 10).mov(W1, 0);
//! a.bind(again);
//! a.add(W1, W1, W0).subs(W0, W0, 1);
//! a.b_cond("ne", again);
//! a.hlt(0);
//! let words = a.finish()?;
//! assert_eq!(words.len(), 6);
//! # Ok::<(), kvrm_arm64::asm::AsmError>(())
//! ```

mod alias_operand;
mod bit_mask;
mod field;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use self::bit_mask::fits_word;
use self::field::{Bits, field};

pub use self::bit_mask::encode_bit_mask;

use crate::encoding::{ENCODINGS, Encoding, Op};
use crate::operand::{BARRIERS, CONDITIONS, Operand, degrees, vm_lane, vm_pair, vt_index};
use crate::sysreg::REGISTERS;
use crate::view::{Element, IMM5, IMMH, View, Width};
use crate::{Word, decode};

/// A general register: its number and size. Number 31 is the stack pointer or the zero register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// The number, 0 to 31.
    pub number: u32,
    /// Whether the register has 64 bits rather than 32.
    pub wide: bool,
    /// Whether number 31 is the stack pointer. Always false for other numbers.
    pub sp: bool,
}

macro_rules! registers { ($($x:ident $w:ident $number:literal)*) => { $(
    #[doc = concat!("The 64-bit register ", stringify!($x), ".")]
    pub const $x: Register = Register { number: $number, wide: true, sp: false };
    #[doc = concat!("The 32-bit register ", stringify!($w), ".")]
    pub const $w: Register = Register { number: $number, wide: false, sp: false };
)* } }
registers! {
    X0 W0 0  X1 W1 1  X2 W2 2  X3 W3 3  X4 W4 4  X5 W5 5  X6 W6 6  X7 W7 7  X8 W8 8  X9 W9 9  X10 W10 10
    X11 W11 11  X12 W12 12  X13 W13 13  X14 W14 14  X15 W15 15  X16 W16 16  X17 W17 17  X18 W18 18
    X19 W19 19  X20 W20 20  X21 W21 21  X22 W22 22  X23 W23 23  X24 W24 24  X25 W25 25  X26 W26 26
    X27 W27 27  X28 W28 28  X29 W29 29  X30 W30 30  XZR WZR 31
}
/// The stack pointer.
pub const SP: Register = Register { number: 31, wide: true, sp: true };
/// The low half of the stack pointer.
pub const WSP: Register = Register { number: 31, wide: false, sp: true };

/// An operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// A general register. For a register pair, the first of the two.
    Register(Register),
    /// A register shifted by a constant: type (0 LSL, 1 LSR, 2 ASR, 3 ROR) and amount.
    Shifted(Register, u32, u32),
    /// A register extended (0 UXTB to 7 SXTX) and shifted left by a constant.
    Extended(Register, u32, u32),
    /// An immediate. For a bit mask operand, the value of the mask.
    Imm(i64),
    /// An immediate and the number of bits by which it is shifted left.
    ShiftedImm(u32, u32),
    /// A bit mask immediate as encoded: N:immr:imms. Several encodings may have the same value.
    BitMask(u32),
    /// A condition, 0 EQ to 15 NV.
    Cond(u32),
    /// A code address, as a byte distance from the instruction (for ADRP: from its page).
    Offset(i64),
    /// A code address, by label.
    Label(Label),
    /// A memory address: base register and addressing mode.
    Address(Register, Mode),
    /// A SIMD&FP register: number, binary logarithm of the bytes of an element (0 B to 4 Q), and number of elements
    /// (0 for a scalar).
    Simd(u32, u32, u32),
    /// An element of a SIMD&FP register: register number, binary logarithm of the element's bytes, index.
    Lane(u32, u32, u32),
}

/// An addressing mode: how an address is formed from its base register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Base plus an offset in bytes.
    Offset(i64),
    /// Pre-indexed: base plus an offset in bytes; the sum is written back to the base register.
    Pre(i64),
    /// Post-indexed: base; the offset in bytes is added to the base register afterwards.
    Post(i64),
    /// Base plus an index register, which is extended, and multiplied by the access size if scaled.
    Index {
        /// The index register.
        register: Register,
        /// The extension: 2 UXTW, 3 LSL, 6 SXTW, 7 SXTX.
        extend: u32,
        /// Whether the index counts elements rather than bytes.
        scaled: bool,
    },
    /// Post-indexed: base; the register is added to the base register afterwards.
    PostRegister(Register),
}

/// A label in the code of one [`Assembler`]: an address that may be set after it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(usize);

impl From<Register> for Arg {
    fn from(register: Register) -> Self {
        Self::Register(register)
    }
}

impl From<i64> for Arg {
    fn from(value: i64) -> Self {
        Self::Imm(value)
    }
}

impl From<Label> for Arg {
    fn from(label: Label) -> Self {
        Self::Label(label)
    }
}

/// Returns the address of a base register plus `offset` bytes, as an operand.
#[must_use]
pub const fn at(base: Register, offset: i64) -> Arg {
    Arg::Address(base, Mode::Offset(offset))
}

/// Returns a system register by its name in lower case, as an operand of MRS and MSR.
#[must_use]
pub fn system_register(name: &str) -> Option<Arg> {
    REGISTERS
        .iter()
        .find(|register| register.name == name)
        .map(|register| Arg::Imm(i64::from(register.number)))
}

/// An error of the assembler.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AsmError {
    /// An operand does not fit the encoding.
    Operand {
        /// The encoding.
        op: Op,
        /// The index of the operand, from 0.
        index: usize,
        /// The reason.
        problem: &'static str,
    },
    /// The number of operands is wrong.
    Count {
        /// The encoding.
        op: Op,
        /// The number of operands that the encoding takes.
        expected: usize,
        /// The number of operands that were given.
        given: usize,
    },
    /// The operands, each valid by itself, make a word that is UNDEFINED.
    Undefined {
        /// The encoding.
        op: Op,
        /// The word.
        word: u32,
    },
    /// No encoding with this mnemonic takes these operands.
    NoEncoding {
        /// The mnemonic and the operands.
        text: String,
    },
    /// A label cannot be bound, because it is already bound or belongs to another assembler.
    LabelNotFree(Label),
    /// A label was used but never bound.
    UnboundLabel(Label),
}

impl fmt::Display for AsmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operand { op, index, problem } => write!(f, "operand {index} of {op:?}: {problem}"),
            Self::Count { op, expected, given } => {
                write!(f, "{op:?} takes {expected} operands, but {given} were given")
            }
            Self::Undefined { op, word } => write!(f, "{word:#010x} is an undefined form of {op:?}"),
            Self::NoEncoding { text } => write!(f, "no encoding takes the mnemonic and operands of `{text}`"),
            Self::LabelNotFree(Label(n)) => {
                write!(f, "label {n} cannot be bound: it is already bound or belongs to another assembler")
            }
            Self::UnboundLabel(Label(n)) => write!(f, "label {n} is used but never bound; call `bind`"),
        }
    }
}

impl core::error::Error for AsmError {}

/// Returns the operands of a word that decodes to `op`.
#[must_use]
pub fn args(op: Op, word: u32) -> Vec<Arg> {
    op.encoding().operands.iter().filter_map(|&operand| arg(operand, Word(word))).collect()
}

/// Encodes an instruction from its operands. This is the inverse of [`args`].
///
/// # Errors
/// [`AsmError::Count`] if the number of operands is wrong, [`AsmError::Operand`] if an operand has the wrong kind or is
/// out of range, [`AsmError::Undefined`] if the word is UNDEFINED.
pub fn encode(op: Op, args: &[Arg]) -> Result<u32, AsmError> {
    let word = encode_operands(op, op.encoding().operands, args, |_| 0)?;
    if decode(word) == Some(op) { Ok(word) } else { Err(AsmError::Undefined { op, word }) }
}

/// The problem of operands whose element sizes share bits of the word.
pub(crate) const CONTRADICTION: &str = "its size or number of elements contradicts another operand";

/// Encodes the operands of an encoding or of one of its aliases. `rest` returns the bits that these operands leave out,
/// of a word that has the others. The word may be UNDEFINED.
pub(crate) fn encode_operands(
    op: Op,
    operands: &[Operand],
    args: &[Arg],
    rest: fn(Word) -> u32,
) -> Result<u32, AsmError> {
    let encoding = op.encoding();
    let operands = || operands.iter().filter(|operand| !has_no_arg(**operand));
    let expected = operands().count();
    let hidden = operands().filter(|operand| operand.is_hidden()).count();
    if expected != args.len() && expected != args.len() + hidden {
        return Err(AsmError::Count { op, expected, given: args.len() });
    }
    let mut word = encoding.pattern.canonical();
    for (index, (&operand, &arg)) in operands().zip(args).enumerate() {
        let wide = word >> 31 == 1;
        let number = match arg {
            Arg::Imm(number) => Some(number),
            Arg::Cond(condition) => Some(condition.into()),
            _ => None,
        };
        word |= number
            .and_then(|number| alias_operand::bits(operand, number, Word(word)))
            .or_else(|| simd_bits(operand, arg, Word(word)))
            .unwrap_or_else(|| bits(encoding, operand, arg, wide))
            .map_err(|problem| AsmError::Operand { op, index, problem })?;
    }
    word |= rest(Word(word));
    // Operands whose element sizes share bits of the word may contradict each other. Reading them back shows it.
    let given = operands().zip(args).enumerate();
    for (index, (&operand, &given)) in given.filter(|(_, (operand, _))| shares_size(**operand)) {
        if arg(operand, Word(word)) != Some(given) {
            return Err(AsmError::Operand { op, index, problem: CONTRADICTION });
        }
    }
    // The size of Rt in TBZ is a bit of the tested bit's number, the operand after Rt.
    let narrow = |arg: &Arg| matches!(arg, Arg::Register(Register { wide: false, .. }));
    if let Some(index) = operands().position(|&operand| operand == Operand::Rt)
        && word >> 31 == 1
        && narrow(&args[index])
    {
        return Err(AsmError::Operand { op, index, problem: "bits from 32 up need a 64-bit register" });
    }
    Ok(word)
}

/// Whether an operand has no [`Arg`], because it is fixed text or follows from the encoding.
pub(crate) const fn has_no_arg(operand: Operand) -> bool {
    matches!(operand, Operand::Text(_) | Operand::ShiftSize)
}

/// Whether the operand shares bits of the word with other operands, or follows from them.
const fn shares_size(operand: Operand) -> bool {
    use Operand as O;
    operand.simd().is_some()
        || matches!(
            operand,
            O::VdLane
                | O::VnLane
                | O::VnLane4
                | O::VmLane(_)
                | O::VmGroup(_)
                | O::VmPair
                | O::VmWord
                | O::VdHigh
                | O::VnHigh
                | O::VtList(..)
                | O::VtLane(..)
                | O::VnTable(_)
                | O::ShiftRight
                | O::ShiftLeft
                | O::PostBytes(..)
                | O::Imm5Ignored
                | O::Imm4Ignored
        )
}

/// Reads an operand from a word. Returns `None` for operands without an [`Arg`].
fn arg(operand: Operand, w: Word) -> Option<Arg> {
    use Operand as O;
    let base = register(w.rn(), true, true);
    let wide = w.bits(31, 1) == 1;
    Some(match operand {
        O::ShiftedWm | O::ShiftedXm => Arg::Shifted(register(w.rm(), wide, false), w.shift(), w.imm6()),
        O::ExtendedWm | O::ExtendedXm => {
            Arg::Extended(register(w.rm(), wide && w.option() & 3 == 3, false), w.option(), w.imm3())
        }
        O::AddSubImm => Arg::ShiftedImm(w.imm12(), 12 * w.sh()),
        O::MoveWideImm => Arg::ShiftedImm(w.imm16(), 16 * w.hw()),
        O::LogicalImm(_) => Arg::BitMask(w.bits(10, 13)),
        O::BranchCond => Arg::Cond(w.cond_b()),
        O::Cond => Arg::Cond(w.cond()),
        O::Label14 => Arg::Offset(w.offset14()),
        O::Label19 => Arg::Offset(w.offset19()),
        O::Label26 => Arg::Offset(w.offset26()),
        O::PcRel => Arg::Offset(w.adr_imm()),
        O::PcRelPage => Arg::Offset(w.adr_imm() << 12),
        O::Base => Arg::Address(base, Mode::Offset(0)),
        O::ScaledOffset(scale) => Arg::Address(base, Mode::Offset(i64::from(w.imm12()) << scale)),
        O::Offset => Arg::Address(base, Mode::Offset(w.imm9())),
        O::PreIndex => Arg::Address(base, Mode::Pre(w.imm9())),
        O::PostIndex => Arg::Address(base, Mode::Post(w.imm9())),
        O::PointerOffset => Arg::Address(base, Mode::Offset(w.imm10())),
        O::PointerPreIndex => Arg::Address(base, Mode::Pre(w.imm10())),
        O::PairOffset(scale) => Arg::Address(base, Mode::Offset(w.imm7() << scale)),
        O::PairPreIndex(scale) => Arg::Address(base, Mode::Pre(w.imm7() << scale)),
        O::PairPostIndex(scale) => Arg::Address(base, Mode::Post(w.imm7() << scale)),
        O::RegisterOffset(_) => {
            let index = register(w.rm(), w.option() & 3 == 3, false);
            Arg::Address(base, Mode::Index { register: index, extend: w.option(), scaled: w.s() == 1 })
        }
        O::Text(_) | O::ShiftSize => return None,
        O::RnImm5 => Arg::Register(register(w.rn(), IMM5.size(w) == 3, false)),
        O::VdLane => Arg::Lane(w.rd(), IMM5.size(w), w.imm5() >> (IMM5.size(w) + 1)),
        O::VnLane => Arg::Lane(w.rn(), IMM5.size(w), w.imm5() >> (IMM5.size(w) + 1)),
        O::VnLane4 => Arg::Lane(w.rn(), IMM5.size(w), w.imm4() >> IMM5.size(w)),
        O::VmLane(element) => {
            let (number, size, index) = vm_lane(element, w);
            Arg::Lane(number, size, index)
        }
        O::VmGroup(_) => Arg::Lane(w.rm(), 2, w.bits(11, 1) << 1 | w.bits(21, 1)),
        O::VmPair => {
            let (number, size, index) = vm_pair(w);
            Arg::Lane(number, size, index)
        }
        O::VmWord => Arg::Lane(w.rm(), 2, w.bits(12, 2)),
        O::Rotation(low, width) => Arg::Imm(degrees(low, width, w).into()),
        O::VdHigh => Arg::Lane(w.rd(), 3, 1),
        O::VnHigh => Arg::Lane(w.rn(), 3, 1),
        O::VtList(_, view) => Arg::Simd(w.rt(), view.size(w), view.lanes(w)),
        O::VtLane(_, size) => Arg::Lane(w.rt(), size, vt_index(size, w)),
        O::VnTable(_) => Arg::Simd(w.rn(), 0, 16),
        O::ShiftRight => Arg::Imm((16 << IMMH.size(w)) - i64::from(w.immhb())),
        O::ShiftLeft => Arg::Imm(i64::from(w.immhb()) - (8 << IMMH.size(w))),
        O::FractionBits => Arg::Imm(64 - i64::from(w.scale())),
        O::Imm8 | O::Imm8Bytes | O::Imm8Float => Arg::Imm(w.abcdefgh().into()),
        O::Imm8Shifted(bits) => Arg::ShiftedImm(w.abcdefgh(), 8 * w.bits(13, bits)),
        O::Imm8Ones => Arg::ShiftedImm(w.abcdefgh(), 8 << w.bits(12, 1)),
        O::Imm5Ignored => Arg::Imm((w.imm5() >> (IMM5.size(w) + 1)).into()),
        O::Imm4Ignored => Arg::Imm((w.imm4() & ((1 << IMM5.size(w)) - 1)).into()),
        O::PostBytes(count, view) => Arg::Address(base, Mode::Post((count * view.bytes(w)).into())),
        O::PostRegister => Arg::Address(base, Mode::PostRegister(register(w.rm(), true, false))),
        O::TestBit => Arg::Imm(i64::from(w.test_bit())),
        O::PstateField => Arg::Imm(i64::from(w.op1() << 3 | w.op2())),
        _ if let Some((low, view)) = operand.simd() => Arg::Simd(w.bits(low, 5), view.size(w), view.lanes(w)),
        _ => match (operand.register(), number_field(operand)) {
            (Some(field), _) => {
                Arg::Register(register(w.bits(field.low, 5), field.wide.unwrap_or(wide), field.sp))
            }
            (None, Some((low, width))) => Arg::Imm(i64::from(w.bits(low, width))),
            (None, None) => return None,
        },
    })
}

const fn register(number: u32, wide: bool, sp: bool) -> Register {
    Register { number, wide, sp: sp && number == 31 }
}

/// Returns lowest bit and width of the field, if the operand is a single unsigned field.
const fn number_field(operand: Operand) -> Option<(u32, u32)> {
    use Operand as O;
    Some(match operand {
        O::ImmR | O::Imm5 => (16, if matches!(operand, O::ImmR) { 6 } else { 5 }),
        O::ImmS => (10, 6),
        O::FlagRotation => (15, 6),
        O::FlagMask => (0, 4),
        O::Nzcv => (0, 4),
        O::Imm16 => (5, 16),
        O::UdfImm => (0, 16),
        O::HintImm => (5, 7),
        O::BtiTarget => (6, 2),
        O::CrmOption | O::CrmImm | O::Barrier => (8, 4),
        O::SysOp => (5, 14),
        O::SysReg => (5, 15),
        O::Prfop => (0, 5),
        O::FloatImm => (13, 8),
        O::ExtIndex => (11, 4),
        O::BottomTop => (30, 1),
        _ => return None,
    })
}

/// Encodes an operand of Advanced SIMD. `w` has the bits of the operands before. Returns `None` if the operand is not
/// one of Advanced SIMD.
fn simd_bits(operand: Operand, arg: Arg, w: Word) -> Option<Bits> {
    use Operand as O;
    let number = |number: u32, low: u32| field(number.into(), low, 5);
    let whole = |view: View, size, lanes| {
        view.encode(size, lanes).ok_or("the encoding does not take this size or number of elements")
    };
    // imm5 of an element: its index, and its size as the lowest set bit.
    let imm5 = |size: u32, index: u32| match size {
        0..=3 => Ok(field(index.into(), 17 + size, 4 - size)? | 1 << (16 + size)),
        _ => Err("elements are at most 8 bytes large here"),
    };
    Some(match (operand, arg) {
        (O::VtList(_, view), Arg::Simd(vt, size, lanes)) => {
            number(vt, 0).and_then(|vt| Ok(vt | whole(view, size, lanes)?))
        }
        (O::VnTable(_), Arg::Simd(vn, 0, 16)) => number(vn, 5),
        (_, Arg::Simd(register, size, lanes)) => {
            let (low, view) = operand.simd()?;
            number(register, low).and_then(|register| Ok(register | whole(view, size, lanes)?))
        }
        (O::VdLane, Arg::Lane(vd, size, index)) => number(vd, 0).and_then(|vd| Ok(vd | imm5(size, index)?)),
        (O::VnLane, Arg::Lane(vn, size, index)) => number(vn, 5).and_then(|vn| Ok(vn | imm5(size, index)?)),
        (O::VnLane4, Arg::Lane(vn, 0..=3, index)) => {
            let size = IMM5.size(w);
            number(vn, 5).and_then(|vn| Ok(vn | field(index.into(), 11 + size, 4 - size)?))
        }
        (O::RnImm5, Arg::Register(rn)) => general(rn, IMM5.size(w) == 3, false, 5),
        (O::VdHigh, Arg::Lane(vd, 3, 1)) => number(vd, 0),
        (O::VnHigh, Arg::Lane(vn, 3, 1)) => number(vn, 5),
        (O::VmLane(element), Arg::Lane(vm, size, index)) => vm_lane_bits(element, vm, size, index),
        (O::VmPair, Arg::Lane(vm, 1, index @ 0..=3)) => {
            number(vm, 16).map(|vm| vm | 1 << 22 | (index >> 1) << 11 | (index & 1) << 21)
        }
        (O::VmPair, Arg::Lane(vm, 2, index @ 0..=1)) => number(vm, 16).map(|vm| vm | 2 << 22 | index << 11),
        (O::VmWord, Arg::Lane(vm, 2, index @ 0..=3)) => number(vm, 16).map(|vm| vm | index << 12),
        (O::Rotation(low, 1), Arg::Imm(degrees @ (90 | 270))) => Ok((degrees as u32 / 180) << low),
        (O::Rotation(low, 2), Arg::Imm(degrees @ (0 | 90 | 180 | 270))) => Ok((degrees as u32 / 90) << low),
        (O::Rotation(..), Arg::Imm(_)) => {
            Err("the rotation is not a multiple of 90 degrees that the encoding takes")
        }
        (O::VmGroup(_), Arg::Lane(vm, 2, index @ 0..=3)) => {
            number(vm, 16).map(|vm| vm | (index >> 1) << 11 | (index & 1) << 21)
        }
        (O::VtLane(_, size), Arg::Lane(vt, given, index)) if size == given => {
            let position = field(index.into(), size, 4 - size);
            number(vt, 0).and_then(|vt| {
                let position = position?;
                Ok(vt | (position & 3) << 10 | (position >> 2 & 1) << 12 | position >> 3 << 30)
            })
        }
        (O::ShiftRight, Arg::Imm(amount)) => field((16 << IMMH.size(w)) - amount, 16, 7),
        (O::ShiftLeft, Arg::Imm(amount)) => field((8 << IMMH.size(w)) + amount, 16, 7),
        (O::FractionBits, Arg::Imm(bits)) => field(64 - bits, 10, 6),
        (O::Imm8 | O::Imm8Bytes | O::Imm8Float, Arg::Imm(imm)) => abcdefgh(imm),
        (O::Imm8Shifted(_), Arg::Imm(imm)) => abcdefgh(imm),
        (O::Imm8Shifted(bits), Arg::ShiftedImm(imm, shift)) => {
            abcdefgh(imm.into()).and_then(|imm| Ok(imm | units(shift, 8, 13, bits)?))
        }
        (O::Imm8Ones, Arg::ShiftedImm(imm, shift @ (8 | 16))) => {
            abcdefgh(imm.into()).map(|imm| imm | (shift >> 4) << 12)
        }
        (O::Imm5Ignored, Arg::Imm(bits)) => field(bits, 17 + IMM5.size(w), 4 - IMM5.size(w)),
        (O::Imm4Ignored, Arg::Imm(bits)) => field(bits, 11, IMM5.size(w)),
        (O::PostBytes(..), Arg::Address(base, Mode::Post(_))) => general(base, true, true, 5),
        (O::PostRegister, Arg::Address(base, Mode::PostRegister(register))) => {
            general(base, true, true, 5).and_then(|base| Ok(base | general(register, true, false, 16)?))
        }
        _ => return None,
    })
}

/// Encodes an element of Vm: register number, the index in H, L and M, and the element size.
fn vm_lane_bits(element: Element, vm: u32, size: u32, index: u32) -> Bits {
    let view = View { element, width: Width::Scalar };
    let view = view.encode(size, 0).ok_or("the encoding does not take elements of this size")?;
    let index_bits = match size {
        1..=3 => field(index.into(), 0, 4 - size)?,
        _ => return Err("elements have 2, 4 or 8 bytes here"),
    };
    let (h, l, m) = match size {
        1 => (index_bits >> 2, index_bits >> 1 & 1, index_bits & 1),
        2 => (index_bits >> 1, index_bits & 1, 0),
        _ => (index_bits, 0, 0),
    };
    let vm = field(vm.into(), 16, if size == 1 { 4 } else { 5 })?;
    Ok(view | vm | h << 11 | l << 21 | m << 20)
}

/// Encodes a modified immediate in the fields abc and defgh.
fn abcdefgh(imm: i64) -> Bits {
    let imm = field(imm, 0, 8)?;
    Ok((imm >> 5) << 16 | (imm & 31) << 5)
}

/// Encodes an operand. `wide` is bit 31 of the word.
fn bits(encoding: &Encoding, operand: Operand, arg: Arg, wide: bool) -> Bits {
    use Operand as O;
    match (operand, arg) {
        (O::ShiftedWm | O::ShiftedXm | O::ShiftedRm, Arg::Register(rm)) => general(rm, wide, false, 16),
        (O::ShiftedWm | O::ShiftedXm | O::ShiftedRm, Arg::Shifted(rm, kind, amount)) => {
            Ok(general(rm, wide, false, 16)? | field(kind.into(), 22, 2)? | field(amount.into(), 10, 6)?)
        }
        (O::ExtendedWm | O::ExtendedXm | O::ExtendedRm, Arg::Extended(rm, option, amount)) => {
            let rm = general(rm, wide && option & 3 == 3, false, 16)?;
            Ok(rm | field(option.into(), 13, 3)? | field(amount.into(), 10, 3)?)
        }
        (O::AddSubImm, Arg::Imm(imm)) if imm != 0 && imm & 0xfff == 0 => {
            Ok(field(imm >> 12, 10, 12)? | 1 << 22)
        }
        (O::AddSubImm, Arg::Imm(imm)) => field(imm, 10, 12),
        (O::AddSubImm, Arg::ShiftedImm(imm, shift)) => {
            Ok(field(imm.into(), 10, 12)? | units(shift, 12, 22, 1)?)
        }
        (O::MoveWideImm, Arg::Imm(imm)) => field(imm, 5, 16),
        (O::MoveWideImm, Arg::ShiftedImm(imm, shift)) => {
            Ok(field(imm.into(), 5, 16)? | units(shift, 16, 21, if wide { 2 } else { 1 })?)
        }
        (O::LogicalImm(_), Arg::BitMask(raw)) => field(raw.into(), 10, 13),
        (O::LogicalImm(datasize), Arg::Imm(value)) => {
            encode_bit_mask(value as u64, datasize).map(|raw| raw << 10).ok_or("not a bit mask immediate")
        }
        (O::BranchCond, Arg::Cond(cond)) => field(cond.into(), 0, 4),
        (O::Cond, Arg::Cond(cond)) => field(cond.into(), 12, 4),
        (O::Label14, Arg::Offset(offset)) => scaled(offset, 2, 5, 14),
        (O::Label19, Arg::Offset(offset)) => scaled(offset, 2, 5, 19),
        (O::Label26, Arg::Offset(offset)) => scaled(offset, 2, 0, 26),
        (O::PcRel, Arg::Offset(offset)) => adr(offset),
        (O::PcRelPage, Arg::Offset(offset)) if offset & 0xfff == 0 => adr(offset >> 12),
        (O::Base, Arg::Address(base, Mode::Offset(0))) => general(base, true, true, 5),
        (O::ScaledOffset(scale), Arg::Address(base, Mode::Offset(offset))) => {
            let imm = if offset & ((1 << scale) - 1) == 0 { offset >> scale } else { -1 };
            Ok(general(base, true, true, 5)? | field(imm, 10, 12)?)
        }
        (O::Offset, Arg::Address(base, Mode::Offset(offset)))
        | (O::PreIndex, Arg::Address(base, Mode::Pre(offset)))
        | (O::PostIndex, Arg::Address(base, Mode::Post(offset))) => {
            Ok(general(base, true, true, 5)? | scaled(offset, 0, 12, 9)?)
        }
        (O::PointerOffset, Arg::Address(base, Mode::Offset(offset)))
        | (O::PointerPreIndex, Arg::Address(base, Mode::Pre(offset))) => {
            let imm = scaled(offset, 3, 0, 10)?;
            Ok(general(base, true, true, 5)? | (imm & 0x1ff) << 12 | (imm >> 9) << 22)
        }
        (O::PairOffset(scale), Arg::Address(base, Mode::Offset(offset)))
        | (O::PairPreIndex(scale), Arg::Address(base, Mode::Pre(offset)))
        | (O::PairPostIndex(scale), Arg::Address(base, Mode::Post(offset))) => {
            Ok(general(base, true, true, 5)? | scaled(offset, scale, 15, 7)?)
        }
        (O::RegisterOffset(_), Arg::Address(base, Mode::Index { register, extend, scaled })) => {
            let extend_fixed = encoding.pattern.mask >> 13 & 7;
            if extend_fixed == 7 && extend != 3 {
                return Err("this form takes an unextended index");
            }
            let index = general(register, extend & 3 == 3, false, 16)?;
            let base = general(base, true, true, 5)?;
            Ok(base | index | field(extend.into(), 13, 3)? | u32::from(scaled) << 12)
        }
        (O::TestBit, Arg::Imm(bit @ 0..=63)) => Ok((bit as u32 >> 5) << 31 | (bit as u32 & 31) << 19),
        (O::PstateField, Arg::Imm(number @ 0..=63)) => {
            Ok((number as u32 >> 3) << 16 | (number as u32 & 7) << 5)
        }
        (_, Arg::Register(given)) => match operand.register() {
            // The size of Rt in TBZ follows from the bit tested.
            Some(field) => general(given, field.wide.unwrap_or(given.wide), field.sp, field.low),
            None => Err("a general register, but this operand is none"),
        },
        (_, Arg::Imm(value)) => match number_field(operand) {
            Some((low, width)) => field(value, low, width),
            None => Err("a number, but this operand is none"),
        },
        _ => Err("the operand has the wrong kind"),
    }
}

/// Encodes a general register in the five bits from `low`, if it has the right size.
fn general(given: Register, wide: bool, sp: bool, low: u32) -> Bits {
    if given.number > 31 {
        Err("the largest register number is 31")
    } else if given.wide != wide {
        Err(if wide { "a 64-bit register is needed" } else { "a 32-bit register is needed" })
    } else if given.number == 31 && given.sp != sp {
        Err(if sp { "number 31 is the stack pointer here" } else { "number 31 is the zero register here" })
    } else {
        Ok(given.number << low)
    }
}

/// Encodes a shift amount, which must be a multiple of `unit`, in a field.
fn units(amount: u32, unit: u32, low: u32, width: u32) -> Bits {
    if amount.is_multiple_of(unit) {
        field((amount / unit).into(), low, width)
    } else {
        Err("the encoding does not take this shift amount")
    }
}

/// Encodes a signed multiple of 2^`scale` in a field.
fn scaled(value: i64, scale: u32, low: u32, width: u32) -> Bits {
    let limit = 1 << (width - 1);
    let units = value >> scale;
    if value & ((1 << scale) - 1) != 0 {
        Err("the distance is not a multiple of the unit")
    } else if !(-limit..limit).contains(&units) {
        Err("the distance is out of range")
    } else {
        Ok((units as u32 & ((1 << width) - 1)) << low)
    }
}

/// Encodes a signed number in immhi:immlo.
fn adr(distance: i64) -> Bits {
    if (-(1 << 20)..1 << 20).contains(&distance) {
        Ok((distance as u32 & 3) << 29 | ((distance >> 2) as u32 & 0x7ffff) << 5)
    } else {
        Err("the distance is out of range")
    }
}

/// Whether a row has a mnemonic, with or without the suffix 2 that selects the upper half of a register.
pub(crate) fn is_called(encoding: &Encoding, mnemonic: &str) -> bool {
    match encoding.mnemonic.strip_suffix("{2}") {
        Some(first_half) => mnemonic.strip_suffix('2').unwrap_or(mnemonic) == first_half,
        None => encoding.mnemonic == mnemonic,
    }
}

/// Code under construction. See [the example](self).
///
/// Methods that append an instruction return `self`, so that calls can be chained. The first error is kept, and
/// [`Assembler::finish`] returns it.
///
/// ```
/// use kvrm_arm64::asm::{Assembler, X0, X1, X2, at};
///
/// let mut a = Assembler::new(0x1000);
/// a.ldr(X0, at(X1, 8)).add(X0, X0, X2).hlt(0);
/// assert_eq!(a.finish()?, [0xf940_0420, 0x8b02_0000, 0xd440_0000]);
/// # Ok::<(), kvrm_arm64::asm::AsmError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Assembler {
    /// The address of the first word.
    base: u64,
    words: Vec<u32>,
    /// The index of the word that each label is bound to.
    labels: Vec<Option<usize>>,
    /// Instructions with labels, to be encoded at the end: index of the word, encoding and operands.
    fixups: Vec<(usize, Op, Vec<Arg>)>,
    /// The first error.
    error: Option<AsmError>,
}

/// Defines methods with the names of mnemonics, which take the operands of the instruction.
macro_rules! mnemonics { ($($name:ident $text:literal ($($operand:ident)*);)*) => { $(
    #[doc = concat!("Assembles `", $text, "`.")]
    pub fn $name(&mut self $(, $operand: impl Into<Arg>)*) -> &mut Self {
        self.emit($text, &[$($operand.into()),*])
    }
)* } }

impl Assembler {
    /// Returns an assembler of code whose first word has the address `base`.
    #[must_use]
    pub const fn new(base: u64) -> Self {
        Self { base, words: Vec::new(), labels: Vec::new(), fixups: Vec::new(), error: None }
    }

    /// Returns the address of the next instruction.
    #[must_use]
    pub fn here(&self) -> u64 {
        self.base + 4 * self.words.len() as u64
    }

    /// Returns a new label, not yet bound.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Binds a label to the next instruction. It must belong to this assembler and not be bound yet.
    pub fn bind(&mut self, label: Label) -> &mut Self {
        let here = self.words.len();
        match self.labels.get_mut(label.0) {
            Some(place @ None) => *place = Some(here),
            _ => {
                self.error.get_or_insert(AsmError::LabelNotFree(label));
            }
        }
        self
    }

    /// Appends a word unchanged.
    pub fn word(&mut self, word: u32) -> &mut Self {
        self.words.push(word);
        self
    }

    /// Appends an instruction by its encoding.
    pub fn op(&mut self, op: Op, args: &[Arg]) -> &mut Self {
        if args.iter().any(|arg| matches!(arg, Arg::Label(_))) {
            self.fixups.push((self.words.len(), op, args.into()));
            return self.word(0);
        }
        let result = encode(op, args);
        self.push(result)
    }

    /// Appends an instruction by its mnemonic: the first encoding in the table that has it and takes the operands.
    pub fn emit(&mut self, mnemonic: &str, args: &[Arg]) -> &mut Self {
        let stand_in: Vec<Arg> =
            args.iter().map(|&arg| if matches!(arg, Arg::Label(_)) { Arg::Offset(0) } else { arg }).collect();
        let rows = || ENCODINGS.iter().filter(|encoding| is_called(encoding, mnemonic));
        match rows().find(|encoding| encode(encoding.op, &stand_in).is_ok()) {
            Some(encoding) => self.op(encoding.op, args),
            None => self.push(Err(AsmError::NoEncoding { text: alloc::format!("{mnemonic} {args:?}") })),
        }
    }

    /// Returns the code.
    ///
    /// # Errors
    /// The first error of any method, or of resolving labels.
    pub fn finish(mut self) -> Result<Vec<u32>, AsmError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        for (index, op, args) in &self.fixups {
            let resolve = |arg: &Arg| match *arg {
                Arg::Label(label) => {
                    let place = self.labels.get(label.0).copied().flatten();
                    let target = place.ok_or(AsmError::UnboundLabel(label))?;
                    Ok(Arg::Offset(4 * (target as i64 - *index as i64)))
                }
                other => Ok(other),
            };
            let args: Vec<Arg> = args.iter().map(resolve).collect::<Result<_, _>>()?;
            self.words[*index] = encode(*op, &args)?;
        }
        Ok(self.words)
    }

    fn push(&mut self, word: Result<u32, AsmError>) -> &mut Self {
        match word {
            Ok(word) => self.word(word),
            Err(error) => {
                self.error.get_or_insert(error);
                self
            }
        }
    }

    /// Assembles the shortest sequence of MOVZ, MOVN and MOVK that moves a constant to `d`.
    pub fn mov(&mut self, d: Register, value: i64) -> &mut Self {
        if !d.wide && !fits_word(value) {
            return self.push(Err(AsmError::NoEncoding { text: alloc::format!("mov {d:?}, {value:#x}") }));
        }
        let halves = if d.wide { 4 } else { 2 };
        let half = |i: u32| (value >> (16 * i)) as u32 & 0xffff;
        let ones = (0..halves).filter(|&i| half(i) == 0xffff).count();
        let zeros = (0..halves).filter(|&i| half(i) == 0).count();
        let (first, background) = if ones > zeros { ("movn", 0xffff) } else { ("movz", 0) };
        let mut mnemonic = first;
        for i in (0..halves).filter(|&i| half(i) != background) {
            let imm = if mnemonic == "movn" { half(i) ^ 0xffff } else { half(i) };
            self.emit(mnemonic, &[d.into(), Arg::ShiftedImm(imm, 16 * i)]);
            mnemonic = "movk";
        }
        // If all halves are background, one move of zero to the lowest half makes the constant.
        if mnemonic == first { self.emit(first, &[d.into(), Arg::ShiftedImm(0, 0)]) } else { self }
    }

    /// Assembles B.cond; `cond` is a name such as `ne`.
    pub fn b_cond(&mut self, cond: &str, target: impl Into<Arg>) -> &mut Self {
        let Some(cond) = CONDITIONS.iter().position(|&name| name == cond) else {
            return self.push(Err(AsmError::NoEncoding { text: alloc::format!("b.{cond}") }));
        };
        self.emit("b.", &[Arg::Cond(cond as u32), target.into()])
    }

    /// Assembles DMB; `option` is a name such as `ish`.
    pub fn dmb(&mut self, option: &str) -> &mut Self {
        match BARRIERS.iter().position(|&name| !name.is_empty() && name == option) {
            Some(number) => self.emit("dmb", &[Arg::Imm(number as i64)]),
            None => self.push(Err(AsmError::NoEncoding { text: alloc::format!("dmb {option}") })),
        }
    }

    mnemonics! {
        add "add" (d n m);
        adds "adds" (d n m);
        sub "sub" (d n m);
        subs "subs" (d n m);
        and "and" (d n m);
        orr "orr" (d n m);
        eor "eor" (d n m);
        ands "ands" (d n m);
        lsl "lsl" (d n m);
        lsr "lsr" (d n m);
        asr "asr" (d n m);
        ror "ror" (d n m);
        ubfm "ubfm" (d n r s);
        sbfm "sbfm" (d n r s);
        madd "madd" (d n m a);
        msub "msub" (d n m a);
        udiv "udiv" (d n m);
        sdiv "sdiv" (d n m);
        csel "csel" (d n m cond);
        adr "adr" (d target);
        b "b" (target);
        bl "bl" (target);
        br "br" (n);
        blr "blr" (n);
        ret "ret" (n);
        cbz "cbz" (t target);
        cbnz "cbnz" (t target);
        tbz "tbz" (t bit target);
        tbnz "tbnz" (t bit target);
        ldr "ldr" (t address);
        ldrb "ldrb" (t address);
        ldrh "ldrh" (t address);
        str "str" (t address);
        strb "strb" (t address);
        strh "strh" (t address);
        ldp "ldp" (t t2 address);
        stp "stp" (t t2 address);
        ldxr "ldxr" (t address);
        stxr "stxr" (s t address);
        mrs "mrs" (t register);
        msr "msr" (register t);
        svc "svc" (imm);
        brk "brk" (imm);
        hlt "hlt" (imm);
        nop "nop" ();
        clrex "clrex" (option);
    }
}
