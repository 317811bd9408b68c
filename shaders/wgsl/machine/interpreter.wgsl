//! The interpreter: one invocation runs one lane until it stops or its slice ends.
//!
//! All lanes go through the same stages in each step: operands, the compute part of the handler, memory,
//! write-back, fetch. Only the compute part differs by instruction, so lanes on different instructions part
//! for a moment and meet again.

import package::arm64::atomic::{low, mem_atomic_op};
import package::arm64::bits::{count_leading_sign_bits, count_leading_zero_bits, reverse_bits, reverse_bytes};
import package::arm64::crc::{checksum};
import package::arm64::divide::{divide};
import package::arm64::flags::{condition_holds};
import package::arm64::multiply::{multiply_high};
import package::arm64::numbers::{sign_extend};
import package::arm64::operand::{rotate_right, shift_reg};
import package::machine::bindings::{counters, micro_ops, parameters, state};
import package::machine::console::{serve_console};
import package::machine::frames::{frame_load, frame_store};
import package::machine::layout::{ACCESS_EXECUTE, ACCESS_READ, ACCESS_WRITE, COLUMN_FPCR, COLUMN_LIMIT, COLUMN_MONITOR, COLUMN_NZCV, COLUMN_PC, COLUMN_SP, COLUMN_STEPS, COLUMN_STOP, COLUMN_STOP_ADDRESS, COLUMN_TPIDR, COLUMN_TPIDRRO, COUNTER_NEED_CODE, COUNTER_NEED_FRAME, COUNTER_RUNNING, COUNTER_STEPS, COUNTER_STEPS_HIGH, COUNTER_STOPPED, FAULT_ALIGNMENT, FRAME_WORDS, PAGE_OPS, STOP_BREAKPOINT, STOP_BUDGET, STOP_HALT, STOP_NEED_CODE, STOP_NEED_FRAME, STOP_NONE, STOP_OUT_OF_FRAMES, STOP_SYSCALL, STOP_UNDEFINED};
import package::machine::memory::{CODE_TLB_ENTRIES, PAGE_MASK, TLB_ADDRESS_BITS, TLB_ENTRIES, TLB_FRAME, TLB_READ, TLB_WRITE, WANT_CHECK_WRITE, WANT_EXECUTE, WANT_READ, WANT_WRITE, code_ops, code_page, code_tlb, effort, fault, forget_pages, found_code, found_frame, found_fresh, get_state, halves, joined, lane, mark_stale, may_write, set_state, tlb, translate};
import package::machine::micro_op::{CARRY_FLAG, EXTRACTION_PLAIN, EXTRACTION_ROTATED, EXTRACTION_SIGNED, HANDLER_ADD, HANDLER_AND, HANDLER_ATOMIC, HANDLER_BIT_FIELD_INSERT, HANDLER_BRANCH, HANDLER_BRANCH_REGISTER, HANDLER_BREAKPOINT, HANDLER_CHECK_READ, HANDLER_CLEAR_EXCLUSIVE, HANDLER_COMPARE_AND_SWAP, HANDLER_CONDITIONAL_COMPARE, HANDLER_COUNT_LEADING_SIGNS, HANDLER_COUNT_LEADING_ZEROS, HANDLER_CRC32, HANDLER_DIVIDE, HANDLER_EOR, HANDLER_EXTRACT, HANDLER_HALT, HANDLER_LOAD, HANDLER_LOAD_EXCLUSIVE, HANDLER_LOAD_LITERAL, HANDLER_MULTIPLY_ADD, HANDLER_MULTIPLY_ADD_LONG, HANDLER_MULTIPLY_HIGH, HANDLER_NOP, HANDLER_ORR, HANDLER_PC_RELATIVE, HANDLER_READ_SYSTEM, HANDLER_REVERSE_BITS, HANDLER_REVERSE_BYTES, HANDLER_SELECT, HANDLER_SHIFT, HANDLER_STALE, HANDLER_STORE, HANDLER_STORE_EXCLUSIVE, HANDLER_SUPERVISOR_CALL, HANDLER_TEST_BRANCH, HANDLER_UNDEFINED, HANDLER_WRITE_SYSTEM, HANDLER_ZERO_BLOCK, INDEX_OFFSET, INDEX_POST, REGISTERS, REGISTER_SINK, REGISTER_SP, REGISTER_ZERO, SYSTEM_FPCR, SYSTEM_FPSR, SYSTEM_NZCV, SYSTEM_TPIDRRO_EL0, SYSTEM_TPIDR_EL0, get_a, get_aligned, get_b, get_c, get_carry, get_cond, get_dst, get_extend, get_extraction, get_flags, get_handler, get_index, get_invert, get_left, get_nzcv, get_operation, get_pair, get_right, get_size, get_wide};
import package::machine::semihosting::{SEMIHOSTING};

