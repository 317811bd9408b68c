//! The interpreter: one invocation runs one lane until it stops or its slice ends.

import package::machine::bindings::{micro_ops};
import package::machine::layout::{PAGE_OPS};
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
        insert read_operands;
        var value = pc + 4lu;
        var next = value;
        var destination = get_dst(control);
        // Whether the rest of the step is for the slow path.
        var slow = false;
        insert compute;

        // Whether the next instruction is in another page.
        let elsewhere = (next & ~0xffclu) != code_page;
        insert leave_page;
        done += 1u;
        pc = next;
        op = micro_ops[code_ops + ((u32(pc) >> 2u) & (PAGE_OPS - 1u))];
    }

    insert end_slice;

    insert count_slice;
}
