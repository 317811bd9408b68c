//! A step of a lane, as fragments that all interpreters share.
//!
//! All lanes go through the same stages in each step: operands, the compute part of the handler, memory,
//! write-back, fetch. Only the compute part differs by instruction, so lanes with different instructions diverge only
//! briefly. Each interpreter has its own fetch.
//!
//! Between steps, the place of a lane is the index of its next micro-op and not an address: micro-ops of a page are
//! consecutive. `leave_page` does what few steps need, and what has to be found anew for another page.
//!
//! These are fragments and not functions, because compilers generate a slower loop if the body is shared in any other
//! way.

import package::arm64::bitfield::{window};
import package::arm64::bits::{count_leading_sign_bits, count_leading_zero_bits, reverse_bits, reverse_bytes};
import package::arm64::constants::{FPCR_MASK, FPSR_MASK, PSTATE_DIT, PSTATE_SSBS};
import package::arm64::divide::{divide};
import package::arm64::flags::{condition_holds, cv, manipulated, nz};
import package::arm64::load_store::{extend_loaded};
import package::arm64::multiply::{long_product, multiply_high};
import package::arm64::numbers::{sign_extend};
import package::arm64::operand::{shift_reg};
import package::arm64::pauth::{authenticated};
import package::machine::access::{access, set_monitor};
import package::machine::bindings::{micro_ops};
import package::machine::frames::{frame_load, frame_store};
import package::machine::layout::{
    COLUMN_FPCR, COLUMN_KEYS, COLUMN_PSTATE, COLUMN_STEPS, COLUMN_STOP, COLUMN_STOP_ADDRESS, COLUMN_TPIDR, COLUMN_TPIDRRO,
    HANDLER_MARKER, PAGE_OPS, STOP_BREAKPOINT, STOP_EXIT, STOP_NEED_CODE, STOP_NEED_SIMD, STOP_NONE,
    STOP_SYSCALL, STOP_UNDEFINED, TLB_READ,
};
import package::machine::linux::no_calls::{SERVES_CALLS};
import package::machine::memory::{
    PAGE_MASK, TLB_ADDRESS_BITS, code_entry, code_ops, code_page, data_entry, effort, get_state, halves,
    is_near, joined, lane, near_ops, set_state,
};
import package::machine::micro_op::{
    CARRY_FLAG, EXTRACTION_PLAIN, HANDLER_ADD, HANDLER_AND, HANDLER_AUTHENTICATE, HANDLER_AUTHENTICATE_BRANCH,
    HANDLER_AUTHENTICATE_LOAD, HANDLER_BIT_FIELD_INSERT, HANDLER_BRANCH,
    HANDLER_BRANCH_REGISTER, HANDLER_BREAKPOINT, HANDLER_CLEAR_EXCLUSIVE, HANDLER_CONDITIONAL_COMPARE,
    HANDLER_COUNT_LEADING_SIGNS, HANDLER_COUNT_LEADING_ZEROS, HANDLER_DIVIDE, HANDLER_EOR, HANDLER_EXTRACT,
    HANDLER_LOAD, HANDLER_LOAD_LITERAL, HANDLER_MANIPULATE_FLAGS, HANDLER_MULTIPLY_ADD,
    HANDLER_MULTIPLY_ADD_LONG, HANDLER_MULTIPLY_HIGH, HANDLER_NOP, HANDLER_ORR, HANDLER_PC_RELATIVE,
    HANDLER_READ_SYSTEM, HANDLER_REVERSE_BITS, HANDLER_REVERSE_BYTES, HANDLER_SELECT, HANDLER_SHIFT,
    HANDLER_STALE, HANDLER_STORE, HANDLER_SUPERVISOR_CALL, HANDLER_TEST_BRANCH, HANDLER_UNDEFINED,
    HANDLER_VECTOR_CRYPTO, HANDLER_VECTOR_FLOAT, HANDLER_VECTOR_LOAD, HANDLER_VECTOR_MOVE,
    HANDLER_VECTOR_STORE, HANDLER_WRITE_SYSTEM, INDEX_OFFSET, INDEX_POST, REGISTER_SINK, SYSTEM_CNTVCT_EL0,
    SYSTEM_DIT, SYSTEM_FPCR, SYSTEM_FPSR, SYSTEM_NZCV, SYSTEM_TPIDRRO_EL0, SYSTEM_TPIDR_EL0, get_a,
    get_aligned, get_b, get_c, get_carry, get_cond, get_dst, get_extend, get_extraction, get_flags,
    get_handler, get_index, get_invert, get_left, get_nzcv, get_operation, get_pair, get_right, get_size,
    get_wide, set_a, set_handler,
};
import package::machine::no_regions::{HAS_REGIONS, enter_region, original};
import package::machine::operands::{extract};
import package::machine::registers::{
    SCRATCH_BASE, SCRATCH_FLAGS, SCRATCH_LANE, SCRATCH_NEXT, SCRATCH_STEPS, x,
};
import package::machine::simd::no_transfers::{transfer_at_hand};
import package::machine::simd::unit::{SIMD_LEVEL, simd_compute};
import package::machine::slice::{NOWHERE, branch_to_next, page_offset, shortened};