/// Lanes of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// The fuel on a device whose driver cuts nothing off.
const NO_LIMIT = 0xffffffffu;
/// The bits of FPCR that exist: AHP, DN, FZ and RMode.
const FPCR_MASK = 0x07c00000u;
/// The bits of FPSR that exist: QC and the exception flags.
const FPSR_MASK = 0x0800009fu;
/// The bit-reversed polynomial of CRC32.
const CRC32_POLYNOMIAL = 0xedb88320u;
/// The bit-reversed polynomial of CRC32C.
const CRC32C_POLYNOMIAL = 0x82f63b78u;

/// X0 to X30, zero, SP, and a place for what nobody reads.
///
/// Behind them is what an access keeps while it looks up pages: there it takes none of the GPU's own registers,
/// of which the loop should need few.
var<private> x: array<u64, KEPT_END>;

/// Where an access keeps what was loaded.
const KEPT_LOADED = REGISTERS;
/// Where an access keeps what else was loaded.
const KEPT_SECOND = REGISTERS + 1u;
/// Where an access keeps what is to be stored.
const KEPT_DATA = REGISTERS + 2u;
/// Where an access keeps what else is to be stored.
const KEPT_DATA_HIGH = REGISTERS + 3u;
/// Where an access keeps the frame of its first page, and the code in it.
const KEPT_FIRST = REGISTERS + 4u;
/// Where an access keeps the frame of its second page, and the code in it.
const KEPT_LAST = REGISTERS + 5u;
/// The end of what is kept.
const KEPT_END = REGISTERS + 6u;

/// A register shifted left, then right, or rotated.
fn extract(value: u64, p: u32) -> u64 {
    let right = get_right(p);
    let extraction = get_extraction(p);
    if extraction == EXTRACTION_ROTATED {
        return rotate_right(value, right, 32u << get_wide(p));
    }
    let shifted = value << get_left(p);
    return select(shifted >> right, u64(i64(shifted) >> right), extraction == EXTRACTION_SIGNED);
}

/// A loaded value of `1 << size` bytes as the encoding wants it.
fn extend_loaded(value: u64, size: u32, extend: u32) -> u64 {
    let above = 64u - (8u << size);
    let top = value << above;
    let result = select(top >> above, u64(i64(top) >> above), extend != 0u);
    return select(result, result & 0xfffffffflu, extend == 1u);
}

