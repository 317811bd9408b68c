//! Lowering: the translation of a code word into a micro-op.
//!
//! Twin: `kvrm_arm64::lowering`, which explains the steps.

import package::arm64::bitmask::{decode_bit_masks};
import package::arm64::constants::{PSTATE_DIT, PSTATE_SSBS};
import package::arm64::operations::{ASR, LSL, ROR};
import package::machine::micro_op::{
    EXTRACTION_PLAIN, EXTRACTION_ROTATED, EXTRACTION_SIGNED, EXTRACTION_UNSIGNED, HANDLER_CHECK_READ,
    HANDLER_ORR, HANDLER_STORE, HANDLER_UNDEFINED, HANDLER_VECTOR_LOAD, HANDLER_VECTOR_STORE,
    HANDLER_WRITE_SYSTEM, HANDLER_ZERO_BLOCK, REGISTER_SINK, REGISTER_SP, REGISTER_ZERO, SYSTEM_CNTVCT_EL0,
    SYSTEM_DIT, SYSTEM_FPCR, SYSTEM_FPSR, SYSTEM_NZCV, SYSTEM_SSBS, SYSTEM_TPIDRRO_EL0, SYSTEM_TPIDR_EL0,
    get_flags, get_handler, get_operation, get_pair, get_size, get_wide, set_a, set_b, set_c, set_cond,
    set_dst, set_extraction, set_handler, set_left, set_nzcv, set_operation, set_right, set_wide,
};
import package::machine::rows::{
    COUNTER_HZ, CTR_EL0, DCZID_EL0, SHAPE_ADD_SUB_IMMEDIATE, SHAPE_ATOMIC_OPERATION, SHAPE_BIT_FIELD,
    SHAPE_BRANCH_ALWAYS, SHAPE_BRANCH_BIT, SHAPE_BRANCH_CONDITIONAL, SHAPE_BRANCH_TO_REGISTER,
    SHAPE_BRANCH_ZERO, SHAPE_COMPARE_IMMEDIATE, SHAPE_COMPARE_REGISTER, SHAPE_CONDITIONAL_SELECT,
    SHAPE_EXCEPTION, SHAPE_EXCLUSIVE_LOAD, SHAPE_EXCLUSIVE_STORE, SHAPE_EXTENDED_REGISTER, SHAPE_EXTRACTION,
    SHAPE_FLAGS, SHAPE_LITERAL, SHAPE_LOGICAL_IMMEDIATE, SHAPE_MOVE_KEEP, SHAPE_MOVE_SYSTEM, SHAPE_MOVE_WIDE,
    SHAPE_PC_RELATIVE, SHAPE_POINTER, SHAPE_POINTER_BRANCH, SHAPE_POINTER_GENERIC, SHAPE_POINTER_LOAD,
    SHAPE_POINTER_ZERO, SHAPE_PSTATE_FIELD, SHAPE_REGISTERS, SHAPE_REGISTER_OFFSET, SHAPE_REGISTER_PAIR,
    SHAPE_SCALED_OFFSET, SHAPE_SHIFTED_REGISTER, SHAPE_STRUCTURES, SHAPE_SWAP, SHAPE_SYSTEM_INSTRUCTION,
    SHAPE_UNSCALED_OFFSET, SHAPE_VECTOR, SHAPE_VECTOR_LITERAL, SHAPE_WHOLE,
};

/// A micro-op under construction.
struct MicroOp {
    /// The handler and four registers.
    control: u32,
    /// The parameters of the handler: width, extraction of operands, and the like.
    parameters: u32,
    /// The immediate.
    imm: u64,
}

/// Returns the field of `width` bits from bit `low` up.
fn field(word: u32, low: u32, width: u32) -> u32 {
    return (word >> low) & ((1u << width) - 1u);
}

