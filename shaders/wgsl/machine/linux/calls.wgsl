//! Frequent system calls of Linux programs, served without the host.
//!
//! Calls have the same effect as in `kvrm_machine::linux`. Unusual cases are left to the host, before any change that
//! the guest can see.

import package::arm64::divide::{divide};
import package::machine::bindings::{counters, parameters};
import package::machine::console::{WRITE_TEXT, serve_console};
import package::machine::frames::{frame_store};
import package::machine::layout::{
    CALLS, CALL_ANSWER, CALL_BREAK, CALL_CLEAR_TID, CALL_CLOCK, CALL_EXIT, CALL_LIMIT, CALL_NAME, CALL_PARENT,
    CALL_PROCESS, CALL_RANDOM, CALL_READ, CALL_ROBUST_LIST, CALL_THREAD, CALL_VALUE, CALL_WAKE_FUTEX, CALL_WRITE,
    CALL_YIELD, COLUMN_CLEAR_TID, COLUMN_CONSOLE, COLUMN_HEAP_END, COLUMN_NAME, COLUMN_PARENT, COLUMN_PROCESS, COLUMN_RANDOM,
    COLUMN_ROBUST_LIST, COLUMN_SLEPT, COLUMN_WAITERS, CONSOLE_HANDLES, COUNTER_SERVED, ENTRY_MAPPED, ENTRY_READ, ENTRY_WRITE,
    HEAP_LIMIT, LIMITS, LIMITS_CHANGED, MAP_ZERO, STOP_EXIT, STOP_NONE, STOP_SYSCALL,
};
import package::machine::linux::numbers::{
    CLOCKS, CLOCKS_OF_DAY, CLOCKS_OF_PROCESSOR, FUTEX_COMMAND, FUTEX_WAKE, NANOSECONDS, PR_GET_NAME, RANDOM_FLAGS,
    ROBUST_LIST_BYTES,
};
import package::machine::linux::pipes::{move_through_pipe};
import package::machine::mapping::{map_page};
import package::machine::memory::{
    PAGE_MASK, WANT_READ, WANT_WRITE, effort, found_code, found_frame, get_state, halves, lane, mark_stale, own_path,
    set_state, translate,
};
import package::machine::registers::{SCRATCH_STEPS, x};

/// Whether this module serves system calls.
const SERVES_CALLS = true;

/// Serves a call if possible. Returns a stop: `STOP_NONE`, `STOP_EXIT`, or `STOP_SYSCALL` if the host has to serve it.
fn serve_call() -> u32 {
    let number = u32(x[8]);
    var call = 0u;
    if number < CALLS {
        call = parameters.calls[number];
    }
    var value = 0lu;
    var stop = STOP_NONE;
    var is_served = true;
    // The call's part of the counter of served calls; the console counts its own calls.
    var counted = 1u;
    // The number of result words to write to guest memory, their address, and the words.
    var result_words = 0u;
    var place = x[1];
    var first = 0lu;
    var second = 0lu;
    // Whether it is a transfer through a pipe.
    var moves = false;
    let kind = call & ((1u << CALL_VALUE) - 1u);
    switch kind {
        case CALL_ANSWER: { value = u64(i64(i32(call) >> CALL_VALUE)); }
        case CALL_EXIT: {
            is_served = is_single();
            value = x[0];
            stop = STOP_EXIT;
        }
        case CALL_BREAK: {
            is_served = has_usual_limits() && move_break(x[0]);
            value = get_state(COLUMN_HEAP_END);
        }
        case CALL_CLOCK: {
            let clock = u32(x[0]);
            let bit = 1u << (clock & 31u);
            is_served = clock < 32u && (CLOCKS & bit) != 0u
                && ((CLOCKS_OF_PROCESSOR & bit) == 0u || is_single());
            var time = x[SCRATCH_STEPS];
            if (CLOCKS_OF_PROCESSOR & bit) == 0u {
                time += get_state(COLUMN_SLEPT);
            }
            if (CLOCKS_OF_DAY & bit) != 0u {
                time += parameters.epoch;
            }
            first = divide(time, u64(NANOSECONDS), false);
            second = time - first * u64(NANOSECONDS);
            result_words = 2u;
        }
        case CALL_WRITE: {
            if is_console(u32(x[0])) {
                value = x[2];
                is_served = serve_console(WRITE_TEXT, x[1]);
                counted = 0u;
            } else {
                moves = true;
            }
        }
        case CALL_READ: { moves = true; }
        case CALL_ROBUST_LIST: {
            is_served = x[1] == u64(ROBUST_LIST_BYTES);
            if is_served {
                set_state(COLUMN_ROBUST_LIST, x[0]);
            }
        }
        case CALL_LIMIT: {
            let limited = u32(x[1]);
            let is_own = u32(x[0]) == 0u || u32(x[0]) == halves(get_state(COLUMN_PROCESS)).x;
            is_served = is_own && has_usual_limits() && limited < LIMITS && x[2] == 0lu && x[3] != 0lu;
            first = parameters.limits[limited % LIMITS];
            second = first;
            place = x[3];
            result_words = 2u;
        }
        case CALL_NAME: {
            is_served = x[0] == u64(PR_GET_NAME);
            first = get_state(COLUMN_NAME);
            second = get_state(COLUMN_NAME + 1u);
            result_words = 2u;
        }
        case CALL_RANDOM: {
            // Most requests are for one aligned word.
            let position = get_state(COLUMN_RANDOM);
            is_served = x[1] == 8lu && x[2] <= u64(RANDOM_FLAGS) && (position & 7lu) == 0lu;
            first = random(position >> 3u);
            place = x[0];
            value = 8lu;
            result_words = 1u;
        }
        case CALL_PROCESS: { value = u64(halves(get_state(COLUMN_PROCESS)).x); }
        case CALL_THREAD: { value = u64(halves(get_state(COLUMN_PROCESS)).y); }
        case CALL_PARENT: { value = u64(halves(get_state(COLUMN_PARENT)).x); }
        case CALL_CLEAR_TID: {
            set_state(COLUMN_CLEAR_TID, x[0]);
            value = u64(halves(get_state(COLUMN_PROCESS)).y);
        }
        case CALL_YIELD: { is_served = is_single(); }
        case CALL_WAKE_FUTEX: {
            is_served = (u32(x[1]) & FUTEX_COMMAND) == FUTEX_WAKE && (x[0] & 3lu) == 0lu
                && (get_state(COLUMN_WAITERS) & ((1lu << LIMITS_CHANGED) - 1lu)) == 0lu && translate(WANT_READ, x[0]) == STOP_NONE;
        }
        default: { is_served = false; }
    }
    if moves {
        value = move_through_pipe(kind == CALL_WRITE);
        is_served = value != 0lu;
    }
    if is_served && result_words != 0u {
        is_served = write_result(place, first, second, result_words);
    }
    if !is_served {
        return STOP_SYSCALL;
    }
    if kind == CALL_RANDOM {
        set_state(COLUMN_RANDOM, get_state(COLUMN_RANDOM) + 8lu);
    }
    x[0] = value;
    atomicAdd(&counters[COUNTER_SERVED], counted);
    return stop;
}

