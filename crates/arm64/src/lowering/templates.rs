//! The templates of the table's rows: functions with the same names and parameters as the semantics.

use super::Template;
use super::shapes::Shape;
use crate::micro_op::{
    CARRY_FLAG, Fields, Handler, INDEX_OFFSET, INDEX_POST, INDEX_PRE, SIGNED, SP, UNSIGNED, ZERO,
};

/// The names to which the table's last column refers.
pub(super) mod scope {
    pub(in super::super) use super::super::vector_templates as simd;
    pub(in super::super) use super::{
        add_sub, atomic, bitfield, bits, branch, conditional, crc, divide, exclusive, flags, load_store,
        logical, move_wide, multiply, ordered, pair, pauth, pc_rel, shift, system,
    };
    pub(in super::super) use crate::semantics::add_sub::{ADD, KEEP_FLAGS, SET_FLAGS, SUB};
    pub(in super::super) use crate::semantics::atomic::{
        MEM_ADD, MEM_BIC, MEM_EOR, MEM_ORR, MEM_SMAX, MEM_SMIN, MEM_SWP, MEM_UMAX, MEM_UMIN,
    };
    pub(in super::super) use crate::semantics::float::arithmetic::{FP_MAX, FP_MAX_NUM, FP_MIN, FP_MIN_NUM};
    pub(in super::super) use crate::semantics::float::control::{
        ROUND_NEGATIVE, ROUND_POSITIVE, ROUND_TIE_AWAY, ROUND_TIE_EVEN, ROUND_ZERO,
    };
    pub(in super::super) use crate::semantics::load_store::{
        OFFSET, POST_INDEX, PRE_INDEX, REGISTER_OFFSET, SCALED_OFFSET, SIGNED32, SIGNED64, UNSIGNED,
    };
    pub(in super::super) use crate::semantics::logical::{AND, ANDS, EOR, INVERT, ORR, PLAIN};
    pub(in super::super) use crate::semantics::operand::{ASR, LSL, LSR, ROR};
    pub(in super::super) use crate::semantics::pauth::{
        KEY_DA, KEY_DB, KEY_IA, KEY_IB, POINTER_AUTHENTICATE, POINTER_SIGN, POINTER_STRIP,
    };
    pub(in super::super) use crate::semantics::simd::dot::{SIGNED_BYTES, UNSIGNED_BYTES};
    pub(in super::super) use crate::semantics::simd::structure::POST_REGISTER;
}

/// Returns a template for a register size, 32 or 64 bits.
pub(super) const fn sized(shape: Shape, handler: Handler, datasize: u32) -> Template {
    Template { shape, base: Fields::new(handler).wide(datasize >> 6).0 }
}

/// Returns a template for 64-bit registers.
pub(super) const fn plain(shape: Shape, handler: Handler) -> Template {
    sized(shape, handler, 64)
}

impl Template {
    /// Replaces the fields of the base.
    pub(super) const fn with(self, fields: Fields) -> Self {
        Self { shape: self.shape, base: fields.0 }
    }

    pub(super) const fn fields(&self) -> Fields {
        Fields(self.base)
    }

    pub(super) const fn operation(self, operation: u32) -> Self {
        self.with(self.fields().operation(operation))
    }

    pub(super) const fn with_index(self, index: u32) -> Self {
        self.with(self.fields().index(index))
    }

    pub(super) const fn size(self, bytes: usize) -> Self {
        self.with(self.fields().size(bytes.trailing_zeros()))
    }
}

pub(super) mod add_sub {
    use super::*;

    /// Returns the template of an addition or subtraction. Subtraction adds the complement and 1.
    const fn add_sub(shape: Shape, datasize: u32, subtract: bool, flags: bool) -> Template {
        let template = sized(shape, Handler::ADD, datasize);
        let fields = template.fields().invert(subtract as u32).carry(subtract as u32);
        template.with(fields.flags(flags as u32))
    }