/// Returns the field of `width` bits from bit `low` up as a two's complement number.
fn signed_field(word: u32, low: u32, width: u32) -> u64 {
    let top = i32(word << (32u - low - width));
    return u64(i64(top >> (32u - width)));
}

/// Returns the register of a field in which 31 is the stack pointer.
fn or_sp(number: u32) -> u32 {
    return select(number, REGISTER_SP, number == 31u);
}

/// Returns the register of a field that names a destination: 31 discards the result.
fn destination(number: u32) -> u32 {
    return select(number, REGISTER_SINK, number == 31u);
}

/// Returns the register of Rd as a destination: 31 is the stack pointer, unless the instruction sets flags.
fn destination_or_sp(rd: u32, parameters: u32) -> u32 {
    return select(or_sp(rd), destination(rd), get_flags(parameters) == 1u);
}

/// Sets the parameters that extract an operand as `shift_reg` does.
fn shifted(parameters: u32, shift_type: u32, amount: u32) -> u32 {
    let narrow = 32u * (1u - get_wide(parameters));
    if amount == 0u {
        return set_extraction(parameters, EXTRACTION_PLAIN);
    } else if shift_type == ROR {
        return set_right(set_extraction(parameters, EXTRACTION_ROTATED), amount);
    } else if shift_type == LSL {
        return set_left(set_extraction(parameters, EXTRACTION_UNSIGNED), amount);
    } else {
        let extraction = select(EXTRACTION_UNSIGNED, EXTRACTION_SIGNED, shift_type == ASR);
        return set_right(set_left(set_extraction(parameters, extraction), narrow), narrow + amount);
    }
}

/// Sets the parameters that extract an operand as `extend_reg` does.
fn extended(parameters: u32, option: u32, shift: u32) -> u32 {
    let above = 64u - (8u << (option & 3u));
    let extraction = select(EXTRACTION_SIGNED, EXTRACTION_UNSIGNED, (option & 4u) == 0u);
    if above == 0u {
        return set_left(set_extraction(parameters, EXTRACTION_UNSIGNED), shift);
    } else {
        return set_right(set_left(set_extraction(parameters, extraction), above), above - shift);
    }
}

/// Sets the parameters that extract a bit field: bits immr to imms move down to bit 0, or if imms is less than immr,
/// bits 0 to imms move up to bit `datasize` - immr.
fn bit_field(parameters: u32, immr: u32, imms: u32) -> u32 {
    let left = 63u - imms;
    let datasize = 32u << get_wide(parameters);
    let right = select(left + immr - datasize, left + immr, imms >= immr);
    return set_right(set_left(parameters, left), right & 63u);
}

/// Returns the micro-op of a word that is UNDEFINED.
fn undefined(word: u32) -> MicroOp {
    let none = (REGISTER_SINK << 8u) | (REGISTER_ZERO << 14u) | (REGISTER_ZERO << 20u) | (REGISTER_ZERO << 26u);
    return MicroOp(HANDLER_UNDEFINED | none, set_wide(0u, 1u), u64(word));
}

/// Returns the number of a system register.
fn sysreg_number(op0: u32, op1: u32, crn: u32, crm: u32, op2: u32) -> u32 {
    return ((op0 & 1u) << 14u) | (op1 << 11u) | (crn << 7u) | (crm << 3u) | op2;
}

/// Returns the micro-op that moves the value of a constant system register, as an immediate.
fn constant(op: MicroOp, value: u64) -> MicroOp {
    let control = set_b(set_a(set_handler(op.control, HANDLER_ORR), REGISTER_ZERO), REGISTER_ZERO);
    return MicroOp(control, op.parameters, value);
}