/// Runs every lane that has no stop.
@compute @workgroup_size(WORKGROUP_SIZE)
fn run(@builtin(global_invocation_id) invocation: vec3<u32>) {
    lane = invocation.x;
    let lanes = parameters.lanes;
    if lane >= lanes || u32(get_state(COLUMN_STOP)) != STOP_NONE {
        return;
    }
    let retired = get_state(COLUMN_STEPS);
    // A lane may be beyond its limit already.
    let allowed = max(get_state(COLUMN_LIMIT), retired) - retired;
    // Some drivers cut an invocation off after so many iterations of loops; other work shortens the slice.
    var count = u32(min(allowed, u64(min(parameters.steps, parameters.fuel / 2u))));

    for (var i = 0u; i < 31u; i += 1u) {
        x[i] = state[i * lanes + lane];
    }
    x[REGISTER_ZERO] = 0lu;
    x[REGISTER_SP] = get_state(COLUMN_SP);
    var nzcv = u32(get_state(COLUMN_NZCV));
    forget_pages();
    effort = 128u;

    // The loop fetches at its end. It begins with an instruction before the first that does nothing and does
    // not count.
    var done = 0u - 1u;
    var pc = get_state(COLUMN_PC) - 4lu;
    var op = vec4<u32>(HANDLER_NOP | (REGISTER_SINK << 8u), 0u, 0u, 0u);
    var stop = STOP_NONE;
    // Whether an instruction that stops the lane retires.
    var retires = true;
    if count == 0u {
        done = 0u;
        pc += 4lu;
    }
    while done != count {
        // Operands.
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
        var value = pc + 4lu;
        var next = value;
        var destination = get_dst(control);
        // Whether memory is accessed in a way that is not done at once, or the host may be called.
        var slow = false;

        // Compute.
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
                    // The words that hold the sign.
                    let sign = select(u32(value), u32(value >> 32u), wide);
                    let differs = (a ^ value) & (b ^ value);
                    let overflow = select(u32(differs), u32(differs >> 32u), wide) >> 31u;
                    // A sum of words has its carry in bit 32; one of doublewords is less than what was added to.
                    let wrapped = sum < a || (sum == a && carry == 1u);
                    let carried = select(u32(sum >> 32u) & 1u, u32(wrapped), wide);
                    let logical = ((sign >> 31u) << 3u) | select(0u, 4u, value == 0lu);
                    let flags = logical | select((carried << 1u) | overflow, 0u, handler >= HANDLER_AND);
                    nzcv = select(flags, get_nzcv(p), handler == HANDLER_CONDITIONAL_COMPARE && !holds);
                }
            }
        } else if handler - HANDLER_LOAD <= HANDLER_STORE - HANDLER_LOAD {
            // What lies within a word, or is two whole words, of a page at hand.
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
                // Loads and stores of all sizes go the same way, as lanes do different ones at the same time.
                let before = frame_load(word);
                var data = x[get_c(control)];
                if pair == 1u {
                    // The second register of a pair that is stored is where others have the destination.
                    let high = x[destination];
                    var after = before >> 32u;
                    if size == 3u {
                        after = frame_load(word + 1u);
                        if handler == HANDLER_STORE {
                            frame_store(word + 1u, high);
                        }
                    }
                    if handler == HANDLER_LOAD {
                        // Both into the same register: the first wins.
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
                    // The base wins over what is loaded into it.
                    x[destination] = value;
                    destination = get_a(control);
                    value = a + b;
                }
            }
        } else if handler - HANDLER_BRANCH <= HANDLER_BRANCH_REGISTER - HANDLER_BRANCH {
            // The value is the return address.
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
            slow = handler - HANDLER_LOAD_LITERAL <= HANDLER_CHECK_READ - HANDLER_LOAD_LITERAL;
            switch handler {
                case HANDLER_BIT_FIELD_INSERT: {
                    let field = (0xfffffffffffffffflu << get_left(p)) >> get_right(p);
                    value = ((x[get_c(control)] & ~field) | b) & mask;
                }
                case HANDLER_EXTRACT: {
                    let lsb = get_right(p);
                    let above = select(0lu, a << ((datasize - lsb) & 63u), lsb != 0u);
                    value = ((b >> lsb) | above) & mask;
                }
                case HANDLER_SHIFT: { value = shift_reg(a, operation, u32(b) & (datasize - 1u), datasize); }
                case HANDLER_MULTIPLY_ADD: {
                    let product = a * b;
                    value = (x[get_c(control)] + select(product, 0lu - product, operation == 1u)) & mask;
                }
                case HANDLER_MULTIPLY_ADD_LONG: {
                    let signed = operation >= 2u;
                    let multiplicand = select(a & 0xfffffffflu, sign_extend(a, 32u), signed);
                    let product = multiplicand * select(b & 0xfffffffflu, sign_extend(b, 32u), signed);
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
                case HANDLER_SUPERVISOR_CALL: { stop = STOP_SYSCALL; }
                case HANDLER_BREAKPOINT: {
                    stop = STOP_BREAKPOINT;
                    retires = false;
                }
                // It may be a call that needs no host.
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

        // Write-back. What is done slowly, and what stops before it retires, writes nothing here.
        x[select(destination, REGISTER_SINK, slow || !retires)] = value;

        // The next instruction is fetched from the page at hand, if there will be one.
        let elsewhere = (next & ~0xffclu) != code_page;
        if slow || elsewhere || stop != STOP_NONE {
            let number = u32(next >> 12u);
            let translation = halves(code_tlb[number % CODE_TLB_ENTRIES]);
            let at_hand = translation.x != 0u && translation.y == number && (next >> TLB_ADDRESS_BITS) == 0lu;
            if !slow && at_hand && (next & 3lu) == 0lu {
                code_page = next & ~PAGE_MASK;
                code_ops = (translation.x - 1u) * PAGE_OPS;
            } else if stop == STOP_NONE && (slow || done + 1u != count) {
                let outcome = access(op, pc, next, slow, done + 1u != count);
                stop = outcome.x;
                retires = outcome.y == 0u;
            }
            count = shortened(count, done);
            if stop != STOP_NONE {
                // The immediate or word, before the next micro-op takes its place.
                set_state(COLUMN_STOP, joined(stop, op.z));
                if !retires {
                    break;
                }
                count = done + 1u;
            }
        }
        done += 1u;
        pc = next;
        op = micro_ops[code_ops + ((u32(pc) >> 2u) & (PAGE_OPS - 1u))];
    }

    let steps = get_state(COLUMN_STEPS) + u64(done);
    if stop == STOP_NONE && steps >= get_state(COLUMN_LIMIT) {
        stop = STOP_BUDGET;
    }
    for (var i = 0u; i < 31u; i += 1u) {
        state[i * lanes + lane] = x[i];
    }
    set_state(COLUMN_SP, x[REGISTER_SP]);
    set_state(COLUMN_PC, pc);
    set_state(COLUMN_STEPS, steps);
    set_state(COLUMN_NZCV, joined(nzcv, halves(get_state(COLUMN_NZCV)).y));
    let has_detail = stop == STOP_HALT || stop == STOP_BREAKPOINT || stop == STOP_SYSCALL || stop == STOP_UNDEFINED;
    set_state(COLUMN_STOP, joined(stop, select(0u, halves(get_state(COLUMN_STOP)).y, has_detail)));

    var counter = COUNTER_STOPPED;
    if stop == STOP_NONE {
        counter = COUNTER_RUNNING;
    } else if stop == STOP_NEED_FRAME {
        counter = COUNTER_NEED_FRAME;
    } else if stop == STOP_NEED_CODE {
        counter = COUNTER_NEED_CODE;
    }
    atomicAdd(&counters[counter], 1u);
    let low_before = atomicAdd(&counters[COUNTER_STEPS], done);
    if low_before + done < low_before {
        atomicAdd(&counters[COUNTER_STEPS_HIGH], 1u);
    }
}

/// How many steps a slice has left room for, after work that is no step. One more than `done` is always left.
fn shortened(count: u32, done: u32) -> u32 {
    let work = effort / 2u;
    effort = 0u;
    // Most drivers cut nothing off.
    if parameters.fuel == NO_LIMIT {
        return count;
    }
    let least = done + 2u;
    let left = max(count, least) - least;
    return least + left - min(left, work);
}

/// Marks an address and a size for an exclusive store; size 0 clears the mark.
fn set_monitor(address: u64, bytes: u32) {
    set_state(COLUMN_MONITOR, address);
    set_state(COLUMN_NZCV, joined(0u, bytes));
}

// The stages of an access, in this order; not every access has all of them.

/// The first page is looked up for a load.
const STAGE_READ = 0u;
/// The second page is looked up for a load.
const STAGE_READ_SECOND = 1u;
/// The load.
const STAGE_LOAD = 2u;
/// Whether the first page could be written: before either of two is, and where nothing will be written.
const STAGE_CHECK = 3u;
/// Whether the second page could be written.
const STAGE_CHECK_SECOND = 4u;
/// The first page is looked up for a store, and made the lane's own.
const STAGE_WRITE = 5u;
/// The second page is looked up for a store, and made the lane's own.
const STAGE_WRITE_SECOND = 6u;
/// The store.
const STAGE_STORE = 7u;
/// The access is done.
const STAGE_DONE = 8u;
/// The page of the next instruction is looked up.
const STAGE_FETCH = 9u;

/// Everything that the fast ways do not do: pages that are not at hand, accesses across words and pages, those
/// that read and write, calls of the host, and the fetch from another page.
///
/// Returns what stops the lane, and 1 if this instruction does not retire. It takes little and gives little, and
/// reads the registers again, so that the loop needs few of the GPU's own.
fn access(op: vec4<u32>, pc: u64, next: u64, is_memory: bool, fetches: bool) -> vec2<u32> {
    let control = op.x;
    let p = op.y;
    let handler = get_handler(control);
    // First of all, as what follows needs registers.
    if handler == HANDLER_HALT {
        if op.z != SEMIHOSTING || !serve_console(u32(x[0]), x[1]) {
            return vec2<u32>(STOP_HALT, 1u);
        }
        x[0] = 0lu;
        set_monitor(0lu, 0u);
    }
    let size = get_size(p);
    let pair = get_pair(p) == 1u;
    var address = x[get_a(control)];
    if handler == HANDLER_LOAD_LITERAL {
        address = pc + joined(op.z, op.w);
    } else if handler <= HANDLER_STORE && get_index(p) != INDEX_POST {
        address = indexed(op);
    }
    let page = address & ~PAGE_MASK;
    let offset = u32(address) & 4095u;
    let word = offset >> 3u;
    let shift = (offset & 7u) * 8u;
    let bytes = select(1u, 1u << (size + get_pair(p)), handler <= HANDLER_COMPARE_AND_SWAP);
    let crossing = offset + bytes > 4096u;
    let stores = handler == HANDLER_STORE || handler == HANDLER_STORE_EXCLUSIVE || handler == HANDLER_ZERO_BLOCK;
    x[KEPT_LOADED] = 0lu;
    x[KEPT_LAST] = 0lu;
    var stage = STAGE_FETCH;
    if is_memory && handler != HANDLER_HALT {
        if get_aligned(p) == 1u && (offset & (bytes - 1u)) != 0u {
            return vec2<u32>(fault(FAULT_ALIGNMENT, select(ACCESS_READ, ACCESS_WRITE, stores), address), 1u);
        }
        stage = select(STAGE_READ, select(STAGE_WRITE, STAGE_CHECK, crossing), stores);
        if handler == HANDLER_STORE_EXCLUSIVE {
            if halves(get_state(COLUMN_NZCV)).y != bytes || get_state(COLUMN_MONITOR) != address {
                stage = STAGE_DONE;
                x[KEPT_LOADED] = 1lu;
            }
        }
    }
    x[KEPT_DATA] = x[get_c(control)];
    // STP has its second register in the place of the destination, STXP in that of b.
    x[KEPT_DATA_HIGH] = x[select(get_dst(control), get_b(control), handler == HANDLER_STORE_EXCLUSIVE)];
    var fresh = 0u;
    loop {
        if stage == STAGE_LOAD {
            let first = u32(x[KEPT_FIRST]) + word;
            let second_frame = u32(x[KEPT_LAST]);
            // Words from the 512th on are in the next page.
            let middle = select(first + 1u, second_frame, word == 511u);
            let last = select(first + 2u, second_frame + word - 510u, word >= 510u);
            var loaded = frame_load(first) >> shift;
            var second = 0lu;
            if (offset & 7u) + bytes > 8u {
                let after = frame_load(middle);
                if shift != 0u {
                    loaded |= after << (64u - shift);
                }
                if bytes == 16u {
                    second = after >> shift;
                    if shift != 0u {
                        second |= frame_load(last) << (64u - shift);
                    }
                }
            }
            if size == 2u {
                second = loaded >> 32u;
            }
            loaded = extend_loaded(loaded, size, get_extend(p));
            second = extend_loaded(second, size, get_extend(p));
            x[KEPT_LOADED] = loaded;
            x[KEPT_SECOND] = second;
            stage = STAGE_DONE;
            let b = x[get_b(control)];
            if handler == HANDLER_ATOMIC {
                x[KEPT_DATA] = mem_atomic_op(get_operation(p), loaded, b, 1u << size);
                stage = STAGE_WRITE;
            } else if handler == HANDLER_COMPARE_AND_SWAP {
                // Pairs are an even register and the next.
                let equal = loaded == low(b, 1u << size)
                    && (!pair || second == low(x[get_b(control) + 1u], 1u << size));
                x[KEPT_DATA_HIGH] = x[get_c(control) + 1u];
                stage = select(STAGE_CHECK, STAGE_WRITE, equal);
            }
        }
        if stage == STAGE_STORE {
            let first_frame = u32(x[KEPT_FIRST]);
            let first_code = halves(x[KEPT_FIRST]).y;
            let second_frame = u32(x[KEPT_LAST]);
            let second_code = halves(x[KEPT_LAST]).y;
            var data = x[KEPT_DATA];
            let data_high = x[KEPT_DATA_HIGH];
            if handler == HANDLER_ZERO_BLOCK {
                for (var i = 0u; i < 8u; i += 1u) {
                    frame_store(first_frame + (word & ~7u) + i, 0lu);
                }
                effort += 8u;
                if first_code != 0u {
                    mark_stale(first_code, offset & ~63u, offset | 63u);
                }
            } else {
                if pair && size == 2u {
                    data = (data & 0xfffffffflu) | (data_high << 32u);
                }
                let first = first_frame + word;
                let middle = select(first + 1u, second_frame, word == 511u);
                let last = select(first + 2u, second_frame + word - 510u, word >= 510u);
                // The bytes that change, as if they began at bit 0 of the first word.
                let changed = 0xfffffffffffffffflu >> (64u - 8u * min(bytes, 8u));
                frame_store(first, (frame_load(first) & ~(changed << shift)) | ((data & changed) << shift));
                if bytes == 16u {
                    if shift == 0u {
                        frame_store(middle, data_high);
                    } else {
                        frame_store(middle, (data >> (64u - shift)) | (data_high << shift));
                        let kept = 0xfffffffffffffffflu << shift;
                        frame_store(last, (frame_load(last) & kept) | (data_high >> (64u - shift)));
                    }
                } else if (offset & 7u) + bytes > 8u {
                    let changed_after = changed >> (64u - shift);
                    let stored_after = (data & changed) >> (64u - shift);
                    frame_store(middle, (frame_load(middle) & ~changed_after) | stored_after);
                }
                if first_code != 0u {
                    mark_stale(first_code, offset, min(offset + bytes - 1u, 4095u));
                }
                if second_code != 0u {
                    mark_stale(second_code, 0u, offset + bytes - 4097u);
                }
            }
            stage = STAGE_DONE;
        }
        if stage == STAGE_DONE {
            finish(op, address, bytes);
            stage = STAGE_FETCH;
        }
        var want = WANT_READ;
        var wanted = address;
        if stage == STAGE_FETCH {
            if !fetches || (next & ~0xffclu) == code_page {
                break;
            }
            if (next & 3lu) != 0lu {
                return vec2<u32>(fault(FAULT_ALIGNMENT, ACCESS_EXECUTE, next), 0u);
            }
            want = WANT_EXECUTE;
            wanted = next;
        } else if stage >= STAGE_WRITE {
            want = WANT_WRITE;
        } else if stage >= STAGE_CHECK {
            want = WANT_CHECK_WRITE;
        }
        if stage == STAGE_READ_SECOND || stage == STAGE_CHECK_SECOND || stage == STAGE_WRITE_SECOND {
            wanted = page + 4096lu;
        }
        let stop = translate(want, wanted);
        if stop != STOP_NONE {
            return vec2<u32>(stop, select(1u, 0u, stage == STAGE_FETCH));
        }
        switch stage {
            case STAGE_READ, STAGE_WRITE: {
                x[KEPT_FIRST] = joined(found_frame, found_code);
                stage += select(2u, 1u, crossing);
            }
            case STAGE_READ_SECOND, STAGE_WRITE_SECOND: {
                x[KEPT_LAST] = joined(found_frame, found_code);
                stage += 1u;
            }
            case STAGE_CHECK: {
                fresh = found_fresh;
                stage = select(STAGE_DONE, STAGE_CHECK_SECOND, crossing);
            }
            case STAGE_CHECK_SECOND: {
                stage = STAGE_WRITE;
                if !may_write(fresh + found_fresh) {
                    return vec2<u32>(STOP_OUT_OF_FRAMES, 1u);
                }
            }
            default: {}
        }
    }
    return vec2<u32>(STOP_NONE, 0u);
}

/// The base register plus the index or offset.
fn indexed(op: vec4<u32>) -> u64 {
    let index = x[get_b(op.x)];
    let extracted = select(extract(index, op.y), index, get_extraction(op.y) == EXTRACTION_PLAIN);
    return x[get_a(op.x)] + extracted + joined(op.z, op.w);
}

/// What an access writes to registers, and what becomes of the monitor.
fn finish(op: vec4<u32>, address: u64, bytes: u32) {
    let second = x[KEPT_SECOND];
    let base = indexed(op);
    let control = op.x;
    let handler = get_handler(control);
    let pair = get_pair(op.y) == 1u;
    var value = x[KEPT_LOADED];
    var destination = get_dst(control);
    if handler == HANDLER_LOAD_EXCLUSIVE {
        set_monitor(address, bytes);
    } else if handler == HANDLER_STORE_EXCLUSIVE {
        set_monitor(0lu, 0u);
    }
    if pair && (handler == HANDLER_LOAD || handler == HANDLER_LOAD_EXCLUSIVE) {
        // Both into the same register: the first wins in LDP, the second in LDXP.
        if handler == HANDLER_LOAD_EXCLUSIVE && get_c(control) == destination {
            value = second;
        }
        x[get_c(control)] = second;
    } else if pair && handler == HANDLER_COMPARE_AND_SWAP {
        let odd = get_b(control) + 1u;
        x[select(odd, REGISTER_SINK, odd == REGISTER_ZERO)] = second;
    } else if handler == HANDLER_STORE {
        // Where a pair that is stored has its second source.
        destination = REGISTER_SINK;
    }
    x[destination] = value;
    if handler <= HANDLER_STORE && get_index(op.y) != INDEX_OFFSET {
        x[get_a(control)] = base;
    }
}
