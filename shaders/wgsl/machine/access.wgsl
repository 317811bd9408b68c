//! The slow path of a step: accesses to pages that are not in the TLB or to two pages, unusual accesses, calls, and the
//! fetch from another page.

import package::arm64::atomic::{low, mem_atomic_op};
import package::arm64::constants::{CRC32C_POLYNOMIAL, CRC32_POLYNOMIAL};
import package::arm64::crc::{checksum};
import package::arm64::load_store::{extend_loaded};
import package::machine::console::{serve_console};
import package::machine::frame_bytes::{load_bytes, store_bytes};
import package::machine::frames::{frame_store};
import package::machine::layout::{
    ACCESS_EXECUTE, ACCESS_READ, ACCESS_WRITE, COLUMN_MONITOR, COLUMN_NZCV, COLUMN_STOP_ADDRESS,
    FAULT_ALIGNMENT, HOOK_CALL, STOP_HALT, STOP_HARDWARE_BREAKPOINT, STOP_NONE, STOP_OUT_OF_FRAMES,
    STOP_SYSCALL, STOP_WATCHPOINT, TLB_READ, TLB_WRITE,
};
import package::machine::linux::no_calls::{SERVES_CALLS, serve_call};
import package::machine::memory::{
    PAGE_MASK, WANT_CHECK_WRITE, WANT_EXECUTE, WANT_READ, WANT_WRITE, effort, fault, forget_pages,
    found_code, found_frame, found_fresh, get_state, halves, is_near, joined, mark_stale, may_write,
    set_state, translate,
};
import package::machine::micro_op::{
    HANDLER_ATOMIC, HANDLER_COMPARE_AND_SWAP, HANDLER_CRC32, HANDLER_HALT, HANDLER_LOAD,
    HANDLER_LOAD_EXCLUSIVE, HANDLER_LOAD_LITERAL, HANDLER_STORE, HANDLER_STORE_EXCLUSIVE,
    HANDLER_SUPERVISOR_CALL, HANDLER_VECTOR_LOAD, HANDLER_VECTOR_LOAD_STRUCTURES, HANDLER_VECTOR_STORE,
    HANDLER_VECTOR_STORE_STRUCTURES, HANDLER_ZERO_BLOCK, INDEX_OFFSET, INDEX_POST, INDEX_POST_REGISTER,
    INDEX_PRE, REGISTER_SINK, REGISTER_ZERO, get_a, get_aligned, get_b, get_c, get_dst, get_extend,
    get_handler, get_index, get_operation, get_pair, get_size,
};
import package::machine::no_hooks::{HAS_HOOKS, NOT_HOOKED, find_hook, forget_hooked};
import package::machine::operands::{address_of, indexed};
import package::machine::region_access::{find_place};
import package::machine::registers::{
    SCRATCH_DATA, SCRATCH_DATA_HIGH, SCRATCH_FIRST, SCRATCH_LAST, SCRATCH_LOADED, SCRATCH_SECOND, x,
};
import package::machine::semihosting::{SEMIHOSTING};
import package::machine::simd::no_transfers::{load_registers, store_registers, transferred_bytes};
import package::machine::simd::unit::{SIMD_LEVEL};

/// Sets the exclusive monitor to an address and a size. Size 0 clears it.
fn set_monitor(address: u64, bytes: u32) {
    set_state(COLUMN_MONITOR, address);
    set_state(COLUMN_NZCV, joined(0u, bytes));
}

// The stages of an access, in this order. Most accesses skip some of them.

/// Stage: translates the first page for a load.
const STAGE_READ = 0u;
/// Stage: translates the second page for a load.
const STAGE_READ_SECOND = 1u;
/// Stage: loads.
const STAGE_LOAD = 2u;
/// Stage: checks that the first page could be written. Needed before a store to two pages, and for a
/// compare-and-swap that does not store.
const STAGE_CHECK = 3u;
/// Stage: checks that the second page could be written.
const STAGE_CHECK_SECOND = 4u;
/// Stage: translates the first page for a store, and makes it the lane's own.
const STAGE_WRITE = 5u;
/// Stage: translates the second page for a store, and makes it the lane's own.
const STAGE_WRITE_SECOND = 6u;
/// Stage: stores.
const STAGE_STORE = 7u;
/// Stage: writes registers.
const STAGE_DONE = 8u;
/// Stage: translates the page of the next instruction.
const STAGE_FETCH = 9u;