    pub(in super::super) const fn immediate<const N: u32, const SUB: bool, const FLAGS: bool>() -> Template {
        add_sub(Shape::ADD_SUB_IMMEDIATE, N, SUB, FLAGS)
    }

    pub(in super::super) const fn shifted_register<const N: u32, const SUB: bool, const FLAGS: bool>()
    -> Template {
        add_sub(Shape::SHIFTED_REGISTER, N, SUB, FLAGS)
    }

    pub(in super::super) const fn extended_register<const N: u32, const SUB: bool, const FLAGS: bool>()
    -> Template {
        add_sub(Shape::EXTENDED_REGISTER, N, SUB, FLAGS)
    }

    pub(in super::super) const fn with_carry<const N: u32, const SUB: bool, const FLAGS: bool>() -> Template {
        let template = add_sub(Shape::REGISTERS, N, SUB, FLAGS);
        template.with(template.fields().carry(CARRY_FLAG))
    }
}

pub(super) mod logical {
    use super::*;
    use crate::semantics::logical::{ANDS, EOR, ORR};

    const fn logical(shape: Shape, datasize: u32, op: u32) -> Template {
        let handler = match op {
            ORR => Handler::ORR,
            EOR => Handler::EOR,
            _ => Handler::AND,
        };
        let template = sized(shape, handler, datasize);
        template.with(template.fields().flags((op == ANDS) as u32))
    }

    pub(in super::super) const fn immediate<const N: u32, const OP: u32>() -> Template {
        logical(Shape::LOGICAL_IMMEDIATE, N, OP)
    }

    pub(in super::super) const fn shifted_register<const N: u32, const OP: u32, const INVERT: bool>()
    -> Template {
        let template = logical(Shape::SHIFTED_REGISTER, N, OP);
        template.with(template.fields().invert(INVERT as u32))
    }
}

pub(super) mod move_wide {
    use super::*;

    pub(in super::super) const fn movz<const N: u32>() -> Template {
        sized(Shape::MOVE_WIDE, Handler::ORR, N)
    }

    pub(in super::super) const fn movn<const N: u32>() -> Template {
        let template = movz::<N>();
        template.with(template.fields().invert(1))
    }

    pub(in super::super) const fn movk<const N: u32>() -> Template {
        sized(Shape::MOVE_KEEP, Handler::BIT_FIELD_INSERT, N)
    }
}

pub(super) mod bitfield {
    use super::*;

    const fn bit_field(handler: Handler, datasize: u32, extraction: u32) -> Template {
        let template = sized(Shape::BIT_FIELD, handler, datasize);
        template.with(template.fields().extraction(extraction))
    }

    pub(in super::super) const fn sbfm<const N: u32>() -> Template {
        bit_field(Handler::ORR, N, SIGNED)
    }

    pub(in super::super) const fn bfm<const N: u32>() -> Template {
        bit_field(Handler::BIT_FIELD_INSERT, N, UNSIGNED)
    }

    pub(in super::super) const fn ubfm<const N: u32>() -> Template {
        bit_field(Handler::ORR, N, UNSIGNED)
    }

    pub(in super::super) const fn extr<const N: u32>() -> Template {
        sized(Shape::EXTRACTION, Handler::EXTRACT, N)
    }
}

pub(super) mod shift {
    use super::*;

    pub(in super::super) const fn variable<const N: u32, const TYPE: u32>() -> Template {
        sized(Shape::REGISTERS, Handler::SHIFT, N).operation(TYPE)
    }
}

pub(super) mod bits {
    use super::*;

    pub(in super::super) const fn rbit<const N: u32>() -> Template {
        sized(Shape::REGISTERS, Handler::REVERSE_BITS, N)
    }

    pub(in super::super) const fn rev<const N: u32, const CONTAINER: u32>() -> Template {
        sized(Shape::REGISTERS, Handler::REVERSE_BYTES, N).size(CONTAINER as usize / 8)
    }

    pub(in super::super) const fn clz<const N: u32>() -> Template {
        sized(Shape::REGISTERS, Handler::COUNT_LEADING_ZEROS, N)
    }