/// Whether the lane has had one thread only.
fn is_single() -> bool {
    return halves(get_state(COLUMN_PARENT)).y == 0u;
}

/// Whether the resource limits of the process are those of the machine.
fn has_usual_limits() -> bool {
    return ((get_state(COLUMN_WAITERS) >> LIMITS_CHANGED) & 1lu) == 0lu;
}

/// Writes one or two words to guest memory if the address is aligned and can be written, and returns whether it has.
fn write_result(address: u64, first: u64, second: u64, words: u32) -> bool {
    let offset = u32(address) & 4095u;
    if (offset & 7u) != 0u || offset + 8u * words > 4096u || translate(WANT_WRITE, address) != STOP_NONE {
        return false;
    }
    frame_store(found_frame, offset >> 3u, first);
    if words == 2u {
        frame_store(found_frame, (offset >> 3u) + 1u, second);
    }
    if found_code != 0u {
        mark_stale(found_code, offset, offset + 8u * words - 1u);
    }
    return true;
}

/// Returns eight bytes of the lane's randomness. `position` counts words of eight bytes.
fn random(position: u64) -> u64 {
    var hash = parameters.seed ^ ((parameters.first_lane + u64(lane)) * 0x9e3779b97f4a7c15lu);
    for (var round = 0u; round < 2u; round += 1u) {
        hash += select(0lu, position, round == 1u) + 0x9e3779b97f4a7c15lu;
        hash = (hash ^ (hash >> 30u)) * 0xbf58476d1ce4e5b9lu;
        hash = (hash ^ (hash >> 27u)) * 0x94d049bb133111eblu;
        hash ^= hash >> 31u;
    }
    return hash;
}

/// Whether a descriptor is console output. Descriptor 0 never is: its bit has another meaning.
fn is_console(descriptor: u32) -> bool {
    let known = halves(get_state(COLUMN_CONSOLE)).x;
    return descriptor - 1u < CONSOLE_HANDLES - 1u && ((known >> (descriptor & 31u)) & 1u) == 1u;
}

/// Moves the end of the heap if possible, and returns whether the call is served. The end 0, which is outside of all heaps, is served
/// without a move. The host serves other ends outside of the heap, and a heap that shrinks or grows by more than `break_pages`.
fn move_break(end: u64) -> bool {
    if end == 0lu {
        return true;
    }
    let old = get_state(COLUMN_HEAP_END);
    let first = (old + PAGE_MASK) >> 12u;
    let behind = (end + PAGE_MASK) >> 12u;
    let limit = get_state(COLUMN_WAITERS) >> HEAP_LIMIT;
    if end < old || end > limit << 12u || behind - first > u64(parameters.break_pages) {
        return false;
    }
    // Takes all frames before the first page is mapped, so that a lack of frames changes nothing.
    for (var page = first; page < behind; page += 1lu) {
        if own_path(page, 1u).x != STOP_NONE {
            return false;
        }
        effort += 20u;
    }
    for (var page = first; page < behind; page += 1lu) {
        // Its path is the lane's own, so this cannot fail.
        let stop = map_page(page, MAP_ZERO | ENTRY_MAPPED | ENTRY_READ | ENTRY_WRITE);
    }
    set_state(COLUMN_HEAP_END, end);
    return true;
}