/// Does the part of a step that the fast path does not: accesses that miss the TLB or cross pages, unaligned accesses to
/// sixteen bytes, atomic accesses, accesses to structures, calls, and the fetch from another page.
///
/// Returns the stop of the lane, and 1 if this instruction does not retire. It has few parameters and results, and
/// reads the guest's registers again, so that the loop of the interpreter needs few of the GPU's registers.
fn access(op: vec4<u32>, pc: u64, next: u64, is_memory: bool, fetches: bool) -> vec2<u32> {
    let control = op.x;
    let p = op.y;
    let handler = get_handler(control);
    let is_call = handler == HANDLER_HALT || (SERVES_CALLS && handler == HANDLER_SUPERVISOR_CALL);
    // Calls come first, because the code below needs many of the GPU's registers.
    if is_call {
        if HAS_HOOKS {
            let number = u32(x[select(0u, 8u, SERVES_CALLS)]);
            if find_hook(HOOK_CALL, u64(number), 1u) != NOT_HOOKED {
                // Leave the call to the host, which stops the lane.
                return select(vec2<u32>(STOP_SYSCALL, 0u), vec2<u32>(STOP_HALT, 1u), handler == HANDLER_HALT);
            }
        }
        if SERVES_CALLS {
            var served = STOP_SYSCALL;
            if handler == HANDLER_SUPERVISOR_CALL && op.z == 0u {
                served = serve_call();
            }
            if served == STOP_SYSCALL {
                // A halt has not retired.
                return select(vec2<u32>(STOP_SYSCALL, 0u), vec2<u32>(STOP_HALT, 1u), handler == HANDLER_HALT);
            }
            set_monitor(0lu, 0u);
            if served != STOP_NONE {
                return vec2<u32>(served, 0u);
            }
        } else {
            if op.z != SEMIHOSTING || !serve_console(u32(x[0]), x[1]) {
                return vec2<u32>(STOP_HALT, 1u);
            }
            x[0] = 0lu;
            set_monitor(0lu, 0u);
        }
        if HAS_HOOKS {
            // The call may have entered pages with hooks into the TLB.
            forget_pages();
        }
    }
    // For the unit without such instructions these are constants, and their code takes none of the GPU's registers.
    let is_simd = SIMD_LEVEL != 0u && handler >= HANDLER_VECTOR_LOAD && handler <= HANDLER_VECTOR_STORE_STRUCTURES;
    let size = get_size(p);
    let pair = get_pair(p) == 1u;
    let is_indexed = handler <= HANDLER_STORE || (is_simd && handler <= HANDLER_VECTOR_STORE);
    var address = x[get_a(control)];
    if handler == HANDLER_LOAD_LITERAL {
        address = pc + joined(op.z, op.w);
    } else if is_indexed {
        address = address_of(op, pc);
    }
    let page = address & ~PAGE_MASK;
    let offset = u32(address) & 4095u;
    var bytes = select(1u, 1u << (size + get_pair(p)), handler <= HANDLER_COMPARE_AND_SWAP);
    if is_simd {
        bytes = transferred_bytes(op);
    }
    let crossing = offset + bytes > 4096u;
    let stores = handler == HANDLER_STORE || handler == HANDLER_STORE_EXCLUSIVE || handler == HANDLER_ZERO_BLOCK
        || (is_simd && (handler == HANDLER_VECTOR_STORE || handler == HANDLER_VECTOR_STORE_STRUCTURES));
    x[SCRATCH_LOADED] = 0lu;
    x[SCRATCH_LAST] = 0lu;
    var stage = STAGE_FETCH;
    if handler == HANDLER_CRC32 {
        let polynomial = select(CRC32_POLYNOMIAL, CRC32C_POLYNOMIAL, get_operation(p) == 1u);
        x[get_dst(control)] = u64(checksum(u32(address), x[get_b(control)], 8u << size, polynomial));
        effort += 72u;
    } else if is_memory && !is_call {
        if get_aligned(p) == 1u && (offset & (bytes - 1u)) != 0u {
            return vec2<u32>(fault(FAULT_ALIGNMENT, select(ACCESS_READ, ACCESS_WRITE, stores), address), 1u);
        }
        stage = select(STAGE_READ, select(STAGE_WRITE, STAGE_CHECK, crossing), stores);
        if is_simd && handler >= HANDLER_VECTOR_LOAD_STRUCTURES {
            // The TLB may have the page. For other instructions, that has already been tried.
            let place = find_place(address, bytes, select(TLB_READ, TLB_WRITE, stores), 0u, 0u);
            if place.missing == 0u {
                x[SCRATCH_FIRST] = u64(place.frame);
                stage = select(STAGE_LOAD, STAGE_STORE, stores);
            }
        }
        if handler == HANDLER_STORE_EXCLUSIVE {
            if halves(get_state(COLUMN_NZCV)).y != bytes || get_state(COLUMN_MONITOR) != address {
                stage = STAGE_DONE;
                x[SCRATCH_LOADED] = 1lu;
            }
        }
    }
    x[SCRATCH_DATA] = x[get_c(control)];
    // The second register of STP is in the field of the destination, that of STXP in the field of b.
    x[SCRATCH_DATA_HIGH] = x[select(get_dst(control), get_b(control), handler == HANDLER_STORE_EXCLUSIVE)];
    var fresh = 0u;
    loop {
        if HAS_HOOKS && stage == STAGE_LOAD {
            let stop = hook_stop(ACCESS_READ, handler, address, bytes);
            if stop != STOP_NONE {
                return vec2<u32>(stop, 1u);
            }
        }
        if stage == STAGE_LOAD && is_simd {
            load_registers(op, u32(x[SCRATCH_FIRST]), u32(x[SCRATCH_LAST]), offset);
            stage = STAGE_DONE;
        }
        if stage == STAGE_LOAD {
            let first = u32(x[SCRATCH_FIRST]);
            let last = u32(x[SCRATCH_LAST]);
            var loaded = load_bytes(first, last, offset, min(bytes, 8u));
            var second = 0lu;
            if bytes == 16u {
                second = load_bytes(first, last, offset + 8u, 8u);
            }
            if size == 2u {
                second = loaded >> 32u;
            }
            loaded = extend_loaded(loaded, size, get_extend(p));
            second = extend_loaded(second, size, get_extend(p));
            x[SCRATCH_LOADED] = loaded;
            x[SCRATCH_SECOND] = second;
            stage = STAGE_DONE;
            let b = x[get_b(control)];
            if handler == HANDLER_ATOMIC {
                x[SCRATCH_DATA] = mem_atomic_op(get_operation(p), loaded, b, 1u << size);
                stage = STAGE_WRITE;
            } else if handler == HANDLER_COMPARE_AND_SWAP {
                // A pair is an even register and the next one.
                let equal = loaded == low(b, 1u << size)
                    && (!pair || second == low(x[get_b(control) + 1u], 1u << size));
                x[SCRATCH_DATA_HIGH] = x[get_c(control) + 1u];
                stage = select(STAGE_CHECK, STAGE_WRITE, equal);
            }
        }
        if stage == STAGE_STORE {
            let first_frame = u32(x[SCRATCH_FIRST]);
            let first_code = halves(x[SCRATCH_FIRST]).y;
            let second_frame = u32(x[SCRATCH_LAST]);
            let second_code = halves(x[SCRATCH_LAST]).y;
            var data = x[SCRATCH_DATA];
            let data_high = x[SCRATCH_DATA_HIGH];
            if is_simd {
                store_registers(op, first_frame, second_frame, offset);
                mark_stored(first_code, second_code, offset, bytes);
            } else if handler == HANDLER_ZERO_BLOCK {
                for (var i = 0u; i < 8u; i += 1u) {
                    frame_store(first_frame, ((offset >> 3u) & ~7u) + i, 0lu);
                }
                effort += 8u;
                if first_code != 0u {
                    mark_stale(first_code, offset & ~63u, offset | 63u);
                }
            } else {
                if pair && size == 2u {
                    data = (data & 0xfffffffflu) | (data_high << 32u);
                }
                store_bytes(first_frame, second_frame, offset, min(bytes, 8u), data);
                if bytes == 16u {
                    store_bytes(first_frame, second_frame, offset + 8u, 8u, data_high);
                }
                mark_stored(first_code, second_code, offset, bytes);
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
            if !fetches || is_near(next) {
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
        if HAS_HOOKS && stage == STAGE_WRITE {
            let stop = hook_stop(ACCESS_WRITE, handler, address, bytes);
            if stop != STOP_NONE {
                return vec2<u32>(stop, 1u);
            }
        }
        let stop = translate(want, wanted);
        if stop != STOP_NONE {
            return vec2<u32>(stop, select(1u, 0u, stage == STAGE_FETCH));
        }
        if HAS_HOOKS {
            forget_hooked(wanted);
            if stage == STAGE_FETCH {
                let is_hooked = find_hook(ACCESS_EXECUTE, next, 4u) != NOT_HOOKED;
                return vec2<u32>(select(STOP_NONE, STOP_HARDWARE_BREAKPOINT, is_hooked), 0u);
            }
        }
        switch stage {
            case STAGE_READ, STAGE_WRITE: {
                x[SCRATCH_FIRST] = joined(found_frame, found_code);
                stage += select(2u, 1u, crossing);
            }
            case STAGE_READ_SECOND, STAGE_WRITE_SECOND: {
                x[SCRATCH_LAST] = joined(found_frame, found_code);
                stage += 1u;
            }
            case STAGE_CHECK: {
                fresh = found_fresh;
                stage = select(STAGE_DONE, STAGE_CHECK_SECOND, crossing);
            }
            case STAGE_CHECK_SECOND: {
                stage = STAGE_WRITE;
                if HAS_HOOKS {
                    let stop = hook_stop(ACCESS_WRITE, handler, address, bytes);
                    if stop != STOP_NONE {
                        return vec2<u32>(stop, 1u);
                    }
                }
                if !may_write(fresh + found_fresh) {
                    return vec2<u32>(STOP_OUT_OF_FRAMES, 1u);
                }
            }
            default: {}
        }
    }
    return vec2<u32>(STOP_NONE, 0u);
}

/// Returns the stop of a watchpoint before a load or a store, or of a fault of the store, or `STOP_NONE`.
fn hook_stop(access: u32, handler: u32, address: u64, bytes: u32) -> u32 {
    let is_block = handler == HANDLER_ZERO_BLOCK;
    let hooked = find_hook(access, select(address, address & ~63lu, is_block), select(bytes, 64u, is_block));
    if hooked == NOT_HOOKED {
        return STOP_NONE;
    }
    if access == ACCESS_WRITE {
        // The page of a store has not been checked yet, unless the store is to two pages.
        let stop = translate(WANT_CHECK_WRITE, address);
        if stop != STOP_NONE {
            return stop;
        }
    }
    set_state(COLUMN_STOP_ADDRESS, hooked);
    return STOP_WATCHPOINT + access;
}

/// Marks the micro-ops of bytes that a store has changed, in one or two pages, as stale.
fn mark_stored(first_code: u32, second_code: u32, offset: u32, bytes: u32) {
    if first_code != 0u {
        mark_stale(first_code, offset, min(offset + bytes - 1u, 4095u));
    }
    if second_code != 0u {
        mark_stale(second_code, 0u, offset + bytes - 4097u);
    }
}

/// Writes the results of an access to registers, and sets or clears the exclusive monitor.
fn finish(op: vec4<u32>, address: u64, bytes: u32) {
    let second = x[SCRATCH_SECOND];
    let base = indexed(op);
    let control = op.x;
    let handler = get_handler(control);
    if SIMD_LEVEL != 0u && handler >= HANDLER_VECTOR_LOAD {
        let index = get_index(op.y);
        if handler >= HANDLER_VECTOR_LOAD_STRUCTURES {
            let added = select(u64(bytes), x[get_b(control)], index == INDEX_POST_REGISTER);
            x[get_a(control)] += select(added, 0lu, index == INDEX_OFFSET);
        } else if index == INDEX_POST || index == INDEX_PRE {
            x[get_a(control)] = base;
        }
        return;
    }
    let pair = get_pair(op.y) == 1u;
    var value = x[SCRATCH_LOADED];
    var destination = get_dst(control);
    if handler == HANDLER_LOAD_EXCLUSIVE {
        set_monitor(address, bytes);
    } else if handler == HANDLER_STORE_EXCLUSIVE {
        set_monitor(0lu, 0u);
    }
    if pair && (handler == HANDLER_LOAD || handler == HANDLER_LOAD_EXCLUSIVE) {
        // If both registers of a pair are the same, the first value wins in LDP, the second in LDXP.
        if handler == HANDLER_LOAD_EXCLUSIVE && get_c(control) == destination {
            value = second;
        }
        x[get_c(control)] = second;
    } else if pair && handler == HANDLER_COMPARE_AND_SWAP {
        let odd = get_b(control) + 1u;
        x[select(odd, REGISTER_SINK, odd == REGISTER_ZERO)] = second;
    } else if handler == HANDLER_STORE {
        // In the micro-op of a store, the field of the destination is the second source.
        destination = REGISTER_SINK;
    }
    x[destination] = value;
    if handler <= HANDLER_STORE && get_index(op.y) != INDEX_OFFSET {
        x[get_a(control)] = base;
    }
}
