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
import package::machine::frames::{frame_load, frame_store};
import package::machine::layout::{ACCESS_EXECUTE, ACCESS_READ, ACCESS_WRITE, COLUMN_FPCR, COLUMN_LIMIT, COLUMN_MONITOR, COLUMN_NZCV, COLUMN_PC, COLUMN_SP, COLUMN_STEPS, COLUMN_STOP, COLUMN_STOP_ADDRESS, COLUMN_TPIDR, COLUMN_TPIDRRO, COUNTER_NEED_CODE, COUNTER_NEED_FRAME, COUNTER_RUNNING, COUNTER_STEPS, COUNTER_STEPS_HIGH, COUNTER_STOPPED, FAULT_ALIGNMENT, PAGE_OPS, STOP_BREAKPOINT, STOP_BUDGET, STOP_HALT, STOP_NEED_CODE, STOP_NEED_FRAME, STOP_NONE, STOP_OUT_OF_FRAMES, STOP_SYSCALL, STOP_UNDEFINED};
import package::machine::memory::{NO_PAGE, PAGE_MASK, WANT_CHECK_WRITE, WANT_EXECUTE, WANT_NOTHING, WANT_READ, WANT_WRITE, code_ops, code_page, effort, fault, forget_pages, found_code, found_frame, found_fresh, get_state, halves, joined, lane, mark_stale, may_write, read_frame, read_page, set_state, translate, write_code, write_frame, write_page};
import package::machine::micro_op::{CARRY_FLAG, EXTRACTION_PLAIN, EXTRACTION_ROTATED, EXTRACTION_SIGNED, HANDLER_AND, HANDLER_ATOMIC, HANDLER_BIT_FIELD_INSERT, HANDLER_BRANCH, HANDLER_BRANCH_REGISTER, HANDLER_BREAKPOINT, HANDLER_CHECK_READ, HANDLER_CLEAR_EXCLUSIVE, HANDLER_COMPARE_AND_SWAP, HANDLER_CONDITIONAL_COMPARE, HANDLER_COUNT_LEADING_SIGNS, HANDLER_COUNT_LEADING_ZEROS, HANDLER_CRC32, HANDLER_DIVIDE, HANDLER_EOR, HANDLER_EXTRACT, HANDLER_HALT, HANDLER_LOAD, HANDLER_LOAD_EXCLUSIVE, HANDLER_LOAD_LITERAL, HANDLER_MULTIPLY_ADD, HANDLER_MULTIPLY_ADD_LONG, HANDLER_MULTIPLY_HIGH, HANDLER_NOP, HANDLER_ORR, HANDLER_PC_RELATIVE, HANDLER_READ_SYSTEM, HANDLER_REVERSE_BITS, HANDLER_REVERSE_BYTES, HANDLER_SELECT, HANDLER_SHIFT, HANDLER_STALE, HANDLER_STORE, HANDLER_STORE_EXCLUSIVE, HANDLER_SUPERVISOR_CALL, HANDLER_TEST_BRANCH, HANDLER_UNDEFINED, HANDLER_WRITE_SYSTEM, HANDLER_ZERO_BLOCK, INDEX_OFFSET, INDEX_POST, REGISTERS, REGISTER_SINK, REGISTER_SP, REGISTER_ZERO, SYSTEM_FPCR, SYSTEM_FPSR, SYSTEM_NZCV, SYSTEM_TPIDRRO_EL0, SYSTEM_TPIDR_EL0, get_a, get_aligned, get_b, get_c, get_carry, get_cond, get_dst, get_extend, get_extraction, get_flags, get_handler, get_index, get_invert, get_left, get_nzcv, get_operation, get_pair, get_right, get_size, get_wide};

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
var<private> x: array<u64, REGISTERS>;

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
    // Some drivers cut an invocation off after so many iterations of loops; a step takes four at most, and
    // other work shortens the slice.
    let retired = get_state(COLUMN_STEPS);
    // A lane may be beyond its limit already.
    let allowed = max(get_state(COLUMN_LIMIT), retired) - retired;
    var count = u32(min(allowed, u64(min(parameters.steps, parameters.fuel / 4u))));

    for (var i = 0u; i < 31u; i += 1u) {
        x[i] = state[i * lanes + lane];
    }
    x[REGISTER_ZERO] = 0lu;
    x[REGISTER_SP] = get_state(COLUMN_SP);
    var nzcv = u32(get_state(COLUMN_NZCV));
    forget_pages();
    effort = 128u;

    var stop = STOP_NONE;
    // The loop fetches at its end. It begins with an instruction before the first that does nothing and does
    // not count.
    var done = 0u - 1u;
    var pc = get_state(COLUMN_PC) - 4lu;
    var op = vec4<u32>(HANDLER_NOP | (REGISTER_SINK << 8u), 0u, 0u, 0u);
    if count == 0u {
        stop = STOP_BUDGET;
        done = 0u;
        pc += 4lu;
    }

    while stop == STOP_NONE {
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
        let carry_field = get_carry(p);
        let carry = select(carry_field, (nzcv >> 1u) & 1u, carry_field == CARRY_FLAG);
        let operation = get_operation(p);
        let holds = condition_holds(get_cond(p), nzcv);

        // Compute: the most common handlers without a branch.
        let addend = b + u64(carry);
        let sum = a + addend;
        let otherwise = pc + 4lu;
        var value = select(select(a ^ b, a | b, handler == HANDLER_ORR), a & b, handler == HANDLER_AND);
        value = select(value, select(sum, addend, handler == HANDLER_SELECT && !holds), handler <= HANDLER_SELECT);
        value = select(value, a, handler == HANDLER_SELECT && holds) & mask;
        value = select(value, otherwise, handler >= HANDLER_BRANCH);
        var taken = select(holds, (extracted != 0lu) == (operation == 1u), handler == HANDLER_TEST_BRANCH);
        taken = (taken && handler >= HANDLER_BRANCH || handler == HANDLER_BRANCH_REGISTER) && handler <= HANDLER_BRANCH_REGISTER;
        let next = select(otherwise, select(pc + imm, a, handler == HANDLER_BRANCH_REGISTER), taken);
        let post = get_index(p) == INDEX_POST && handler <= HANDLER_STORE;
        var address = select(select(sum, a, post), a, handler > HANDLER_STORE);
        // Set by what stops the lane after this instruction has retired.
        var stop_after = STOP_NONE;

        // Compute: the others.
        if handler - 1u >= HANDLER_STORE {
            let datasize = select(32u, 64u, wide);
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
                case HANDLER_LOAD_LITERAL: { address = pc + imm; }
                case HANDLER_SUPERVISOR_CALL: { stop_after = STOP_SYSCALL; }
                case HANDLER_BREAKPOINT: { stop = STOP_BREAKPOINT; }
                case HANDLER_HALT: { stop = STOP_HALT; }
                case HANDLER_UNDEFINED: { stop = STOP_UNDEFINED; }
                case HANDLER_STALE: {
                    stop = STOP_NEED_CODE;
                    set_state(COLUMN_STOP_ADDRESS, joined(0u, code_ops / PAGE_OPS + 1u));
                }
                default: {}
            }
        }

        // Memory: what lies within a word, or is two whole words, of a page at hand.
        let page = address & ~PAGE_MASK;
        let offset = u32(address) & 4095u;
        let size = get_size(p);
        let pair = get_pair(p) == 1u;
        let bytes = 1u << (size + get_pair(p));
        let shift = (offset & 7u) * 8u;
        let simple = ((offset & 7u) + bytes <= 8u || (bytes == 16u && (offset & 7u) == 0u && offset <= 4080u))
            && !(get_aligned(p) == 1u && (offset & (bytes - 1u)) != 0u);
        var second = 0lu;
        var slow = handler >= HANDLER_LOAD_LITERAL && handler <= HANDLER_CHECK_READ;
        if handler == HANDLER_LOAD {
            if simple && page == read_page {
                let word = read_frame + (offset >> 3u);
                let loaded = frame_load(word) >> shift;
                value = extend_loaded(loaded, size, get_extend(p));
                if pair {
                    second = loaded >> 32u;
                    if size == 3u {
                        second = frame_load(word + 1u);
                    }
                    second = extend_loaded(second, size, get_extend(p));
                }
            } else {
                slow = true;
            }
        } else if handler == HANDLER_STORE {
            if simple && page == write_page && write_code == 0u {
                let word = write_frame + (offset >> 3u);
                let data = x[get_c(control)];
                if pair {
                    let high = x[get_dst(control)];
                    frame_store(word, select((data & 0xfffffffflu) | (high << 32u), data, size == 3u));
                    if size == 3u {
                        frame_store(word + 1u, high);
                    }
                } else {
                    let changed = (0xfffffffffffffffflu >> (64u - 8u * bytes)) << shift;
                    frame_store(word, (frame_load(word) & ~changed) | ((data << shift) & changed));
                }
            } else {
                slow = true;
            }
        }
        // The next instruction is fetched from the page at hand, if there will be a next one.
        let elsewhere = (next & ~0xffclu) != code_page && done + 1u < count && stop_after == STOP_NONE;
        if (slow || elsewhere) && stop == STOP_NONE {
            let outcome = access(op, address, slow, a, b, value, next, elsewhere);
            stop = outcome.stop;
            if stop_after == STOP_NONE {
                stop_after = outcome.stop_after;
            }
            value = outcome.value;
            second = outcome.second;
        }
        if effort != 0u {
            // One more instruction is always done. No more is said of drivers that cut nothing off.
            if parameters.fuel != NO_LIMIT {
                let least = done + 2u;
                let left = max(count, least) - least;
                count = least + left - min(left, effort / 4u + 1u);
            }
            effort = 0u;
        }
        if stop != STOP_NONE {
            break;
        }

        // Write-back. A pair that is stored has a source where others have the destination.
        if pair && slow_or_pair(handler) {
            // Loading both into the same register: here the first wins in LDP, the second in LDXP.
            let target_register = select(get_c(control), get_b(control) + 1u, handler == HANDLER_COMPARE_AND_SWAP);
            if handler == HANDLER_LOAD_EXCLUSIVE && target_register == get_dst(control) {
                value = second;
            }
            x[select(target_register, REGISTER_SINK, target_register == REGISTER_ZERO)] = second;
        }
        x[select(get_dst(control), REGISTER_SINK, handler == HANDLER_STORE)] = value;
        if get_index(p) != INDEX_OFFSET && (handler == HANDLER_LOAD || handler == HANDLER_STORE) {
            x[get_a(control)] = sum;
        }
        if handler <= HANDLER_EOR && (get_flags(p) == 1u || handler == HANDLER_CONDITIONAL_COMPARE) {
            // The words that hold the sign.
            let sign = select(u32(value), u32(value >> 32u), wide);
            var flags = ((sign >> 31u) << 3u) | select(0u, 4u, value == 0lu);
            if handler <= HANDLER_CONDITIONAL_COMPARE {
                let differs = (a ^ value) & (b ^ value);
                let overflow = select(u32(differs), u32(differs >> 32u), wide) >> 31u;
                // A sum of words has its carry in bit 32; one of doublewords is less than what was added to.
                let wrapped = sum < a || (sum == a && carry == 1u);
                flags |= (select(u32(sum >> 32u) & 1u, u32(wrapped), wide) << 1u) | overflow;
            }
            nzcv = select(flags, get_nzcv(p), handler == HANDLER_CONDITIONAL_COMPARE && !holds);
        }
        done += 1u;
        pc = next;
        stop = stop_after;
        if stop != STOP_NONE || done >= count {
            break;
        }
        op = micro_ops[code_ops + ((u32(pc) >> 2u) & (PAGE_OPS - 1u))];
    }

    let steps = get_state(COLUMN_STEPS) + u64(done);
    if stop == STOP_NONE && steps == get_state(COLUMN_LIMIT) {
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
    set_state(COLUMN_STOP, joined(stop, select(0u, op.z, has_detail)));

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

/// Whether a handler with `pair` loads two registers.
fn slow_or_pair(handler: u32) -> bool {
    return handler == HANDLER_LOAD || handler == HANDLER_LOAD_EXCLUSIVE || handler == HANDLER_COMPARE_AND_SWAP;
}

/// Marks an address and a size for an exclusive store; size 0 clears the mark.
fn set_monitor(address: u64, bytes: u32) {
    set_state(COLUMN_MONITOR, address);
    set_state(COLUMN_NZCV, joined(0u, bytes));
}

/// What became of an access.
struct Outcome {
    /// What stops the lane before this instruction.
    stop: u32,
    /// What stops the lane after this instruction.
    stop_after: u32,
    /// What was loaded, or the status of an exclusive store.
    value: u64,
    /// What else was loaded.
    second: u64,
}

/// Everything that the fast ways do not do: pages that are not at hand, accesses across words and pages, those
/// that read and write, and the fetch from another page.
fn access(op: vec4<u32>, address: u64, is_memory: bool, a: u64, b: u64, computed: u64, next: u64, fetches: bool) -> Outcome {
    let control = op.x;
    let p = op.y;
    let handler = get_handler(control);
    let operation = get_operation(p);
    let size = get_size(p);
    let pair = get_pair(p) == 1u;
    let page = address & ~PAGE_MASK;
    let offset = u32(address) & 4095u;
    let word = offset >> 3u;
    let shift = (offset & 7u) * 8u;
    let bytes = select(1u, 1u << (size + get_pair(p)), handler <= HANDLER_COMPARE_AND_SWAP);
    let crossing = is_memory && offset + bytes > 4096u;
    var outcome = Outcome(STOP_NONE, STOP_NONE, computed, 0lu);
    var reads = false;
    var writes = false;
    var checks = false;
    if is_memory {
        switch handler {
            case HANDLER_STORE, HANDLER_ZERO_BLOCK: { writes = true; }
            case HANDLER_STORE_EXCLUSIVE: {
                writes = halves(get_state(COLUMN_NZCV)).y == bytes && get_state(COLUMN_MONITOR) == address;
                outcome.value = select(1lu, 0lu, writes);
            }
            default: { reads = true; }
        }
        if get_aligned(p) == 1u && (offset & (bytes - 1u)) != 0u {
            let stores = handler == HANDLER_STORE || handler == HANDLER_STORE_EXCLUSIVE;
            outcome.stop = fault(FAULT_ALIGNMENT, select(ACCESS_READ, ACCESS_WRITE, stores), address);
            return outcome;
        }
    }
    var data = x[get_c(control)];
    var data_high = 0lu;
    if pair {
        // STP has its second register in the place of the destination, STXP in that of b.
        data_high = select(x[get_dst(control)], b, handler == HANDLER_STORE_EXCLUSIVE);
    }
    // How far a crossing access has come: pages looked up.
    var pages = 0u;
    var fresh = 0u;
    var second_frame = 0u;
    var second_code = 0u;
    loop {
        var want = WANT_NOTHING;
        var target_address = address;
        if reads {
            if read_page != page {
                want = WANT_READ;
            } else if crossing && pages == 0u {
                want = WANT_READ;
                target_address = page + 4096lu;
            } else {
                reads = false;
                pages = 0u;
                var value = frame_load(read_frame + word) >> shift;
                var second = 0lu;
                if (offset & 7u) + bytes > 8u {
                    // Words from the 512th on are in the next page.
                    let after = select(read_frame + word + 1u, second_frame, word == 511u);
                    let middle = frame_load(after);
                    if shift != 0u {
                        value |= middle << (64u - shift);
                    }
                    if bytes == 16u {
                        second = middle >> shift;
                        if shift != 0u {
                            let last = select(read_frame + word + 2u, second_frame + word - 510u, word >= 510u);
                            second |= frame_load(last) << (64u - shift);
                        }
                    }
                }
                if pair && size == 2u {
                    second = value >> 32u;
                }
                value = extend_loaded(value, size, get_extend(p));
                if pair {
                    second = extend_loaded(second, size, get_extend(p));
                }
                outcome.value = value;
                outcome.second = second;
                if handler == HANDLER_ATOMIC {
                    data = mem_atomic_op(operation, value, b, 1u << size);
                    writes = true;
                } else if handler == HANDLER_COMPARE_AND_SWAP {
                    // Pairs are an even register and the next; x31 is none of them but as zero.
                    var equal = value == low(b, 1u << size);
                    if pair {
                        equal = equal && second == low(x[get_b(control) + 1u], 1u << size);
                        data_high = x[get_c(control) + 1u];
                    }
                    writes = equal;
                    checks = !equal;
                }
            }
        }
        if !reads && want == WANT_NOTHING && (writes || checks) {
            if checks {
                want = WANT_CHECK_WRITE;
            } else if crossing && pages < 2u {
                // Both pages must be writable before either is touched.
                want = WANT_CHECK_WRITE;
                target_address = select(address, page + 4096lu, pages == 1u);
            } else if crossing && pages == 2u {
                if !may_write(fresh) {
                    outcome.stop = STOP_OUT_OF_FRAMES;
                    return outcome;
                }
                want = WANT_WRITE;
            } else if crossing && pages == 3u {
                want = WANT_WRITE;
                target_address = page + 4096lu;
            } else if write_page != page {
                want = WANT_WRITE;
            } else {
                writes = false;
                if handler == HANDLER_ZERO_BLOCK {
                    let first = write_frame + (word & ~7u);
                    for (var i = 0u; i < 8u; i += 1u) {
                        frame_store(first + i, 0lu);
                    }
                    effort += 8u;
                    if write_code != 0u {
                        mark_stale(write_code, offset & ~63u, offset | 63u);
                    }
                } else {
                    if pair && size == 2u {
                        data = (data & 0xfffffffflu) | (data_high << 32u);
                    }
                    // The bytes that change, as if they began at bit 0 of the first word.
                    let changed = 0xfffffffffffffffflu >> (64u - 8u * min(bytes, 8u));
                    let first = write_frame + word;
                    let middle = select(first + 1u, second_frame, word == 511u);
                    let mask_first = changed << shift;
                    if mask_first == 0xfffffffffffffffflu {
                        frame_store(first, data);
                    } else {
                        frame_store(first, (frame_load(first) & ~mask_first) | ((data << shift) & mask_first));
                    }
                    if bytes == 16u {
                        if shift == 0u {
                            frame_store(middle, data_high);
                        } else {
                            let last = select(first + 2u, second_frame + word - 510u, word >= 510u);
                            frame_store(middle, (data >> (64u - shift)) | (data_high << shift));
                            let kept = 0xfffffffffffffffflu << shift;
                            frame_store(last, (frame_load(last) & kept) | (data_high >> (64u - shift)));
                        }
                    } else if (offset & 7u) + bytes > 8u {
                        let mask_middle = changed >> (64u - shift);
                        frame_store(middle, (frame_load(middle) & ~mask_middle) | ((data & changed) >> (64u - shift)));
                    }
                    if write_code != 0u {
                        mark_stale(write_code, offset, min(offset + bytes - 1u, 4095u));
                    }
                    if crossing && second_code != 0u {
                        mark_stale(second_code, 0u, offset + bytes - 4097u);
                    }
                }
            }
        }
        if want == WANT_NOTHING {
            if !fetches && code_page != NO_PAGE || (next & ~0xffclu) == code_page {
                break;
            }
            want = WANT_EXECUTE;
            target_address = next;
            if (next & 3lu) != 0lu {
                outcome.stop_after = fault(FAULT_ALIGNMENT, ACCESS_EXECUTE, next);
                break;
            }
        }
        let second_page = target_address != address && want != WANT_EXECUTE;
        let stop = translate(want, target_address, second_page);
        if stop != STOP_NONE {
            if want == WANT_EXECUTE {
                outcome.stop_after = stop;
                break;
            }
            outcome.stop = stop;
            return outcome;
        }
        if want == WANT_CHECK_WRITE {
            checks = false;
            fresh += found_fresh;
        }
        if crossing && want != WANT_EXECUTE && (second_page || writes) {
            pages += 1u;
        }
        if second_page {
            second_frame = found_frame;
            second_code = found_code;
        }
    }
    if handler == HANDLER_LOAD_EXCLUSIVE && is_memory {
        set_monitor(address, bytes);
    } else if handler == HANDLER_STORE_EXCLUSIVE && is_memory {
        set_monitor(0lu, 0u);
    }
    return outcome;
}