    pub(in super::super) const fn cls<const N: u32>() -> Template {
        sized(Shape::REGISTERS, Handler::COUNT_LEADING_SIGNS, N)
    }
}

pub(super) mod conditional {
    use super::*;

    const fn compare(shape: Shape, datasize: u32, subtract: bool) -> Template {
        let template = sized(shape, Handler::CONDITIONAL_COMPARE, datasize);
        template.with(template.fields().invert(subtract as u32).carry(subtract as u32).flags(1))
    }

    pub(in super::super) const fn compare_register<const N: u32, const SUB: bool>() -> Template {
        compare(Shape::COMPARE_REGISTER, N, SUB)
    }

    pub(in super::super) const fn compare_immediate<const N: u32, const SUB: bool>() -> Template {
        compare(Shape::COMPARE_IMMEDIATE, N, SUB)
    }

    const fn select(datasize: u32, invert: u32, increment: u32) -> Template {
        let template = sized(Shape::CONDITIONAL_SELECT, Handler::SELECT, datasize);
        template.with(template.fields().invert(invert).carry(increment).flags(1))
    }

    pub(in super::super) const fn csel<const N: u32>() -> Template {
        select(N, 0, 0)
    }

    pub(in super::super) const fn csinc<const N: u32>() -> Template {
        select(N, 0, 1)
    }

    pub(in super::super) const fn csinv<const N: u32>() -> Template {
        select(N, 1, 0)
    }

    pub(in super::super) const fn csneg<const N: u32>() -> Template {
        select(N, 1, 1)
    }
}

pub(super) mod multiply {
    use super::*;

    pub(in super::super) const fn madd<const N: u32>() -> Template {
        sized(Shape::REGISTERS, Handler::MULTIPLY_ADD, N)
    }

    pub(in super::super) const fn msub<const N: u32>() -> Template {
        madd::<N>().operation(1)
    }

    const fn long(operation: u32) -> Template {
        plain(Shape::REGISTERS, Handler::MULTIPLY_ADD_LONG).operation(operation)
    }

    pub(in super::super) const fn umaddl() -> Template {
        long(0)
    }

    pub(in super::super) const fn umsubl() -> Template {
        long(1)
    }

    pub(in super::super) const fn smaddl() -> Template {
        long(2)
    }

    pub(in super::super) const fn smsubl() -> Template {
        long(3)
    }

    pub(in super::super) const fn umulh() -> Template {
        plain(Shape::REGISTERS, Handler::MULTIPLY_HIGH)
    }

    pub(in super::super) const fn smulh() -> Template {
        umulh().operation(1)
    }
}

pub(super) mod divide {
    use super::*;

    pub(in super::super) const fn udiv<const N: u32>() -> Template {
        sized(Shape::REGISTERS, Handler::DIVIDE, N)
    }

    pub(in super::super) const fn sdiv<const N: u32>() -> Template {
        udiv::<N>().operation(1)
    }
}

pub(super) mod crc {
    use super::*;

    pub(in super::super) const fn crc32<const BITS: u32>() -> Template {
        plain(Shape::REGISTERS, Handler::CRC32).size(BITS as usize / 8)
    }

    pub(in super::super) const fn crc32c<const BITS: u32>() -> Template {
        crc32::<BITS>().operation(1)
    }
}

pub(super) mod pc_rel {
    use super::*;

    pub(in super::super) const fn adr() -> Template {
        plain(Shape::PC_RELATIVE, Handler::PC_RELATIVE)
    }

    pub(in super::super) const fn adrp() -> Template {
        adr().operation(1)
    }
}

pub(super) mod branch {
    use super::*;

    /// The number of the link register.
    const LR: u32 = 30;
    /// The condition that always holds.
    const AL: u32 = 14;

    const fn linked(template: Template) -> Template {
        template.with(template.fields().dst(LR))
    }

    pub(in super::super) const fn b_cond() -> Template {
        plain(Shape::BRANCH_CONDITIONAL, Handler::BRANCH)
    }

