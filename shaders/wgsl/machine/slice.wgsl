//! The begin and the end of a slice, in which an invocation runs a lane. All interpreters share these fragments.

import package::machine::bindings::{counters, parameters, state};
import package::machine::fixed_places::{MOVES_FRAMES};
import package::machine::layout::{
    COLUMN_LIMIT, COLUMN_NZCV, COLUMN_PC, COLUMN_SP, COLUMN_STEPS, COLUMN_STOP, COLUMN_TLB, COUNTER_CUT_OFF,
    COUNTER_NEED_CODE, COUNTER_NEED_FRAME, COUNTER_RUNNING, COUNTER_STEPS, COUNTER_STEPS_HIGH,
    COUNTER_STOPPED, COUNTER_TRANSLATED, COUNTER_TRANSLATED_HIGH, PAGE_OPS, STOP_BREAKPOINT, STOP_BUDGET, STOP_EXIT, STOP_HALT, STOP_NEED_AWAY, STOP_NEED_CODE,
    STOP_NEED_FRAME, STOP_NEED_SIMD, STOP_NONE, STOP_SYSCALL, STOP_UNDEFINED,
};
import package::machine::linux::no_calls::{SERVES_CALLS};
import package::machine::memory::{
    KEEPS_PAGES, NO_LIMIT, NO_OPS, code_page, effort, forget_pages, get_state, halves, joined, lane, near_ops, set_state,
};
import package::machine::micro_op::{HANDLER_BRANCH_REGISTER, REGISTER_SINK, REGISTER_SP, REGISTER_ZERO};
import package::machine::no_regions::{HAS_REGIONS, translated_steps};
import package::machine::registers::{SCRATCH_LANE, SCRATCH_NEXT, x};

/// 1 if the driver limits the iterations of loops, else 0.
override LIMITS_LOOPS: u32 = 0u;

/// The value of `at` if the address of the next instruction is in `SCRATCH_NEXT`.
const NOWHERE = 0xffffffffu;

/// Returns the offset in its page of the instruction with a micro-op.
fn page_offset(at: u32) -> u32 {
    return (at % PAGE_OPS) * 4u;
}

/// Returns a branch to the address in `SCRATCH_NEXT`.
fn branch_to_next() -> vec4<u32> {
    let registers = (REGISTER_SINK << 8u) | (SCRATCH_NEXT << 14u) | (REGISTER_ZERO << 20u) | (REGISTER_ZERO << 26u);
    return vec4<u32>(HANDLER_BRANCH_REGISTER | registers, 0u, 0u, 0u);
}

/// Loads the state of the lane `lane`, or returns from the function if the lane has stopped.
///
/// Declares `lanes`; `count`, the number of steps of the slice, and `done`, the number of steps that have retired;
/// `nzcv`; `op`, the micro-op of the next step, `at`, its index, and `next_at`, that of the
/// one after it; `near` and `page`, copies of `near_ops` and `code_page`.
fragment begin_slice {
    let lanes = parameters.lanes;
    if lane >= lanes || u32(get_state(COLUMN_STOP)) != STOP_NONE {
        return;
    }
    let retired = get_state(COLUMN_STEPS);
    // A lane may be beyond its limit already.
    let allowed = max(get_state(COLUMN_LIMIT), retired) - retired;
    // Half the fuel is never the smaller one. NVIDIA's compiler makes a kernel that is 5 % slower in 2,048 lanes and 12 % in 131,072
    // if it is left out, or if another large number takes its place.
    var count = u32(min(allowed, u64(min(parameters.steps, parameters.fuel / 2u))));

    for (var i = 0u; i < 31u; i += 1u) {
        x[i] = state[i * lanes + lane];
    }
    x[REGISTER_ZERO] = 0lu;
    x[REGISTER_SP] = get_state(COLUMN_SP);
    var nzcv = u32(get_state(COLUMN_NZCV));
    // The host clears the column when the TLBs of the slice before are not valid any more.
    if KEEPS_PAGES == 0u || get_state(COLUMN_TLB) == 0lu {
        forget_pages();
        set_state(COLUMN_TLB, 1lu);
    }
    near_ops = NO_OPS;
    // The work of this fragment and of those at the end.
    effort = 128u;
    count = shortened(count, 0u - 1u);

    // The loop of the interpreter fetches at its end. So the first iteration executes a branch to the first instruction, and
    // `done` starts at -1 in order not to count it.
    var done = select(0u - 1u, 0u, count == 0u);
    x[SCRATCH_NEXT] = get_state(COLUMN_PC);
    x[SCRATCH_LANE] = u64(lane);
    var op = branch_to_next();
    var at = NOWHERE;
    var next_at = NOWHERE;
    // Compilers keep the originals in memory, because functions change them, and these copies in registers of the GPU.
    // `leave_page` updates the copies.
    var near = near_ops;
    var page = code_page;
}