/// Added to the index of a micro-op by an exclusive OR: the rest of the step is for the slow path.
const SLOW = 0x80000000u;
/// As `SLOW`: the next instruction is at the address in `SCRATCH_NEXT`, in another page.
const FAR = 0x40000000u;

/// Returns the low 32 bits of a value unless it is `wide`.
fn truncated(value: u64, wide: bool) -> u64 {
    return select(value & 0xfffffffflu, value, wide);
}

/// Decodes the micro-op `op` and reads its operands.
///
/// Needs the variables that `begin_slice` of `machine::slice` declares. Declares variables that `compute` needs. The
/// high words of the operands of a 32-bit micro-op are not defined.
fragment read_operands {
    let control = op.x;
    let p = op.y;
    let imm = joined(op.z, op.w);
    let handler = get_handler(control);
    let wide = get_wide(p) == 1u;
    let a = x[get_a(control)];
    var extracted = x[get_b(control)];
    if get_extraction(p) != EXTRACTION_PLAIN {
        extracted = extract(extracted, p);
    }
    let inverted = 0u - get_invert(p);
    let b = (extracted + imm) ^ joined(inverted, inverted);
    var value = 0lu;
    var destination = get_dst(control);
    // The index of the next micro-op if it is in the same page.
    next_at = at + 1u;
}

/// Computes a sum or a logical operation: `value` is its result, and `sum` and `carried` are for `update_flags`.
///
/// Needs the variables that `read_operands` declares.
fragment combine {
    let carry = get_carry(p);
    let carried = u64(select(carry, (nzcv >> 1u) & 1u, carry == CARRY_FLAG));
    // In this order, two sums need not wait for the second operand.
    let sum = a + carried + b;
    // Masks choose the operation. A branch would cost a lane more time than all of them.
    let sums = vec2<u32>(0u - u32(handler < HANDLER_AND));
    let both = vec2<u32>(0u - u32(handler == HANDLER_AND || handler == HANDLER_ORR));
    let either = vec2<u32>(0u - u32(handler == HANDLER_ORR || handler == HANDLER_EOR));
    let first = halves(a);
    let second = halves(b);
    let combined = (halves(sum) & sums) | (first & second & both) | ((first ^ second) & either);
    value = truncated(joined(combined.x, combined.y), wide);
}

/// Sets the flags, or selects a value by them.
///
/// Needs the variables that `read_operands` and `combine` declare.
fragment update_flags {
    let holds = condition_holds(get_cond(p), nzcv);
    if handler == HANDLER_SELECT {
        value = truncated(select(b + carried, a, holds), wide);
    } else {
        let flags = nz(value, wide) | select(cv(a, b, sum, wide), 0u, handler >= HANDLER_AND);
        nzcv = select(flags, get_nzcv(p), handler == HANDLER_CONDITIONAL_COMPARE && !holds);
    }
}

/// Executes a sum, a logical operation or a selection: `HANDLER_ADD` to `HANDLER_EOR`.
///
/// Needs the variables that `read_operands` declares.
fragment arithmetic {
    insert combine;
    if get_flags(p) == 1u {
        insert update_flags;
    }
}

