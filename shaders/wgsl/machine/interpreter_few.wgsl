//! The interpreter for workgroups of one lane: the plain interpreter with an inner loop for ordinary steps.
//!
//! Lanes that shared a workgroup would wait for each other at the end of the inner loop.

import package::machine::bindings::{micro_ops};
import package::machine::layout::{PAGE_OPS, STOP_NONE};
import package::machine::memory::{code_ops, code_page, lane};
import package::machine::micro_op::{get_dst};
import package::machine::slice::{begin_slice, count_slice, end_slice};
import package::machine::step::{compute, leave_page, read_operands};

/// The lanes of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// Runs every lane that has no stop, one per invocation.
@compute @workgroup_size(WORKGROUP_SIZE)
fn run(@builtin(global_invocation_id) invocation: vec3<u32>) {
    lane = invocation.x;
    insert begin_slice;
    while done != count {
        var next = 0lu;
        var slow = false;
        var elsewhere = false;
        // A lane stays in this loop until something unusual happens. The loop is small enough for the GPU to cache it
        // all.
        loop {
            insert read_operands;
            var value = pc + 4lu;
            next = value;
            var destination = get_dst(control);
            slow = false;
            insert compute;
            elsewhere = (next & ~0xffclu) != code_page;
            if slow || elsewhere || stop != STOP_NONE || done + 1u == count {
                break;
            }
            done += 1u;
            pc = next;
            op = micro_ops[code_ops + ((u32(pc) >> 2u) & (PAGE_OPS - 1u))];
        }
        insert leave_page;
        done += 1u;
        pc = next;
        op = micro_ops[code_ops + ((u32(pc) >> 2u) & (PAGE_OPS - 1u))];
    }

    insert end_slice;

    insert count_slice;
}
