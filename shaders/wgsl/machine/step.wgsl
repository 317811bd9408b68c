//! A step of a lane, as fragments that all interpreters share.
//!
//! All lanes go through the same stages in each step: operands, the compute part of the handler, memory,
//! write-back, fetch. Only the compute part differs by instruction, so lanes with different instructions diverge only
//! briefly. Each interpreter has its own fetch.
//!
//! These are fragments and not functions, because compilers generate a slower loop if the body is shared in any other
//! way.

import package::arm64::bitfield::{window};
import package::arm64::bits::{count_leading_sign_bits, count_leading_zero_bits, reverse_bits, reverse_bytes};
import package::arm64::constants::{CRC32C_POLYNOMIAL, CRC32_POLYNOMIAL, FPCR_MASK, FPSR_MASK};
import package::arm64::crc::{checksum};
import package::arm64::divide::{divide};
import package::arm64::flags::{condition_holds, cv, nz};
import package::arm64::load_store::{extend_loaded};
import package::arm64::multiply::{long_product, multiply_high};
import package::arm64::numbers::{sign_extend};
import package::arm64::operand::{shift_reg};
import package::machine::access::{access, extract, set_monitor};
import package::machine::frames::{frame_load, frame_store};
import package::machine::layout::{
    COLUMN_FPCR, COLUMN_STEPS, COLUMN_STOP, COLUMN_STOP_ADDRESS, COLUMN_TPIDR, COLUMN_TPIDRRO, FRAME_WORDS,
    PAGE_OPS, STOP_BREAKPOINT, STOP_EXIT, STOP_NEED_CODE, STOP_NONE, STOP_SYSCALL, STOP_UNDEFINED,
};
import package::machine::linux::no_calls::{SERVES_CALLS};
import package::machine::memory::{
    CODE_TLB_ENTRIES, PAGE_MASK, TLB_ADDRESS_BITS, TLB_ENTRIES, TLB_FRAME, TLB_READ, TLB_WRITE, code_ops,
    code_page, code_tlb, effort, get_state, halves, joined, set_state, tlb,
};
import package::machine::micro_op::{
    CARRY_FLAG, EXTRACTION_PLAIN, HANDLER_ADD, HANDLER_AND, HANDLER_BIT_FIELD_INSERT, HANDLER_BRANCH,
    HANDLER_BRANCH_REGISTER, HANDLER_BREAKPOINT, HANDLER_CLEAR_EXCLUSIVE, HANDLER_CONDITIONAL_COMPARE,
    HANDLER_COUNT_LEADING_SIGNS, HANDLER_COUNT_LEADING_ZEROS, HANDLER_CRC32, HANDLER_DIVIDE, HANDLER_EOR,
    HANDLER_EXTRACT, HANDLER_HALT, HANDLER_LOAD, HANDLER_LOAD_LITERAL, HANDLER_MULTIPLY_ADD,
    HANDLER_MULTIPLY_ADD_LONG, HANDLER_MULTIPLY_HIGH, HANDLER_NOP, HANDLER_ORR, HANDLER_PC_RELATIVE,
    HANDLER_READ_SYSTEM, HANDLER_REVERSE_BITS, HANDLER_REVERSE_BYTES, HANDLER_SELECT, HANDLER_SHIFT,
    HANDLER_STALE, HANDLER_STORE, HANDLER_SUPERVISOR_CALL, HANDLER_TEST_BRANCH, HANDLER_UNDEFINED,
    HANDLER_VECTOR_CRYPTO, HANDLER_WRITE_SYSTEM, INDEX_OFFSET, INDEX_POST, REGISTER_SINK, SYSTEM_FPCR,
    SYSTEM_FPSR, SYSTEM_NZCV, SYSTEM_TPIDRRO_EL0, SYSTEM_TPIDR_EL0, get_a, get_aligned, get_b, get_c,
    get_carry, get_cond, get_extend, get_extraction, get_flags, get_handler, get_index, get_invert, get_left,
    get_nzcv, get_operation, get_pair, get_right, get_size, get_wide,
};
import package::machine::registers::{SCRATCH_FLAGS, SCRATCH_STEPS, x};
import package::machine::simd::unit::{SIMD_LEVEL};
import package::machine::slice::{shortened};