    pub(in super::super) const fn b() -> Template {
        let template = plain(Shape::BRANCH_ALWAYS, Handler::BRANCH);
        template.with(template.fields().cond(AL))
    }

    pub(in super::super) const fn bl() -> Template {
        linked(b())
    }

    pub(in super::super) const fn cbz<const N: u32>() -> Template {
        sized(Shape::BRANCH_ZERO, Handler::TEST_BRANCH, N)
    }

    pub(in super::super) const fn cbnz<const N: u32>() -> Template {
        cbz::<N>().operation(1)
    }

    pub(in super::super) const fn tbz() -> Template {
        plain(Shape::BRANCH_BIT, Handler::TEST_BRANCH)
    }

    pub(in super::super) const fn tbnz() -> Template {
        tbz().operation(1)
    }

    pub(in super::super) const fn br() -> Template {
        plain(Shape::BRANCH_TO_REGISTER, Handler::BRANCH_REGISTER)
    }

    pub(in super::super) const fn blr() -> Template {
        linked(br())
    }

    pub(in super::super) const fn ret() -> Template {
        br()
    }
}

pub(super) mod flags {
    use super::*;
    use crate::semantics::flags::{
        FLAGS_FROM_EXTERNAL, FLAGS_INVERT_CARRY, FLAGS_ROTATE, FLAGS_SET_8, FLAGS_SET_16, FLAGS_TO_EXTERNAL,
    };

    const fn manipulated(operation: u32) -> Template {
        plain(Shape::FLAGS, Handler::MANIPULATE_FLAGS).operation(operation)
    }

    pub(in super::super) const fn rmif() -> Template {
        manipulated(FLAGS_ROTATE)
    }

    pub(in super::super) const fn setf<const BITS: u32>() -> Template {
        manipulated(if BITS == 8 { FLAGS_SET_8 } else { FLAGS_SET_16 })
    }

    pub(in super::super) const fn cfinv() -> Template {
        manipulated(FLAGS_INVERT_CARRY)
    }

    pub(in super::super) const fn xaflag() -> Template {
        manipulated(FLAGS_FROM_EXTERNAL)
    }

    pub(in super::super) const fn axflag() -> Template {
        manipulated(FLAGS_TO_EXTERNAL)
    }
}

pub(super) mod pauth {
    use super::*;
    use crate::semantics::pauth::{KEY_GA, POINTER_AUTHENTICATE, POINTER_GENERIC};

    /// The number of the link register.
    const LR: u32 = 30;

    const fn fixed(operation: u32, register: u32, modifier: u32) -> Template {
        let template = plain(Shape::FIXED, Handler::AUTHENTICATE).operation(operation);
        template.with(template.fields().dst(register).a(register).b(modifier))
    }

    pub(in super::super) const fn pointer<const OPERATION: u32, const KEY: u32>() -> Template {
        plain(Shape::POINTER, Handler::AUTHENTICATE).operation(OPERATION | KEY << 2)
    }

    pub(in super::super) const fn pointer_zero<const OPERATION: u32, const KEY: u32>() -> Template {
        plain(Shape::POINTER_ZERO, Handler::AUTHENTICATE).operation(OPERATION | KEY << 2)
    }

    pub(in super::super) const fn link_sp<const OPERATION: u32, const KEY: u32>() -> Template {
        fixed(OPERATION | KEY << 2, LR, SP)
    }

    pub(in super::super) const fn link_zero<const OPERATION: u32, const KEY: u32>() -> Template {
        fixed(OPERATION | KEY << 2, LR, ZERO)
    }

    pub(in super::super) const fn x17_x16<const OPERATION: u32, const KEY: u32>() -> Template {
        fixed(OPERATION | KEY << 2, 17, 16)
    }

    pub(in super::super) const fn pacga() -> Template {
        plain(Shape::POINTER_GENERIC, Handler::AUTHENTICATE).operation(POINTER_GENERIC | KEY_GA << 2)
    }

