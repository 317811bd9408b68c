//! The interpreter for lanes that are each a workgroup of its own: the plain one with a loop in its loop.
//!
//! Lanes that share a workgroup would wait at the end of the inner loop for the last of them.

import package::machine::bindings::{micro_ops};
import package::machine::layout::{PAGE_OPS, STOP_NONE};
import package::machine::memory::{code_ops, code_page, lane};
import package::machine::micro_op::{get_dst};
import package::machine::slice::{begin_slice, count_slice, end_slice};
import package::machine::step::{compute, leave_page, read_operands};

/// Lanes of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// Runs every lane that has no stop.
@compute @workgroup_size(WORKGROUP_SIZE)
fn run(@builtin(global_invocation_id) invocation: vec3<u32>) {
    lane = invocation.x;
    insert begin_slice;
    while done != count {
        var next = 0lu;
        var slow = false;
        var elsewhere = false;
        // A lane stays in this loop until something unusual happens: it is small, and the GPU has all of it at hand.
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
