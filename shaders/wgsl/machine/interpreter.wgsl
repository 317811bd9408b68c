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
import package::arm64::multiply::{multiply_high_signed, multiply_high_unsigned};
import package::arm64::numbers::{sign_extend};
import package::arm64::operand::{rotate_right, shift_reg};
import package::machine::bindings::{counters, micro_ops, parameters, state};
import package::machine::frames::{frame_load, frame_store};
import package::machine::layout::{ACCESS_READ, ACCESS_WRITE, COLUMN_FPCR, COLUMN_HEAD, COLUMN_LIMIT, COLUMN_MONITOR, COLUMN_NZCV, COLUMN_PC, COLUMN_ROOT, COLUMN_SP, COLUMN_STEPS, COLUMN_STOP, COLUMN_STOP_ADDRESS, COLUMN_TAIL, COLUMN_TPIDR, COLUMN_TPIDRRO, COLUMN_WINDOW, COUNTER_NEED_CODE, COUNTER_NEED_FRAME, COUNTER_RUNNING, COUNTER_STEPS, COUNTER_STEPS_HIGH, COUNTER_STOPPED, FAULT_ALIGNMENT, PAGE_OPS, STOP_BREAKPOINT, STOP_BUDGET, STOP_HALT, STOP_NEED_CODE, STOP_NEED_FRAME, STOP_NONE, STOP_OUT_OF_FRAMES, STOP_SYSCALL, STOP_UNDEFINED};
import package::machine::memory::{PAGE_MASK, WANT_CHECK_WRITE, WANT_EXECUTE, WANT_NOTHING, WANT_READ, WANT_WRITE, chain_head, chain_tail, code_ops, code_page, effort, fault, forget_pages, found_code, found_frame, found_fresh, levels, mark_stale, pages_max, pages_written, read_frame, read_page, root, stop_address, translate, window, write_code, write_frame, write_page};
import package::machine::micro_op::{CARRY_FLAG, EXTRACTION_PLAIN, EXTRACTION_ROTATED, EXTRACTION_SIGNED, HANDLER_AND, HANDLER_ATOMIC, HANDLER_BIT_FIELD_INSERT, HANDLER_BRANCH, HANDLER_BRANCH_REGISTER, HANDLER_BREAKPOINT, HANDLER_CHECK_READ, HANDLER_CLEAR_EXCLUSIVE, HANDLER_COMPARE_AND_SWAP, HANDLER_COMPARE_BRANCH, HANDLER_CONDITIONAL_COMPARE, HANDLER_COUNT_LEADING_SIGNS, HANDLER_COUNT_LEADING_ZEROS, HANDLER_CRC32, HANDLER_DIVIDE, HANDLER_EOR, HANDLER_EXTRACT, HANDLER_HALT, HANDLER_LOAD, HANDLER_LOAD_EXCLUSIVE, HANDLER_LOAD_LITERAL, HANDLER_MULTIPLY_ADD, HANDLER_MULTIPLY_ADD_LONG, HANDLER_MULTIPLY_HIGH, HANDLER_NOP, HANDLER_ORR, HANDLER_PC_RELATIVE, HANDLER_READ_SYSTEM, HANDLER_REVERSE_BITS, HANDLER_REVERSE_BYTES, HANDLER_SELECT, HANDLER_SHIFT, HANDLER_STALE, HANDLER_STORE, HANDLER_STORE_EXCLUSIVE, HANDLER_SUPERVISOR_CALL, HANDLER_TEST_BRANCH, HANDLER_WRITE_SYSTEM, HANDLER_ZERO_BLOCK, INDEX_OFFSET, INDEX_POST, REGISTERS, REGISTER_SINK, REGISTER_SP, REGISTER_ZERO, SYSTEM_FPCR, SYSTEM_FPSR, SYSTEM_NZCV, SYSTEM_TPIDR_EL0, SYSTEM_TPIDRRO_EL0, get_a, get_aligned, get_b, get_c, get_carry, get_cond, get_dst, get_extend, get_extraction, get_flags, get_handler, get_index, get_invert, get_left, get_nzcv, get_operation, get_pair, get_right, get_size, get_wide};

/// Lanes of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// The bytes DC ZVA clears.
const ZERO_BLOCK_BYTES = 64u;
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