/// Returns the micro-op of MRS and MSR, with the interpreter's number of the system register.
fn system_register(op: MicroOp, word: u32) -> MicroOp {
    let sysreg = field(word, 5u, 15u);
    var number = SYSTEM_NZCV;
    if sysreg == sysreg_number(3u, 3u, 4u, 2u, 0u) {
        number = SYSTEM_NZCV;
    } else if sysreg == sysreg_number(3u, 3u, 4u, 4u, 0u) {
        number = SYSTEM_FPCR;
    } else if sysreg == sysreg_number(3u, 3u, 4u, 4u, 1u) {
        number = SYSTEM_FPSR;
    } else if sysreg == sysreg_number(3u, 3u, 13u, 0u, 2u) {
        number = SYSTEM_TPIDR_EL0;
    } else if sysreg == sysreg_number(3u, 3u, 4u, 2u, 5u) {
        number = SYSTEM_DIT;
    } else if sysreg == sysreg_number(3u, 3u, 4u, 2u, 6u) {
        number = SYSTEM_SSBS;
    } else if get_handler(op.control) == HANDLER_WRITE_SYSTEM {
        return undefined(word);
    } else if sysreg == sysreg_number(3u, 3u, 13u, 0u, 3u) {
        number = SYSTEM_TPIDRRO_EL0;
    } else if sysreg == sysreg_number(3u, 3u, 14u, 0u, 2u) {
        number = SYSTEM_CNTVCT_EL0;
    } else if sysreg == sysreg_number(3u, 3u, 14u, 0u, 0u) {
        return constant(op, COUNTER_HZ);
    } else if sysreg == sysreg_number(3u, 3u, 0u, 0u, 1u) {
        return constant(op, CTR_EL0);
    } else if sysreg == sysreg_number(3u, 3u, 0u, 0u, 7u) {
        return constant(op, DCZID_EL0);
    } else {
        return undefined(word);
    }
    return MicroOp(op.control, set_operation(op.parameters, number), op.imm);
}

/// Returns the micro-op of MSR (immediate), which writes a field of PSTATE.
fn pstate_field(op: MicroOp, word: u32) -> MicroOp {
    let value = u64(field(word, 8u, 1u));
    let number = (field(word, 16u, 3u) << 3u) | field(word, 5u, 3u);
    if number == 25u {
        return MicroOp(op.control, set_operation(op.parameters, SYSTEM_SSBS), value * u64(PSTATE_SSBS));
    } else if number == 26u {
        return MicroOp(op.control, set_operation(op.parameters, SYSTEM_DIT), value * u64(PSTATE_DIT));
    }
    return undefined(word);
}

/// Returns the micro-op of SYS: data cache zero, or cache maintenance that checks its address. Other operations are
/// UNDEFINED.
fn system_instruction(op: MicroOp, word: u32) -> MicroOp {
    let rt = field(word, 0u, 5u);
    let sysop = field(word, 5u, 14u);
    let crm = field(word, 8u, 4u);
    let zero = (3u << 11u) | (7u << 7u) | (4u << 3u) | 1u;
    let maintenance = (sysop & ~(15u << 3u)) == ((3u << 11u) | (7u << 7u) | 1u);
    if sysop == zero {
        return MicroOp(set_a(set_handler(op.control, HANDLER_ZERO_BLOCK), rt), op.parameters, 0lu);
    } else if maintenance && (crm == 5u || crm == 10u || crm == 11u || crm == 14u) {
        return MicroOp(set_a(set_handler(op.control, HANDLER_CHECK_READ), rt), op.parameters, 0lu);
    } else {
        return undefined(word);
    }
}

/// Sets the registers that a load or store transfers, as destinations or sources.
fn transferred(control: u32, parameters: u32, rt: u32, rt2: u32) -> u32 {
    let pair = get_pair(parameters) == 1u;
    if get_handler(control) == HANDLER_VECTOR_LOAD {
        return set_c(set_dst(control, rt), rt2);
    } else if get_handler(control) == HANDLER_VECTOR_STORE {
        return set_dst(set_c(control, rt), rt2);
    } else if get_handler(control) == HANDLER_STORE {
        return set_dst(set_c(control, rt), select(REGISTER_SINK, rt2, pair));
    } else if pair {
        return set_c(set_dst(control, destination(rt)), destination(rt2));
    } else {
        return set_dst(control, destination(rt));
    }
}

