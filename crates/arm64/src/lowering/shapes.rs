//! Shapes: where the operands of a word are, and how they become fields of a micro-op.

use crate::Word;
use crate::micro_op::{Fields, MicroOp, PLAIN, ROTATED, SIGNED, SINK, SP, SYSTEM_REGISTERS, UNSIGNED, ZERO};
use crate::micro_op::{Handler, Handler::UNDEFINED};
use crate::semantics::bitmask::decode_bit_masks;
use crate::semantics::operand::{ASR, LSL, ROR};
use crate::semantics::system::{self, COUNTER_HZ, CTR_EL0, DCZID_EL0, PSTATE_DIT, PSTATE_SSBS};
use crate::sysreg::number;

/// The parts of a micro-op that are the same for all words of a row, and how to fill in the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// The places of the operands in the word.
    pub shape: Shape,
    /// The micro-op without operands.
    pub base: MicroOp,
}

/// Defines the shapes and their numbers.
macro_rules! shapes { ($(#[doc = $doc:literal] $name:ident,)*) => {
    /// The places of the operands in a word.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    #[expect(non_camel_case_types, reason = "the names of the shader's constants")]
    pub enum Shape { $(#[doc = $doc] $name,)* }

    impl Shape {
        /// All shapes with their names and descriptions, in the order of their numbers.
        pub const ALL: &[(Self, &str, &str)] = &[$((Self::$name, stringify!($name), $doc.trim_ascii())),*];
    }
} }

shapes! {
    /// No operands.
    FIXED,
    /// The word itself.
    WHOLE,
    /// Rd, offset in bytes, or in pages if `operation` is 1.
    PC_RELATIVE,
    /// Rd or SP, Rn or SP, imm12, sh.
    ADD_SUB_IMMEDIATE,
    /// Rd, Rn, shifted Rm.
    SHIFTED_REGISTER,
    /// Rd or SP, Rn or SP, extended Rm.
    EXTENDED_REGISTER,
    /// Rd or SP, Rn, bit mask.
    LOGICAL_IMMEDIATE,
    /// Rd, imm16, hw.
    MOVE_WIDE,
    /// Rd, which is also read, imm16, hw.
    MOVE_KEEP,
    /// Rd, which may also be read, Rn, immr, imms.
    BIT_FIELD,
    /// Rd, Rn, Rm, imms.
    EXTRACTION,
    /// Rd, Rn, Rm, and Ra if the instruction has it.
    REGISTERS,
    /// Rd, Rn, Rm, cond.
    CONDITIONAL_SELECT,
    /// Rn, Rm, nzcv, cond.
    COMPARE_REGISTER,
    /// Rn, imm5, nzcv, cond.
    COMPARE_IMMEDIATE,
    /// cond, 19-bit offset.
    BRANCH_CONDITIONAL,
    /// 26-bit offset.
    BRANCH_ALWAYS,
    /// Rt, 19-bit offset.
    BRANCH_ZERO,
    /// Rt, bit number, 14-bit offset.
    BRANCH_BIT,
    /// Rn.
    BRANCH_TO_REGISTER,
    /// imm16.
    EXCEPTION,
    /// Rt, system register.
    MOVE_SYSTEM,
    /// Field of PSTATE, CRm.
    PSTATE_FIELD,
    /// Rn, rotation, mask.
    FLAGS,
    /// Rd, which is also read, Rn or SP.
    POINTER,
    /// Rd, which is also read.
    POINTER_ZERO,
    /// Rd, Rn, Rm or SP.
    POINTER_GENERIC,
    /// Rn, Rd or SP, which is read.
    POINTER_BRANCH,
    /// Rt, base, signed offset of ten bits in units of the access.
    POINTER_LOAD,
    /// Rt, system instruction.
    SYSTEM_INSTRUCTION,
    /// Rt, 19-bit offset.
    LITERAL,
    /// Rt, base, unsigned offset in units of the access.
    SCALED_OFFSET,
    /// Rt, base, signed offset in bytes.
    UNSCALED_OFFSET,
    /// Rt, base, extended Rm.
    REGISTER_OFFSET,
    /// Rt, Rt2, base, signed offset in units of the access.
    REGISTER_PAIR,
    /// Rt, for pairs Rt2, base.
    EXCLUSIVE_LOAD,
    /// Rs, Rt, for pairs Rt2, base.
    EXCLUSIVE_STORE,
    /// Rs, Rt, base.
    ATOMIC_OPERATION,
    /// Rs, which is also read, Rt, base.
    SWAP,
    /// Vt, 19-bit offset.
    VECTOR_LITERAL,
    /// Vt, base, Rm; imm is the word.
    STRUCTURES,
    /// Rd, Rn, Rm or SIMD&FP registers; imm is the word.
    VECTOR,
}

/// Returns the interpreter's register for a field in which 31 means the stack pointer.
const fn or_sp(register: u32) -> u32 {
    if register == 31 { SP } else { register }
}

/// Returns the interpreter's register for a destination field in which 31 means the zero register.
const fn destination(register: u32) -> u32 {
    if register == 31 { SINK } else { register }
}

/// Returns the interpreter's register for Rd. Number 31 is the stack pointer unless the instruction sets flags.
const fn destination_or_sp(w: Word, op: MicroOp) -> u32 {
    if op.flags() == 1 { destination(w.rd()) } else { or_sp(w.rd()) }
}

/// Sets the extraction of a shifted register, equivalent to `shift_reg`.
const fn shifted(fields: Fields, shift_type: u32, amount: u32) -> Fields {
    let narrow = 32 * (1 - fields.0.wide());
    if amount == 0 {
        fields.extraction(PLAIN)
    } else if shift_type == ROR {
        fields.extraction(ROTATED).right(amount)
    } else if shift_type == LSL {
        fields.extraction(UNSIGNED).left(amount)
    } else {
        let extraction = if shift_type == ASR { SIGNED } else { UNSIGNED };
        fields.extraction(extraction).left(narrow).right(narrow + amount)
    }
}

/// Sets the extraction of an extended register, equivalent to `extend_reg`.
const fn extended(fields: Fields, option: u32, shift: u32) -> Fields {
    let above = 64 - (8 << (option & 3));
    let extraction = if option & 4 == 0 { UNSIGNED } else { SIGNED };
    if above == 0 {
        fields.extraction(UNSIGNED).left(shift)
    } else {
        fields.extraction(extraction).left(above).right(above - shift)
    }
}

/// Sets the extraction of a bit field. If imms is at least immr, bits immr to imms move down to bit 0; otherwise bits 0
/// to imms move up to bit datasize - immr.
const fn bit_field(fields: Fields, w: Word) -> Fields {
    let (immr, imms) = (w.immr(), w.imms());
    let left = 63 - imms;
    let datasize = 32 << fields.0.wide();
    let right = if imms >= immr { left + immr } else { left + immr - datasize };
    fields.left(left).right(right)
}

/// Sets the system register of MRS or MSR to its index in [`SYSTEM_REGISTERS`]. Constant registers become immediates.
const fn system_register(fields: Fields, w: Word) -> Fields {
    let sysreg = w.sysreg();
    if sysreg == number(3, 3, 4, 2, 0) {
        fields.operation(0)
    } else if sysreg == number(3, 3, 4, 4, 0) {
        fields.operation(1)
    } else if sysreg == number(3, 3, 4, 4, 1) {
        fields.operation(2)
    } else if sysreg == number(3, 3, 13, 0, 2) {
        fields.operation(3)
    } else if sysreg == number(3, 3, 4, 2, 5) {
        fields.operation(6)
    } else if sysreg == number(3, 3, 4, 2, 6) {
        fields.operation(7)
    } else if fields.0.handler() == Handler::WRITE_SYSTEM as u32 {
        undefined(w)
    } else if sysreg == number(3, 3, 13, 0, 3) {
        fields.operation(4)
    } else if sysreg == number(3, 3, 14, 0, 2) {
        fields.operation(5)
    } else if sysreg == number(3, 3, 14, 0, 0) {
        constant(fields, COUNTER_HZ)
    } else if sysreg == number(3, 3, 0, 0, 1) {
        constant(fields, CTR_EL0)
    } else if sysreg == number(3, 3, 0, 0, 7) {
        constant(fields, DCZID_EL0)
    } else {
        undefined(w)
    }
}

const _: () = assert!(SYSTEM_REGISTERS.len() == 8, "`system_register` sets the numbers 0 to 7");

/// Sets the field of PSTATE that MSR (immediate) writes, as a system register, and its value.
const fn pstate_field(fields: Fields, w: Word) -> Fields {
    let value = (w.crm() & 1) as u64;
    match system::pstate_field(w) {
        Some(PSTATE_DIT) => fields.operation(6).imm(value * PSTATE_DIT as u64),
        Some(PSTATE_SSBS) => fields.operation(7).imm(value * PSTATE_SSBS as u64),
        _ => undefined(w),
    }
}

/// Makes a micro-op that writes a constant, for a system register that never changes.
const fn constant(fields: Fields, value: u64) -> Fields {
    fields.handler(Handler::ORR as u32).a(ZERO).b(ZERO).imm(value)
}

const fn undefined(w: Word) -> Fields {
    Fields(MicroOp::undefined(w.0))
}

/// Sets the handler of SYS: DC ZVA, or cache maintenance, which only checks the address. Others are UNDEFINED.
const fn system_instruction(fields: Fields, w: Word) -> Fields {
    let zero = (3 << 11) | (7 << 7) | (4 << 3) | 1;
    let maintenance = w.sysop() & !(15 << 3) == (3 << 11) | (7 << 7) | 1;
    if w.sysop() == zero {
        fields.handler(Handler::ZERO_BLOCK as u32).a(w.rt())
    } else if maintenance && (w.crm() == 5 || w.crm() == 10 || w.crm() == 11 || w.crm() == 14) {
        fields.handler(Handler::CHECK_READ as u32).a(w.rt())
    } else {
        undefined(w)
    }
}

/// Sets the registers that a load writes or a store reads.
const fn transferred(fields: Fields, rt: u32, rt2: u32) -> Fields {
    let op = fields.0;
    let handler = op.handler();
    let pair = op.pair() == 1;
    if handler == Handler::VECTOR_LOAD as u32 {
        fields.dst(rt).c(rt2)
    } else if handler == Handler::VECTOR_STORE as u32 {
        fields.c(rt).dst(rt2)
    } else if handler == Handler::STORE as u32 {
        fields.c(rt).dst(if pair { rt2 } else { SINK })
    } else if pair {
        fields.dst(destination(rt)).c(destination(rt2))
    } else {
        fields.dst(destination(rt))
    }
}

/// Returns the micro-op of a word whose row has this template.
#[must_use]
pub const fn shape(template: &Template, word: u32) -> MicroOp {
    let w = Word(word);
    let base = Fields(template.base);
    let size = template.base.size();
    let based = base.a(or_sp(w.rn()));
    let registers = base.dst(destination(w.rd())).a(w.rn()).b(w.rm());
    let fields = match template.shape {
        Shape::FIXED => base,
        Shape::WHOLE => base.imm(word as u64),
        Shape::PC_RELATIVE => {
            base.dst(destination(w.rd())).imm((w.adr_imm() as u64) << (12 * template.base.operation()))
        }
        Shape::ADD_SUB_IMMEDIATE => {
            based.dst(destination_or_sp(w, base.0)).imm((w.imm12() as u64) << (12 * w.sh()))
        }
        Shape::SHIFTED_REGISTER => shifted(registers, w.shift(), w.imm6()),
        Shape::EXTENDED_REGISTER => {
            extended(based.dst(destination_or_sp(w, base.0)).b(w.rm()), w.option(), w.imm3())
        }
        Shape::LOGICAL_IMMEDIATE => {
            let wmask = match decode_bit_masks(w.n(), w.imms(), w.immr(), true) {
                Some(masks) => masks.wmask,
                None => 0, // The word is in a hole and never lowered by this template.
            };
            base.dst(destination_or_sp(w, base.0)).a(w.rn()).imm(wmask)
        }
        Shape::MOVE_WIDE => base.dst(destination(w.rd())).imm((w.imm16() as u64) << (16 * w.hw())),
        Shape::MOVE_KEEP => base
            .dst(destination(w.rd()))
            .c(w.rd())
            .left(48)
            .right(48 - 16 * w.hw())
            .imm((w.imm16() as u64) << (16 * w.hw())),
        Shape::BIT_FIELD => bit_field(base.dst(destination(w.rd())).b(w.rn()).c(w.rd()), w),
        Shape::EXTRACTION => registers.right(w.imms()),
        Shape::REGISTERS => registers.c(w.ra()),
        Shape::CONDITIONAL_SELECT => registers.cond(w.cond()),
        Shape::COMPARE_REGISTER => base.a(w.rn()).b(w.rm()).cond(w.cond()).nzcv(w.nzcv()),
        Shape::COMPARE_IMMEDIATE => base.a(w.rn()).imm(w.imm5() as u64).cond(w.cond()).nzcv(w.nzcv()),
        Shape::BRANCH_CONDITIONAL => base.cond(w.cond_b()).imm(w.offset19() as u64),
        Shape::BRANCH_ALWAYS => base.imm(w.offset26() as u64),
        Shape::BRANCH_ZERO => {
            let above = 32 * (1 - template.base.wide());
            let tested = base.b(w.rt()).extraction(UNSIGNED).left(above).right(above);
            tested.imm(w.offset19() as u64)
        }
        Shape::BRANCH_BIT => {
            let tested = base.b(w.rt()).extraction(UNSIGNED).left(63 - w.test_bit()).right(63);
            tested.imm(w.offset14() as u64)
        }
        Shape::BRANCH_TO_REGISTER => base.a(w.rn()),
        Shape::EXCEPTION => base.imm(w.imm16() as u64),
        Shape::MOVE_SYSTEM => {
            let write = template.base.handler() == Handler::WRITE_SYSTEM as u32;
            system_register(if write { base.a(w.rt()) } else { base.dst(destination(w.rt())) }, w)
        }
        Shape::PSTATE_FIELD => pstate_field(base, w),
        Shape::FLAGS => base.a(w.rn()).right(w.bits(15, 6)).nzcv(w.nzcv()),
        Shape::POINTER => base.dst(destination(w.rd())).a(w.rd()).b(or_sp(w.rn())),
        Shape::POINTER_ZERO => base.dst(destination(w.rd())).a(w.rd()),
        Shape::POINTER_GENERIC => registers.b(or_sp(w.rm())),
        Shape::POINTER_BRANCH => base.a(w.rn()).b(or_sp(w.rd())),
        Shape::POINTER_LOAD => based.dst(destination(w.rt())).imm(w.imm10() as u64),
        Shape::SYSTEM_INSTRUCTION => system_instruction(base, w),
        Shape::LITERAL => base.dst(destination(w.rt())).imm(w.offset19() as u64),
        Shape::SCALED_OFFSET => transferred(based, w.rt(), 0).imm((w.imm12() as u64) << size),
        Shape::UNSCALED_OFFSET => transferred(based, w.rt(), 0).imm(w.imm9() as u64),
        Shape::REGISTER_OFFSET => extended(transferred(based, w.rt(), 0).b(w.rm()), w.option(), size * w.s()),
        Shape::REGISTER_PAIR => transferred(based, w.rt(), w.rt2()).imm((w.imm7() << size) as u64),
        Shape::EXCLUSIVE_LOAD => transferred(based, w.rt(), w.rt2()),
        Shape::EXCLUSIVE_STORE => based.dst(destination(w.rs())).b(w.rt2()).c(w.rt()),
        Shape::ATOMIC_OPERATION => based.dst(destination(w.rt())).b(w.rs()),
        Shape::SWAP => based.dst(destination(w.rs())).b(w.rs()).c(w.rt()),
        Shape::VECTOR_LITERAL => base.dst(w.rt()).imm(w.offset19() as u64),
        Shape::STRUCTURES => based.b(w.rm()).imm(word as u64),
        Shape::VECTOR => registers.imm(word as u64),
    };
    fields.0
}

const _: () = assert!(UNDEFINED as u32 == Handler::ALL.len() as u32 - 1, "handlers are numbered in order");