/// The second operand, before the immediate.
fn extract(value: u64, parameters_word: u32) -> u64 {
    let right = get_right(parameters_word);
    let shifted = value << get_left(parameters_word);
    switch get_extraction(parameters_word) {
        case EXTRACTION_SIGNED: { return u64(i64(shifted) >> right); }
        case EXTRACTION_ROTATED: { return rotate_right(value, right, 32u << get_wide(parameters_word)); }
        default: { return shifted >> right; }
    }
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
    let lane = invocation.x;
    let lanes = parameters.lanes;
    let fuel = parameters.fuel;
    if lane >= lanes || u32(state[COLUMN_STOP * lanes + lane]) != STOP_NONE {
        return;
    }
    let steps_before = state[COLUMN_STEPS * lanes + lane];
    let allowed = state[COLUMN_LIMIT * lanes + lane] - steps_before;
    let count = u32(min(allowed, u64(parameters.steps)));

    for (var i = 0u; i < 31u; i += 1u) {
        x[i] = state[i * lanes + lane];
    }
    x[REGISTER_ZERO] = 0lu;
    x[REGISTER_SP] = state[COLUMN_SP * lanes + lane];
    let flags_and_monitor = state[COLUMN_NZCV * lanes + lane];
    var nzcv = u32(flags_and_monitor);
    var monitor_bytes = u32(flags_and_monitor >> 32u);
    var monitor = state[COLUMN_MONITOR * lanes + lane];
    let root_and_levels = state[COLUMN_ROOT * lanes + lane];
    root = u32(root_and_levels);
    levels = u32(root_and_levels >> 32u);
    window = state[COLUMN_WINDOW * lanes + lane];
    let tail = state[COLUMN_TAIL * lanes + lane];
    chain_tail = u32(tail);
    pages_written = u32(tail >> 32u);
    let head = state[COLUMN_HEAD * lanes + lane];
    pages_max = u32(head);
    chain_head = u32(head >> 32u);
    forget_pages();
    effort = 64u;

    var stop = STOP_NONE;
    var detail = 0u;
    var done = 0u;
    // The loop fetches at its end. It begins with an instruction before the first that does nothing and does
    // not count.
    var pc = state[COLUMN_PC * lanes + lane] - 4lu;
    var op = vec4<u32>(HANDLER_NOP | (REGISTER_SINK << 8u), 0u, 0u, 0u);
    done -= 1u;
    if count == 0u {
        stop = STOP_BUDGET;
        pc += 4lu;
        done = 0u;
    }

    while stop == STOP_NONE {
        // Operands.
        let control = op.x;
        let p = op.y;
        let imm = u64(op.z) | (u64(op.w) << 32u);
        let handler = get_handler(control);
        let wide = get_wide(p) == 1u;
        let mask = select(0xfffffffflu, 0xfffffffffffffffflu, wide);
        let datasize = select(32u, 64u, wide);
        let a = x[get_a(control)] & mask;
        var b = x[get_b(control)];
        let c = x[get_c(control)];
        if get_extraction(p) != EXTRACTION_PLAIN {
            b = extract(b, p);
        }
        b = ((b + imm) ^ (0lu - u64(get_invert(p)))) & mask;
        let carry_field = get_carry(p);
        let carry = select(carry_field, (nzcv >> 1u) & 1u, carry_field == CARRY_FLAG);
        let operation = get_operation(p);

        // Compute. The most common handlers take no branch; others set a value, the next pc, or a stop.
        let sum = a + b + u64(carry);
        var value = select(select(a ^ b, a | b, handler == HANDLER_ORR), a & b, handler == HANDLER_AND);
        value = select(value, sum & mask, handler <= HANDLER_CONDITIONAL_COMPARE);
        var next = pc + 4lu;
        var address = a + b;
        // Set by what stops the lane after this instruction has retired.
        var stop_after = STOP_NONE;
        var exclusive_passes = false;
        if handler > HANDLER_EOR || handler == HANDLER_STALE {
        switch handler {
            case HANDLER_BIT_FIELD_INSERT: {
                let field = (0xfffffffffffffffflu << get_left(p)) >> get_right(p);
                value = ((c & ~field) | b) & mask;
            }
            case HANDLER_EXTRACT: {
                let lsb = get_right(p);
                let above = select(0lu, a << ((datasize - lsb) & 63u), lsb != 0u);
                value = ((b >> lsb) | above) & mask;
            }
            case HANDLER_SHIFT: {
                value = shift_reg(a, operation, u32(b) & (datasize - 1u), datasize);
            }
            case HANDLER_SELECT: {
                value = select((b + u64(carry)) & mask, a, condition_holds(get_cond(p), nzcv));
            }
            case HANDLER_MULTIPLY_ADD: {
                let product = a * b;
                value = (c + select(product, 0lu - product, operation == 1u)) & mask;
            }
            case HANDLER_MULTIPLY_ADD_LONG: {
                let signed = operation >= 2u;
                let multiplicand = select(a & 0xfffffffflu, sign_extend(a, 32u), signed);
                let product = multiplicand * select(b & 0xfffffffflu, sign_extend(b, 32u), signed);
                value = c + select(product, 0lu - product, (operation & 1u) == 1u);
            }
            case HANDLER_MULTIPLY_HIGH: {
                value = select(multiply_high_unsigned(a, b), multiply_high_signed(a, b), operation == 1u);
             }
            case HANDLER_DIVIDE: {
                let signed = operation == 1u;
                let narrow = signed && !wide;
                let dividend = select(a, sign_extend(a, 32u), narrow);
                value = divide(dividend, select(b, sign_extend(b, 32u), narrow), signed) & mask;
            }
            case HANDLER_CRC32: {
                let bits = 8u << get_size(p);
                value = u64(checksum(u32(a), b, bits, select(CRC32_POLYNOMIAL, CRC32C_POLYNOMIAL, operation == 1u)));
                effort += 72u;
            }
            case HANDLER_REVERSE_BITS: { value = reverse_bits(a) >> (64u - datasize); }
            case HANDLER_REVERSE_BYTES: { value = reverse_bytes(a, 8u << get_size(p)) & mask; }
            case HANDLER_COUNT_LEADING_ZEROS: { value = u64(count_leading_zero_bits(a, datasize)); }
            case HANDLER_COUNT_LEADING_SIGNS: { value = u64(count_leading_sign_bits(a, datasize)); }
            case HANDLER_PC_RELATIVE: { value = imm + select(pc, pc & ~PAGE_MASK, operation == 1u); }
            case HANDLER_BRANCH: {
                value = next;
                next = select(next, pc + imm, condition_holds(get_cond(p), nzcv));
            }
            case HANDLER_COMPARE_BRANCH: { next = select(next, pc + imm, (a != 0lu) == (operation == 1u)); }
            case HANDLER_TEST_BRANCH: {
                next = select(next, pc + imm, (u32(a >> get_right(p)) & 1u) == operation);
            }
            case HANDLER_BRANCH_REGISTER: {
                value = next;
                next = a;
            }
            case HANDLER_NOP: {}
            case HANDLER_CLEAR_EXCLUSIVE: { monitor_bytes = 0u; }
            case HANDLER_READ_SYSTEM: {
                let floating_point = state[COLUMN_FPCR * lanes + lane];
                switch operation {
                    case SYSTEM_NZCV: { value = u64(nzcv) << 28u; }
                    case SYSTEM_FPCR: { value = floating_point & 0xfffffffflu; }
                    case SYSTEM_FPSR: { value = floating_point >> 32u; }
                    case SYSTEM_TPIDR_EL0: { value = state[COLUMN_TPIDR * lanes + lane]; }
                    case SYSTEM_TPIDRRO_EL0: { value = state[COLUMN_TPIDRRO * lanes + lane]; }
                    default: { value = steps_before + u64(done); }
                }
            }
            case HANDLER_WRITE_SYSTEM: {
                let floating_point = state[COLUMN_FPCR * lanes + lane];
                switch operation {
                    case SYSTEM_NZCV: { nzcv = u32(a >> 28u) & 15u; }
                    case SYSTEM_FPCR: {
                        let kept = floating_point & ~0xfffffffflu;
                        state[COLUMN_FPCR * lanes + lane] = kept | u64(u32(a) & FPCR_MASK);
                    }
                    case SYSTEM_FPSR: {
                        let kept = floating_point & 0xfffffffflu;
                        state[COLUMN_FPCR * lanes + lane] = kept | (u64(u32(a) & FPSR_MASK) << 32u);
                    }
                    default: { state[COLUMN_TPIDR * lanes + lane] = a; }
                }
            }
            case HANDLER_LOAD, HANDLER_STORE: { address = select(address, a, get_index(p) == INDEX_POST); }
            case HANDLER_LOAD_LITERAL: { address = pc + imm; }
            case HANDLER_STORE_EXCLUSIVE: {
                address = a;
                exclusive_passes = monitor_bytes == (1u << (get_size(p) + get_pair(p))) && monitor == a;
                value = select(1lu, 0lu, exclusive_passes);
            }
            case HANDLER_LOAD_EXCLUSIVE, HANDLER_ATOMIC, HANDLER_COMPARE_AND_SWAP, HANDLER_CHECK_READ, HANDLER_ZERO_BLOCK: {
                address = a;
            }
            case HANDLER_SUPERVISOR_CALL: {
                stop_after = STOP_SYSCALL;
                detail = op.z;
            }
            case HANDLER_BREAKPOINT: {
                stop = STOP_BREAKPOINT;
                detail = op.z;
            }
            case HANDLER_HALT: {
                stop = STOP_HALT;
                detail = op.z;
            }
            case HANDLER_STALE: {
                stop = STOP_NEED_CODE;
                stop_address = u64(code_ops / PAGE_OPS + 1u) << 32u;
            }
            default: {
                stop = STOP_UNDEFINED;
                detail = op.z;
            }
        }
        }

        // Memory. What is loaded is `value` and `second`; what is stored is `data` and `data_high`.
        let size = get_size(p);
        let pair = get_pair(p) == 1u;
        let is_memory = handler >= HANDLER_LOAD && handler <= HANDLER_ZERO_BLOCK;
        let page = address & ~PAGE_MASK;
        let offset = u32(address) & 4095u;
        let word = offset >> 3u;
        let shift = (offset & 7u) * 8u;
        let bytes = select(1u, 1u << (size + get_pair(p)), handler <= HANDLER_COMPARE_AND_SWAP);
        var second = 0lu;
        var slow_memory = false;
        if is_memory {
            let misaligned = get_aligned(p) == 1u && (offset & (bytes - 1u)) != 0u;
            // Within a word, or two whole words of a page.
            let simple = ((offset & 7u) + bytes <= 8u || (bytes == 16u && shift == 0u && word < 511u)) && !misaligned;
            if simple && read_page == page && (handler == HANDLER_LOAD || handler == HANDLER_LOAD_LITERAL) {
                value = frame_load(read_frame + word) >> shift;
                if pair {
                    second = value >> 32u;
                    if size == 3u {
                        second = frame_load(read_frame + word + 1u);
                    }
                    second = extend_loaded(second, size, get_extend(p));
                }
                value = extend_loaded(value, size, get_extend(p));
            } else if simple && write_page == page && handler == HANDLER_STORE && write_code == 0u {
                let first = write_frame + word;
                if pair {
                    let data_high = x[get_dst(control)];
                    if size == 3u {
                        frame_store(first, c);
                        frame_store(first + 1u, data_high);
                    } else {
                        frame_store(first, (c & 0xfffffffflu) | (data_high << 32u));
                    }
                } else {
                    let changed = (0xfffffffffffffffflu >> (64u - 8u * bytes)) << shift;
                    frame_store(first, (frame_load(first) & ~changed) | ((c << shift) & changed));
                }
            } else {
                slow_memory = true;
                if misaligned {
                    let stores = handler == HANDLER_STORE || handler == HANDLER_STORE_EXCLUSIVE;
                    stop = fault(FAULT_ALIGNMENT, select(ACCESS_READ, ACCESS_WRITE, stores), address);
                }
            }
        }
        // The next instruction is fetched from the page at hand, if there will be a next one.
        let slow_code = (next & ~0xffclu) != code_page && done + 1u < count && stop_after == STOP_NONE;

        // What needs more: pages that are not at hand, words across others, and what reads and then writes.
        if slow_memory || slow_code {
        var reads = false;
        var writes = false;
        var checks = false;
        if slow_memory {
            switch handler {
                case HANDLER_STORE, HANDLER_ZERO_BLOCK: { writes = true; }
                case HANDLER_STORE_EXCLUSIVE: { writes = exclusive_passes; }
                default: { reads = true; }
            }
        }
        var data = c;
        var data_high = 0lu;
        if pair {
            // STP has its second register in the place of the destination, STXP in that of b.
            data_high = select(x[get_dst(control)], b, handler == HANDLER_STORE_EXCLUSIVE);
        }
        let crossing = offset + bytes > 4096u;
        // How far a crossing access has come: pages looked up.
        var pages = 0u;
        var fresh = 0u;
        var second_frame = 0u;
        var second_code = 0u;
        while stop == STOP_NONE {
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
                    value = frame_load(read_frame + word) >> shift;
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
                    if pages_written + fresh > pages_max {
                        stop = STOP_OUT_OF_FRAMES;
                        break;
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
                if (next & ~0xffclu) == code_page || done + 1u >= count || stop_after != STOP_NONE {
                    break;
                }
                want = WANT_EXECUTE;
                target_address = next;
                if (next & 3lu) != 0lu {
                    stop_after = fault(FAULT_ALIGNMENT, 2u, next);
                    break;
                }
            }
            let second_page = target_address != address && want != WANT_EXECUTE;
            let outcome = translate(want, target_address, second_page);
            if outcome != STOP_NONE {
                if want == WANT_EXECUTE {
                    stop_after = outcome;
                } else {
                    stop = outcome;
                }
                break;
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
        }
        if stop != STOP_NONE {
            break;
        }

        // Write-back.
        if is_memory {
            if handler == HANDLER_LOAD_EXCLUSIVE {
                monitor = address;
                monitor_bytes = bytes;
                // Loading both into the same register: here the second wins, in LDP the first.
                value = select(value, second, pair && get_c(control) == get_dst(control));
            } else if handler == HANDLER_STORE_EXCLUSIVE {
                monitor_bytes = 0u;
            }
            if pair {
                if handler == HANDLER_COMPARE_AND_SWAP {
                    let after = get_b(control) + 1u;
                    x[select(after, REGISTER_SINK, after == REGISTER_ZERO)] = second;
                } else if handler == HANDLER_LOAD || handler == HANDLER_LOAD_EXCLUSIVE {
                    x[get_c(control)] = second;
                }
            }
        }
        // A pair that is stored has a source where others have the destination.
        x[select(get_dst(control), REGISTER_SINK, handler == HANDLER_STORE)] = value;
        if is_memory && get_index(p) != INDEX_OFFSET && handler <= HANDLER_STORE {
            x[get_a(control)] = a + b;
        }
        if handler <= HANDLER_EOR && (get_flags(p) == 1u || handler == HANDLER_CONDITIONAL_COMPARE) {
            // The words that hold the sign.
            let sign = select(u32(value), u32(value >> 32u), wide);
            var flags = ((sign >> 31u) << 3u) | select(0u, 4u, value == 0lu);
            if handler <= HANDLER_CONDITIONAL_COMPARE {
                let differs = (a ^ value) & (b ^ value);
                let overflow = select(u32(differs), u32(differs >> 32u), wide) >> 31u;
                // A sum of words has its carry in bit 32; one of doublewords is less than what was added.
                let wrapped = sum < a || (sum == a && carry == 1u && b != 0lu);
                flags |= (select(u32(sum >> 32u) & 1u, u32(wrapped), wide) << 1u) | overflow;
            }
            if handler == HANDLER_CONDITIONAL_COMPARE {
                flags = select(get_nzcv(p), flags, condition_holds(get_cond(p), nzcv));
            }
            nzcv = flags;
        }
        done += 1u;
        pc = next;
        stop = stop_after;
        if stop != STOP_NONE || done >= count || done * 4u + effort >= fuel {
            break;
        }
        op = micro_ops[code_ops + (u32(pc >> 2u) & (PAGE_OPS - 1u))];
    }

    let steps_after = steps_before + u64(done);
    if stop == STOP_NONE && steps_after == state[COLUMN_LIMIT * lanes + lane] {
        stop = STOP_BUDGET;
    }
    for (var i = 0u; i < 31u; i += 1u) {
        state[i * lanes + lane] = x[i];
    }
    state[COLUMN_SP * lanes + lane] = x[REGISTER_SP];
    state[COLUMN_PC * lanes + lane] = pc;
    state[COLUMN_STEPS * lanes + lane] = steps_after;
    state[COLUMN_NZCV * lanes + lane] = u64(nzcv) | (u64(monitor_bytes) << 32u);
    state[COLUMN_MONITOR * lanes + lane] = monitor;
    state[COLUMN_STOP * lanes + lane] = u64(stop) | (u64(detail) << 32u);
    state[COLUMN_STOP_ADDRESS * lanes + lane] = stop_address;
    state[COLUMN_ROOT * lanes + lane] = u64(root) | (u64(levels) << 32u);
    state[COLUMN_TAIL * lanes + lane] = u64(chain_tail) | (u64(pages_written) << 32u);
    state[COLUMN_HEAD * lanes + lane] = u64(pages_max) | (u64(chain_head) << 32u);

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
