//! The interpreter for workgroups of one lane: the plain interpreter with an inner loop for ordinary steps.
//!
//! Lanes that shared a workgroup would wait for each other at the end of the inner loop.

import package::machine::alone::{arithmetic_alone, begin_sequence, jump, transfer_alone};
import package::machine::bindings::{micro_ops};
import package::machine::layout::{PAGE_OPS};
import package::machine::memory::{lane};
import package::machine::micro_op::{
    HANDLER_ADD, HANDLER_BRANCH, HANDLER_BRANCH_REGISTER, HANDLER_EOR, HANDLER_LOAD, HANDLER_STORE,
};
import package::machine::registers::{x};
import package::machine::slice::{begin_slice, count_slice, end_slice};
import package::machine::step::{branch, leave_page, other, read_operands};

/// The lanes of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// Runs every lane that has no stop, one per invocation.
@compute @workgroup_size(WORKGROUP_SIZE)
fn run(@builtin(global_invocation_id) invocation: vec3<u32>) {
    lane = invocation.x;
    insert begin_slice;
    while done != count {
        var origin: u32;
        var last: u32;
        insert begin_sequence;
        if near != (at & ~(PAGE_OPS - 1u)) {
            last = at;
        }
        // A lane stays in this loop until something unusual happens. `done` is up to date only where a sequence begins.
        loop {
            // Most micro-ops are followed by this one. It arrives while the step is executed.
            let following = micro_ops[at + 1u];
            insert read_operands;
            if handler - HANDLER_ADD <= HANDLER_EOR - HANDLER_ADD {
                insert arithmetic_alone;
            } else {
                if handler - HANDLER_LOAD <= HANDLER_STORE - HANDLER_LOAD {
                    insert transfer_alone;
                } else if handler - HANDLER_BRANCH <= HANDLER_BRANCH_REGISTER - HANDLER_BRANCH {
                    insert branch;
                } else {
                    insert other;
                }
                x[destination] = value;
                if next_at != at + 1u {
                    insert jump;
                }
            }
            if at == last {
                break;
            }
            at += 1u;
            op = following;
        }
        done = at - origin;
        insert leave_page;
        done += 1u;
        at = next_at;
        op = micro_ops[at];
    }

    insert end_slice;

    insert count_slice;
}
