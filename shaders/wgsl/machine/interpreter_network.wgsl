//! The interpreter that evaluates a network in each step to select the class of the next instruction.
//!
//! It is a kernel of its own, because the speed of the plain interpreter depends on every register it needs.

import package::machine::step_decisions::{count_step, report_steps, selected_op};
import package::machine::bindings::{micro_ops};
import package::machine::decisions::{words};
import package::machine::layout::{CLASSES, PAGE_OPS};
import package::machine::memory::{code_ops, code_page, lane};
import package::machine::micro_op::{get_dst};
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
        var value = pc + 4lu;
        var next = value;
        var destination = get_dst(control);
        // Whether the rest of the step is for the slow path.
        var slow = false;
        insert compute;

        // Whether the next instruction is in another page.
        let elsewhere = (next & ~0xffclu) != code_page;
        insert leave_page;
        count_step(fetched.y, chosen);
        done += 1u;
        pc = next;
        let place = code_ops + ((u32(pc) >> 2u) & (PAGE_OPS - 1u));
        fetched = words[place];
        chosen = decide(tuple_of(fetched.x));
        op = selected_op(micro_ops[place], fetched, chosen, done != count);
    }

    insert end_slice;

    report_steps();
    insert count_slice;
}
