//! The interpreter that evaluates a network in each step to select the class of the next instruction.
//!
//! It is a kernel of its own, because the speed of the plain interpreter depends on every register it needs.

import package::machine::step_decisions::{count_step, report_steps, selected_op};
import package::machine::bindings::{micro_ops};
import package::machine::decisions::{words};
import package::machine::layout::{CLASSES};
import package::machine::memory::{lane};
import package::machine::slice::{begin_slice, count_slice, end_slice};
import package::machine::step::{compute, leave_page, read_operands};
import package::networks::dispatch::{decide, load_weights};
import package::networks::tuple::{tuple_of};

/// The lanes of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// Runs every lane that has no stop, one per invocation.
@compute @workgroup_size(WORKGROUP_SIZE)
fn run(@builtin(global_invocation_id) invocation: vec3<u32>) {
    load_weights(invocation.x % WORKGROUP_SIZE, WORKGROUP_SIZE);
    workgroupBarrier();
    lane = invocation.x;
    insert begin_slice;
    // The word of the next micro-op with its correct class, and the class that the network chooses.
    var fetched = vec2<u32>(0u, CLASSES);
    var chosen = CLASSES;
    while done != count {
        insert read_operands;
        insert compute;
        insert leave_page;
        count_step(fetched.y, chosen);
        done += 1u;
        at = next_at;
        fetched = words[at];
        chosen = decide(tuple_of(fetched.x));
        op = selected_op(micro_ops[at], fetched, chosen, done != count);
    }

    insert end_slice;

    report_steps();
    insert count_slice;
}
