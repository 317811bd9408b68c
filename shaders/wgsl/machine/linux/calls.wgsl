//! Frequent system calls of Linux programs, served without the host.
//!
//! What is done here is what `kvrm_machine::linux` does. Whatever is not as usual is left to it, before anything has
//! changed that the guest can see.

import package::arm64::divide::{divide};
import package::machine::bindings::{counters, parameters};
import package::machine::console::{WRITE_TEXT, serve_console};
import package::machine::frames::{frame_store};
import package::machine::layout::{CALLS, CALL_ANSWER, CALL_BREAK, CALL_CLOCK, CALL_EXIT, CALL_ROBUST_LIST, CALL_VALUE, CALL_WRITE, COLUMN_CONSOLE, COLUMN_HEAP_END, COLUMN_ROBUST_LIST, COLUMN_SLEPT, CONSOLE_HANDLES, COUNTER_SERVED, ENTRY_MAPPED, ENTRY_READ, ENTRY_WRITE, MAP_ZERO, STOP_EXIT, STOP_NONE, STOP_SYSCALL};
import package::machine::mapping::{map_page};
import package::machine::memory::{PAGE_MASK, WANT_WRITE, effort, found_code, found_frame, get_state, halves, mark_stale, own_path, set_state, translate};
import package::machine::registers::{KEPT_STEPS, x};

/// Whether some calls need no host.
const SERVES_CALLS = true;

/// How many pages the heap may grow by in one call, so that no lane waits long for another.
const BREAK_PAGES = 64lu;

/// What a list of robust locks has for a head, in bytes.
const ROBUST_LIST_BYTES = 24lu;

/// Serves a call, if it can. Returns a stop: none, the exit, or that the host has to.
fn serve_call() -> u32 {
    let number = u32(x[8]);
    var call = 0u;
    if number < CALLS {
        call = parameters.calls[number];
    }
    var value = 0lu;
    var stop = STOP_NONE;
    var is_served = true;
    // The console counts its calls.
    var counted = 1u;
    switch call & ((1u << CALL_VALUE) - 1u) {
        case CALL_ANSWER: { value = u64(i64(i32(call) >> CALL_VALUE)); }
        case CALL_EXIT: {
            value = x[0];
            stop = STOP_EXIT;
        }
        case CALL_BREAK: {
            is_served = move_break(x[0]);
            value = get_state(COLUMN_HEAP_END);
        }
        case CALL_CLOCK: { is_served = read_clock(u32(x[0]), x[1]); }
        case CALL_WRITE: {
            value = x[2];
            is_served = is_console(u32(x[0])) && serve_console(WRITE_TEXT, x[1]);
            counted = 0u;
        }
        case CALL_ROBUST_LIST: {
            is_served = x[1] == ROBUST_LIST_BYTES;
            if is_served {
                set_state(COLUMN_ROBUST_LIST, x[0]);
            }
        }
        default: { is_served = false; }
    }
    if !is_served {
        return STOP_SYSCALL;
    }
    x[0] = value;
    atomicAdd(&counters[COUNTER_SERVED], counted);
    return stop;
}

/// Whether a descriptor is the console's. Bit 0 of what is known says something else.
fn is_console(descriptor: u32) -> bool {
    let known = halves(get_state(COLUMN_CONSOLE)).x;
    return descriptor - 1u < CONSOLE_HANDLES - 1u && ((known >> (descriptor & 31u)) & 1u) == 1u;
}

/// Moves the end of the heap, if that can be; says whether it is done. It shrinks over no pages.
fn move_break(end: u64) -> bool {
    let old = get_state(COLUMN_HEAP_END);
    if end < parameters.heap_start || end > parameters.heap_end {
        return true;
    }
    let first = (old + PAGE_MASK) >> 12u;
    let behind = (end + PAGE_MASK) >> 12u;
    if behind < first || behind - first > BREAK_PAGES {
        return false;
    }
    // What lacks frames is found out before any page is mapped.
    for (var page = first; page < behind; page += 1lu) {
        if own_path(page, 1u).x != STOP_NONE {
            return false;
        }
        effort += 4u;
    }
    for (var page = first; page < behind; page += 1lu) {
        // It has all it needs.
        let stop = map_page(page, MAP_ZERO | ENTRY_MAPPED | ENTRY_READ | ENTRY_WRITE);
        effort += 4u;
    }
    set_state(COLUMN_HEAP_END, end);
    return true;
}

/// Writes the time to guest memory, if that is at hand; says whether it is done.
fn read_clock(clock: u32, address: u64) -> bool {
    var time = x[KEPT_STEPS];
    switch clock {
        case 2u, 3u: {}
        case 1u, 4u, 6u, 7u: { time += get_state(COLUMN_SLEPT); }
        case 0u, 5u, 11u: { time += get_state(COLUMN_SLEPT) + parameters.epoch; }
        default: { return false; }
    }
    let offset = u32(address) & 4095u;
    if (offset & 7u) != 0u || offset > 4080u || translate(WANT_WRITE, address) != STOP_NONE {
        return false;
    }
    let seconds = divide(time, 1000000000lu, false);
    let place = found_frame + (offset >> 3u);
    frame_store(place, seconds);
    frame_store(place + 1u, time - seconds * 1000000000lu);
    if found_code != 0u {
        mark_stale(found_code, offset, offset + 15u);
    }
    return true;
}