/// Returns the micro-op of a word whose row has the given shape and base.
fn shape(kind: u32, base_control: u32, base_parameters: u32, word: u32) -> MicroOp {
    let rd = field(word, 0u, 5u);
    let rn = field(word, 5u, 5u);
    let ra = field(word, 10u, 5u);
    let rm = field(word, 16u, 5u);
    let size = get_size(base_parameters);
    let based = set_a(base_control, or_sp(rn));
    let registers = set_b(set_a(set_dst(base_control, destination(rd)), rn), rm);
    let offset19 = signed_field(word, 5u, 19u) << 2u;
    var control = base_control;
    var p = base_parameters;
    var imm = 0lu;
    switch kind {
        case SHAPE_WHOLE: { imm = u64(word); }
        case SHAPE_PC_RELATIVE: {
            control = set_dst(control, destination(rd));
            imm = (offset19 | u64(field(word, 29u, 2u))) << (12u * get_operation(p));
        }
        case SHAPE_ADD_SUB_IMMEDIATE: {
            control = set_dst(based, destination_or_sp(rd, p));
            imm = u64(field(word, 10u, 12u)) << (12u * field(word, 22u, 1u));
        }
        case SHAPE_SHIFTED_REGISTER: {
            control = registers;
            p = shifted(p, field(word, 22u, 2u), field(word, 10u, 6u));
        }
        case SHAPE_EXTENDED_REGISTER: {
            control = set_b(set_dst(based, destination_or_sp(rd, p)), rm);
            p = extended(p, field(word, 13u, 3u), field(word, 10u, 3u));
        }
        case SHAPE_LOGICAL_IMMEDIATE: {
            control = set_a(set_dst(control, destination_or_sp(rd, p)), rn);
            imm = decode_bit_masks(field(word, 22u, 1u), field(word, 10u, 6u), field(word, 16u, 6u), true).wmask;
        }
        case SHAPE_MOVE_WIDE: {
            control = set_dst(control, destination(rd));
            imm = u64(field(word, 5u, 16u)) << (16u * field(word, 21u, 2u));
        }
        case SHAPE_MOVE_KEEP: {
            control = set_c(set_dst(control, destination(rd)), rd);
            p = set_right(set_left(p, 48u), 48u - 16u * field(word, 21u, 2u));
            imm = u64(field(word, 5u, 16u)) << (16u * field(word, 21u, 2u));
        }
        case SHAPE_BIT_FIELD: {
            control = set_c(set_b(set_dst(control, destination(rd)), rn), rd);
            p = bit_field(p, field(word, 16u, 6u), field(word, 10u, 6u));
        }
        case SHAPE_EXTRACTION: {
            control = registers;
            p = set_right(p, field(word, 10u, 6u));
        }
        case SHAPE_REGISTERS: { control = set_c(registers, ra); }
        case SHAPE_CONDITIONAL_SELECT: {
            control = registers;
            p = set_cond(p, field(word, 12u, 4u));
        }
        case SHAPE_COMPARE_REGISTER: {
            control = set_b(set_a(control, rn), rm);
            p = set_nzcv(set_cond(p, field(word, 12u, 4u)), field(word, 0u, 4u));
        }
        case SHAPE_COMPARE_IMMEDIATE: {
            control = set_a(control, rn);
            p = set_nzcv(set_cond(p, field(word, 12u, 4u)), field(word, 0u, 4u));
            imm = u64(rm);
        }
        case SHAPE_BRANCH_CONDITIONAL: {
            p = set_cond(p, field(word, 0u, 4u));
            imm = offset19;
        }
        case SHAPE_BRANCH_ALWAYS: { imm = signed_field(word, 0u, 26u) << 2u; }
        case SHAPE_BRANCH_ZERO: {
            let above = 32u * (1u - get_wide(p));
            control = set_b(control, rd);
            p = set_right(set_left(set_extraction(p, EXTRACTION_UNSIGNED), above), above);
            imm = offset19;
        }
        case SHAPE_BRANCH_BIT: {
            let above = 63u - ((field(word, 31u, 1u) << 5u) | field(word, 19u, 5u));
            control = set_b(control, rd);
            p = set_right(set_left(set_extraction(p, EXTRACTION_UNSIGNED), above), 63u);
            imm = signed_field(word, 5u, 14u) << 2u;
        }
        case SHAPE_BRANCH_TO_REGISTER: { control = set_a(control, rn); }
        case SHAPE_EXCEPTION: { imm = u64(field(word, 5u, 16u)); }
        case SHAPE_MOVE_SYSTEM: {
            let write = get_handler(control) == HANDLER_WRITE_SYSTEM;
            let moved = select(set_dst(control, destination(rd)), set_a(control, rd), write);
            return system_register(MicroOp(moved, p, 0lu), word);
        }
        case SHAPE_PSTATE_FIELD: { return pstate_field(MicroOp(control, p, 0lu), word); }
        case SHAPE_FLAGS: {
            control = set_a(control, rn);
            p = set_nzcv(set_right(p, field(word, 15u, 6u)), field(word, 0u, 4u));
        }
        case SHAPE_POINTER: { control = set_b(set_a(set_dst(control, destination(rd)), rd), or_sp(rn)); }
        case SHAPE_POINTER_ZERO: { control = set_a(set_dst(control, destination(rd)), rd); }
        case SHAPE_POINTER_GENERIC: { control = set_b(registers, or_sp(rm)); }
        case SHAPE_POINTER_BRANCH: { control = set_b(set_a(control, rn), or_sp(rd)); }
        case SHAPE_POINTER_LOAD: {
            control = set_dst(based, destination(rd));
            // S is the sign of the offset, above imm9.
            imm = (signed_field(word, 22u, 1u) << 12u) | (u64(field(word, 12u, 9u)) << 3u);
        }
        case SHAPE_SYSTEM_INSTRUCTION: { return system_instruction(MicroOp(control, p, 0lu), word); }
        case SHAPE_LITERAL: {
            control = set_dst(control, destination(rd));
            imm = offset19;
        }
        case SHAPE_SCALED_OFFSET: {
            control = transferred(based, p, rd, 0u);
            imm = u64(field(word, 10u, 12u)) << size;
        }
        case SHAPE_UNSCALED_OFFSET: {
            control = transferred(based, p, rd, 0u);
            imm = signed_field(word, 12u, 9u);
        }
        case SHAPE_REGISTER_OFFSET: {
            control = set_b(transferred(based, p, rd, 0u), rm);
            p = extended(p, field(word, 13u, 3u), size * field(word, 12u, 1u));
        }
        case SHAPE_REGISTER_PAIR: {
            control = transferred(based, p, rd, ra);
            imm = signed_field(word, 15u, 7u) << size;
        }
        case SHAPE_EXCLUSIVE_LOAD: { control = transferred(based, p, rd, ra); }
        case SHAPE_EXCLUSIVE_STORE: { control = set_c(set_b(set_dst(based, destination(rm)), ra), rd); }
        case SHAPE_ATOMIC_OPERATION: { control = set_b(set_dst(based, destination(rd)), rm); }
        case SHAPE_SWAP: { control = set_c(set_b(set_dst(based, destination(rm)), rm), rd); }
        case SHAPE_VECTOR_LITERAL: {
            control = set_dst(control, rd);
            imm = offset19;
        }
        case SHAPE_STRUCTURES: {
            control = set_b(based, rm);
            imm = u64(word);
        }
        case SHAPE_VECTOR: {
            control = registers;
            imm = u64(word);
        }
        default: {}
    }
    return MicroOp(control, p, imm);
}