    const fn branch(shape: Shape, link: bool, key: u32) -> Template {
        let template = plain(shape, Handler::AUTHENTICATE_BRANCH).operation(POINTER_AUTHENTICATE | key << 2);
        if link { template.with(template.fields().dst(LR)) } else { template }
    }

    pub(in super::super) const fn branch_register<const LINK: bool, const KEY: u32>() -> Template {
        branch(Shape::POINTER_BRANCH, LINK, KEY)
    }

    pub(in super::super) const fn branch_zero<const LINK: bool, const KEY: u32>() -> Template {
        branch(Shape::BRANCH_TO_REGISTER, LINK, KEY)
    }

    pub(in super::super) const fn ret<const KEY: u32>() -> Template {
        let template = branch(Shape::FIXED, false, KEY);
        template.with(template.fields().a(LR).b(SP))
    }

    pub(in super::super) const fn load<const KEY: u32, const WRITE_BACK: bool>() -> Template {
        let template = plain(Shape::POINTER_LOAD, Handler::AUTHENTICATE_LOAD).size(8);
        let index = if WRITE_BACK { INDEX_PRE } else { INDEX_OFFSET };
        template.operation(POINTER_AUTHENTICATE | KEY << 2).with_index(index)
    }
}

pub(super) mod system {
    use super::*;

    pub(in super::super) const fn nop() -> Template {
        plain(Shape::FIXED, Handler::NOP)
    }

    pub(in super::super) const fn clrex() -> Template {
        plain(Shape::FIXED, Handler::CLEAR_EXCLUSIVE)
    }

    pub(in super::super) const fn undefined() -> Template {
        plain(Shape::WHOLE, Handler::UNDEFINED)
    }

    pub(in super::super) const fn svc() -> Template {
        plain(Shape::EXCEPTION, Handler::SUPERVISOR_CALL)
    }

    pub(in super::super) const fn brk() -> Template {
        plain(Shape::EXCEPTION, Handler::BREAKPOINT)
    }

    pub(in super::super) const fn hlt() -> Template {
        plain(Shape::EXCEPTION, Handler::HALT)
    }

    pub(in super::super) const fn mrs() -> Template {
        plain(Shape::MOVE_SYSTEM, Handler::READ_SYSTEM)
    }

    pub(in super::super) const fn msr() -> Template {
        plain(Shape::MOVE_SYSTEM, Handler::WRITE_SYSTEM)
    }

    pub(in super::super) const fn msr_immediate() -> Template {
        plain(Shape::PSTATE_FIELD, Handler::WRITE_SYSTEM)
    }

    pub(in super::super) const fn sys() -> Template {
        plain(Shape::SYSTEM_INSTRUCTION, Handler::CHECK_READ)
    }
}

pub(super) mod load_store {
    use super::*;
    use crate::semantics::load_store::{POST_INDEX, PRE_INDEX, REGISTER_OFFSET, SCALED_OFFSET};

    pub(in super::super) const fn transfer(handler: Handler, bytes: usize, mode: u32) -> Template {
        let shape = match mode {
            SCALED_OFFSET => Shape::SCALED_OFFSET,
            REGISTER_OFFSET => Shape::REGISTER_OFFSET,
            _ => Shape::UNSCALED_OFFSET,
        };
        let template = plain(shape, handler).size(bytes);
        template.with(template.fields().index(index(mode)))
    }

    pub(in super::super) const fn index(mode: u32) -> u32 {
        match mode {
            POST_INDEX => INDEX_POST,
            PRE_INDEX => INDEX_PRE,
            _ => INDEX_OFFSET,
        }
    }

    pub(super) const fn extending(template: Template, extend: u32) -> Template {
        template.with(template.fields().extend(extend))
    }

    pub(in super::super) const fn load<const BYTES: usize, const EXTEND: u32, const MODE: u32>() -> Template {
        extending(transfer(Handler::LOAD, BYTES, MODE), EXTEND)
    }

