//! The interpreter for workgroups of one lane: the plain interpreter with an inner loop for ordinary steps.
//!
//! Lanes that shared a workgroup would wait for each other at the end of the inner loop.

import package::machine::bindings::{micro_ops};
import package::machine::layout::{PAGE_OPS};
import package::machine::memory::{lane, near_ops};
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
        // A lane stays in this loop until something unusual happens. The loop is small enough for the GPU to cache it
        // all.
        loop {
            // Most micro-ops are followed by this one. It arrives while the step is executed.
            let following = micro_ops[at + 1u];
            insert read_operands;
            insert compute;
            if (next_at ^ near_ops) >= PAGE_OPS || done + 1u == count {
                break;
            }
            done += 1u;
            if next_at == at + 1u {
                op = following;
            } else {
                op = micro_ops[next_at];
            }
            at = next_at;
        }
        insert leave_page;
        done += 1u;
        at = next_at;
        op = micro_ops[at];
    }

    insert end_slice;

    insert count_slice;
}
