//! Stages: the step of the interpreter for many lanes, which executes several micro-ops of a lane.
//!
//! Lanes of a wide workgroup rarely execute the same micro-op at the same time, so in an ordinary step they go through the
//! code of all kinds of micro-ops for one micro-op each. A stage has the code of one kind. A lane takes part in the stages
//! whose kind its next micro-op has, so it retires up to one micro-op in each stage. Sums are three of four micro-ops
//! in some programs, and one of three in most, so they have several stages.

import package::machine::bindings::{micro_ops};
import package::machine::layout::{PAGE_OPS};
import package::machine::micro_op::{
    HANDLER_ADD, HANDLER_BRANCH, HANDLER_BRANCH_REGISTER, HANDLER_EOR, HANDLER_LOAD, HANDLER_STORE, get_handler,
};
import package::machine::registers::{x};
import package::machine::step::{arithmetic, branch, other, read_operands, transfer};

/// Ends a stage: fetches the next micro-op, or sets `leaves` if only `leave_page` can do that, or if the slice ends.
///
/// Needs `leaves` and the variables that `read_operands` declares.
fragment advance {
    x[destination] = value;
    leaves = (next_at ^ near) >= PAGE_OPS || done + 1u == count;
    if !leaves {
        done += 1u;
        at = next_at;
        op = micro_ops[at];
    }
}

/// The stage of sums, logical operations and selections. It needs `leaves`, which is false if no stage of this step has
/// set it, and the variables that `begin_slice` declares.
fragment arithmetic_stage {
    if !leaves && get_handler(op.x) - HANDLER_ADD <= HANDLER_EOR - HANDLER_ADD {
        insert read_operands;
        insert arithmetic;
        insert advance;
    }
}

/// The stage of loads, stores and the less common handlers. It needs the same variables.
fragment other_stage {
    if !leaves && get_handler(op.x) - HANDLER_ADD > HANDLER_BRANCH_REGISTER - HANDLER_ADD {
        insert read_operands;
        if handler - HANDLER_LOAD <= HANDLER_STORE - HANDLER_LOAD {
            insert transfer;
        } else {
            insert other;
        }
        insert advance;
    }
}

/// The stage of branches. It needs the same variables.
fragment branch_stage {
    if !leaves && get_handler(op.x) - HANDLER_BRANCH <= HANDLER_BRANCH_REGISTER - HANDLER_BRANCH {
        insert read_operands;
        insert branch;
        insert advance;
    }
}