    pub(in super::super) const fn store<const BYTES: usize, const MODE: u32>() -> Template {
        transfer(Handler::STORE, BYTES, MODE)
    }

    pub(in super::super) const fn literal<const BYTES: usize, const EXTEND: u32>() -> Template {
        extending(plain(Shape::LITERAL, Handler::LOAD_LITERAL).size(BYTES), EXTEND)
    }

    pub(in super::super) const fn prefetch() -> Template {
        plain(Shape::FIXED, Handler::NOP)
    }
}

pub(super) mod pair {
    use super::load_store::{extending, index};
    use super::*;

    pub(in super::super) const fn transfer(handler: Handler, bytes: usize, mode: u32) -> Template {
        let template = plain(Shape::REGISTER_PAIR, handler).size(bytes);
        template.with(template.fields().index(index(mode)).pair(1))
    }

    pub(in super::super) const fn load<const BYTES: usize, const EXTEND: u32, const MODE: u32>() -> Template {
        extending(transfer(Handler::LOAD, BYTES, MODE), EXTEND)
    }

    pub(in super::super) const fn store<const BYTES: usize, const MODE: u32>() -> Template {
        transfer(Handler::STORE, BYTES, MODE)
    }
}

/// Returns the template of an access by one register, or two, to an address that must be aligned.
const fn aligned(shape: Shape, handler: Handler, bytes: usize, pair: bool) -> Template {
    let template = plain(shape, handler).size(bytes);
    template.with(template.fields().aligned(1).pair(pair as u32))
}

pub(super) mod ordered {
    use super::load_store::extending;
    use super::*;

    pub(in super::super) const fn load<const BYTES: usize>() -> Template {
        aligned(Shape::EXCLUSIVE_LOAD, Handler::LOAD, BYTES, false)
    }

    pub(in super::super) const fn load_offset<const BYTES: usize, const EXTEND: u32>() -> Template {
        let template = aligned(Shape::UNSCALED_OFFSET, Handler::LOAD, BYTES, false);
        extending(template, EXTEND)
    }

    pub(in super::super) const fn store_offset<const BYTES: usize>() -> Template {
        aligned(Shape::UNSCALED_OFFSET, Handler::STORE, BYTES, false)
    }

    /// The shape is named after loads; as in all stores, the data is c.
    pub(in super::super) const fn store<const BYTES: usize>() -> Template {
        aligned(Shape::EXCLUSIVE_LOAD, Handler::STORE, BYTES, false)
    }
}

pub(super) mod exclusive {
    use super::*;

    pub(in super::super) const fn load<const BYTES: usize>() -> Template {
        aligned(Shape::EXCLUSIVE_LOAD, Handler::LOAD_EXCLUSIVE, BYTES, false)
    }

    pub(in super::super) const fn load_pair<const BYTES: usize>() -> Template {
        aligned(Shape::EXCLUSIVE_LOAD, Handler::LOAD_EXCLUSIVE, BYTES, true)
    }

    pub(in super::super) const fn store<const BYTES: usize>() -> Template {
        aligned(Shape::EXCLUSIVE_STORE, Handler::STORE_EXCLUSIVE, BYTES, false)
    }

    pub(in super::super) const fn store_pair<const BYTES: usize>() -> Template {
        aligned(Shape::EXCLUSIVE_STORE, Handler::STORE_EXCLUSIVE, BYTES, true)
    }
}

pub(super) mod atomic {
    use super::*;

    pub(in super::super) const fn memop<const BYTES: usize, const OP: u32>() -> Template {
        aligned(Shape::ATOMIC_OPERATION, Handler::ATOMIC, BYTES, false).operation(OP)
    }

    pub(in super::super) const fn compare_and_swap<const BYTES: usize>() -> Template {
        aligned(Shape::SWAP, Handler::COMPARE_AND_SWAP, BYTES, false)
    }

    pub(in super::super) const fn compare_and_swap_pair<const BYTES: usize>() -> Template {
        aligned(Shape::SWAP, Handler::COMPARE_AND_SWAP, BYTES, true)
    }
}
