//! The interpreter that evaluates a network in each step, one workgroup per lane: all invocations of a workgroup
//! evaluate the network together, and the first of them runs the lane.

import package::machine::step_decisions::{count_step, report_steps, selected_op};
import package::machine::bindings::{micro_ops};
import package::machine::decisions::{words};
import package::machine::layout::{CLASSES};
import package::machine::memory::{lane};
import package::machine::slice::{begin_slice, count_slice, end_slice};
import package::machine::step::{compute, leave_page, read_operands};
import package::networks::dispatch_together::{MEMBERS, evaluate_together, load_together};
import package::networks::logits::{greatest};
import package::networks::tuple::{tuple_of};

/// The tuple to evaluate next, or `NO_QUESTION`.
var<workgroup> question: u32;
/// The value of `question` when the slice has ended.
const NO_QUESTION = 0xffffffffu;

/// Runs every lane that has no stop, one per workgroup.
@compute @workgroup_size(MEMBERS)
fn run(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) member: u32) {
    load_together(member);
    lane = workgroup.x;
    insert begin_slice;
    // The word of the next micro-op with its correct class, and the class that the network chooses.
    var fetched = vec2<u32>(0u, CLASSES);
    var chosen = CLASSES;
    // All invocations have to read that the lane has no stop before it can get one.
    workgroupBarrier();
    loop {
        // Only the first invocation executes steps. All of them evaluate the tuple that it sets.
        if member == 0u {
            question = NO_QUESTION;
            // This loop has one iteration. It is a loop because `leave_page` breaks out of one.
            while done != count {
                insert read_operands;
                insert compute;
                insert leave_page;
                count_step(fetched.y, chosen);
                done += 1u;
                at = next_at;
                fetched = words[at];
                op = micro_ops[at];
                question = tuple_of(fetched.x);
                break;
            }
        }
        let tuple = workgroupUniformLoad(&question);
        if tuple == NO_QUESTION {
            break;
        }
        chosen = greatest(evaluate_together(tuple, member));
        if member == 0u {
            op = selected_op(op, fetched, chosen, done != count);
        }
    }
    if member != 0u {
        return;
    }

    insert end_slice;

    report_steps();
    insert count_slice;
}