/// Decodes the micro-op `op` and reads its operands.
///
/// Needs the variables that `begin_slice` of `machine::slice` declares. Declares variables that `compute` needs.
fragment read_operands {
    let control = op.x;
    let p = op.y;
    let imm = joined(op.z, op.w);
    let handler = get_handler(control);
    let wide = get_wide(p) == 1u;
    let mask = select(0xfffffffflu, 0xfffffffffffffffflu, wide);
    let a = x[get_a(control)] & mask;
    var extracted = x[get_b(control)];
    if get_extraction(p) != EXTRACTION_PLAIN {
        extracted = extract(extracted, p);
    }
    let b = ((extracted + imm) ^ (0lu - u64(get_invert(p)))) & mask;
}

/// Executes the micro-op, except for its slow path: computes, accesses memory in pages of the TLB, and writes
/// registers.
///
/// Needs the variables that `read_operands` declares, and those of the step: `value` and `destination`, the result and
/// its register; `next`, the address of the next instruction; `slow`, whether the rest of the step is for `access`.
fragment compute {
    if handler - HANDLER_ADD <= HANDLER_EOR - HANDLER_ADD {
        let carry_field = get_carry(p);
        let carry = select(carry_field, (nzcv >> 1u) & 1u, carry_field == CARRY_FLAG);
        let addend = b + u64(carry);
        let sum = a + addend;
        value = sum & mask;
        if handler >= HANDLER_AND {
            value = select(select(a ^ b, a | b, handler == HANDLER_ORR), a & b, handler == HANDLER_AND);
        }
        if get_flags(p) == 1u {
            let holds = condition_holds(get_cond(p), nzcv);
            if handler == HANDLER_SELECT {
                value = select(addend & mask, a, holds);
            } else {
                let flags = nz(value, wide) | select(cv(a, b, carry, sum, wide), 0u, handler >= HANDLER_AND);
                nzcv = select(flags, get_nzcv(p), handler == HANDLER_CONDITIONAL_COMPARE && !holds);
            }
        }
    } else if handler - HANDLER_LOAD <= HANDLER_STORE - HANDLER_LOAD {
        // The fast path is for accesses within a word, or to two whole words, of a page in the TLB.
        let address = select(a + b, a, get_index(p) == INDEX_POST);
        let size = get_size(p);
        let pair = get_pair(p);
        let bytes = 1u << (size + pair);
        let offset = u32(address) & 4095u;
        let number = u32(address >> 12u);
        let translation = halves(tlb[number % TLB_ENTRIES]);
        let word = (translation.x >> TLB_FRAME) * FRAME_WORDS + (offset >> 3u);
        let shift = (offset & 7u) * 8u;
        let within = (offset & 7u) + bytes <= 8u || (bytes == 16u && (offset & 7u) == 0u && offset <= 4080u);
        let aligned = get_aligned(p) == 0u || (offset & (bytes - 1u)) == 0u;
        let needed = select(TLB_WRITE, TLB_READ, handler == HANDLER_LOAD);
        slow = !(within && aligned && translation.y == number && (translation.x & needed) != 0u
            && (address >> TLB_ADDRESS_BITS) == 0lu);
        if !slow {
            // Loads and stores of all sizes share this code, because lanes execute different ones at the same time.
            let before = frame_load(word);
            var data = x[get_c(control)];
            if pair == 1u {
                // In the micro-op of a store, the field of the destination is the second register of a pair.
                let high = x[destination];
                var after = before >> 32u;
                if size == 3u {
                    after = frame_load(word + 1u);
                    if handler == HANDLER_STORE {
                        frame_store(word + 1u, high);
                    }
                }
                if handler == HANDLER_LOAD {
                    // If both registers of the pair are the same, the first value wins: it is written later.
                    x[get_c(control)] = extend_loaded(after, size, get_extend(p));
                } else {
                    destination = REGISTER_SINK;
                    data = select(joined(u32(data), u32(high)), data, size == 3u);
                }
            }
            if handler == HANDLER_LOAD {
                value = extend_loaded(before >> shift, size, get_extend(p));
            } else {
                let changed = (0xfffffffffffffffflu >> ((64u - 8u * bytes) & 63u)) << shift;
                frame_store(word, (before & ~changed) | ((data << shift) & changed));
            }
            if get_index(p) != INDEX_OFFSET {
                // If the base is loaded, too, write-back wins: it is written later.
                x[destination] = value;
                destination = get_a(control);
                value = a + b;
            }
        }
    } else if handler - HANDLER_BRANCH <= HANDLER_BRANCH_REGISTER - HANDLER_BRANCH {
        // `value` is the return address.
        var taken = true;
        if handler == HANDLER_BRANCH {
            taken = condition_holds(get_cond(p), nzcv);
        } else if handler == HANDLER_TEST_BRANCH {
            taken = (extracted != 0lu) == (get_operation(p) == 1u);
        }
        next = select(next, select(pc + imm, a, handler == HANDLER_BRANCH_REGISTER), taken);
    } else {
        let operation = get_operation(p);
        let datasize = select(32u, 64u, wide);
        slow = handler - HANDLER_LOAD_LITERAL <= HANDLER_VECTOR_CRYPTO - HANDLER_LOAD_LITERAL;
        switch handler {
            case HANDLER_BIT_FIELD_INSERT: {
                let field = (0xfffffffffffffffflu << get_left(p)) >> get_right(p);
                value = ((x[get_c(control)] & ~field) | b) & mask;
            }
            case HANDLER_EXTRACT: {
                value = window(a, b, get_right(p), datasize) & mask;
            }
            case HANDLER_SHIFT: { value = shift_reg(a, operation, u32(b) & (datasize - 1u), datasize); }
            case HANDLER_MULTIPLY_ADD: {
                let product = a * b;
                value = (x[get_c(control)] + select(product, 0lu - product, operation == 1u)) & mask;
            }
            case HANDLER_MULTIPLY_ADD_LONG: {
                let signed = operation >= 2u;
                let product = long_product(a, b, signed);
                value = x[get_c(control)] + select(product, 0lu - product, (operation & 1u) == 1u);
            }
            case HANDLER_MULTIPLY_HIGH: { value = multiply_high(a, b, operation == 1u); }
            case HANDLER_DIVIDE: {
                let signed = operation == 1u;
                let narrow = signed && !wide;
                let dividend = select(a, sign_extend(a, 32u), narrow);
                value = divide(dividend, select(b, sign_extend(b, 32u), narrow), signed) & mask;
            }
            case HANDLER_CRC32: {
                let polynomial = select(CRC32_POLYNOMIAL, CRC32C_POLYNOMIAL, operation == 1u);
                value = u64(checksum(u32(a), b, 8u << get_size(p), polynomial));
                effort += 72u;
                count = shortened(count, done);
            }
            case HANDLER_REVERSE_BITS: { value = reverse_bits(a) >> (64u - datasize); }
            case HANDLER_REVERSE_BYTES: { value = reverse_bytes(a, 8u << get_size(p)) & mask; }
            case HANDLER_COUNT_LEADING_ZEROS: { value = u64(count_leading_zero_bits(a, datasize)); }
            case HANDLER_COUNT_LEADING_SIGNS: { value = u64(count_leading_sign_bits(a, datasize)); }
            case HANDLER_PC_RELATIVE: { value = imm + select(pc, pc & ~PAGE_MASK, operation == 1u); }
            case HANDLER_NOP: {}
            case HANDLER_CLEAR_EXCLUSIVE: { set_monitor(0lu, 0u); }
            case HANDLER_READ_SYSTEM: {
                let floating_point = halves(get_state(COLUMN_FPCR));
                switch operation {
                    case SYSTEM_NZCV: { value = u64(nzcv) << 28u; }
                    case SYSTEM_FPCR: { value = u64(floating_point.x); }
                    case SYSTEM_FPSR: { value = u64(floating_point.y); }
                    case SYSTEM_TPIDR_EL0: { value = get_state(COLUMN_TPIDR); }
                    case SYSTEM_TPIDRRO_EL0: { value = get_state(COLUMN_TPIDRRO); }
                    default: { value = get_state(COLUMN_STEPS) + u64(done); }
                }
            }
            case HANDLER_WRITE_SYSTEM: {
                let floating_point = halves(get_state(COLUMN_FPCR));
                switch operation {
                    case SYSTEM_NZCV: { nzcv = u32(a >> 28u) & 15u; }
                    case SYSTEM_FPCR: { set_state(COLUMN_FPCR, joined(u32(a) & FPCR_MASK, floating_point.y)); }
                    case SYSTEM_FPSR: { set_state(COLUMN_FPCR, joined(floating_point.x, u32(a) & FPSR_MASK)); }
                    default: { set_state(COLUMN_TPIDR, a); }
                }
            }
            case HANDLER_SUPERVISOR_CALL: {
                if SERVES_CALLS {
                    slow = true;
                } else {
                    stop = STOP_SYSCALL;
                }
            }
            case HANDLER_BREAKPOINT: {
                stop = STOP_BREAKPOINT;
                retires = false;
            }
            // It may be a semihosting call that does not need the host.
            case HANDLER_HALT: { slow = true; }
            case HANDLER_UNDEFINED: {
                stop = STOP_UNDEFINED;
                retires = false;
            }
            case HANDLER_STALE: {
                stop = STOP_NEED_CODE;
                retires = false;
                set_state(COLUMN_STOP_ADDRESS, joined(0u, code_ops / PAGE_OPS + 1u));
            }
            default: {}
        }
    }

    // Write-back, except for slow instructions and those that stop before they retire.
    x[select(destination, REGISTER_SINK, slow || !retires)] = value;
}