/// Stores the state of the lane after `done` steps.
///
/// Needs the variables that `begin_slice` declares.
fragment end_slice {
    // The loop of steps needs more of the GPU's registers if the compiler knows that the lane is the same.
    lane = u32(x[SCRATCH_LANE]);
    let steps = get_state(COLUMN_STEPS) + u64(done);
    var stop = u32(get_state(COLUMN_STOP));
    if stop == STOP_NONE && steps >= get_state(COLUMN_LIMIT) {
        stop = STOP_BUDGET;
    }
    for (var i = 0u; i < 31u; i += 1u) {
        state[i * lanes + lane] = x[i];
    }
    set_state(COLUMN_SP, x[REGISTER_SP]);
    set_state(COLUMN_PC, select(code_page | u64(page_offset(at)), x[SCRATCH_NEXT], at == NOWHERE));
    set_state(COLUMN_STEPS, steps);
    set_state(COLUMN_NZCV, joined(nzcv, halves(get_state(COLUMN_NZCV)).y));
    let has_detail = stop == STOP_HALT || stop == STOP_BREAKPOINT || stop == STOP_SYSCALL || stop == STOP_UNDEFINED
        || (SERVES_CALLS && stop == STOP_EXIT);
    set_state(COLUMN_STOP, joined(stop, select(0u, halves(get_state(COLUMN_STOP)).y, has_detail)));
}

/// Adds the retired steps and the stop of the lane to the counters. It has to be the last fragment.
///
/// Needs the variables that `begin_slice` declares.
fragment count_slice {
    // A driver that has cut off a loop of this dispatch cuts off this one, too, after its first iteration. Without the override
    // this code, which never ran, cost other drivers 7 % of their speed.
    if LIMITS_LOOPS != 0u {
        var turns = 0u;
        while turns <= parameters.sharers {
            turns += 1u;
        }
        if turns <= parameters.sharers {
            atomicAdd(&counters[COUNTER_CUT_OFF], 1u);
        }
    }
    var counter = COUNTER_STOPPED;
    if stop == STOP_NONE {
        counter = COUNTER_RUNNING;
    } else if stop == STOP_NEED_FRAME || (MOVES_FRAMES && stop == STOP_NEED_AWAY) {
        counter = COUNTER_NEED_FRAME;
    } else if stop == STOP_NEED_CODE || stop == STOP_NEED_SIMD {
        counter = COUNTER_NEED_CODE;
    }
    atomicAdd(&counters[counter], 1u);
    let low_before = atomicAdd(&counters[COUNTER_STEPS], done);
    if low_before + done < low_before {
        atomicAdd(&counters[COUNTER_STEPS_HIGH], 1u);
    }
    if HAS_REGIONS && translated_steps != 0u {
        let translated_before = atomicAdd(&counters[COUNTER_TRANSLATED], translated_steps);
        if translated_before + translated_steps < translated_before {
            atomicAdd(&counters[COUNTER_TRANSLATED_HIGH], 1u);
        }
    }
}

/// Returns the number of steps of a slice, reduced by the steps that `effort` was worth, and resets `effort`. The
/// result is at most `count`, and at least `done + 2` unless `count` is less.
///
/// A driver that cuts off loops may count the iterations of several invocations together. So the work of each counts as
/// if all of these invocations had done it, one after another.
fn shortened(count: u32, done: u32) -> u32 {
    let work = effort;
    effort = 0u;
    // The override cannot replace this branch: without it NVIDIA's compiler makes a kernel that is 5 % slower where two to eight
    // lanes share a workgroup. A division by a parameter, below, makes it 12 % slower.
    if parameters.fuel == NO_LIMIT {
        return count;
    }
    let least = done + 2u;
    let left = max(count, least) - least;
    return min(count, least + left - min(left, (min(work, 0xffffu) * parameters.work_steps) >> 8u));
}