/// Finds the place of a load or a store of general registers. `misses` is true if it is for the slow path.
///
/// Needs the variables that `read_operands` declares.
fragment locate {
    let address = select(a + b, a, get_index(p) == INDEX_POST);
    let size = get_size(p);
    let pair = get_pair(p);
    let bytes = 1u << (size + pair);
    let offset = u32(address) & 4095u;
    let number = u32(address >> 12u);
    let translation = data_entry(number);
    // Loads need `TLB_READ`, stores `TLB_WRITE`.
    let missing = (handler - HANDLER_LOAD + TLB_READ) & ~translation.x;
    // Sixteen bytes have to be two whole words.
    let alignment = select(7u * (bytes >> 4u), bytes - 1u, get_aligned(p) == 1u);
    let misplaced = (offset & alignment) | ((offset + bytes - 1u) >> 12u);
    let misses = (missing | misplaced | (translation.y ^ number) | u32(address >> TLB_ADDRESS_BITS)) != 0u;
}

/// Reads the word with the first byte of a load or a store.
///
/// Needs the variables that `locate` declares.
fragment read_word {
    let word = offset >> 3u;
    let shift = (offset & 7u) * 8u;
    let before = frame_load(translation.x, word);
}

/// Loads or stores one or two registers, and writes back the base register.
///
/// Needs the variables that `read_operands`, `locate` and `read_word` declare.
fragment transfer_registers {
    var loaded = before >> shift;
    var after = 0lu;
    var data = x[get_c(control)];
    if pair == 1u {
        // In the micro-op of a store, the field of the destination is the second register of a pair.
        after = x[destination];
        data = select(joined(u32(data), u32(after)), data, size == 3u);
    }
    let changed = 0xfffffffffffffffflu >> ((64u - 8u * bytes) & 63u);
    if (offset & 7u) + bytes > 8u {
        let behind = frame_load(translation.x, word + 1u);
        let rest = (64u - shift) & 63u;
        let whole = bytes == 16u;
        if handler == HANDLER_STORE {
            let stored = (behind & ~(changed >> rest)) | ((data & changed) >> rest);
            frame_store(translation.x, word + 1u, select(stored, after, whole));
        } else {
            loaded = select(loaded | (behind << rest), loaded, whole);
        }
        after = behind;
    }
    if handler == HANDLER_LOAD {
        if pair == 1u {
            // If both registers of the pair are the same, the first value wins: it is written later.
            x[get_c(control)] = extend_loaded(select(loaded >> 32u, after, size == 3u), size, get_extend(p));
        }
        value = extend_loaded(loaded, size, get_extend(p));
    } else {
        destination = REGISTER_SINK;
        frame_store(translation.x, word, (before & ~(changed << shift)) | ((data & changed) << shift));
    }
    if get_index(p) != INDEX_OFFSET {
        // If the base is loaded, too, write-back wins: it is written later.
        x[destination] = value;
        destination = get_a(control);
        value = a + b;
    }
}

/// Leaves the rest of the step to the slow path.
fragment leave_to_slow_path {
    next_at = at ^ SLOW;
    destination = REGISTER_SINK;
}

/// Executes a load or a store of general registers, if the TLB has the page.
///
/// Needs the variables that `read_operands` declares.
fragment transfer {
    insert locate;
    if misses {
        insert leave_to_slow_path;
    } else {
        // Loads and stores of all sizes share this code, because lanes execute different ones at the same time.
        insert read_word;
        insert transfer_registers;
    }
}

/// Executes a branch.
///
/// Needs the variables that `read_operands` declares.
fragment branch {
    value = (page | u64(page_offset(at))) + 4lu;
    var taken = true;
    if handler == HANDLER_BRANCH {
        taken = condition_holds(get_cond(p), nzcv);
    } else if handler == HANDLER_TEST_BRANCH {
        taken = (extracted != 0lu) == (get_operation(p) == 1u);
    }
    next_at = select(next_at, at + u32(i32(op.z) >> 2u), taken);
    if handler == HANDLER_BRANCH_REGISTER {
        x[SCRATCH_NEXT] = a;
        let here = (at & ~(PAGE_OPS - 1u)) | ((u32(a) >> 2u) % PAGE_OPS);
        next_at = select(at ^ FAR, here, (a & ~0xffclu) == page);
    }
}