/// Executes the slow path, and finds the page of the next instruction.
///
/// Needs the variables that `compute` needs, and `elsewhere`, whether the next instruction is in another page. Breaks
/// out of the loop of steps if the lane stops before this step retires.
fragment leave_page {
    if slow || elsewhere || stop != STOP_NONE {
        let number = u32(next >> 12u);
        let translation = halves(code_tlb[number % CODE_TLB_ENTRIES]);
        let at_hand = translation.x != 0u && translation.y == number && (next >> TLB_ADDRESS_BITS) == 0lu;
        if !slow && at_hand && (next & 3lu) == 0lu {
            code_page = next & ~PAGE_MASK;
            code_ops = (translation.x - 1u) * PAGE_OPS;
        } else if stop == STOP_NONE && (slow || done + 1u != count) {
            if SIMD_LEVEL != 0u {
                x[SCRATCH_FLAGS] = u64(nzcv);
            }
            if SERVES_CALLS {
                x[SCRATCH_STEPS] = get_state(COLUMN_STEPS) + u64(done) + 1lu;
            }
            let outcome = access(op, pc, next, slow, done + 1u != count);
            if SIMD_LEVEL != 0u {
                nzcv = u32(x[SCRATCH_FLAGS]);
            }
            stop = outcome.x;
            retires = outcome.y == 0u;
        }
        count = shortened(count, done);
        if stop != STOP_NONE {
            // The immediate or word, which the next micro-op would overwrite, or the exit status.
            let detail = select(op.z, u32(x[0]) & 0xffu, SERVES_CALLS && stop == STOP_EXIT);
            set_state(COLUMN_STOP, joined(stop, detail));
            if !retires {
                break;
            }
            count = done + 1u;
        }
    }
}
