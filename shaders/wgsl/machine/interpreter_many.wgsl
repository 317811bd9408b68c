//! The interpreter for wide workgroups: the plain interpreter, whose lanes execute several micro-ops in each step.
//!
//! In workgroups of a few lanes, some lane would need each stage, and others would wait for it.

import package::machine::bindings::{micro_ops};
import package::machine::memory::{lane};
import package::machine::slice::{begin_slice, count_slice, end_slice};
import package::machine::stage_order::{execute_stages};
import package::machine::step::{leave_page};

/// The lanes of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// Runs every lane that has no stop, one per invocation.
@compute @workgroup_size(WORKGROUP_SIZE)
fn run(@builtin(global_invocation_id) invocation: vec3<u32>) {
    lane = invocation.x;
    insert begin_slice;
    while done != count {
        insert execute_stages;
        if leaves {
            insert leave_page;
            done += 1u;
            at = next_at;
            op = micro_ops[at];
        }
    }

    insert end_slice;

    insert count_slice;
}