/// Executes an instruction of the less common handlers, or leaves it to the slow path.
///
/// Needs the variables that `read_operands` declares.
fragment other {
    let operation = get_operation(p);
    let datasize = select(32u, 64u, wide);
    switch handler {
        case HANDLER_BIT_FIELD_INSERT: {
            let field = (0xfffffffffffffffflu << get_left(p)) >> get_right(p);
            value = truncated((x[get_c(control)] & ~field) | b, wide);
        }
        case HANDLER_EXTRACT: {
            value = truncated(window(truncated(a, wide), truncated(b, wide), get_right(p), datasize), wide);
        }
        case HANDLER_SHIFT: {
            value = shift_reg(truncated(a, wide), operation, u32(b) & (datasize - 1u), datasize);
        }
        case HANDLER_MULTIPLY_ADD: {
            let product = a * b;
            value = truncated(x[get_c(control)] + select(product, 0lu - product, operation == 1u), wide);
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
            let dividend = select(truncated(a, wide), sign_extend(a, 32u), narrow);
            let divisor = select(truncated(b, wide), sign_extend(b, 32u), narrow);
            value = truncated(divide(dividend, divisor, signed), wide);
        }
        case HANDLER_REVERSE_BITS: { value = reverse_bits(truncated(a, wide)) >> (64u - datasize); }
        case HANDLER_REVERSE_BYTES: {
            value = truncated(reverse_bytes(truncated(a, wide), 8u << get_size(p)), wide);
        }
        case HANDLER_COUNT_LEADING_ZEROS: {
            value = u64(count_leading_zero_bits(truncated(a, wide), datasize));
        }
        case HANDLER_COUNT_LEADING_SIGNS: {
            value = u64(count_leading_sign_bits(truncated(a, wide), datasize));
        }
        case HANDLER_PC_RELATIVE: {
            value = imm + (code_page | select(u64(page_offset(at)), 0lu, operation == 1u));
        }
        case HANDLER_NOP: {}
        default: {
            insert leave_to_slow_path;
        }
    }
}

/// Executes any micro-op, except for its slow path: computes, accesses memory in pages of the TLB, and writes registers.
///
/// Needs the variables that `read_operands` declares.
fragment compute {
    if handler - HANDLER_ADD <= HANDLER_EOR - HANDLER_ADD {
        insert arithmetic;
    } else if handler - HANDLER_LOAD <= HANDLER_STORE - HANDLER_LOAD {
        insert transfer;
    } else if handler - HANDLER_BRANCH <= HANDLER_BRANCH_REGISTER - HANDLER_BRANCH {
        insert branch;
    } else {
        insert other;
    }
    x[destination] = value;
}

/// Executes the slow path, and finds the page of the next instruction. At a marker it runs the region instead.
///
/// Needs the variables that `begin_slice` declares. Breaks out of the loop of steps if the lane stops before this step
/// retires, and continues it after a region.
fragment leave_page {
    if (next_at ^ near) >= PAGE_OPS {
        let slow = next_at == (at ^ SLOW);
        let pc = code_page | u64(page_offset(at));
        // The distance of a branch is less than 2^31 bytes.
        var next = pc + u64(i64(i32((next_at - at) << 2u)));
        if slow {
            next = pc + 4lu;
        } else if next_at == (at ^ FAR) {
            next = x[SCRATCH_NEXT];
        }
        let number = u32(next >> 12u);
        let translation = code_entry(number);
        let misses = translation.x == 0u || translation.y != number
            || ((next >> TLB_ADDRESS_BITS) | (next & 3lu)) != 0lu;
        if slow || misses {
            var handler = get_handler(op.x);
            let fetches = done + 1u != count;
            // The stop of the lane, and 1 if this step does not retire.
            var outcome = vec2<u32>(STOP_NONE, 0u);
            // These are set here, so that they take no registers of the GPU in other steps.
            lane = u32(x[SCRATCH_LANE]);
            code_ops = at & ~(PAGE_OPS - 1u);
            effort = 0u;
            if HAS_REGIONS && handler == HANDLER_MARKER {
                let budget = count - done;
                let left = enter_region(at, op, pc, nzcv, budget);
                done += budget - left.budget;
                nzcv = left.flags;
                count = shortened(count, done);
                // The next step is not at a marker, so that the lane makes progress.
                at = code_ops | ((u32(left.pc) >> 2u) % PAGE_OPS);
                op = original(micro_ops[at]);
                if (left.pc & ~0xffclu) != code_page {
                    // A branch leads there, which is not counted.
                    x[SCRATCH_NEXT] = left.pc;
                    op = branch_to_next();
                    at = NOWHERE;
                    done -= select(1u, 0u, done == count);
                }
                near = near_ops;
                page = code_page;
                continue;
            }
            // Whether the step is done, except for finding the next instruction.
            var is_done = false;
            // The register to which the authenticated base of a load is written back.
            var base = REGISTER_SINK;
            if slow && handler - HANDLER_VECTOR_LOAD <= HANDLER_VECTOR_CRYPTO - HANDLER_VECTOR_LOAD {
                let level = 1u + u32(handler >= HANDLER_VECTOR_FLOAT) + u32(handler >= HANDLER_VECTOR_CRYPTO);
                if level > SIMD_LEVEL {
                    set_state(COLUMN_STOP_ADDRESS, u64(level));
                    outcome = vec2<u32>(STOP_NEED_SIMD, 1u);
                } else if handler <= HANDLER_VECTOR_STORE {
                    is_done = transfer_at_hand(op, pc);
                } else if handler >= HANDLER_VECTOR_MOVE {
                    x[SCRATCH_FLAGS] = u64(nzcv);
                    simd_compute(op);
                    nzcv = u32(x[SCRATCH_FLAGS]);
                    is_done = true;
                }
            } else if slow && handler - HANDLER_CLEAR_EXCLUSIVE <= HANDLER_WRITE_SYSTEM - HANDLER_CLEAR_EXCLUSIVE {
                is_done = true;
                switch handler {
                    case HANDLER_CLEAR_EXCLUSIVE: { set_monitor(0lu, 0u); }
                    case HANDLER_READ_SYSTEM: {
                        let floating_point = halves(get_state(COLUMN_FPCR));
                        switch get_operation(op.y) {
                            case SYSTEM_NZCV: { x[get_dst(op.x)] = u64(nzcv) << 28u; }
                            case SYSTEM_FPCR: { x[get_dst(op.x)] = u64(floating_point.x); }
                            case SYSTEM_FPSR: { x[get_dst(op.x)] = u64(floating_point.y); }
                            case SYSTEM_TPIDR_EL0: { x[get_dst(op.x)] = get_state(COLUMN_TPIDR); }
                            case SYSTEM_TPIDRRO_EL0: { x[get_dst(op.x)] = get_state(COLUMN_TPIDRRO); }
                            case SYSTEM_CNTVCT_EL0: { x[get_dst(op.x)] = get_state(COLUMN_STEPS) + u64(done); }
                            default: {
                                let field = select(PSTATE_SSBS, PSTATE_DIT, get_operation(op.y) == SYSTEM_DIT);
                                x[get_dst(op.x)] = get_state(COLUMN_PSTATE) & u64(field);
                            }
                        }
                    }
                    case HANDLER_MANIPULATE_FLAGS: {
                        let p = op.y;
                        nzcv = manipulated(get_operation(p), x[get_a(op.x)], get_right(p), get_nzcv(p), nzcv);
                    }
                    case HANDLER_AUTHENTICATE, HANDLER_AUTHENTICATE_BRANCH, HANDLER_AUTHENTICATE_LOAD: {
                        let pointer = x[get_a(op.x)];
                        let modifier = x[get_b(op.x)];
                        let result = authenticated(get_operation(op.y), pointer, modifier, get_state(COLUMN_KEYS));
                        effort += 300u;
                        if handler == HANDLER_AUTHENTICATE {
                            x[get_dst(op.x)] = result;
                        } else if handler == HANDLER_AUTHENTICATE_BRANCH {
                            x[get_dst(op.x)] = next;
                            next = result;
                        } else {
                            // The rest of the step is a load whose base is the authenticated address.
                            x[SCRATCH_BASE] = result;
                            base = select(get_a(op.x), REGISTER_SINK, get_index(op.y) == INDEX_OFFSET);
                            handler = HANDLER_LOAD;
                            op.x = set_a(set_handler(op.x, handler), SCRATCH_BASE);
                            is_done = false;
                        }
                    }
                    case HANDLER_WRITE_SYSTEM: {
                        let written = x[get_a(op.x)] + joined(op.z, op.w);
                        let floating_point = halves(get_state(COLUMN_FPCR));
                        switch get_operation(op.y) {
                            case SYSTEM_NZCV: { nzcv = u32(written >> 28u) & 15u; }
                            case SYSTEM_FPCR: { set_state(COLUMN_FPCR, joined(u32(written) & FPCR_MASK, floating_point.y)); }
                            case SYSTEM_FPSR: { set_state(COLUMN_FPCR, joined(floating_point.x, u32(written) & FPSR_MASK)); }
                            case SYSTEM_TPIDR_EL0: { set_state(COLUMN_TPIDR, written); }
                            default: {
                                let field = u64(select(PSTATE_SSBS, PSTATE_DIT, get_operation(op.y) == SYSTEM_DIT));
                                set_state(COLUMN_PSTATE, (get_state(COLUMN_PSTATE) & ~field) | (written & field));
                            }
                        }
                    }
                    default: {}
                }
            }
            if is_done && is_near(next) {
                // The next instruction is in the same page.
            } else if slow || fetches {
                switch handler {
                    case HANDLER_STALE: {
                        set_state(COLUMN_STOP_ADDRESS, joined(0u, at / PAGE_OPS + 1u));
                        outcome = vec2<u32>(STOP_NEED_CODE, 1u);
                    }
                    case HANDLER_BREAKPOINT: { outcome = vec2<u32>(STOP_BREAKPOINT, 1u); }
                    case HANDLER_UNDEFINED: { outcome = vec2<u32>(STOP_UNDEFINED, 1u); }
                    case HANDLER_SUPERVISOR_CALL: {
                        if !SERVES_CALLS {
                            outcome.x = STOP_SYSCALL;
                        }
                    }
                    default: {}
                }
                if outcome.x == STOP_NONE {
                    if SERVES_CALLS {
                        x[SCRATCH_STEPS] = get_state(COLUMN_STEPS) + u64(done) + 1lu;
                    }
                    let accesses = slow && !is_done && (handler <= HANDLER_STORE || handler >= HANDLER_LOAD_LITERAL);
                    outcome = access(op, pc, next, accesses, fetches);
                    if outcome.y == 0u {
                        x[base] = x[SCRATCH_BASE];
                    }
                }
            }
            count = shortened(count, done);
            x[SCRATCH_NEXT] = next;
            next_at = select(NOWHERE, code_ops | ((u32(next) >> 2u) % PAGE_OPS), fetches);
            let stop = outcome.x;
            if stop != STOP_NONE {
                // The immediate or word, which the next micro-op would overwrite, or the exit status.
                let detail = select(op.z, u32(x[0]) & 0xffu, SERVES_CALLS && stop == STOP_EXIT);
                set_state(COLUMN_STOP, joined(stop, detail));
                next_at = NOWHERE;
                if outcome.y == 1u {
                    x[SCRATCH_NEXT] = pc;
                    at = NOWHERE;
                    break;
                }
                count = done + 1u;
            }
        } else {
            // The step is a branch to a page in the TLB. Several of a hundred steps are.
            code_page = next & ~PAGE_MASK;
            near_ops = (translation.x - 1u) * PAGE_OPS;
            next_at = near_ops | ((u32(next) >> 2u) % PAGE_OPS);
        }
        near = near_ops;
        page = code_page;
    }
}
